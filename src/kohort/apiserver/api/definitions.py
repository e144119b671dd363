"""
Custom kinds: the API server serves a resource for each stored CustomResourceDefinition.

The server settles a definition right after each write to it: names are accepted,
the status says so, and its versions are served. A definition that is deleted
takes its objects with it and goes when the last of them has gone.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

from kohort.apiserver.api.context import Context
from kohort.apiserver.api.conversion import FindFields, Said, Versions, VersionView
from kohort.apiserver.api.requests import DeleteOptions, Target, WriteOptions
from kohort.apiserver.api.writes.deletion import CLEANUP, delete, take_turns
from kohort.apiserver.api.writes.pipeline import change
from kohort.apiserver.resources.printers import custom_printer
from kohort.apiserver.resources.resource import Behaviour, Resource, select_fields
from kohort.apiserver.resources.scales import read_scale_paths
from kohort.apiserver.resources.validation.metadata import (
    validate_metadata,
    validate_metadata_update,
    warn_of_finalizers,
)
from kohort.apiserver.schemas.definition.status import status_of
from kohort.apiserver.schemas.jsonpath import compile_path
from kohort.apiserver.schemas.structural.schema import compile_schema
from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.errors import ClusterError
from kohort.cluster.fields import FieldError
from kohort.cluster.kinds import DEFINITION
from kohort.cluster.names import check_subdomain
from kohort.cluster.objects import Kind, Object, is_leaving, is_true, name_of


class _GroupOf(msgspec.Struct):
    """The group of a definition."""

    group: Any = None


class _NamesOf(msgspec.Struct):
    """The names of a definition, decoded without its schema, which may be half a megabyte."""

    spec: _GroupOf = msgspec.field(default_factory=_GroupOf)
    status: dict[str, Any] = {}


T = TypeVar("T")
_names = msgspec.json.Decoder(_NamesOf)
BUCKET = DEFINITION.group_resource
_SERVER = WriteOptions(manager="kube-apiserver")


def serve_all(context: Context) -> None:
    """Serve every definition that the store holds, as after a restart."""
    for entry in context.store.bucket(BUCKET).entries.values():
        _serve(context, entry.decode())


async def settle_all(context: Context) -> None:
    """Continue work on definitions that a kill of the process interrupted."""
    for entry in list(context.store.bucket(BUCKET).entries.values()):
        if entry.is_leaving or not is_true(entry.decode(), "Established"):
            # The server tries again after the next write of the definition.
            with suppress(ClusterError):
                await settle(context, entry.name)


async def settle(context: Context, name: str) -> None:
    """Update the status and the served kind of one definition after a write."""
    entry = context.store.find(BUCKET, ("", name))
    if entry is None:
        context.registry.serve(name, ())
        return
    crd = entry.decode()
    if is_leaving(crd):
        # The write may have removed a broken webhook that its objects wait for.
        _serve(context, crd)
        await _clean_up(context, crd)
        return
    entries = context.store.bucket(BUCKET).entries.values()
    others = [msgspec.to_builtins(_names.decode(e.raw)) for e in entries if e is not entry]
    status = status_of(crd, others, context.stamp())
    target = Target(context.registry.of(DEFINITION), "", name)
    if status != crd.get("status"):
        at_status = Target(target.resource, "", name, "status")
        await change(context, at_status, lambda live: {**live, "status": status}, _SERVER)
        crd["status"] = status
    entry = context.store.find(BUCKET, ("", name))
    assert entry is not None
    # A schema may be a megabyte: it is decoded again only if it was replaced meanwhile.
    is_current = entry.facts.metadata.generation == crd["metadata"].get("generation")
    _serve(context, crd if is_current else entry.decode())


async def _clean_up(context: Context, crd: Object) -> None:
    name = name_of(crd)
    resources = [r for r in context.registry.resources() if r.bucket == name]
    async for entry in take_turns(list(context.store.bucket(name).entries.values())):
        if resources and not entry.is_leaving:
            # A webhook that refuses to delete an object delays the definition, but fails no write.
            with suppress(ClusterError):
                await _delete_object(context, crd, entry, resources[0])
    finalizers = crd["metadata"].get("finalizers") or ()
    if context.store.bucket(name).entries or CLEANUP not in finalizers:
        return
    target = Target(context.registry.of(DEFINITION), "", name)
    await change(context, target, _drop_finalizer, _SERVER)
    if context.store.find(BUCKET, ("", name)) is None:
        context.registry.serve(name, ())


async def _delete_object(
    context: Context, crd: Object, entry: StoredObject, resource: Resource
) -> None:
    """Delete an object without finalizers, even if its webhook cannot convert it."""
    try:
        await delete(context, Target(resource, entry.namespace, entry.name), DeleteOptions())
    except ClusterError:
        is_held = entry.decode()["metadata"].get("finalizers")
        if resource.conversion is None or is_held:
            raise
        bare = _without_webhook(context, crd)
        await delete(context, Target(bare, entry.namespace, entry.name), DeleteOptions())


def _without_webhook(context: Context, crd: Object) -> Resource:
    """The storage version of a kind, converted by renaming the version only."""
    plain = {**crd, "spec": {**crd["spec"], "conversion": {"strategy": "None"}}}
    stored = next(v for v in crd["spec"]["versions"] if v.get("storage"))
    return _resource(plain, stored, _versions_of(context, plain))


def _drop_finalizer(crd: Object) -> Object:
    finalizers = [f for f in crd["metadata"].get("finalizers") or () if f != CLEANUP]
    return {**crd, "metadata": {**crd["metadata"], "finalizers": finalizers}}


async def settle_leaving(context: Context, bucket: str) -> None:
    """After the deletion of a custom object: finish its definition's deletion if it waited."""
    entry = context.store.find(BUCKET, ("", bucket))
    if entry is not None and entry.facts.is_leaving:
        await _clean_up(context, entry.decode())


def _serve(context: Context, crd: Object) -> None:
    served: tuple[Resource, ...] = ()
    if is_true(crd, "Established"):
        versions = _versions_of(context, crd)
        # A client that names no version gets the first one, so that is the storage version.
        ordered = sorted(crd["spec"]["versions"], key=lambda v: not v.get("storage"))
        served = tuple(_resource(crd, v, versions) for v in ordered if v.get("served"))
    context.registry.serve(name_of(crd), served)


def _versions_of(context: Context, crd: Object) -> Versions:
    spec = crd["spec"]
    group, conversion = spec["group"], spec.get("conversion") or {}

    async def ask(obj: Object, api_version: str) -> Said:
        return await context.ask_webhook(conversion, obj, api_version)

    async def aside(size: int, work: Callable[[], T]) -> T:
        return await context.aside(size, work)

    return Versions(
        {f"{group}/{v['name']}": compile_schema(_schema_of(v)) for v in spec["versions"]},
        {f"{group}/{v['name']}": _find_fields(_kind_of(crd, v), v) for v in spec["versions"]},
        next(f"{group}/{v['name']}" for v in spec["versions"] if v.get("storage")),
        ask if conversion.get("strategy") == "Webhook" else None,
        aside,
    )


def _schema_of(version: Object) -> Object:
    schema: Object = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    return schema


def _resource(crd: Object, version: Object, versions: Versions) -> Resource:
    spec, names = crd["spec"], crd["status"]["acceptedNames"]
    kind = _kind_of(crd, version)
    structural = versions.schemas[kind.api_version]
    subresources: Object = version.get("subresources") or {}
    paths = _selectable_paths(version)
    return Resource(
        kind=kind,
        shape=structural.shape,
        printer=custom_printer(version.get("additionalPrinterColumns")),
        behaviour=_behaviour(kind, paths),
        singular=names.get("singular", ""),
        list_kind=names.get("listKind", ""),
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        subresources=tuple(sorted(subresources)),
        scale=read_scale_paths(version),
        storage=name_of(crd),
        has_generation=True,
        deprecation=_deprecation(kind, version),
        fields=tuple(path.removeprefix(".") for path in paths),
        structural=structural,
        schema=_schema_of(version),
        conversion=VersionView(versions, kind.api_version) if len(spec["versions"]) > 1 else None,
    )


def _kind_of(crd: Object, version: Object) -> Kind:
    spec, names = crd["spec"], crd["status"]["acceptedNames"]
    return Kind(
        spec["group"],
        version["name"],
        names["kind"],
        names["plural"],
        namespaced=spec["scope"] == "Namespaced",
    )


def _selectable_paths(version: Object) -> list[str]:
    return [field["jsonPath"] for field in version.get("selectableFields") or ()]


def _find_fields(kind: Kind, version: Object) -> FindFields:
    behaviour = _behaviour(kind, _selectable_paths(version))
    return lambda obj: select_fields(kind, behaviour, obj)


def _deprecation(kind: Kind, version: Object) -> str:
    if not version.get("deprecated"):
        return ""
    said: str | None = version.get("deprecationWarning")
    return f"{kind.api_version} {kind.name} is deprecated" if said is None else said


def _behaviour(kind: Kind, paths: list[str]) -> Behaviour:
    readers = {path.removeprefix("."): compile_path(path) for path in paths}

    def fields(obj: Object) -> Mapping[str, str]:
        return {name: _text(read(obj)) for name, read in readers.items()}

    def validate(obj: Object, old: Object | None) -> list[FieldError]:
        if old is not None:
            return validate_metadata_update(obj, old, is_custom=True)
        return validate_metadata(obj, kind, check_subdomain, is_custom=True)

    return Behaviour(
        validate=validate, validate_status=validate, fields=fields, warn=warn_of_finalizers
    )


def _text(found: list[Any]) -> str:
    if not found or found[0] is None:
        return ""
    return str(found[0]).lower() if isinstance(found[0], bool) else str(found[0])
