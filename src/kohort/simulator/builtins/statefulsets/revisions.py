"""
The history of a StatefulSet: one ControllerRevision for each template it had.

The newest revision is the one with the highest number. Going back to an old
template does not make a new revision: the old one gets a new number. Revisions
that no pod and no status names are history, of which only a few are kept.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.cluster.objects import Object, annotations_of, labels_of
from kohort.simulator.builtins.names import canonical, hash_revision
from kohort.simulator.builtins.ownership import adopt
from kohort.simulator.builtins.statefulsets.spec import SetSpec
from kohort.simulator.component import (
    ComponentAction,
    CreateRequest,
    DeleteRequest,
    MergeRequest,
    View,
)

HASH_LABEL = "controller.kubernetes.io/hash"


@dataclass(frozen=True, slots=True)
class Revision:
    """One stored revision: its number and what it keeps, in canonical bytes."""

    entry: StoredObject
    number: int
    data: bytes

    @property
    def name(self) -> str:
        """The revision's name, which pods carry as a label."""
        return self.entry.name


class Ledger:
    """A cache of parsed revisions, since each step reads all of them."""

    def __init__(self) -> None:
        self._known: dict[str, Revision] = {}

    def read(self, entry: StoredObject) -> Revision:
        """A stored revision."""
        known = self._known.get(entry.uid)
        if known is None or known.entry.rv != entry.rv:
            obj = entry.decode()
            known = Revision(entry, int(obj.get("revision", 0)), canonical(obj.get("data")))
            self._known[entry.uid] = known
        return known

    def forget(self, entry: StoredObject) -> None:
        """Drop a revision that is gone."""
        self._known.pop(entry.uid, None)


@dataclass(slots=True)
class History:
    """The names of current and update revision, and the actions that create them."""

    current: str
    update: str
    collisions: int
    revisions: list[Revision]
    actions: list[ComponentAction] = field(default_factory=list)

    def find_template(self, name: str) -> Object | None:
        """The pod template that a revision keeps."""
        for revision in self.revisions:
            if revision.name == name:
                template: Object = revision.entry.decode()["data"]["spec"]["template"]
                template.pop("$patch", None)
                return template
        return None


def plan_history(
    spec: SetSpec, entries: Iterable[StoredObject], ledger: Ledger, view: View
) -> History:
    """Find or make the revision of the set's template, and the one it comes from."""
    revisions = sorted(map(ledger.read, entries), key=_age)
    actions: list[ComponentAction] = [
        adopt(CONTROLLER_REVISION, revision.entry, spec.owner)
        for revision in revisions
        if not revision.entry.controller
    ]
    wanted = spec.template_data()
    encoded = canonical(wanted)
    number = revisions[-1].number + 1 if revisions else 1
    collisions = int(spec.status.get("collisionCount") or 0)
    equal = [revision for revision in revisions if revision.data == encoded]
    if equal:
        update = equal[-1].name
        if revisions[-1].data != encoded:
            actions.append(_renumber(equal[-1], number))
    else:
        while (taken := _find_taken(spec, wanted, collisions, view)) and (
            ledger.read(taken).data != encoded
        ):
            # The name stands for other data: hash again with another seed.
            collisions += 1
        update = _name(spec, wanted, collisions)
        if taken is None:
            actions.append(
                CreateRequest(CONTROLLER_REVISION, _render(spec, wanted, collisions, number))
            )
    known = {revision.name for revision in revisions}
    named: str = spec.status.get("currentRevision", "")
    current = named if named in known else update
    return History(current, update, collisions, revisions, actions)


def truncate(spec: SetSpec, history: History, used: Iterable[str]) -> list[ComponentAction]:
    """Delete the oldest revisions beyond the limit that nothing uses."""
    live = {history.current, history.update, *used}
    spare = [revision for revision in history.revisions if revision.name not in live]
    excess = max(0, len(spare) - spec.history_limit) if spec.history_limit >= 0 else 0
    return [
        DeleteRequest(
            CONTROLLER_REVISION, revision.entry.namespace, revision.name, revision.entry.uid
        )
        for revision in spare[:excess]
        if not revision.entry.facts.is_leaving
    ]


def _age(revision: Revision) -> tuple[int, str, str]:
    return revision.number, revision.entry.facts.metadata.creation_timestamp, revision.name


def _name(spec: SetSpec, data: Object, collisions: int) -> str:
    return f"{spec.name}-{hash_revision(data, collisions)}"


def _find_taken(spec: SetSpec, data: Object, collisions: int, view: View) -> StoredObject | None:
    return view.find(CONTROLLER_REVISION, spec.entry.namespace, _name(spec, data, collisions))


def _renumber(revision: Revision, number: int) -> MergeRequest:
    entry = revision.entry
    return MergeRequest(
        CONTROLLER_REVISION, entry.namespace, entry.name, {"revision": number}, uid=entry.uid
    )


def _render(spec: SetSpec, data: Object, collisions: int, number: int) -> Object:
    labels = labels_of(data["spec"]["template"])
    metadata = {
        "name": _name(spec, data, collisions),
        "namespace": spec.entry.namespace,
        "labels": {**labels, HASH_LABEL: hash_revision(data, collisions)},
        "ownerReferences": [spec.owner],
    }
    annotations = annotations_of(spec.obj)
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {
        "apiVersion": CONTROLLER_REVISION.api_version,
        "kind": CONTROLLER_REVISION.name,
        "metadata": metadata,
        "data": data,
        "revision": number,
    }
