"""
The carrier of a LeaderWorkerSet: its annotation alone decides.

Admission writes the carrier on a new object unless it is the default, so a flag that changes
later affects new objects only. An API server that could not reach our webhook may have
stored an object that admission would refuse: such an object is not planned.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from kohort.apis.api import InvalidWorkload, Reading, Snapshot
from kohort.apis.carriers.carrier import Carrier
from kohort.apis.carriers.failures import find_replaced, read_failures, write_failures
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset import read as sets_read
from kohort.apis.leaderworkerset import render as sets_render
from kohort.apis.leaderworkerset.admission.validation import find_broken_rules
from kohort.apis.leaderworkerset.drift.labels import find_misplaced
from kohort.apis.leaderworkerset.pods_carrier import read as pods_read
from kohort.apis.leaderworkerset.pods_carrier import render as pods_render
from kohort.apis.leaderworkerset.spec import size_of
from kohort.cluster.actions import Action, Patch
from kohort.cluster.fields import aggregate
from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.cluster.objects import annotations_of
from kohort.cluster.port import Address
from kohort.model.observed import Failure
from kohort.model.plans import Plan
from kohort.model.policies import STRATEGIES
from kohort.model.units import Reach

CARRIERS: dict[str, Carrier[Any]] = {
    carrier.name: carrier
    for carrier in (
        Carrier(labels.STATEFULSETS, Reach.SUFFIX, sets_read.read, sets_render.render),
        Carrier(labels.PODS, Reach.NOTED, pods_read.read, pods_render.render),
    )
}


def read(snapshot: Snapshot) -> Reading[Any]:
    """The snapshot translated into the model."""
    carrier = _name_carrier(snapshot)
    if carrier not in CARRIERS:
        known = " or ".join(sorted(CARRIERS))
        raise InvalidWorkload(
            "UnknownCarrier", f'annotation {labels.CARRIER} is "{carrier}", and must be {known}'
        )
    if broken := find_broken_rules(snapshot.root):
        raise InvalidWorkload("Invalid", aggregate(broken))
    if carrier == labels.PODS and size_of(snapshot.root) > pods_read.GROUP_MAX:
        raise InvalidWorkload(
            "TooLarge",
            f"spec.leaderWorkerTemplate.size is {size_of(snapshot.root)}, and with the carrier "
            f"{carrier} a group has at most {pods_read.GROUP_MAX} pods",
        )
    found = CARRIERS[carrier].read(snapshot)
    workload = replace(found.workload, reach=CARRIERS[carrier].reach)
    observed = replace(found.observed, failures=_read_failures(found))
    progress = observed.progress
    if progress is not None and any(True for _ in find_misplaced(snapshot)):
        # The members of each group are unknown until their labels are restored.
        observed = replace(observed, progress=replace(progress, is_seen=False))
    return replace(found, workload=workload, observed=observed)


def _name_carrier(snapshot: Snapshot) -> str:
    return annotations_of(snapshot.root).get(labels.CARRIER) or labels.STATEFULSETS


def _read_failures(found: Reading[Any]) -> tuple[Failure, ...]:
    notes = [r.metadata.annotations.get(labels.RESTARTS, "") for r in found.memory.revisions]
    current = found.memory.revision
    held = "" if current is None else current.metadata.annotations.get(labels.RESTARTS, "")
    return read_failures(notes, in_force=held)


def render(snapshot: Snapshot, found: Reading[Any], plan: Plan) -> tuple[Action, ...]:
    """The actions that bring the objects of a workload to the plan."""
    rendered = CARRIERS[_name_carrier(snapshot)].render(snapshot, found, plan)
    noted = (*_note_failures(found, plan), *_forget_failures(found))
    return (*noted, *rendered, *_note_strategy(snapshot, found))


def _note_failures(found: Reading[Any], plan: Plan) -> tuple[Action, ...]:
    """Record failures on the revision in force; a later plan acts on them."""
    revision, failures = found.memory.revision, plan.step.failures
    if revision is None or found.workload.is_leaving or failures == found.observed.failures:
        return ()
    known = {failure.incarnation: failure for failure in found.observed.failures}
    new = [f for f in failures if known.get(f.incarnation) != f]
    why = ", ".join(f"group {f.ordinal} failed for the {_nth(f.count)} time" for f in new[:3])
    address = Address(CONTROLLER_REVISION, found.workload.namespace, revision.metadata.name)
    annotations = {labels.RESTARTS: write_failures(failures)}
    note = {"metadata": {"uid": revision.metadata.uid, "annotations": annotations}}
    return (Patch(address, note, why=f"{why} ({new[0].incarnation})"),)


def _forget_failures(found: Reading[Any]) -> Iterator[Action]:
    """Remove records of failures that those on the revision in force have replaced."""
    workload, revision = found.workload, found.memory.revision
    if revision is None or workload.is_leaving:
        return
    own = [r.metadata for r in found.memory.revisions if r.metadata.controller == workload.uid]
    notes = {metadata.name: metadata.annotations.get(labels.RESTARTS, "") for metadata in own}
    uids = {metadata.name: metadata.uid for metadata in own}
    for name in find_replaced(notes, revision.metadata.name):
        note = {"metadata": {"uid": uids[name], "annotations": {labels.RESTARTS: None}}}
        address = Address(CONTROLLER_REVISION, workload.namespace, name)
        yield Patch(address, note, why=f"{revision.metadata.name} has the newer failures")


def _nth(count: int) -> str:
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(count, f"{count}th")


def _note_strategy(snapshot: Snapshot, found: Reading[Any]) -> tuple[Action, ...]:
    """Record a strategy that only a flag sets, so that commands without flags can read it."""
    revision = found.memory.revision
    if revision is None or found.workload.is_leaving:
        return ()
    strategy: str | None = found.workload.rollout.strategy
    if strategy == STRATEGIES[0] or labels.STRATEGY in annotations_of(snapshot.root):
        strategy = None
    if revision.metadata.annotations.get(labels.STRATEGY_IN_USE) == strategy:
        return ()
    address = Address(CONTROLLER_REVISION, found.workload.namespace, revision.metadata.name)
    note = {"metadata": {"annotations": {labels.STRATEGY_IN_USE: strategy}}}
    return (Patch(address, note, why="the strategy in use is not written down"),)
