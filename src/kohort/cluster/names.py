"""
The rules for names, labels and annotations, and the words in which a server explains them.

Each function returns the list of things that are wrong with a text, empty when
it is fine, so that callers can put them on whatever field they are checking.
"""

import re

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_SERVICE = "[a-z]([-a-z0-9]*[a-z0-9])?"

_label = re.compile(rf"^{_LABEL}\Z")
_subdomain = re.compile(rf"^{_SUBDOMAIN}\Z")
_qualified = re.compile(rf"^{_QUALIFIED}\Z")
_service = re.compile(rf"^{_SERVICE}\Z")

_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    f"for validation is '{_SUBDOMAIN.replace('([-', '([-')}')"
)
_LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    f"for validation is '{_LABEL}')"
)
_SERVICE_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
    f"'abc-123', regex used for validation is '{_SERVICE}')"
)
_NAME_TEXT = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    f"validation is '{_QUALIFIED}')"
)
_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
    f"'my_value',  or '12345', regex used for validation is '(({_QUALIFIED[1:]}')"
)


def _too_long(limit: int) -> str:
    return f"must be no more than {limit} characters"


def explain_subdomain(text: str) -> list[str]:
    """What is wrong with a name of up to 253 characters with dots."""
    problems = [_too_long(253)] if len(text) > 253 else []
    return problems if _subdomain.match(text) else [*problems, _SUBDOMAIN_TEXT]


def explain_label(text: str) -> list[str]:
    """What is wrong with a name of up to 63 characters without dots."""
    problems = [_too_long(63)] if len(text) > 63 else []
    return problems if _label.match(text) else [*problems, _LABEL_TEXT]


def explain_service_name(text: str) -> list[str]:
    """What is wrong with the name of a service: a label that starts with a letter."""
    problems = [_too_long(63)] if len(text) > 63 else []
    return problems if _service.match(text) else [*problems, _SERVICE_TEXT]


def explain_qualified_name(text: str) -> list[str]:
    """What is wrong with the key of a label or annotation."""
    prefix, slash, name = text.rpartition("/")
    problems: list[str] = []
    if slash and "/" in prefix:
        return [
            f"a qualified name {_NAME_TEXT[len('name part ') :]} with an optional DNS subdomain "
            "prefix and '/' (e.g. 'example.com/MyName')"
        ]
    if slash and not prefix:
        problems.append("prefix part must be non-empty")
    elif slash:
        problems += [f"prefix part {why}" for why in explain_subdomain(prefix)]
    if not name:
        problems.append("name part must be non-empty")
    elif len(name) > 63:
        problems.append(f"name part {_too_long(63)}")
    return problems if _qualified.match(name) else [*problems, _NAME_TEXT]


def explain_label_value(text: str) -> list[str]:
    """What is wrong with the value of a label."""
    problems = [_too_long(63)] if len(text) > 63 else []
    return problems if not text or _qualified.match(text) else [*problems, _VALUE_TEXT]
