"""
The last step of a write: convert to the storage version, and store.

The conversion to the storage version may call a webhook, and so may the conversion back for
the answer. After the first one, the server checks whether another request has written the
object meanwhile; between that check and the store nothing is awaited. Any write stores an
object anew that was stored in another version, even if nothing else changes.
"""

from kohort.apiserver.api.context import (
    Context,
    encode,
    load_stored,
    show,
    to_storage,
    write,
    writer_of,
)
from kohort.apiserver.api.requests import Target
from kohort.apiserver.resources.resource import Resource, select_fields
from kohort.apiserver.store.entries import StoredObject
from kohort.apiserver.store.store import Write
from kohort.cluster.objects import Object


async def commit(
    context: Context, target: Target, obj: Object, entry: StoredObject, dry_run: bool
) -> bytes | None:
    """
    Store a changed object, or remove it if its last finalizer is gone; no change, no write.

    Returns None and stores nothing if another request has written the object since.
    """
    resource = target.resource
    stored = await to_storage(resource, obj)
    if context.find(target) is not entry:
        return None
    stored["metadata"]["resourceVersion"] = str(entry.rv)
    text = write(resource, stored)
    if text == entry.raw:
        # Equal objects have equal bytes, so there is nothing to store.
        return await show(resource, entry)
    if _is_finished(stored) and not dry_run:
        # Watchers get the last stored state; only this client sees the removal of the finalizer.
        last, home = load_stored(resource, entry), context.store
        home.remove(resource.bucket, entry.key, last, entry.fields, writer_of(resource))
        return write(resource, obj)
    if dry_run:
        return await _rehearse(resource, stored, obj)
    how = writer_of(resource) if resource.structural is not None else _restamp(text, entry.rv)
    return await put(context, target, stored, how)


def _restamp(text: bytes, version: int) -> Write:
    """A writer that replaces only the resourceVersion in the encoded object.

    In the metadata of a built-in object the version comes before all fields in which users
    choose keys, so the first text found is the version.
    """
    before = b'"resourceVersion":"%d"' % version

    def write_again(obj: Object) -> bytes:
        now = b'"resourceVersion":"%s"' % obj["metadata"]["resourceVersion"].encode()
        return text.replace(before, now, 1)

    return write_again


def _is_finished(obj: Object) -> bool:
    metadata = obj["metadata"]
    return (
        "deletionTimestamp" in metadata
        and not metadata.get("finalizers")
        and not metadata.get("deletionGracePeriodSeconds")
        and not (obj["kind"] == "Namespace" and obj["spec"].get("finalizers"))
    )


async def store_new(
    context: Context, target: Target, stored: Object, obj: Object, dry_run: bool
) -> bytes:
    """Store a new object in its storage version."""
    if dry_run:
        return await _rehearse(target.resource, stored, obj)
    return await put(context, target, stored)


async def _rehearse(resource: Resource, stored: Object, obj: Object) -> bytes:
    """The response to a dry run: the object converted to the storage version and back."""
    if resource.conversion is not None:
        obj = await resource.conversion.convert(stored, resource.kind.api_version)
    return write(resource, obj)


async def put(context: Context, target: Target, stored: Object, how: Write | None = None) -> bytes:
    """Store an object in its storage version; returns it in the version of the request."""
    resource = target.resource
    fields = selectable_fields(resource, stored)
    key = (target.namespace, stored["metadata"]["name"])
    entry = context.store.put(resource.bucket, key, stored, fields, how or writer_of(resource))
    if resource.conversion is None:
        return encode(resource, entry)
    return await show(resource, entry)


def selectable_fields(resource: Resource, obj: Object) -> dict[str, str]:
    """The values for field selectors, from an object in any version."""
    if resource.conversion is not None:
        return resource.conversion.find_fields(obj)
    return select_fields(resource.kind, resource.behaviour, obj)
