"""
When writes become durable: one commit for each turn of the event loop.

The store calls ``on_dirty`` when it holds writes that are not yet in SQLite. A store in memory
is always settled, so no answer waits.
"""

import asyncio

from kohort.apiserver.store.sqlite import StorageError
from kohort.apiserver.store.store import Store
from kohort.cluster.errors import InternalError


class Commits:
    """
    Commits the writes of one turn of the event loop together; answers wait for that.

    When a commit fails (a full disk), every waiting request fails, and so does the server:
    what it holds in memory is no longer what it would have after a restart.
    """

    def __init__(self, store: Store) -> None:
        self.failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._store = store
        self._waiting: list[asyncio.Future[None]] = []
        store.on_dirty = self._schedule

    def _schedule(self) -> None:
        asyncio.get_running_loop().call_soon(self._commit)

    def _commit(self) -> None:
        error: StorageError | None = None
        try:
            self._store.flush()
        except StorageError as raised:
            error = raised
            self.fail(raised)
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if future.done():
                continue
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(InternalError(f"the write is not kept: {error}"))

    def fail(self, error: Exception) -> None:
        """End the server, with the error that ended it."""
        if not self.failure.done():
            self.failure.set_exception(error)

    async def settled(self) -> None:
        """Return when everything written so far is committed."""
        if not self._store.is_settled:
            future = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            await future
