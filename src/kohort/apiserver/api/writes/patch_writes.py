"""
Patches: the patched object is written like an update.

A patch always meets the newest state, so it loses no race unless it names a
version itself. Server-side apply is the one patch that may create.
"""

from kohort.apiserver.api.context import Context
from kohort.apiserver.api.requests import Answer, PatchBody, Target, WriteOptions
from kohort.apiserver.api.writes.decoder import (
    clean_patched,
    encode_patched,
    refuse_patch,
    reword_strategic,
)
from kohort.apiserver.api.writes.metadata import drop_repeated_owners
from kohort.apiserver.api.writes.pipeline import change, create, manager_of
from kohort.apiserver.patches.apply import apply_patch
from kohort.apiserver.patches.json_patch import apply_json_patch
from kohort.apiserver.patches.merge_patch import apply_merge_patch
from kohort.apiserver.patches.ownership import Manager
from kohort.apiserver.resources.resource import Resource
from kohort.apiserver.schemas.raw import find_raw_fields, forget_texts
from kohort.cluster.errors import BadRequest, UnsupportedMediaType, conflict, invalid
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.go_values import spell
from kohort.cluster.objects import Object
from kohort.cluster.port import PatchType
from kohort.cluster.strategic_merge import apply_strategic_patch


async def patch(
    context: Context, target: Target, patch: PatchBody, options: WriteOptions
) -> Answer:
    """Apply a patch to an object, and store the result."""
    if patch.type is PatchType.APPLY:
        return await _apply(context, target, patch, options)
    warnings: list[str] = []

    def wanted(live: Object) -> Object:
        uid, typed = live["metadata"]["uid"], (live["apiVersion"], live["kind"])
        obj = apply_to(target.resource, live, patch)
        obj, found = _clean(target, obj, patch, typed, options)
        warnings.extend(found)
        _check_identity(target, obj)
        _keep_uid(target, obj, uid)
        warnings.extend(drop_repeated_owners(obj["metadata"]))
        return obj

    return await change(context, target, wanted, options, warnings)


def _clean(
    target: Target, obj: Object, patch: PatchBody, typed: tuple[str, str], options: WriteOptions
) -> tuple[Object, list[str]]:
    """The patched object without unknown fields; its kind may not change."""
    if patch.type is PatchType.STRATEGIC:
        shown, reword = spell(patch.content), reword_strategic
        obj, found = clean_patched(target.resource, obj, options.validation, None, (shown, reword))
        obj["apiVersion"], obj["kind"] = typed
        return obj, found
    if (obj.get("apiVersion"), obj.get("kind")) != typed:
        _check_type(target, obj, typed)
    return clean_patched(target.resource, obj, options.validation, _touched(patch))


def _check_type(target: Target, obj: Object, typed: tuple[str, str]) -> None:
    """Refuse a patch after which an object would be of another kind."""
    version, name = obj.get("apiVersion"), obj.get("kind") or typed[1]
    obj["kind"] = name
    if not version:
        raise _nameless(target)
    if target.resource.structural is None:
        if (version, name) != typed and isinstance(version, str) and isinstance(name, str):
            raise refuse_patch(
                f'no kind "{name}" is registered for version "{version}" in scheme '
                '"pkg/runtime/scheme.go:111"',
                encode_patched(obj),
            )
        return
    wrong = [
        FieldError(FieldErrorType.INVALID, field, f"must be {wanted}", given)
        for field, given, wanted in (("kind", name, typed[1]), ("apiVersion", version, typed[0]))
        if given != wanted
    ]
    if wrong:
        raise invalid(str(name), target.resource.kind.group, target.name, wrong)


def _nameless(target: Target) -> BadRequest:
    why = "was undeterminable: name must be provided"
    return BadRequest(f"the name of the object ({target.name} based on URL) {why}")


def _touched(patch: PatchBody) -> tuple[str, ...] | None:
    """The top-level fields that a patch can change; None if that is not evident."""
    if patch.type is PatchType.MERGE and isinstance(patch.content, dict):
        return tuple(patch.content)
    return None


def apply_to(resource: Resource, obj: Object, patch: PatchBody) -> Object:
    """The object after a JSON, merge or strategic merge patch."""
    if patch.type is PatchType.JSON:
        return apply_json_patch(obj, patch.content)
    if patch.type is PatchType.MERGE:
        return apply_merge_patch(obj, patch.content)
    if resource.structural is not None:
        raise unsupported_patch(strategic=False)
    obj = forget_texts(obj, find_raw_fields(resource.shape))
    return apply_strategic_patch(obj, patch.content, resource.shape)


def unsupported_patch(*, strategic: bool) -> UnsupportedMediaType:
    """The error for a patch type that the kind does not support."""
    known = [t.value for t in PatchType if strategic or t is not PatchType.STRATEGIC]
    return UnsupportedMediaType(
        "the body of the request was in an unknown format - accepted media types include: "
        + ", ".join(known)
    )


def _check_identity(target: Target, obj: Object) -> None:
    metadata = obj.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not name:
        raise _nameless(target)
    if name != target.name:
        raise BadRequest(
            f"the name of the object ({name}) does not match the name on the URL ({target.name})"
        )


def _keep_uid(target: Target, obj: Object, uid: str) -> None:
    asked = obj["metadata"].get("uid") or uid
    if asked != uid:
        kind = target.resource.kind
        error = FieldError(FieldErrorType.INVALID, "metadata.uid", "field is immutable", asked)
        raise invalid(kind.name, kind.group, target.name, [error])


def _make_applied(
    target: Target, config: Object, manager: Manager, options: WriteOptions
) -> tuple[Object, list[str]]:
    """The object that an applied configuration makes where there is none."""
    made = apply_patch(None, config, target.resource.shape, manager, force=options.force)
    metadata = made.setdefault("metadata", {})
    metadata.setdefault("name", target.name)
    metadata.pop("resourceVersion", None)
    if uid := metadata.get("uid"):
        # The client means an object that it has seen, and that has gone.
        kind = target.resource.kind
        why = f"the provided object specified uid {uid}, and no existing object was found"
        raise conflict(kind.plural, kind.group, target.name, f"uid mismatch: {why}")
    _check_identity(target, made)
    return clean_patched(target.resource, made, options.validation)


async def _apply(
    context: Context, target: Target, patch: PatchBody, options: WriteOptions
) -> Answer:
    config = patch.content
    if not isinstance(config, dict):
        raise BadRequest("an applied configuration must be an object")
    manager = manager_of(context, target, options)
    shape = target.resource.shape
    if context.find(target) is None and not target.subresource:
        made, warnings = await context.aside(
            options.size, lambda: _make_applied(target, config, manager, options)
        )
        answer = await create(context, target, made, options, track=False)
        return Answer(answer.raw, answer.code, (*warnings, *answer.warnings))
    warnings = []

    def wanted(live: Object) -> Object:
        uid = live["metadata"]["uid"]
        live = forget_texts(live, find_raw_fields(shape))
        obj = apply_patch(live, config, shape, manager, force=options.force)
        if obj is live:
            return obj
        _keep_uid(target, obj, uid)
        obj, found = clean_patched(target.resource, obj, options.validation)
        warnings.extend(found)
        _check_identity(target, obj)
        return obj

    return await change(context, target, wanted, options, warnings, track=False)
