"""
The interface for calling a webhook, which tests replace, and the errors of a call.

A simulation puts its own caller here and needs no sockets. The texts of the
errors end up in the answer that a user reads, so they are those of a real server.
"""

from typing import Protocol

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
