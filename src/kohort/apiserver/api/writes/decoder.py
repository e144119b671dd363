"""
From a body to an object: unknown fields are refused, reported or dropped.

Built-in kinds drop fields that their type does not have, custom kinds fields that their
schema does not declare. The client chooses by ``fieldValidation`` whether such fields
are refused, reported in warnings, or dropped silently.
"""

import re
from collections.abc import Callable, Iterable

from kohort.apiserver.api.requests import Validation
from kohort.apiserver.resources.resource import Resource
from kohort.apiserver.schemas import strict
from kohort.apiserver.schemas.builtin import load_definition
from kohort.apiserver.schemas.raw import find_raw_fields, keep_texts
from kohort.apiserver.schemas.structural.defaults import copy_json
from kohort.cluster.errors import invalid
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.objects import Object, encode_json

_MISFIT = re.compile(
    r"json: cannot unmarshal (\w+)(?: (\S+))? into Go struct field \S+ of type (\S+)"
)
_GO_KINDS = {"array": "slice", "object": "map"}
_METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


def clean(
    resource: Resource, obj: Object, validation: Validation, raw: bytes | None = None
) -> tuple[Object, list[str]]:
    """The object without unknown fields, and warnings about them; raises under Strict."""
    if raw is not None and (fields := find_raw_fields(resource.shape)):
        obj = keep_texts(obj, raw, fields)
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
    words: tuple[str, Callable[[str], str]] | None = None,
) -> tuple[Object, list[str]]:
    """As ``clean``, for a patched object: the errors blame the patch.

    ``touched`` are the fields that the patch can have changed, if that is known. ``words``
    are the patch as errors quote it, and a function that rewords an error; without them,
    errors quote the patched object.
    """
    shown = obj if words or validation is not Validation.STRICT else copy_json(obj)
    try:
        if touched is None or resource.structural is not None:
            obj, problems = _read(resource, obj, None)
        else:
            obj, problems = strict.read_fields(obj, resource.shape, touched)
    except strict.Unreadable as error:
        why = words[1](str(error)) if words else str(error)
        raise refuse_patch(why, words[0] if words else encode_patched(shown)) from None
    if problems and validation is Validation.STRICT:
        why = strict.strict_text(problems)
        raise refuse_patch(why, words[0] if words else encode_patched(shown))
    return obj, [] if validation is Validation.IGNORE else list(problems)


def refuse_patch(why: str, shown: str) -> Exception:
    """The error for a patch whose result is no object of its kind."""
    return invalid("", "", "", [FieldError(FieldErrorType.INVALID, "patch", why, shown)])


def encode_patched(obj: Object) -> str:
    """The patched object as the error message shows it to the client."""
    return encode_json(obj).decode()


def reword_strategic(text: str) -> str:
    """An error's text as the server words it for strategic merges, which read maps, not JSON."""
    if not (found := _MISFIT.fullmatch(text)):
        return text
    given, number, wanted = found.groups()
    if given == "number":
        given = "float64" if number and not number.lstrip("-").isdigit() else "int64"
    given = _GO_KINDS.get(given, given)
    for start, kind in (("[]", "slice from"), ("map[", "map from")):
        if wanted.startswith(start):
            return f"cannot restore {kind} {given}"
    if "." in wanted:
        return f"cannot restore struct from: {given}"
    return _reword_scalar(text, given, wanted)


def _reword_scalar(text: str, given: str, wanted: str) -> str:
    if given == "int64" and wanted.startswith("int"):
        return text  # It is too large, which only these words say.
    if (given, wanted) == ("int64", "string") or (given == "float64" and wanted.startswith("int")):
        return f"cannot convert {given} to {wanted}"
    return f"unrecognized type: {wanted}"


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
