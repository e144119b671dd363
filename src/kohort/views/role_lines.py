"""
Roles that roll by themselves, one line each: how far each is, by which rules, and what holds it.

The reasons are those of the plan, word for word, as in the status and the events of the
workload: which role holds which back, by which rule, and how many instances may go on.
"""

from dataclasses import dataclass

from kohort.model.reasons import Blocker
from kohort.model.units import GROUPS
from kohort.model.workload import Role
from kohort.views.picture import Picture

_REASONS_MAX = 3  # of one role; a role of many groups may have one in each


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason why a role waits."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class RoleLine:
    """One role of a workload, over all its groups."""

    name: str
    wanted: int
    ready: int
    updated: int
    max_unavailable: int
    max_surge: int
    partition: int
    is_paused: bool
    reasons: tuple[Reason, ...] = ()


def list_role_lines(picture: Picture) -> tuple[RoleLine, ...]:
    """The roles in their order; none where roles roll with their groups."""
    if picture.reading is None or picture.plan is None or picture.role:
        return ()
    blockers = picture.plan.report.blockers
    return tuple(
        _make_line(picture, role, blockers)
        for role in picture.reading.workload.roles
        if role.name and role.rollout is not None and role.name in picture.plan.report.roles
    )


def _make_line(picture: Picture, role: Role, blockers: tuple[Blocker, ...]) -> RoleLine:
    assert picture.plan is not None
    assert role.rollout is not None
    counts = picture.plan.report.roles[role.name]
    own = [b for b in blockers if b.line != GROUPS and b.line.role == role.name]
    found = dict.fromkeys(Reason(b.reason, b.message) for b in own)
    return RoleLine(
        name=role.name,
        wanted=counts.wanted,
        ready=counts.ready,
        updated=counts.updated,
        max_unavailable=role.rollout.max_unavailable,
        max_surge=role.rollout.max_surge,
        partition=role.rollout.partition,
        is_paused=role.rollout.is_paused,
        reasons=tuple(found)[:_REASONS_MAX],
    )
