"""
The seam to the network: how a webhook is called, and how a call fails.

A simulation puts its own caller here and needs no sockets. The texts of the
errors end up in the answer that a user reads, so they are those of a real server.
"""

from typing import Protocol

from kohort.cluster.errors import ClusterError, InternalError, KohortError
from kohort.simulator.admission.configuration import Webhook


class CallError(KohortError):
    """A webhook gave no answer that could be used; the text says why."""


class Unreachable(CallError):
    """A webhook could not be reached, or did not answer in time."""


class Caller(Protocol):
    """Sends a review to a webhook."""

    async def __call__(
        self, url: str, body: bytes, ca: bytes, server_name: str, timeout: float
    ) -> bytes:
        """The body of the answer. Raises ``CallError``.

        Without ``ca`` the authorities of the system are trusted; without ``server_name`` the
        certificate must be for the host in the URL.
        """


def refuse_service(namespace: str, name: str, port: int) -> str:
    """The resolver of a cluster in which nothing runs behind services."""
    raise Unreachable(
        f'service "{name}" in namespace "{namespace}" has nothing behind it in a simulated '
        "cluster; give the webhook a clientConfig.url instead"
    )


def fail(why: str) -> ClusterError:
    """The answer to a write that failed on our side."""
    return InternalError(f"Internal error occurred: {why}", details={"causes": [{"message": why}]})


def fail_call(webhook: Webhook, why: CallError) -> ClusterError:
    """The answer to a write whose webhook must be asked and cannot be."""
    return fail(f'failed calling webhook "{webhook.name}": {why}')
