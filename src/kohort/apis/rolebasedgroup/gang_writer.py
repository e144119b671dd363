"""
Writes to the objects of a gang: which are missing, and which fields of them may be patched.

Counts of members follow the workload while it lives. All other fields stay once a pod of the gang
has a node, and a gang that another controller made is never changed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from kohort.apis.api import Snapshot
from kohort.apis.facts import Whole
from kohort.apis.gangs.changes import find_pruned_fields, is_changed, with_endings
from kohort.apis.gangs.dialect import Dialect
from kohort.cluster.actions import Action, Create, Delete, Patch
from kohort.cluster.objects import Kind, Object, name_of, namespace_of
from kohort.cluster.port import Address

# No other clause comes from a group, but other clients may have set one.
_TAKEN_BACK = ("priorityClassName",)


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
        dialect = self.dialect
        if dialect is None or not is_owned_by(held, owner["uid"]) or not dialect.is_mutable:
            return
        found: Object = held.decode().get("spec") or {}
        asked = (*dialect.counts, *_list_clauses(dialect), *wanted["spec"])
        fixed = find_pruned_fields(self.snapshot.pruned.get(kind, frozenset()))
        if is_placed:
            # A gang that another controller made may lack fields; now we add none.
            fixed |= {key for key in asked if key not in dialect.counts}
            fixed |= {key for key in dialect.counts if key not in found}
        change = {
            key: with_endings(wanted["spec"].get(key), found.get(key))
            for key in dict.fromkeys(asked)
            if key not in fixed and is_changed(wanted["spec"].get(key), found.get(key))
        }
        if change:
            body = {"metadata": {"uid": held.metadata.uid}, "spec": change}
            why = f"{kind.name} {name}: {', '.join(change)} differ"
            yield Patch(Address(kind, namespace, name), body, why=why)


def _list_clauses(dialect: Dialect) -> tuple[str, ...]:
    """The clauses to remove when the user takes them back: others may fill in the rest."""
    return tuple(key for key in dialect.clauses if key in _TAKEN_BACK and key not in dialect.filled)


def is_owned_by(held: Whole, uid: str) -> bool:
    """Whether an object of that uid controls a gang object that stays."""
    return held.metadata.controller == uid and not held.metadata.is_leaving


def delete_gang(kind: Kind, held: Whole, why: str) -> Delete:
    """The delete of one object of a gang."""
    metadata = held.metadata
    return Delete(kind, metadata.namespace, metadata.name, metadata.uid, why=why)
