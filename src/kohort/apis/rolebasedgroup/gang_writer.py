"""
Writes to the objects of a gang: which are missing, and which fields of them may be patched.

Counts of members follow the workload while it lives. All other fields stay once a pod of the gang
has a node, and a gang that another controller made is never changed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from kohort.apis.api import Snapshot
from kohort.apis.carriers.desired import has_changed
from kohort.apis.facts import Whole
from kohort.apis.gangs.dialect import Dialect
from kohort.cluster.actions import Action, Create, Delete, Patch
from kohort.cluster.objects import Kind, Object, name_of, namespace_of
from kohort.cluster.port import Address

_COUNTS = ("minMember", "minResources", "subGroupPolicy", "subGroups")


@dataclass(frozen=True, slots=True)
class GangWriter:
    """The writes to gang objects of one scheduler."""

    snapshot: Snapshot
    dialect: Dialect | None
    _by_name: dict[Kind, dict[str, Whole]] = field(default_factory=dict)

    def find(self, kind: Kind, name: str) -> Whole | None:
        """The object of that name in the snapshot."""
        if kind not in self._by_name:
            # Each instance may have a gang of its own, and asks for it by name.
            self._by_name[kind] = {held.metadata.name: held for held in self.snapshot.all(kind)}
        return self._by_name[kind].get(name)

    def bring(self, kind: Kind, wanted: Object, *, is_placed: bool) -> Iterator[Action]:
        """Create one object of a gang, or patch it; ``is_placed``: a pod of it has a node."""
        name, namespace = name_of(wanted), namespace_of(self.snapshot.root)
        owner = wanted["metadata"]["ownerReferences"][0]
        held = self.find(kind, name)
        if held is None:
            why = f"{owner['kind']} {owner['name']} has no {kind.name}"
            yield Create(kind, namespace, wanted, why)
            return
        is_mutable = self.dialect is not None and self.dialect.is_mutable
        if not is_owned_by(held, owner["uid"]) or not is_mutable:
            return
        found: Object = held.decode().get("spec") or {}
        change = {
            key: wanted["spec"].get(key)
            for key in dict.fromkeys((*_COUNTS, *wanted["spec"]))
            if self._may_patch(kind, key, found, is_placed)
            and has_changed(wanted["spec"].get(key), found.get(key))
        }
        if change:
            body = {"metadata": {"uid": held.metadata.uid}, "spec": change}
            why = f"{kind.name} {name}: {', '.join(change)} differ"
            yield Patch(Address(kind, namespace, name), body, why=why)

    def _may_patch(self, kind: Kind, key: str, found: Object, is_placed: bool) -> bool:
        """Whether to patch a field: the API server keeps it, and no scheduled pod depends on it.

        A gang that another controller made may lack fields; once a pod has a node we add none.
        """
        dropped = self.snapshot.pruned.get(kind, frozenset())
        pruned = {path.removeprefix("spec.").split(".")[0].split("[")[0] for path in dropped}
        if key in pruned:
            return False
        return not is_placed or (key in _COUNTS and key in found)


def is_owned_by(held: Whole, uid: str) -> bool:
    """Whether an object of that uid controls a gang object that stays."""
    return held.metadata.controller == uid and not held.metadata.is_leaving


def delete_gang(kind: Kind, held: Whole, why: str) -> Delete:
    """The delete of one object of a gang."""
    metadata = held.metadata
    return Delete(kind, metadata.namespace, metadata.name, metadata.uid, why=why)
