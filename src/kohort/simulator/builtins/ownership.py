"""
Owner references of controllers: adopting and releasing children, and finding orphans.

A controller keeps the children that its selector matches. One that matches and
has no controller is adopted; one that no longer matches is let go. Orphans are
kept in an index, because looking through all pods of a namespace at each step
would cost more than the step.
"""

from collections import defaultdict
from collections.abc import Iterator

from kohort.apiserver.store.entries import OwnerFacts, StoredObject
from kohort.cluster.objects import Kind, Object
from kohort.simulator.component import MergeRequest, View


class Orphans:
    """The objects without a controller, by kind and namespace."""

    def __init__(self) -> None:
        self._names: dict[tuple[Kind, str], set[str]] = defaultdict(set)

    def note(self, kind: Kind, old: StoredObject | None, new: StoredObject | None) -> None:
        """Remember a change."""
        entry = new or old
        assert entry is not None
        place = (kind, entry.namespace)
        if new is not None and not new.controller:
            self._names[place].add(entry.name)
        elif place in self._names:
            self._names[place].discard(entry.name)
            if not self._names[place]:
                # Namespaces come and go; nothing of them is kept.
                del self._names[place]

    def find(self, kind: Kind, namespace: str, view: View) -> Iterator[StoredObject]:
        """The orphans of one namespace, in the order of their names."""
        for name in sorted(self._names.get((kind, namespace), ())):
            entry = view.find(kind, namespace, name)
            if entry is not None and not entry.controller:
                yield entry


def controllers(kind: str, *entries: StoredObject | None) -> set[str]:
    """The keys of the controllers of that kind that the entries name."""
    keys: set[str] = set()
    for entry in entries:
        if entry is None or not entry.controller:
            continue
        for owner in entry.facts.metadata.owner_references:
            if owner.controller and owner.kind == kind:
                keys.add(f"{entry.namespace}/{owner.name}")
    return keys


def reference(kind: Kind, entry: StoredObject) -> Object:
    """The fields of an object that an event or an owner reference needs."""
    metadata = {"name": entry.name, "uid": entry.uid, "resourceVersion": str(entry.rv)}
    if entry.namespace:
        metadata["namespace"] = entry.namespace
    return {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata}


def write_owner(owner: OwnerFacts) -> Object:
    """An owner reference as the API has it."""
    written: Object = {
        "apiVersion": owner.api_version,
        "kind": owner.kind,
        "name": owner.name,
        "uid": owner.uid,
    }
    if owner.controller is not None:
        written["controller"] = owner.controller
    if owner.block_owner_deletion is not None:
        written["blockOwnerDeletion"] = owner.block_owner_deletion
    return written


def adopt(kind: Kind, child: StoredObject, owner: Object) -> MergeRequest:
    """Make the owner the controller of an orphan."""
    return set_owners(kind, child, [*_owners(child), owner])


def release(kind: Kind, child: StoredObject, owner_uid: str) -> MergeRequest:
    """Remove the owner's reference from a child."""
    return set_owners(kind, child, [o for o in _owners(child) if o["uid"] != owner_uid])


def set_owners(kind: Kind, child: StoredObject, owners: list[Object]) -> MergeRequest:
    """Write all owner references of an object, unless another client changed it meanwhile."""
    metadata = {"ownerReferences": owners or None, "resourceVersion": str(child.rv)}
    return MergeRequest(kind, child.namespace, child.name, {"metadata": metadata}, uid=child.uid)


def _owners(child: StoredObject) -> list[Object]:
    return [write_owner(owner) for owner in child.facts.metadata.owner_references]
