"""
Revisions: which template a group was made from, and the key that says so.

The key is a hash over the template and the network policy as the upstream controller
serialises them. Clients recompute it, and every pod carries it, so a single different byte
would roll every set that Kohort takes over. Two revisions are compared by their meaning,
not by their bytes: earlier controllers wrote the same template in other bytes.
"""

from functools import lru_cache

import orjson

from kohort.apis.facts import Whole
from kohort.apis.gojson import write_bytes
from kohort.apis.leaderworkerset import labels, names
from kohort.apis.leaderworkerset.gojson import NETWORK, TEMPLATE, write_typed
from kohort.apis.leaderworkerset.spec import SHARED, spec_of
from kohort.apis.revision_hash import hash_revision
from kohort.cluster.objects import Object, labels_of, name_of, namespace_of, owner_reference

_PARTS = ("leaderWorkerTemplate", "networkConfig")
_MARKER = "$patch"


def revision_data(lws: Object) -> bytes:
    """The revision of an object as stored: a patch that replaces template and network."""
    spec = spec_of(lws)
    template = write_typed(TEMPLATE, spec.get("leaderWorkerTemplate"))
    network = write_typed(NETWORK, spec.get("networkConfig") or {"subdomainPolicy": SHARED})
    parts = zip(_PARTS, (template, network), strict=True)
    return write_bytes({"spec": {part: {**value, _MARKER: "replace"} for part, value in parts}})


def key_of(obj: Object) -> str:
    """The revision key in an object's labels, or nothing."""
    return labels_of(obj).get(labels.REVISION, "")


def same_revision(lws: Object, stored: bytes | Object) -> bool:
    """Whether the object's template and network equal those of the stored revision."""
    data = revision_data(lws)
    if isinstance(stored, bytes):
        if stored == data:
            return True
        stored = {"data": orjson.loads(stored)}
    return revision_data(apply_revision(lws, stored)) == data


def apply_revision(lws: Object, revision: Object) -> Object:
    """The object with template and network of a revision, and all other fields as they are now."""
    patch = (revision.get("data") or {}).get("spec") or {}
    stored = {part: _without_marker(patch[part]) for part in _PARTS if part in patch}
    return {**lws, "spec": {**spec_of(lws), **stored}}


def is_readable(revision: Whole) -> bool:
    """Whether a ControllerRevision holds a template that we can read."""
    return _is_readable(revision.raw)


@lru_cache(maxsize=4096)
def _is_readable(raw: bytes) -> bool:
    try:
        stored = orjson.loads(raw)
        int(stored.get("revision", 0))
        then = apply_revision({"spec": {}}, stored)
        return bool(then["spec"].get("leaderWorkerTemplate")) and bool(revision_data(then))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False


def make_revision(lws: Object, number: int, key: str | None = None) -> Object:
    """The ControllerRevision to store; ``key`` replaces the hash if a set's revision was lost."""
    data = revision_data(lws)
    own_key = hash_revision(data)
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": names.revision_name(name_of(lws), own_key, number),
            "namespace": namespace_of(lws),
            "labels": {labels.NAME: name_of(lws), labels.REVISION: key or own_key},
            "ownerReferences": [owner_reference(lws)],
        },
        "revision": number,
        "data": orjson.loads(data),
    }


def _without_marker(part: Object | None) -> Object | None:
    return None if part is None else {k: v for k, v in part.items() if k != _MARKER}
