"""
From a body to an object: unknown fields are refused, reported or dropped.

Built-in kinds drop what their type does not have, custom kinds what their schema
does not name. What a client is told of it is its own choice (fieldValidation).
"""

from collections.abc import Iterable

import orjson

from kohort.cluster.errors import invalid
from kohort.cluster.fields import Fault, FieldError
from kohort.cluster.objects import Object
from kohort.simulator.api.requests import Validation
from kohort.simulator.resources.resource import Resource
from kohort.simulator.schemas import strict
from kohort.simulator.schemas.builtin import load_definition
from kohort.simulator.schemas.structural.filling import copy_json

_METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


def clean(
    resource: Resource, obj: Object, validation: Validation, raw: bytes | None = None
) -> tuple[Object, list[str]]:
    """The object without what its kind does not know, and warnings; strictness raises."""
    looked_at = None if validation is Validation.IGNORE else raw
    try:
        obj, problems = _read(resource, obj, looked_at)
    except strict.Unreadable as error:
        raise strict.refuse_unreadable(obj, resource.kind.name, error) from None
    if validation is Validation.IGNORE:
        return obj, []
    if problems and validation is Validation.STRICT:
        raise strict.refuse_strictly(obj, resource.kind.name, problems)
    return obj, list(problems)


def clean_patched(
    resource: Resource,
    obj: Object,
    validation: Validation,
    touched: Iterable[str] | None = None,
) -> tuple[Object, list[str]]:
    """The same for what a patch made of an object: whatever is wrong, is wrong with the patch.

    ``touched`` are the fields that the patch can have changed, if that is known.
    """
    shown = obj if validation is not Validation.STRICT else copy_json(obj)
    try:
        if touched is None or resource.structural is not None:
            obj, problems = _read(resource, obj, None)
        else:
            obj, problems = strict.read_fields(obj, resource.shape, touched)
    except strict.Unreadable as error:
        raise _bad_patch(shown, str(error)) from None
    if problems and validation is Validation.STRICT:
        raise _bad_patch(shown, strict.strict_text(problems))
    return obj, [] if validation is Validation.IGNORE else list(problems)


def _bad_patch(obj: Object, why: str) -> Exception:
    value = orjson.dumps(obj).decode()
    return invalid("", "", "", [FieldError(Fault.INVALID, "patch", why, value)])


def _read(
    resource: Resource, obj: Object, raw: bytes | None
) -> tuple[Object, tuple[str, ...] | list[str]]:
    if resource.structural is None:
        return strict.read_object(obj, resource.shape, raw)
    problems: list[str] = [] if raw is None else strict.find_duplicates(raw)
    metadata = obj.get("metadata")
    if isinstance(metadata, dict):
        shape = load_definition(_METADATA)
        obj["metadata"], unknown = strict.read_object(metadata, shape, None, "metadata")
        problems.extend(unknown)
    problems.extend(f'unknown field "{path}"' for path in resource.structural.prune(obj))
    return obj, problems
