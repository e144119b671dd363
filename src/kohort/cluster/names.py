"""
Validation of names: which texts may name objects, labels or ports, with the API server's errors.

A rule takes a text and returns its errors. Names and label keys repeat from
object to object, so the results are cached.
"""

import re
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address

from kohort.cluster.answer_caches import keep_answers

Rule = Callable[[str], tuple[str, ...]]

_LABEL_PATTERN = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_PATTERN = rf"{_LABEL_PATTERN}(\.{_LABEL_PATTERN})*"
_DNS_1035_PATTERN = "[a-z]([-a-z0-9]*[a-z0-9])?"
_PART_PATTERN = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE_PATTERN = f"({_PART_PATTERN})?"
_KEY_PATTERN = "[-._a-zA-Z0-9]+"

_LABEL = re.compile(_LABEL_PATTERN)
_SUBDOMAIN = re.compile(_SUBDOMAIN_PATTERN)
_DNS_1035 = re.compile(_DNS_1035_PATTERN)
_PART = re.compile(_PART_PATTERN)
_VALUE = re.compile(_VALUE_PATTERN)
_KEY = re.compile(_KEY_PATTERN)
_PORT = re.compile("[-a-z0-9]+")


def _explain(what: str, pattern: str, *examples: str) -> str:
    shown = ",  or ".join(f"'{example}'" for example in examples)
    return f"{what} (e.g. {shown}, regex used for validation is '{pattern}')"


_BAD_LABEL = _explain(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character",
    _LABEL_PATTERN,
    "my-name",
    "123-abc",
)
_BAD_SUBDOMAIN = _explain(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
    "'-' or '.', and must start and end with an alphanumeric character",
    _SUBDOMAIN_PATTERN,
    "example.com",
)
_BAD_DNS_1035 = _explain(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with "
    "an alphabetic character, and end with an alphanumeric character",
    _DNS_1035_PATTERN,
    "my-name",
    "abc-123",
)
_PART_RULE = _explain(
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with "
    "an alphanumeric character",
    _PART_PATTERN,
    "MyName",
    "my.name",
    "123-abc",
)
_BAD_VALUE = _explain(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character",
    _VALUE_PATTERN,
    "MyValue",
    "my_value",
    "12345",
)
_BAD_KEY = _explain(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    _KEY_PATTERN,
    "key.name",
    "KEY_NAME",
    "key-name",
)
BAD_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"


@keep_answers(8192)
def check_subdomain(name: str) -> tuple[str, ...]:
    """Errors of a DNS subdomain, the name of most objects: labels with dots between them."""
    return (*_too_long(name, 253), *(() if _SUBDOMAIN.fullmatch(name) else (_BAD_SUBDOMAIN,)))


@keep_answers(4096)
def check_label(name: str) -> tuple[str, ...]:
    """Errors of a DNS label, a part of a host name (RFC 1123)."""
    return (*_too_long(name, 63), *(() if _LABEL.fullmatch(name) else (_BAD_LABEL,)))


@keep_answers(1024)
def check_dns_1035(name: str) -> tuple[str, ...]:
    """Errors of a DNS label that must begin with a letter (RFC 1035)."""
    return (*_too_long(name, 63), *(() if _DNS_1035.fullmatch(name) else (_BAD_DNS_1035,)))


@keep_answers(1024)
def check_undotted(name: str) -> tuple[str, ...]:
    """Errors of a DNS label; a dot has a message of its own, since it is the usual mistake."""
    return ("must not contain dots",) if "." in name else check_label(name)


@keep_answers(1024)
def check_path_segment(name: str) -> tuple[str, ...]:
    """Errors of a URL path segment, which names of roles have to be."""
    if name in (".", ".."):
        return (f"may not be '{name}'",)
    return tuple(f"may not contain '{mark}'" for mark in ("/", "%") if mark in name)


@keep_answers(8192)
def check_qualified(key: str) -> tuple[str, ...]:
    """Errors of a label key: a name, perhaps with a domain and a slash before it."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return (
            f"a valid label key {_PART_RULE} with an optional DNS subdomain prefix and '/' "
            "(e.g. 'example.com/MyName')",
        )
    found: list[str] = []
    if slash:
        found += _check_prefix(prefix)
    if not name:
        found.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        found.append("name part must be no more than 63 bytes")
    if not _PART.fullmatch(name):
        found.append(f"name part {_PART_RULE}")
    return tuple(found)


def _check_prefix(prefix: str) -> list[str]:
    if not prefix:
        return ["prefix part must be non-empty"]
    return [f"prefix part {complaint}" for complaint in check_subdomain(prefix)]


@keep_answers(8192)
def check_label_value(value: str) -> tuple[str, ...]:
    """Errors of a label value."""
    found = ("must be no more than 63 bytes",) if len(value.encode()) > 63 else ()
    return (*found, *(() if _VALUE.fullmatch(value) else (_BAD_VALUE,)))


@keep_answers(4096)
def check_config_key(key: str) -> tuple[str, ...]:
    """Errors of a key of a ConfigMap or Secret, which becomes a file name."""
    found = list(_too_long(key, 253))
    if not _KEY.fullmatch(key):
        found.append(_BAD_KEY)
    elif key in (".", ".."):
        found.append(f"must not be '{key}'")
    elif key.startswith(".."):
        found.append("must not start with '..'")
    return tuple(found)


@keep_answers(1024)
def check_port_name(name: str) -> tuple[str, ...]:
    """Errors of a port name."""
    found: list[str] = []
    if len(name) > 15:
        found.append("must be no more than 15 characters")
    if not _PORT.fullmatch(name):
        found.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not any("a" <= letter <= "z" for letter in name):
        found.append("must contain at least one letter (a-z)")
    if "--" in name:
        found.append("must not contain consecutive hyphens")
    if name.startswith("-") or name.endswith("-"):
        found.append("must not begin or end with a hyphen")
    return tuple(found)


@keep_answers(1024)
def check_variable(name: str) -> tuple[str, ...]:
    """Errors of the name of an environment variable."""
    if name and all(" " <= letter <= "~" and letter != "=" for letter in name):
        return ()
    return (
        "a valid environment variable name must consist only of printable ASCII characters "
        "other than '='",
    )


def check_port(port: object) -> tuple[str, ...]:
    """Errors of a port number."""
    if isinstance(port, int) and 0 < port < 65536:
        return ()
    return ("must be between 1 and 65535, inclusive",)


def find_address(text: str) -> IPv4Address | IPv6Address | None:
    """The IP address in a text; None if it holds none."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def _too_long(name: str, limit: int) -> tuple[str, ...]:
    return (f"must be no more than {limit} characters",) if len(name) > limit else ()
