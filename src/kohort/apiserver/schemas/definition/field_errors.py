"""
Constructors of the field errors in a CustomResourceDefinition, and checks of names.
"""

import re
from typing import Any

from kohort.cluster.fields import FieldError, FieldErrorType, show

_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    r"for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


def required(path: str, detail: str = "") -> FieldError:
    """The error for a missing value."""
    return FieldError(FieldErrorType.REQUIRED, path, detail)


def invalid(path: str, value: Any, detail: str) -> FieldError:
    """The error for an invalid value."""
    return FieldError(FieldErrorType.INVALID, path, detail, value)


def forbidden(path: str, detail: str) -> FieldError:
    """The error for a value that must not be set."""
    return FieldError(FieldErrorType.FORBIDDEN, path, detail)


def unsupported(path: str, value: Any, allowed: list[str]) -> FieldError:
    """The error for a value that is none of the allowed ones."""
    detail = "supported values: " + ", ".join(show(entry) for entry in allowed)
    return FieldError(FieldErrorType.NOT_SUPPORTED, path, detail, value)


def find_label_fault(text: str) -> str:
    """Why a text is no DNS label; empty if it is one."""
    faults = [] if len(text) <= 63 else ["must be no more than 63 bytes"]
    if not _LABEL.fullmatch(text):
        faults.append(_LABEL_TEXT)
    return ",".join(faults)


def find_subdomain_fault(text: str) -> str:
    """Why a text is no DNS subdomain; empty if it is one."""
    faults = [] if len(text) <= 253 else ["must be no more than 253 bytes"]
    if not _SUBDOMAIN.fullmatch(text):
        faults.append(_SUBDOMAIN_TEXT)
    return ",".join(faults)
