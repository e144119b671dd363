"""
Validation of the schema in a definition.

Three looks are taken: at the keywords, at the structure, and, if both are
sound, at the defaults.
"""

from collections.abc import Iterator

from kohort.apiserver.schemas.definition.field_errors import forbidden, invalid
from kohort.apiserver.schemas.definition.schema.defaults import find_default_errors
from kohort.apiserver.schemas.definition.schema.keywords import (
    Place,
    find_keyword_errors,
    has_no_structure,
)
from kohort.apiserver.schemas.definition.schema.structure import find_structure_errors
from kohort.cluster.fields import FieldError
from kohort.cluster.objects import Object

# The keywords that the root of a schema may have beside a status of its own.
_AT_ROOT = (
    "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength "
    "MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties "
    "ExternalDocs Example XPreserveUnknownFields XValidations"
)
_AT_ROOT_KEYS = {name[:1].lower() + name[1:] for name in _AT_ROOT.split()} | {
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
    "nullable",
}


def find_schema_errors(schema: Object, path: str, *, has_status: bool) -> Iterator[FieldError]:
    """The errors in the schema of one version."""
    if has_status:
        yield from _find_root_errors(schema, path)
    if schema.get("nullable"):
        yield forbidden(f"{path}.nullable", "nullable cannot be true at the root")
    keywords = [*find_keyword_errors(schema, path, Place())]
    if not has_no_structure(keywords):
        structure = find_structure_errors(schema, path)
        yield from structure
        if not structure and not keywords:
            yield from find_default_errors(schema, path)
    yield from keywords


def _find_root_errors(schema: Object, path: str) -> Iterator[FieldError]:
    type_ = schema.get("type")
    if type_ and type_ != "object":
        yield invalid(
            f"{path}.type",
            type_,
            'only "object" is allowed as the type at the root of the schema if the status '
            "subresource is enabled",
        )
    elif set(schema) - _AT_ROOT_KEYS:
        yield invalid(
            path,
            schema,
            f"only [{_AT_ROOT}] fields are allowed at the root of the schema if the status "
            "subresource is enabled",
        )
