"""
Objects that the operator restores after another client has edited or orphaned them.

The owner: ``kubectl delete --cascade=orphan`` leaves all children running without one. Each API
says which of them were its own; the resourceVersion guards against another owner that comes first.

Labels: those that tell an object's owner and place are restored.

Services: members find each other through the Service's selector, even before they are ready. We
restore these two fields, whichever client changed them; additions, such as a port, do no harm
and stay. We do not edit a Service of another owner.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache

import orjson

from kohort.apis.api import Snapshot
from kohort.apis.facts import Meta, Whole
from kohort.cluster.actions import Action, Patch
from kohort.cluster.objects import Kind, Object, owner_reference
from kohort.cluster.port import Address


def adopt(root: Object, kind: Kind, found: Meta) -> Iterator[Action]:
    """Make the workload the owner of an object that has none."""
    if found.controller or found.is_leaving:
        return
    owners = [owner_reference(root)]
    body = {"ownerReferences": owners, "resourceVersion": found.resource_version}
    address = Address(kind, found.namespace, found.name)
    why = f"{kind.name} {found.name} has lost its owner"
    yield Patch(address, {"metadata": body}, why=why, adopter=owners[0]["uid"])


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


_PUT_BACK = ("publishNotReadyAddresses", "selector")


def put_service_back(
    snapshot: Snapshot, kind: Kind, found: Whole, wanted: Object, owner: str
) -> Iterator[Action]:
    """Patch the fields of a Service of this owner that differ from the spec that we made."""
    name = found.metadata.name
    if found.metadata.controller != owner or found.metadata.is_leaving:
        return
    change = _find_change(wanted, _read_fields(found.raw))
    if change and snapshot.find_put_backs(kind, name).may_repeat:
        address = Address(kind, found.metadata.namespace, name)
        fields = " and ".join(f"spec.{field}" for field in change)
        undoes = f"Service {name}: another client changed {fields}; it is put back"
        body = {"metadata": {"uid": found.metadata.uid}, "spec": change}
        yield Patch(address, body, why=f"{fields} of service {name} differ", undoes=undoes)


@lru_cache(maxsize=16_384)
def _read_fields(raw: bytes) -> Object:
    """The fields of a Service that we own; cached, since each reconcile reads them."""
    spec = orjson.loads(raw).get("spec") or {}
    return {field: spec.get(field) for field in _PUT_BACK}


def _find_change(wanted: Object, found: Object) -> Object:
    change: Object = {}
    for field in _PUT_BACK:
        ours, theirs = wanted[field], found.get(field)
        if ours != theirs:
            # A merge patch keeps the keys that it does not name.
            others = dict.fromkeys(theirs or {}) if isinstance(ours, dict) else {}
            change[field] = {**others, **ours} if isinstance(ours, dict) else ours
    return change
