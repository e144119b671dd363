"""
Versions of roles that are kept together: when all roles of a rule go back as one.

A rule with ``rollback_seconds`` watches the rollout of its roles. If an updated unit has been
unready for that long, the new versions do not work together: all roles of the rule go back, in one
write, to the revision that served before. The way back is a rollout like any other, within the
same skew. A role whose rollout is over, or that has none, gives no cause: what breaks after a
rollout is no fault of the new version.
"""

from collections.abc import Iterator

from kohort.model.observed import Group, Instance, Observed, RoleInstances
from kohort.model.plans import Rollback
from kohort.model.policies import Rule
from kohort.model.reasons import Blocker
from kohort.model.units import Line, Phase
from kohort.model.workload import Workload

REASON = "RollingBack"


def plan_rollbacks(workload: Workload, observed: Observed, now: float) -> tuple[Rollback, ...]:
    """The rules whose roles go back now, each with the unit that is the cause."""
    found = []
    for group in observed.groups:
        for rule in workload.rules:
            late = [pair for pair in _list_deadlines(rule, group) if pair[0] <= now]
            if late:
                _, role, instance = min(late, key=lambda each: (each[0], each[1].role))
                found.append(_make_rollback(rule, group, role, instance))
    return tuple(found)


def find_deadlines(workload: Workload, observed: Observed) -> Iterator[float]:
    """The moments at which a unit that stays unready makes its roles go back."""
    for group in observed.groups:
        for rule in workload.rules:
            yield from (moment for moment, _, _ in _list_deadlines(rule, group))


def _list_deadlines(rule: Rule, group: Group) -> Iterator[tuple[float, RoleInstances, Instance]]:
    if rule.rollback_seconds is None:
        return
    for role in group.roles:
        is_rolling = role.base not in ("", role.revision)
        if role.role not in rule.roles or not is_rolling:
            continue
        for instance in role.instances:
            since = _find_unready_since(instance)
            if instance.revision == role.revision and since is not None:
                yield since + rule.rollback_seconds, role, instance


def _find_unready_since(instance: Instance) -> float | None:
    """
    Since when a unit is unready; None if it is ready or leaves, or the cluster does not say.

    A unit that is updated in place was ready before, and its pods may still be: only what they
    say counts, and nothing from before the update.
    """
    if instance.phase in (Phase.READY, Phase.LEAVING):
        return None
    current = [m for m in instance.members if m.is_current and m.phase is not Phase.READY]
    moments = [m.unready_since for m in current if m.unready_since is not None]
    if not moments:
        return None if instance.has_served else instance.made_at or None
    return max(min(moments), instance.amended_at)


def _make_rollback(rule: Rule, group: Group, role: RoleInstances, instance: Instance) -> Rollback:
    held = [each.role for each in group.roles if each.role in rule.roles]
    message = (
        f"instance {instance.ordinal} of role {role.role} is not ready {rule.rollback_seconds:g} "
        f"seconds after its update: {_join(held)} back to the revision that served before "
        f"(rule {rule.name})"
    )
    blocker = Blocker(REASON, message, (instance.ordinal,), line=Line(group.ordinal, role.role))
    return Rollback(rule.name, tuple(held), blocker)


def _join(roles: list[str]) -> str:
    if len(roles) == 1:
        return f"role {roles[0]} goes"
    return f"roles {', '.join(roles[:-1])} and {roles[-1]} go"
