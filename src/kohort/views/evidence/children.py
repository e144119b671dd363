"""
Troubles that show on no pod: pods that the API server refuses, and deletions that do not end.

A pod that is deleted in the foreground ends after everything that it owns. So the blame
goes down the owner references to the objects that are still there and own nothing
themselves: usually a pod on a node that does not answer.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from kohort.apis.api import Snapshot
from kohort.apis.facts import SetFacts
from kohort.cluster.objects import Kind, name_of, uid_of
from kohort.model.observed import Group, Observed
from kohort.model.units import Phase
from kohort.views.ages import find_time
from kohort.views.evidence.cluster import (
    ClusterFacts,
    find_subject,
    find_text,
    first_seen,
    last_seen,
)
from kohort.views.troubles import TERMINATING, Trouble, excuse

REFUSED = "FailedCreate"
_NOT_MADE = " could not be created: "
# An admission webhook may be away for a moment.
_PATIENCE = timedelta(seconds=10)


def blame_holders(
    troubles: Iterable[Trouble], groups: Sequence[Group], snapshot: Snapshot
) -> Iterator[Trouble]:
    """The troubles, with the blame for a deletion on the objects that hold it up."""
    entries = {group.incarnation: group for group in groups if group.phase is Phase.LEAVING}
    owned = _Owned(snapshot) if entries else None
    for trouble in troubles:
        is_entry = owned is not None and trouble.uid in entries
        holders = list(owned.find_leaves(trouble.uid)) if owned and is_entry else []
        if trouble.reason != TERMINATING or not holders:
            yield trouble
            continue
        names = [_name(kind, child) for kind, child in holders]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield excuse(trouble, names[0] + more)
        if not any(kind.name == "Pod" for kind, _ in holders):
            yield replace(
                trouble,
                member=names[0],
                uid=holders[0][1].metadata.uid,
                message="it is still there, and the pod that owns it is deleted after it",
            )


class _Owned:
    """The children of a workload by the uids of their owners."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._by_owner: dict[str, list[tuple[Kind, Any]]] = {}
        for kind, children in snapshot.children.items():
            for child in children:
                for owner in child.metadata.owner_references:
                    self._by_owner.setdefault(owner.uid, []).append((kind, child))

    def find_leaves(self, uid: str) -> Iterator[tuple[Kind, Any]]:
        """The objects below another one that own nothing; pods first."""
        found = sorted(self._by_owner.get(uid, ()), key=lambda pair: pair[0].name != "Pod")
        for kind, child in found:
            below = list(self.find_leaves(child.metadata.uid))
            yield from below or [(kind, child)]


def _name(kind: Kind, child: Any) -> str:
    name = child.metadata.name
    return name if kind.name == "Pod" else f"{kind.name} {name}"


def is_refusal(reason: str, text: str) -> bool:
    """Whether a Warning says that the API server refused a pod; APIs give it different reasons."""
    return reason == REFUSED or (text.startswith("Pod ") and _NOT_MADE in text)


def find_refusals(
    snapshot: Snapshot, observed: Observed, facts: ClusterFacts, wanted: int, now: datetime
) -> Iterator[Trouble]:
    """What lacks pods since the API server refuses them, by its Warning events."""
    if not facts.warnings:
        return
    newest = _find_newest(snapshot)
    ordinals = {group.incarnation: group.ordinal for group in observed.groups}
    for child in find_lacking(snapshot):
        made = newest.get(child.metadata.uid, [])
        ordinal = ordinals.get(child.metadata.controller, len(made))
        subject = f"StatefulSet {child.metadata.name}"
        yield from _refuse(facts, child.metadata.uid, subject, ordinal, made, now)
    if _is_lacking(observed, wanted):
        yield from _find_refused_replicas(snapshot, facts, newest, now)
        # Where the operator makes the pods itself, its events are about the workload.
        made = [stamp for stamps in newest.values() for stamp in stamps]
        kind = str(snapshot.root.get("kind", "")) or "the workload"
        subject = f"{kind} {name_of(snapshot.root)}"
        told = _leave_out_verdicts(facts, snapshot, subject)
        yield from _refuse(told, uid_of(snapshot.root), subject, len(observed.groups), made, now)


def _find_refused_replicas(
    snapshot: Snapshot, facts: ClusterFacts, newest: Mapping[str, list[str]], now: datetime
) -> Iterator[Trouble]:
    """ReplicaSets of our Deployments whose pods the API server refuses, by their Warning events."""
    deployments = [
        child.metadata.name
        for kind, children in snapshot.children.items()
        for child in children
        if kind.name == "Deployment"
    ]
    told = (find_subject(event) for event in facts.warnings)
    sets = {
        about.get("uid", ""): about.get("name", "")
        for about in told
        if about.get("kind") == "ReplicaSet"
    }
    for uid, name in sets.items():
        if name.rpartition("-")[0] in deployments:
            yield from _refuse(facts, uid, f"ReplicaSet {name}", 0, newest.get(uid, []), now)


def _is_lacking(observed: Observed, wanted: int) -> bool:
    """Whether groups are missing, or members of them."""
    progress = observed.progress
    if progress is None:
        return False
    present = (sum(m.is_current for m in group.members) < group.size for group in observed.groups)
    return len(observed.groups) < max(progress.count, wanted) or any(present)


def _leave_out_verdicts(facts: ClusterFacts, snapshot: Snapshot, subject: str) -> ClusterFacts:
    """The facts without the operator's own events about the workload, which are no causes."""
    sets = (s for found in snapshot.children.values() for s in found if isinstance(s, SetFacts))
    retold = (f"{subject}: ", *(f"StatefulSet {found.metadata.name}: " for found in sets))
    causes = [event for event in facts.warnings if not find_text(event).startswith(retold)]
    return replace(facts, warnings=causes)


def find_lacking(snapshot: Snapshot) -> list[SetFacts]:
    """The sets that have fewer pods than they were asked for."""
    made = _find_newest(snapshot)
    sets = [s for found in snapshot.children.values() for s in found if isinstance(s, SetFacts)]
    return [
        found
        for found in sets
        if not found.metadata.is_leaving
        and len(made.get(found.metadata.uid, ())) < found.spec.replicas
    ]


def _find_newest(snapshot: Snapshot) -> Mapping[str, list[str]]:
    """When the pods of each owner were made."""
    made: dict[str, list[str]] = {}
    for kind, children in snapshot.children.items():
        for child in children if kind.name == "Pod" else ():
            stamp = child.metadata.creation_timestamp or ""
            made.setdefault(child.metadata.controller, []).append(stamp)
    return made


def _refuse(
    facts: ClusterFacts, uid: str, subject: str, ordinal: int, made: list[str], now: datetime
) -> Iterator[Trouble]:
    about, newest = facts.find_warnings(uid), max(made, default="")
    told = [event for event in about if is_refusal(event["reason"], find_text(event))]
    if not told or last_seen(told[0]) < newest:
        return
    text = find_text(told[0])
    # The operator writes an event for each try, the StatefulSet controller counts them in one.
    alike = [first_seen(event) for event in told if find_text(event) == text]
    later = (stamp for stamp in alike if stamp >= newest)
    since = find_time(min(later, default=first_seen(told[0])))
    is_stuck = since is None or now - since > _PATIENCE
    tried = find_time(last_seen(told[0]))
    yield Trouble(subject, ordinal, REFUSED, text, since, is_stuck, uid=uid, tried=tried)
