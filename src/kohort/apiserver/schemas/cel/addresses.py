"""
URLs, IP addresses and networks: the functions that expressions call on them.
"""

from collections.abc import Callable
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv6Address,
    IPv6Interface,
    ip_address,
    ip_interface,
)
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from kohort.cluster.fields import show

_Address = IPv4Address | IPv6Address
_Interface = IPv4Interface | IPv6Interface
_URL, _IP, _CIDR = "kohort.url", "kohort.ip", "kohort.cidr"


def _parse_url(text: str) -> SplitResult:
    parts = urlsplit(text)
    if not text or any(char.isspace() for char in text):
        raise ValueError(f'URL parse error during conversion from string: parse "{text}"')
    if not parts.scheme and not text.startswith("/"):
        raise ValueError(f'parse "{text}": invalid URI for request')
    return parts


def make_url(text: str) -> dict[str, str]:
    """A URL from its text."""
    _parse_url(text)
    return {_URL: text}


def is_url(text: str) -> bool:
    """Whether a text is a URL."""
    try:
        _parse_url(text)
    except ValueError:
        return False
    return True


def _segment(read: Callable[[SplitResult], str | None]) -> Callable[[dict[str, str]], str]:
    return lambda value: read(urlsplit(value[_URL])) or ""


URL_PARTS: dict[str, Callable[[dict[str, str]], str]] = {
    "getScheme": _segment(lambda url: url.scheme),
    "getHost": _segment(lambda url: url.netloc.rpartition("@")[2]),
    "getHostname": _segment(lambda url: url.hostname),
    "getPort": _segment(lambda url: str(url.port) if url.port is not None else ""),
    "getEscapedPath": _segment(lambda url: url.path),
}


def read_query(value: dict[str, str]) -> dict[str, list[str]]:
    """The parameters of a URL."""
    return parse_qs(urlsplit(value[_URL]).query, keep_blank_values=True)


def _parse_ip(text: str) -> _Address:
    found = ip_address(text)
    if "%" in text or (isinstance(found, IPv6Address) and found.ipv4_mapped is not None):
        raise ValueError(f"IP Address {text!r} parse error during conversion from string")
    return found


def make_ip(text: str) -> dict[str, str]:
    """An address from its text."""
    return {_IP: str(_parse_ip(text))}


def is_ip(text: str) -> bool:
    """Whether a text is an address."""
    try:
        _parse_ip(text)
    except ValueError:
        return False
    return True


def is_canonical(text: str) -> bool:
    """Whether an address is written in its shortest form."""
    return str(_parse_ip(text)) == text


def _read_ip(value: Any) -> _Address:
    return _parse_ip(value if isinstance(value, str) else value[_IP])


def read_ip_version(value: dict[str, str]) -> int:
    """The IP version of an address: 4 or 6."""
    return _read_ip(value).version


IP_TESTS: dict[str, Callable[[dict[str, str]], bool]] = {
    "isUnspecified": lambda value: _read_ip(value).is_unspecified,
    "isLoopback": lambda value: _read_ip(value).is_loopback,
    "isLinkLocalMulticast": lambda value: _is_local_multicast(_read_ip(value)),
    "isLinkLocalUnicast": lambda value: _read_ip(value).is_link_local,
    "isGlobalUnicast": lambda value: _is_global(_read_ip(value)),
}


def _is_local_multicast(address: _Address) -> bool:
    if address.version == 4:
        return str(address).startswith("224.0.0.")
    return address.is_multicast and address.packed[1] & 0x0F == 2


def _is_global(address: _Address) -> bool:
    special = address.is_unspecified or address.is_loopback or address.is_multicast
    return not special and not address.is_link_local and str(address) != "255.255.255.255"


def _parse_cidr(text: str) -> _Interface:
    if "/" not in text:
        why = "network address parse error during conversion from string: "
        raise ValueError(f"{why}{why}netip.ParsePrefix({show(text)}): no '/'")
    return ip_interface(text)


def make_cidr(text: str) -> dict[str, str]:
    """A network from its text."""
    return {_CIDR: str(_parse_cidr(text))}


def is_cidr(text: str) -> bool:
    """Whether a text is a network."""
    try:
        _parse_cidr(text)
    except ValueError:
        return False
    return True


def _read_cidr(value: Any) -> _Interface:
    return _parse_cidr(value if isinstance(value, str) else value[_CIDR])


def contains_ip(value: dict[str, str], address: Any) -> bool:
    """Whether an address lies in a network."""
    return _read_ip(address) in _read_cidr(value).network


def contains_cidr(value: dict[str, str], other: Any) -> bool:
    """Whether a network lies in another."""
    outer, inner = _read_cidr(value).network, _read_cidr(other).network
    same = outer.version == inner.version
    return same and inner.prefixlen >= outer.prefixlen and inner.network_address in outer


def read_network(value: dict[str, str]) -> dict[str, str]:
    """The address of a network, as it was written."""
    return {_IP: str(_read_cidr(value).ip)}


def mask(value: dict[str, str]) -> dict[str, str]:
    """The network with the bits of the host cleared."""
    return {_CIDR: str(_read_cidr(value).network)}


def read_prefix(value: dict[str, str]) -> int:
    """How many bits of a network are fixed."""
    return _read_cidr(value).network.prefixlen
