"""
The lease of one group of APIs, whose objects the operator writes only while it holds the lease.

The process acquires and keeps each lease independently: an API whose lease another process holds
waits, and the others work. The process logs why it does not hold a lease when that changes, and
once a minute if it is a failure.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress

from kohort.apis.api import Api
from kohort.controller.clock import Time
from kohort.controller.lease import Election
from kohort.controller.process.measures import WARNING_SECONDS

RELEASE_SECONDS_MAX = 2.0
TELL_SECONDS = 2.0  # after so long without the lease we log why
log = logging.getLogger(__name__)


class Leadership:
    """One lease, and the APIs whose objects it lets this process write."""

    def __init__(self, apis: Sequence[Api], election: Election, time: Time, elects: bool) -> None:
        self.apis = tuple(apis)
        self.election = election
        self._time = time
        self._elects = elects

    @property
    def lease(self) -> str:
        """The lease as namespace/name, for messages."""
        return f"{self.election.terms.namespace}/{self.election.terms.name}"

    def may_write(self) -> bool:
        """Whether this process may write the objects of these APIs."""
        return not self._elects or self.election.is_held

    async def acquire(self) -> None:
        """Return when this process holds the lease; at once without leader election."""
        if not self._elects:
            return
        acquiring = asyncio.create_task(self.election.acquire())
        told: Mapping[str, str] = {}
        begun = spoken = self._time.elapsed()
        try:
            while not acquiring.done():
                await asyncio.wait([acquiring], timeout=TELL_SECONDS)
                trouble, holder = self.election.trouble, self.election.holder
                why = {"error": str(trouble)} if trouble else {"holder": holder or "nobody"}
                now = self._time.elapsed()
                is_due = trouble is not None and now - spoken >= WARNING_SECONDS
                if acquiring.done() or (why == told and not is_due):
                    continue
                begun = begun if why == told else now
                lasting = {"for": f"{int(now - begun)}s"} if why == told else {}
                told, spoken = why, now
                emit = log.warning if trouble else log.info
                words = "cannot reach for the lease" if trouble else "waiting for the lease"
                emit(words, extra={"facts": {"lease": self.lease, **why, **lasting}})
            await acquiring
        finally:
            acquiring.cancel()
        log.info("leading", extra={"facts": {"lease": self.lease}})

    async def keep(self) -> None:
        """Renew the lease; return when it is lost; never without leader election."""
        if not self._elects:
            await asyncio.Event().wait()
        await self.election.keep()

    async def release(self) -> None:
        """Release the lease, if this process holds it."""
        if self._elects:
            with suppress(TimeoutError):
                async with asyncio.timeout(RELEASE_SECONDS_MAX):
                    await self.election.release()
