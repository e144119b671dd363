"""
How a webhook is called: the interface, which tests replace, the HTTPS client, and their errors.

A simulation puts its own caller here and needs no sockets. The client keeps connections open, and
webhooks that trust the same authorities share them. The texts of errors end up in the answer that
a user reads, so they have the words of a real API server, because people search for those.
"""

import asyncio
import errno
import ssl
from collections.abc import Mapping
from typing import Protocol

import aiohttp
import orjson

from kohort.apiserver.admission.configuration import Webhook
from kohort.cluster.errors import ClusterError, InternalError, KohortError


class CallError(KohortError):
    """A webhook gave no usable response; the text says why."""


class Unreachable(CallError):
    """A webhook could not be reached, or did not answer in time."""


class Caller(Protocol):
    """Sends a review to a webhook."""

    async def __call__(
        self, url: str, body: bytes, ca: bytes, server_name: str, timeout: float
    ) -> bytes:
        """Send a review; returns the response body. Raises ``CallError``.

        Without ``ca`` the authorities of the system are trusted; without ``server_name`` the
        certificate must be for the host in the URL.
        """


def refuse_service(namespace: str, name: str, port: int) -> str:
    """The resolver for a cluster whose Services have no pods: it refuses every Service."""
    raise Unreachable(
        f'service "{name}" in namespace "{namespace}" has nothing behind it in a simulated '
        "cluster; give the webhook a clientConfig.url instead"
    )


def fail(why: str) -> ClusterError:
    """The InternalError for a write that failed because of the server."""
    return InternalError(f"Internal error occurred: {why}", details={"causes": [{"message": why}]})


def fail_call(webhook: Webhook, why: CallError) -> ClusterError:
    """The error for a write whose webhook has failurePolicy Fail and cannot be called."""
    return fail(f'failed calling webhook "{webhook.name}": {why}')


_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, */*",
    "User-Agent": "kube-apiserver-admission",
}
_ANSWERS = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: (
        "the server was unable to return a response in the time allotted, "
        "but may still be processing the request"
    ),
}
_SHOWING_THE_BODY = (403, 406, 415)
ANSWER_BYTES_MAX = 8 << 20  # far more than the largest object that can be stored
_NAME_MISMATCH = (62, 64)  # host name and address, as OpenSSL numbers them
_EXPIRED = (9, 10)


class HttpsCaller:
    """Sends reviews over HTTPS. Close it when it is no longer needed."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None
        self._contexts: dict[bytes, ssl.SSLContext] = {}

    async def __call__(
        self, url: str, body: bytes, ca: bytes, server_name: str, timeout: float
    ) -> bytes:
        """Send a review; returns the response body. Raises ``CallError``."""
        try:
            async with asyncio.timeout(timeout):
                return await self._post_twice(url, body, self._context(ca), server_name)
        except TimeoutError as error:
            raise Unreachable("context deadline exceeded") from error
        except aiohttp.InvalidURL as error:
            raise Unreachable("invalid URL") from error
        except (aiohttp.ClientError, OSError) as error:
            raise Unreachable(_explain(error)) from error

    async def _post_twice(
        self, url: str, body: bytes, context: ssl.SSLContext, server_name: str
    ) -> bytes:
        try:
            return await self._post(url, body, context, server_name)
        except (aiohttp.ServerDisconnectedError, ConnectionResetError):
            # The webhook may have closed a kept connection just as it was used again.
            return await self._post(url, body, context, server_name)

    async def _post(
        self, url: str, body: bytes, context: ssl.SSLContext, server_name: str
    ) -> bytes:
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=None)
            self._session = aiohttp.ClientSession(headers=_HEADERS, timeout=timeout)
        async with self._session.post(
            url, data=body, ssl=context, server_hostname=server_name or None
        ) as response:
            return _read(response.status, response.headers, await _read_body(response))

    def _context(self, ca: bytes) -> ssl.SSLContext:
        found = self._contexts.get(ca)
        if found is None:
            found = self._contexts[ca] = _trust(ca)
        return found

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None


def _trust(ca: bytes) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cadata=ca.decode() if ca else None)
    except (ssl.SSLError, UnicodeDecodeError) as error:
        raise CallError("unable to load root certificates: no PEM certificate found") from error
    # A certificate may be its own authority, and old authorities lack newer extensions.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


async def _read_body(response: aiohttp.ClientResponse) -> bytes:
    pieces, size = [], 0
    async for piece in response.content.iter_chunked(1 << 16):
        pieces.append(piece)
        size += len(piece)
        if size > ANSWER_BYTES_MAX:
            raise CallError(f"the answer is larger than {ANSWER_BYTES_MAX >> 20} MiB")
    return b"".join(pieces)


def _read(status: int, headers: Mapping[str, str], body: bytes) -> bytes:
    if 200 <= status < 300:
        if not body:
            kind = headers.get("Content-Type", "")
            raise CallError(
                f"0-length response with status code: {status} and content type: {kind}"
            )
        return body
    raise CallError(_find_message(body) or _explain_status(status, headers, body))


def _find_message(body: bytes) -> str:
    """The message of a Status, if the body is one."""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    is_status = isinstance(found, dict) and found.get("kind") == "Status"
    return str(found.get("message") or "") if is_status else ""


def _explain_status(status: int, headers: Mapping[str, str], body: bytes) -> str:
    is_text = not body or headers.get("Content-Type", "").startswith("text/")
    shown = body.decode(errors="replace").strip() if is_text else "unknown"
    if status in _SHOWING_THE_BODY:
        return shown
    if status in _ANSWERS:
        return _ANSWERS[status]
    if status >= 500:
        return f'an error on the server ("{shown}") has prevented the request from succeeding'
    return f"the server responded with the status code {status} but did not return more information"


def _explain(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return _explain_certificate(error.certificate_error)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"dial tcp: lookup {error.host}: no such host"
    if isinstance(error, aiohttp.ClientSSLError):
        return _explain_handshake(error)
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"dial tcp {error.host}:{error.port}: connect: {_explain_errno(error.os_error)}"
    if isinstance(error, aiohttp.ServerDisconnectedError | ConnectionResetError):
        return "EOF"
    return str(error) or type(error).__name__


def _explain_certificate(error: Exception) -> str:
    code, text = 0, ""
    if isinstance(error, ssl.SSLCertVerificationError):
        code, text = error.verify_code, error.verify_message
    if code in _NAME_MISMATCH:
        name = text.rpartition(" for ")[2].strip("'.")
        why = f"certificate is not valid for {name}"
    elif code in _EXPIRED:
        why = "certificate has expired or is not yet valid"
    else:
        why = "certificate signed by unknown authority"
    return f"tls: failed to verify certificate: x509: {why}"


def _explain_handshake(error: aiohttp.ClientSSLError) -> str:
    reason = getattr(error.os_error, "reason", "") or ""
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST"):
        return "tls: first record does not look like a TLS handshake"
    return f"tls: handshake failure ({reason.lower().replace('_', ' ')})"


def _explain_errno(error: OSError) -> str:
    names = {errno.ECONNREFUSED: "connection refused", errno.EHOSTUNREACH: "no route to host"}
    return names.get(error.errno or 0, error.strerror or str(error))
