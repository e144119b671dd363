"""
Short ways to say what is wrong with a field of a definition.
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
    """A value is missing."""
    return FieldError(FieldErrorType.REQUIRED, path, detail)


def invalid(path: str, value: Any, detail: str) -> FieldError:
    """A value is wrong."""
    return FieldError(FieldErrorType.INVALID, path, detail, value)


def forbidden(path: str, detail: str) -> FieldError:
    """A value must not be there."""
    return FieldError(FieldErrorType.FORBIDDEN, path, detail)


def unsupported(path: str, value: Any, allowed: list[str]) -> FieldError:
    """A value is none of those that are allowed."""
    detail = "supported values: " + ", ".join(show(entry) for entry in allowed)
    return FieldError(FieldErrorType.NOT_SUPPORTED, path, detail, value)


def find_label_fault(text: str) -> str:
    """What keeps a text from being a DNS label, in words; empty if nothing does."""
    faults = [] if len(text) <= 63 else ["must be no more than 63 bytes"]
    if not _LABEL.fullmatch(text):
        faults.append(_LABEL_TEXT)
    return ",".join(faults)


def find_subdomain_fault(text: str) -> str:
    """What keeps a text from being a DNS subdomain, in words; empty if nothing does."""
    faults = [] if len(text) <= 253 else ["must be no more than 253 bytes"]
    if not _SUBDOMAIN.fullmatch(text):
        faults.append(_SUBDOMAIN_TEXT)
    return ",".join(faults)
