"""
The gate: access control of the dashboard by token, cookie and Host header.

A page must know the token that was printed at the start. The token works once: it is exchanged for
a cookie, which the browser sends from then on. The Host header must name this machine, so that a
foreign page cannot reach us under a name of its own; the Origin header must name the page that we
served, so that a foreign page cannot act with the cookie.
"""

import hmac
import secrets
from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

_LOCAL_NAMES = ("localhost",)
SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
NO_TOKEN = (
    "This page needs the token that was printed when the dashboard started: open the whole URL, "
    "with ?token=..., once in this browser. 'kohort dashboard' starts a page with a new token."
)
_USED_TOKEN = (
    "The token in this URL has been used; it works once. In the browser that used it, open this "
    "page without ?token=... . For another browser, run 'kohort dashboard': it starts a page with "
    "a new token and prints its URL."
)
_WRONG_TOKEN = (
    "The token in this URL is not the one of this page: it may be of an earlier start. Open the "
    "URL that was printed last, or run 'kohort dashboard', which starts a page with a new token."
)


class Gate:
    """The token, the cookie, and the names under which the dashboard may be reached."""

    def __init__(self, address: str, allowed_hosts: tuple[str, ...] = ()) -> None:
        self.token = secrets.token_urlsafe(24)
        self.cookie = f"kohort-dashboard-{secrets.token_hex(4)}"
        self._secret = secrets.token_urlsafe(32)
        self._is_token_used = False
        self._is_local = _is_loopback(address)
        self._allowed = {name.lower() for name in (*_LOCAL_NAMES, *allowed_hosts)}

    def exchange(self, token: str) -> str:
        """The cookie's value for a token; None if the token is wrong or was used."""
        if self._is_token_used or not _are_equal(token, self.token):
            return ""
        self._is_token_used = True
        return self._secret

    def explain(self, token: str) -> str:
        """Why a token was not exchanged, and what to do."""
        if not token:
            return NO_TOKEN
        return _USED_TOKEN if _are_equal(token, self.token) else _WRONG_TOKEN

    def knows(self, cookies: Mapping[str, str]) -> bool:
        """Whether a browser has exchanged the token."""
        found = cookies.get(self.cookie, "")
        return _are_equal(found, self._secret)

    def find_fault(self, method: str, headers: Mapping[str, str]) -> str:
        """Why the headers of a request are refused; None if they are accepted."""
        host = headers.get("Host", "")
        if not self._is_own_host(host):
            return f"the host {host!r} is not served here: allow it with --allowed-host"
        origin = headers.get("Origin")
        is_read = method in ("GET", "HEAD")
        if origin is None:
            return "" if is_read else "a request that changes something must say its origin"
        if _find_netloc(origin) != host.lower():
            return f"the origin {origin!r} is not that of this page"
        return ""

    def _is_own_host(self, host: str) -> bool:
        try:
            name = (urlsplit(f"//{host}").hostname or "").lower()
            if not name:
                return False
            if name in self._allowed:
                return True
            # Unlike a host name, an IP address cannot be rebound by a foreign DNS server.
            return _is_loopback(name) if self._is_local else bool(ip_address(name))
        except ValueError:
            return False


def _are_equal(told: str, known: str) -> bool:
    """Compare in constant time; a header may hold bytes that are no text."""
    return hmac.compare_digest(told.encode(errors="surrogatepass"), known.encode())


def _find_netloc(origin: str) -> str:
    """The host and port of an origin; None if it is no URL."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _is_loopback(address: str) -> bool:
    if address in _LOCAL_NAMES:
        return True
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
