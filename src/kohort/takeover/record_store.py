"""
Keeps the record of a takeover in a ConfigMap of our operator's namespace.

The record is stored before the writes that it describes, so that a run which was killed can be
undone. A record that another process wrote meanwhile is never overwritten. A write that the server
did not answer may have happened: the record is read again, and written if it is as it was.
"""

from contextlib import suppress

from kohort.cluster.errors import (
    AlreadyExists,
    Conflict,
    NotFound,
    TimedOut,
    TooManyRequests,
    Unavailable,
)
from kohort.cluster.kinds import CONFIG_MAP, NAMESPACE
from kohort.cluster.objects import Object
from kohort.cluster.port import Address, Cluster
from kohort.takeover.record import NAME, Record, read_record, write_record
from kohort.takeover.steps import Surprise

# Errors of a server that is busy or away: a write may have happened or not.
UNANSWERED = (TimedOut, TooManyRequests, Unavailable)
_REPEATS = 4


class RecordStore:
    """The record of a takeover, as it is stored in one cluster."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._stored: Object | None = None  # the record as it was read or written last

    async def find(self) -> Record | None:
        """The record of an earlier run."""
        address = Address(CONFIG_MAP, self._namespace, NAME)
        try:
            self._stored = await self._cluster.read(address)
        except NotFound:
            self._stored = None
        return None if self._stored is None else read_record(self._stored)

    async def store(self, record: Record) -> Record:
        """Store the record before the writes that it describes."""
        wanted = write_record(record, self._namespace)
        known = (_data_of(self._stored), wanted["data"])
        for _ in range(_REPEATS):
            with suppress(*UNANSWERED):
                await self._write(wanted)
                return record
            await self.find()
            if _data_of(self._stored) not in known:
                raise self._tell_other()
        await self._write(wanted)
        return record

    async def _write(self, wanted: Object) -> None:
        address, held = Address(CONFIG_MAP, self._namespace, NAME), self._stored
        try:
            if held is None:
                await self._make_namespace()
                self._stored = await self._cluster.create(CONFIG_MAP, self._namespace, wanted)
            elif held.get("data") != wanted["data"]:
                body = {**held, "data": wanted["data"]}
                self._stored = await self._cluster.update(address, body)
        except (Conflict, NotFound) as error:
            raise self._tell_other() from error

    def _tell_other(self) -> Surprise:
        return Surprise(
            f"the record, ConfigMap {self._namespace}/{NAME}, was written meanwhile: another "
            "'kohort takeover' runs on this cluster; let only one of them run"
        )

    async def delete(self) -> None:
        """Delete the record, since there is nothing left to undo."""
        address = Address(CONFIG_MAP, self._namespace, NAME)
        with suppress(NotFound):
            for _ in range(_REPEATS):
                with suppress(*UNANSWERED):
                    await self._cluster.delete(address)
                    return
            await self._cluster.delete(address)

    async def _make_namespace(self) -> None:
        try:
            await self._cluster.create(NAMESPACE, "", {"metadata": {"name": self._namespace}})
        except AlreadyExists:
            return


def _data_of(stored: Object | None) -> Object | None:
    return None if stored is None else stored.get("data")
