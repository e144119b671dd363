"""
Which pods of a StatefulSet to create and delete now.

Three stages follow each other, and one that has to wait holds up those after
it: fill the wanted ordinals, remove the surplus from the top, then replace
what is outdated from the top. Under OrderedReady each stage does one thing at
a time and waits until all before it is available and nothing is on its way
out. Parallel fills and removes at once, but still replaces within its budget.
A set may ask for any number of pods: missing pods are created in windows, so that the
cost of one reconcile depends on the pods that exist and not on the wanted number.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from kohort.simulator.builtins.statefulsets.spec import Member, SetSpec

MAKE_MAX = 500


@dataclass(slots=True)
class Plan:
    """Ordinals to create, members to keep, and members to delete, in order."""

    make: list[int] = field(default_factory=list)
    keep: list[Member] = field(default_factory=list)
    leaving: list[Member] = field(default_factory=list)  # terminating surplus pods
    remove: list[Member] = field(default_factory=list)
    replaced: int = 0  # how many of those removed were removed for an update
    is_cut: bool = False  # more is missing than is made now


def plan_pods(
    spec: SetSpec, members: Iterable[Member], update: str, blocked: Collection[int]
) -> Plan:
    """Plan the pods of a set; blocked ordinals (by claims in deletion) cannot be created now."""
    wanted: dict[int, Member] = {}
    surplus: list[Member] = []
    for member in members:
        if spec.wants(member.ordinal):
            wanted[member.ordinal] = member
        else:
            surplus.append(member)
    surplus.sort(key=lambda member: -member.ordinal)
    plan = Plan()
    if not _fill(plan, spec, wanted, blocked):
        return plan
    plan.keep.extend(member for member in surplus if not member.is_leaving)
    plan.leaving.extend(member for member in surplus if member.is_leaving)
    if _shrink(plan, spec, surplus) and spec.is_rolling:
        _roll(plan, spec, wanted, update)
    return plan


def _fill(plan: Plan, spec: SetSpec, wanted: dict[int, Member], blocked: Collection[int]) -> bool:
    missing = 0
    for ordinal in range(spec.start, spec.end):
        member = wanted.get(ordinal)
        if member is None:
            missing += 1
            if missing > MAKE_MAX:
                plan.is_cut = True
                return False
            if ordinal not in blocked:
                plan.make.append(ordinal)
        elif member.is_finished:
            # An ended pod is deleted, however it ended, and then recreated.
            if not member.is_leaving:
                plan.remove.append(member)
        elif not member.is_leaving:
            plan.keep.append(member)
        settled = member is not None and member.is_available and not member.is_finished
        if spec.is_ordered and not settled:
            return False
    return True


def _shrink(plan: Plan, spec: SetSpec, surplus: list[Member]) -> bool:
    if not spec.is_ordered:
        plan.remove.extend(member for member in surplus if not member.is_leaving)
        return True
    if not surplus:
        return True
    # A broken pod may be deleted before its turn only if no lower pod is broken.
    highest = surplus[0]
    first_broken = next((m for m in reversed(surplus) if not m.is_available), None)
    if not highest.is_leaving and (highest.is_available or highest is first_broken):
        plan.remove.append(highest)
    return False


def _roll(plan: Plan, spec: SetSpec, wanted: dict[int, Member], update: str) -> None:
    if spec.max_unavailable == 1:
        ordinals = range(spec.end - 1, spec.start + spec.partition - 1, -1)
        _replace_next(plan, (wanted.get(ordinal) for ordinal in ordinals), update)
        return
    available = sum(member.is_available for member in wanted.values())
    budget = spec.max_unavailable - (spec.replicas - available)
    for ordinal in sorted(wanted, reverse=True):
        if plan.replaced >= budget or ordinal < spec.start + spec.partition:
            return
        member = wanted[ordinal]
        if _is_outdated(member, update) and member not in plan.remove:
            _replace(plan, member)


def _replace_next(plan: Plan, members: Iterable[Member | None], update: str) -> None:
    for member in members:
        if member is not None and _is_outdated(member, update):
            if member not in plan.remove:
                _replace(plan, member)
            return
        if member is None or not member.is_available:
            return


def _is_outdated(member: Member, update: str) -> bool:
    return member.revision != update and not member.is_leaving


def _replace(plan: Plan, member: Member) -> None:
    plan.remove.append(member)
    plan.replaced += 1
