"""
Storing: the last step of a write, in the version in which objects of the kind are stored.

To get there, a webhook may have to be asked, and asked again for the answer. What was
written meanwhile is found out after that; from there on nobody is waited for until the
object is stored. An object that was stored in another version is stored anew by any write,
even one that changes nothing else.
"""

from kohort.cluster.objects import Object
from kohort.simulator.api.context import (
    Context,
    encode,
    load_stored,
    show,
    to_storage,
    write,
    writer_of,
)
from kohort.simulator.api.requests import Target
from kohort.simulator.resources.resource import Resource, select_fields
from kohort.simulator.store.entries import StoredObject
from kohort.simulator.store.store import Write


async def commit(
    context: Context, target: Target, obj: Object, entry: StoredObject, dry_run: bool
) -> bytes | None:
    """
    Store a new version, or remove what only waited for this. No change is no write.

    Nothing is stored, and nothing answered, if the entry is no longer the newest.
    """
    resource = target.resource
    stored = await to_storage(resource, obj)
    if context.find(target) is not entry:
        return None
    stored["metadata"]["resourceVersion"] = str(entry.rv)
    text = write(resource, stored)
    if text == entry.raw:
        # The same bytes would be stored again: equal objects are written equally.
        return await show(resource, entry)
    if _is_finished(stored) and not dry_run:
        # Watchers see what was stored last; only who asked sees that nothing holds it any more.
        last, home = load_stored(resource, entry), context.store
        home.remove(resource.bucket, entry.key, last, entry.fields, writer_of(resource))
        return write(resource, obj)
    if dry_run:
        return await _rehearse(resource, stored, obj)
    how = writer_of(resource) if resource.structural is not None else _restamp(text, entry.rv)
    return await put(context, target, stored, how)


def _restamp(text: bytes, version: int) -> Write:
    """How to write an object that was written with another version: only that differs.

    In the metadata of a built-in object the version stands before all that users choose
    names for, so the first one found is the right one.
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
    """Store an object that was not there, in the version in which it is stored."""
    if dry_run:
        return await _rehearse(target.resource, stored, obj)
    return await put(context, target, stored)


async def _rehearse(resource: Resource, stored: Object, obj: Object) -> bytes:
    """What would be answered: what is converted to be stored is converted back to be shown."""
    if resource.conversion is not None:
        obj = await resource.conversion.convert(stored, resource.kind.api_version)
    return write(resource, obj)


async def put(context: Context, target: Target, stored: Object, how: Write | None = None) -> bytes:
    """Store an object that is in its version; the answer is in that of the request."""
    resource = target.resource
    fields = selectable_fields(resource, stored)
    key = (target.namespace, stored["metadata"]["name"])
    entry = context.store.put(resource.bucket, key, stored, fields, how or writer_of(resource))
    if resource.conversion is None:
        return encode(resource, entry)
    return await show(resource, entry)


def selectable_fields(resource: Resource, obj: Object) -> dict[str, str]:
    """The values that field selectors can ask for, in the version in which the object is."""
    if resource.conversion is not None:
        return resource.conversion.find_fields(obj)
    return select_fields(resource.kind, resource.behaviour, obj)
