"""
Deletion: at once, after a grace period, or when the last finalizer is removed.

An object with finalizers is only marked; the client that removes the last
finalizer, or confirms the end of the grace period, takes it away.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import orjson

from kohort.apiserver.api.admission import Review
from kohort.apiserver.api.context import (
    Context,
    learn,
    load,
    load_stored,
    show,
    write,
    writer_of,
)
from kohort.apiserver.api.reads.pages import encode_item, fetch_entries, item_prefix
from kohort.apiserver.api.requests import SUCCESS, Answer, DeleteOptions, ListOptions, Target
from kohort.apiserver.api.writes.pipeline import MODIFIED, RETRIES_MAX
from kohort.apiserver.api.writes.storage import commit, selectable_fields
from kohort.apiserver.resources.resource import Resource
from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.errors import NotFound, conflict, forbidden
from kohort.cluster.kinds import DEFINITION, JOB, REPLICATION_CONTROLLER
from kohort.cluster.objects import Object, encode_json
from kohort.cluster.timestamps import write_time

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
_IMMORTAL = ("default", "kube-system", "kube-public")
_DELETES_PER_PAUSE = 20
# Timestamps have years of four digits, so a deletionTimestamp beyond that is cut.
_GRACE_SECONDS_SHOWN_MAX = 1_000 * 366 * 24 * 3600
_ORPHAN, _FOREGROUND = "orphan", "foregroundDeletion"
_FINALIZERS = {"Orphan": _ORPHAN, "Foreground": _FOREGROUND}
# For these kinds a delete returns the deleted object; for all others a Status.
_SHOWN = {
    "pods",
    "services",
    "serviceaccounts",
    "persistentvolumeclaims",
    "persistentvolumes",
    "resourcequotas",
    "podtemplates",
    "replicationcontrollers",
}


# Kinds that are older than garbage collection: by default their dependents are orphaned.
_ORPHANING = (JOB.group_resource, REPLICATION_CONTROLLER.group_resource)
_PODS_STAY = (
    "child pods are preserved by default when jobs are deleted; set "
    "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to "
    "suppress this warning"
)


async def delete(context: Context, target: Target, options: DeleteOptions) -> Answer:
    """Delete one object, or set its deletionTimestamp."""
    for _ in range(RETRIES_MAX):
        answer = await _delete(context, target, options)
        if answer is not None:
            return answer
    raise conflict(target.resource.kind.plural, target.resource.kind.group, target.name, MODIFIED)


async def _delete(context: Context, target: Target, options: DeleteOptions) -> Answer | None:
    """Try the deletion; None if another request wrote the object during its conversion."""
    entry = context.expect(target)
    _guard(target, entry, options)
    # A client that cannot read an object, since conversion fails, cannot delete it either.
    await learn(target.resource, (entry,), fresh=True)
    warnings = await _admit(context, target, entry, options)
    if options.propagation is None and target.resource.bucket in _ORPHANING:
        options = replace(options, propagation="Orphan")
        if target.resource.bucket == JOB.group_resource:
            warnings = (*warnings, _PODS_STAY)
    entry = context.expect(target)
    _guard(target, entry, options)
    obj = _load_marked(target.resource, entry)
    before = orjson.dumps(obj)
    grace = _grace_seconds(target, obj, options)
    _mark_finalizers(obj, options.propagation)
    if target.resource.bucket == DEFINITION.group_resource:
        _hold_for_objects(obj)
    if not _may_go(obj, grace):
        _mark_leaving(context, obj, grace)
        if target.resource.bucket == "namespaces":
            obj.setdefault("status", {})["phase"] = "Terminating"
        if orjson.dumps(obj) == before:
            return Answer(await show(target.resource, entry), 200, warnings)
        if target.resource.has_generation:
            obj["metadata"]["generation"] = obj["metadata"].get("generation", 0) + 1
        raw = await commit(context, target, obj, entry, options.dry_run)
        return None if raw is None else Answer(raw, 200, warnings)
    if target.resource.graceful:
        _end_grace(context, target, obj, options.dry_run)
    return Answer(_remove(context, target, obj, options.dry_run), 200, warnings)


async def delete_collection(
    context: Context, target: Target, chosen: ListOptions, options: DeleteOptions
) -> Answer:
    """Delete all selected objects; returns their list."""
    entries = await fetch_entries(context, target, chosen)
    prefix = item_prefix(target.resource)
    shown = [encode_item(target.resource, entry, prefix) for entry in entries]
    async for entry in take_turns(entries):
        one = Target(target.resource, entry.namespace, entry.name)
        # An object that another client deleted meanwhile counts as deleted.
        with suppress(NotFound):
            await delete(context, one, options)
    metadata = {"resourceVersion": str(context.store.revision)}
    if target.resource.structural is not None:
        metadata["continue"] = ""
    body = {
        "kind": target.resource.list_kind or f"{target.resource.kind.name}List",
        "apiVersion": target.resource.kind.api_version,
        "metadata": metadata,
        "items": [orjson.Fragment(raw) for raw in shown],
    }
    return Answer(encode_json(body, sort=target.resource.structural is not None))


def _load_marked(resource: Resource, entry: StoredObject) -> Object:
    """The object whose deletionTimestamp is to be set, unconverted: metadata has one version."""
    return load(resource, entry) if resource.conversion is None else load_stored(resource, entry)


async def take_turns(entries: list[StoredObject]) -> AsyncIterator[StoredObject]:
    """Yield the entries with pauses, so that other requests are served between many of them."""
    for number, entry in enumerate(entries, 1):
        yield entry
        if number % _DELETES_PER_PAUSE == 0:
            await asyncio.sleep(0)


def _guard(target: Target, entry: StoredObject, options: DeleteOptions) -> None:
    kind = target.resource.kind
    if target.resource.bucket == "namespaces" and target.name in _IMMORTAL:
        raise forbidden("namespaces", "", target.name, "this namespace may not be deleted")
    if options.uid and options.uid != entry.uid:
        why = (
            f"the UID in the precondition ({options.uid}) does not match the UID in record "
            f"({entry.uid}). The object might have been deleted and then recreated"
        )
        raise conflict(kind.name, kind.group, target.name, why)
    if options.resource_version and options.resource_version != str(entry.rv):
        why = (
            f"the ResourceVersion in the precondition ({options.resource_version}) does not match "
            f"the ResourceVersion in record ({entry.rv}). The object might have been modified"
        )
        raise conflict(kind.name, kind.group, target.name, why)


async def _admit(
    context: Context, target: Target, entry: StoredObject, options: DeleteOptions
) -> tuple[str, ...]:
    if not context.admission.concerns("DELETE", target):
        return ()
    old = load(target.resource, entry)
    review = Review("DELETE", target, None, old, options.user, options.dry_run)
    await context.admission.validate(review)
    return tuple(review.warnings)


def _grace_seconds(target: Target, obj: Object, options: DeleteOptions) -> int:
    if not target.resource.graceful:
        return 0
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    if not spec.get("nodeName") or status.get("phase") in ("Succeeded", "Failed"):
        return 0
    wanted = options.grace_seconds
    if wanted is None:
        wanted = spec.get("terminationGracePeriodSeconds", 30)
    if wanted < 0:
        wanted = 1
    if "deletionTimestamp" in obj["metadata"]:
        return min(wanted, obj["metadata"].get("deletionGracePeriodSeconds") or 0)
    return int(wanted)


def _mark_finalizers(obj: Object, propagation: str | None) -> None:
    if propagation is None:
        return
    metadata = obj["metadata"]
    kept = [f for f in metadata.get("finalizers") or () if f not in _FINALIZERS.values()]
    if propagation in _FINALIZERS:
        kept.append(_FINALIZERS[propagation])
    if kept:
        metadata["finalizers"] = kept
    else:
        metadata.pop("finalizers", None)


def _hold_for_objects(definition: Object) -> None:
    """Add the finalizer that keeps a definition until all objects of its kind are deleted."""
    metadata = definition["metadata"]
    finalizers = metadata.get("finalizers") or []
    if CLEANUP not in finalizers:
        metadata["finalizers"] = [*finalizers, CLEANUP]


def _may_go(obj: Object, grace: int) -> bool:
    held = obj["metadata"].get("finalizers")
    if obj["kind"] == "Namespace":
        held = held or (obj.get("spec") or {}).get("finalizers")
    return not held and grace == 0


def _mark_leaving(context: Context, obj: Object, grace: int) -> None:
    metadata = obj["metadata"]
    was = metadata.get("deletionGracePeriodSeconds")
    if "deletionTimestamp" in metadata and was is not None and was <= grace:
        return
    when = context.clock() + timedelta(seconds=min(grace, _GRACE_SECONDS_SHOWN_MAX))
    metadata["deletionTimestamp"] = write_time(when)
    metadata["deletionGracePeriodSeconds"] = grace


def _end_grace(context: Context, target: Target, obj: Object, dry_run: bool) -> None:
    """Set a pod's deletionTimestamp before it is removed at once, so that watchers see both."""
    metadata = obj["metadata"]
    if metadata.get("deletionGracePeriodSeconds") == 0:
        return
    if "deletionTimestamp" not in metadata:
        metadata["generation"] = metadata.get("generation", 0) + 1
    _mark_leaving(context, obj, 0)
    if not dry_run:
        fields = selectable_fields(target.resource, obj)
        key, how = (target.namespace, target.name), writer_of(target.resource)
        context.store.put(target.resource.bucket, key, obj, fields, how)


def _remove(context: Context, target: Target, obj: Object, dry_run: bool) -> bytes:
    resource = target.resource
    if not dry_run:
        stored = resource.to_storage(obj) if resource.to_storage else obj
        fields = selectable_fields(resource, stored)
        key = (target.namespace, target.name)
        context.store.remove(resource.bucket, key, stored, fields, writer_of(resource))
    if resource.kind.group_resource in _SHOWN:
        return write(resource, obj)
    details = {
        "name": target.name,
        **({"group": resource.kind.group} if resource.kind.group else {}),
        "kind": resource.kind.plural,
        "uid": obj["metadata"]["uid"],
    }
    return encode_json({**SUCCESS, "details": details})
