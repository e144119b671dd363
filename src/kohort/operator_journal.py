"""
The journal of a running operator, fetched for a command or for the dashboard.

The journal lies in the operator's memory. On an embedded cluster its API server shows it; elsewhere
the operator does, at the address of its metrics, to clients that may read ``/debug/journal``.
"""

from dataclasses import dataclass
from typing import Any

import aiohttp

from kohort.cluster.errors import KohortError, NotFound
from kohort.cluster.http import HttpCluster
from kohort.cluster.objects import Object
from kohort.controller.install.names import DEPLOYMENT, NAMESPACE
from kohort.journal.entries import JOURNAL_PATH

PAGE = "/debug/journal"  # of the operator's metrics address
FORWARD = f"kubectl port-forward -n {NAMESPACE} deploy/{DEPLOYMENT} 8443"
FORWARDED = "https://127.0.0.1:8443"
_TIMEOUT_SECONDS = 60.0


class UnreachableJournal(KohortError):
    """The operator's journal cannot be read; the message says why."""


class JournalElsewhere(UnreachableJournal):
    """The API server of this cluster shows no journal, so the operator has to be asked itself."""


@dataclass(frozen=True, slots=True)
class OperatorAddress:
    """The address of the operator's metrics, and a token for it."""

    url: str
    token: str = ""


async def fetch_journal(cluster: HttpCluster, operator: OperatorAddress | None = None) -> Object:
    """The operator's journal, from its own address if there is one, else from the API server."""
    if operator is not None:
        return await ask_operator(operator)
    try:
        return _expect_page(await cluster.read_document(JOURNAL_PATH), cluster.server)
    except NotFound:
        raise JournalElsewhere(
            "this cluster's API server has no journal of an operator, so the operator has to be "
            "asked itself"
        ) from None


async def ask_operator(operator: OperatorAddress) -> Object:
    """The journal that an operator shows at its own address."""
    headers = {"Authorization": f"Bearer {operator.token}"} if operator.token else {}
    timeout = aiohttp.ClientTimeout(_TIMEOUT_SECONDS)
    address = operator.url
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, headers=headers) as session,
            # A forwarded port has another name than the certificate, and the token is short-lived.
            session.get(f"{address.rstrip('/')}{PAGE}", ssl=False) as response,
        ):
            if response.status != 200:
                told = (await response.text()).strip()[:200]
                raise UnreachableJournal(f"{address} answered {response.status}: {told}")
            return _expect_page(await response.json(), address)
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        raise UnreachableJournal(f"cannot read the journal at {address}: {error}") from error


def _expect_page(told: Any, address: str) -> Object:
    if isinstance(told, dict) and isinstance(told.get("entries"), list):
        return told
    raise UnreachableJournal(f"{address} answers, but not as an operator of Kohort does")
