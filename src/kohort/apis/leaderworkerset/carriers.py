"""
Which carrier a LeaderWorkerSet has: what it says itself, and nothing else.

Admission writes the carrier on a new object unless it is the usual one, so a flag
that changes later touches new objects only. An object that admission would refuse may
still be stored, by an API server that could not ask: it is not planned.
"""

from dataclasses import replace

from kohort.apis.api import InvalidWorkload, Reading, Snapshot
from kohort.apis.carriers.failures import read_failures, write_failures
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset import read as sets_read
from kohort.apis.leaderworkerset import render as sets_render
from kohort.apis.leaderworkerset.admission.validation import find_broken_rules
from kohort.apis.leaderworkerset.drift.place_labels import find_misplaced
from kohort.apis.leaderworkerset.pods_carrier import read as pods_read
from kohort.apis.leaderworkerset.pods_carrier import render as pods_render
from kohort.apis.leaderworkerset.spec import size_of
from kohort.cluster.actions import Action, Patch
from kohort.cluster.fields import aggregate
from kohort.cluster.objects import annotations_of
from kohort.cluster.port import Address
from kohort.model.observed import Failure
from kohort.model.plans import Plan
from kohort.model.policies import STRATEGIES

_READ = {labels.STATEFULSETS: sets_read.read, labels.PODS: pods_read.read}


def read(snapshot: Snapshot) -> Reading:
    """The snapshot in the words of the model."""
    carrier = annotations_of(snapshot.root).get(labels.CARRIER) or labels.STATEFULSETS
    if carrier not in _READ:
        known = " or ".join(sorted(_READ))
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
    found = _READ[carrier](snapshot)
    observed = replace(found.observed, failures=_read_failures(found))
    progress = observed.progress
    if progress is not None and any(True for _ in find_misplaced(snapshot)):
        # Who is in which group is not known before their labels are back.
        observed = replace(observed, progress=replace(progress, is_seen=False))
    return replace(found, observed=observed)


def _read_failures(found: Reading) -> tuple[Failure, ...]:
    notes = [r.metadata.annotations.get(labels.RESTARTS, "") for r in found.memory.revisions]
    current = found.memory.revision
    held = "" if current is None else current.metadata.annotations.get(labels.RESTARTS, "")
    return read_failures(notes, in_force=held)


def render(snapshot: Snapshot, found: Reading, plan: Plan) -> tuple[Action, ...]:
    """What to do about the objects of a workload."""
    carried = sets_render if not isinstance(found.memory, pods_read.PodMemory) else pods_render
    rendered = carried.render(snapshot, found, plan)
    return (*_note_failures(found, plan), *rendered, *_note_strategy(snapshot, found))


def _note_failures(found: Reading, plan: Plan) -> tuple[Action, ...]:
    """Record failures on the revision in force; what follows from them comes in a later plan."""
    revision, failures = found.memory.revision, plan.failures
    if revision is None or found.workload.is_leaving or failures == found.observed.failures:
        return ()
    known = {failure.incarnation: failure for failure in found.observed.failures}
    new = [f for f in failures if known.get(f.incarnation) != f]
    why = ", ".join(f"group {f.ordinal} failed for the {_nth(f.count)} time" for f in new[:3])
    address = Address(sets_read.REVISION, found.workload.namespace, revision.metadata.name)
    note = {"metadata": {"annotations": {labels.RESTARTS: write_failures(failures)}}}
    return (Patch(address, note, why=f"{why} ({new[0].incarnation})"),)


def _nth(count: int) -> str:
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(count, f"{count}th")


def _note_strategy(snapshot: Snapshot, found: Reading) -> tuple[Action, ...]:
    """Write down a strategy that only a flag says, where those who ask why can read it."""
    revision = found.memory.revision
    if revision is None or found.workload.is_leaving:
        return ()
    strategy: str | None = found.workload.rollout.strategy
    if strategy == STRATEGIES[0] or labels.STRATEGY in annotations_of(snapshot.root):
        strategy = None
    if revision.metadata.annotations.get(labels.STRATEGY_IN_USE) == strategy:
        return ()
    address = Address(sets_read.REVISION, found.workload.namespace, revision.metadata.name)
    note = {"metadata": {"annotations": {labels.STRATEGY_IN_USE: strategy}}}
    return (Patch(address, note, why="the strategy in use is not written down"),)
