"""Labels that tell an object's owner and place, restored where another client changed them."""

from collections.abc import Iterator, Mapping

from kohort.apis.api import Snapshot
from kohort.apis.facts import Meta
from kohort.cluster.actions import Action, Patch
from kohort.cluster.objects import Kind
from kohort.cluster.port import Address


def put_labels_back(
    snapshot: Snapshot, kind: Kind, metadata: Meta, change: Mapping[str, str | None]
) -> Iterator[Action]:
    """Patch these labels back; no patch during the pause after recent restores of the object."""
    name = metadata.name
    if snapshot.find_put_backs(kind, name).may_repeat:
        named = " and ".join(change)
        undoes = f"{kind.name} {name}: another client changed {named}; it is put back"
        body = {"metadata": {"uid": metadata.uid, "labels": dict(change)}}
        why = f"{named} of {kind.name.lower()} {name} differ"
        yield Patch(Address(kind, metadata.namespace, name), body, why=why, undoes=undoes)
