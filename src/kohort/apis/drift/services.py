"""
Services that another client edited.

Members find each other through the Service's selector, even before they are ready. We restore
these two fields, whichever client changed them; additions, such as a port, do no harm
and stay. We do not edit a Service of another owner.
"""

from collections.abc import Iterator
from functools import lru_cache

import orjson

from kohort.apis.api import Snapshot
from kohort.apis.facts import Whole
from kohort.cluster.actions import Action, Patch
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Address

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
