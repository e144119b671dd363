"""
Defaults and validation of CustomResourceDefinitions.

The paths in errors look odd because they are the API's: when all versions agree
on a schema, its errors are reported under ``spec.validation``, as if it had
been written once for all of them; scale and columns likewise.
"""

from kohort.apiserver.schemas.definition.defaults_and_warnings import (
    default_definition,
    warnings_of,
)
from kohort.apiserver.schemas.definition.status import status_of
from kohort.apiserver.schemas.definition.validation import validate_definition
from kohort.apiserver.schemas.definition.versions import validate_scale

__all__ = [
    "default_definition",
    "status_of",
    "validate_definition",
    "validate_scale",
    "warnings_of",
]
