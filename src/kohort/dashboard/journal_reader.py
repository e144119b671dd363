"""
The operator's journal for the dashboard: a list of its entries, and the replay of one.

The whole journal is fetched, since the operator shows no part of it. That costs the operator time,
so it is fetched again only after many times the time that the last fetch took. Entries are kept as
bytes, and only those of the last fetch: the operator bounds how many there are.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson

from kohort.cluster.errors import KohortError, NotFound
from kohort.cluster.http import HttpCluster
from kohort.journal.entries import read_entry, read_head
from kohort.journal.replay import replay
from kohort.operator_journal import (
    FORWARD,
    FORWARDED,
    PAGE,
    JournalElsewhere,
    OperatorAddress,
    fetch_journal,
)
from kohort.views.replays import JournalMoment, ReplayStep, make_moment, make_step

AGAIN_SECONDS_MIN = 1.0
_AGAIN_FACTOR = 20


@dataclass(frozen=True, slots=True)
class JournalPage:
    """All journal entries, oldest first, or why they cannot be shown."""

    moments: tuple[JournalMoment, ...] = ()
    version: str = ""  # of the operator
    problem: str = ""
    commands: tuple[str, ...] = ()  # a command that helps with the problem


@dataclass(slots=True)
class _Fetched:
    page: JournalPage = field(default_factory=JournalPage)
    entries: dict[str, bytes] = field(default_factory=dict)
    due: float = 0.0  # when the journal may be fetched again


class JournalReader:
    """Reads the journal of the operator of one cluster."""

    def __init__(
        self, cluster: HttpCluster, namespace: str = "", operator: OperatorAddress | None = None
    ) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._operator = operator
        self._held = _Fetched()
        self._lock = asyncio.Lock()

    @property
    def entries_held(self) -> int:
        """How many entries are kept between two requests."""
        return len(self._held.entries)

    async def list_moments(self) -> JournalPage:
        """All entries; fetched again at most once in a while."""
        async with self._lock:
            loop = asyncio.get_running_loop()
            if loop.time() >= self._held.due:
                begun = loop.time()
                self._held = await self._fetch()
                pause = max(AGAIN_SECONDS_MIN, _AGAIN_FACTOR * (loop.time() - begun))
                self._held.due = loop.time() + pause
            return self._held.page

    async def show_step(self, identity: str) -> ReplayStep:
        """The planner's input and decisions of an entry; raises NotFound if it is dropped."""
        if identity not in self._held.entries:
            await self.list_moments()
        raw = self._held.entries.get(identity)
        if raw is None:
            raise NotFound("the operator does not remember this moment any more")
        number = 1 + list(self._held.entries).index(identity)
        (replayed,) = replay([read_entry(orjson.loads(raw))])
        return make_step(number, replayed)

    async def _fetch(self) -> _Fetched:
        try:
            told = await fetch_journal(self._cluster, self._operator)
            return self._take(told["entries"], str(told.get("version", "")))
        except JournalElsewhere as error:
            return _Fetched(JournalPage(problem=_tell_how(error), commands=_COMMANDS))
        except KohortError as error:
            return _Fetched(JournalPage(problem=str(error)))

    def _take(self, entries: Iterable[Any], version: str) -> _Fetched:
        moments, kept, counts = [], {}, Counter[str]()
        for entry in entries:
            head = read_head(entry)
            owner = head.workload
            if self._namespace and owner.namespace != self._namespace:
                continue
            name = f"{head.kind}/{owner.namespace}/{owner.name}/{head.at:.6f}"
            counts[name] += 1
            identity = f"{name}/{counts[name]}"
            kept[identity] = orjson.dumps(entry)
            moments.append(make_moment(identity, head))
        return _Fetched(JournalPage(tuple(moments), version), kept)


_COMMANDS = (
    FORWARD,
    f"kohort dashboard --journal-address {FORWARDED} --journal-token TOKEN",
)


def _tell_how(error: JournalElsewhere) -> str:
    return (
        f"{error}. Forward its port, and start the dashboard with the token of an account that "
        f"may get the non-resource URL {PAGE}."
    )
