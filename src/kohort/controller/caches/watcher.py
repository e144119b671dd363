"""
List and watch, as a state machine with three states and one step function.

    Unlisted ── first line of a streaming list ──► Filling ── end of it ──► Following
       │  ▲                                           │                       │   │
       │  └──── stream broke ─────────────────────────┘                       │   └─ lines
       │  └──── 410, or the kind is gone ─────────────────────────────────────┘
       └─────── a whole list ────────────────────────────────────────────────►

``step`` is pure: what happened on the wire goes in; the next state, the events for
the cache and the number of failures to pause for come out. A broken stream is
taken up at the last version. A list replaces what the cache holds in one swap, so
no reader sees half of it. An object whose metadata cannot be read is an event of its
own, and the list goes on without it.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

import msgspec

from kohort.cluster.errors import (
    BadRequest,
    ClusterError,
    Invalid,
    KohortError,
    NotFound,
    WatchExpired,
)
from kohort.cluster.port import Cluster, Listing, Selection, WatchEvent
from kohort.controller.clock import Time

STREAM_ATTEMPTS_MAX = 3
PAUSE_SECONDS_FIRST = 0.1
PAUSE_SECONDS_MAX = 30.0
ASKED_SECONDS_MAX = 60.0  # the longest pause that an API server, or a proxy before it, may ask for
_END_OF_LIST = "k8s.io/initial-events-end"


class Metadata(msgspec.Struct, frozen=True, gc=False):
    """The metadata that the watcher reads of every object."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    version: str = msgspec.field(default="", name="resourceVersion")
    leaving: str | None = msgspec.field(default=None, name="deletionTimestamp")
    annotations: dict[str, str] | None = None


class _Object(msgspec.Struct, frozen=True, gc=False):
    metadata: Metadata


_objects = msgspec.json.Decoder(_Object)


@dataclass(frozen=True, slots=True)
class Init:
    """A whole list begins: the objects until Ready replace all cached objects."""


@dataclass(frozen=True, slots=True)
class Put:
    """An object exists, in this version."""

    metadata: Metadata
    raw: bytes


@dataclass(frozen=True, slots=True)
class Gone:
    """An object was deleted."""

    metadata: Metadata


@dataclass(frozen=True, slots=True)
class Ready:
    """The list is complete, as of this version."""

    version: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A bookmark: the cache has seen all changes up to this version."""

    version: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The API server sent an object whose metadata cannot be read."""

    raw: bytes
    why: str


Event = Init | Put | Gone | Ready | Mark | Unreadable


@dataclass(frozen=True, slots=True)
class Unlisted:
    """The watcher has no version to watch from and needs a list, streamed if possible."""

    by_stream: bool = True
    failures: int = 0
    expiries: int = 0  # versions in a row that expired before a line came


@dataclass(frozen=True, slots=True)
class Filling:
    """A streaming list has begun and has not completed yet."""

    failures: int = 0
    expiries: int = 0


@dataclass(frozen=True, slots=True)
class Following:
    """The cache has everything up to a version, and the watcher watches from there on."""

    version: str
    by_stream: bool = True
    failures: int = 0
    expiries: int = 0


State = Unlisted | Filling | Following


@dataclass(frozen=True, slots=True)
class Ended:
    """The API server ended the stream without an error."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The list or the stream failed."""

    error: KohortError


Happening = WatchEvent | Listing | Ended | Failed


class Step(NamedTuple):
    """The next state, the events for the cache, and the number of failures to pause for."""

    state: State
    events: tuple[Event, ...] = ()
    pause: int = 0


def step(state: State, happening: Happening) -> Step:
    """The next state and events after one happening on the wire."""
    if isinstance(happening, WatchEvent):
        return _step_line(state, happening)
    if isinstance(happening, Listing):
        return _step_listing(state, happening)
    error = happening.error if isinstance(happening, Failed) else None
    if isinstance(state, Following):
        return _break_following(state, error)
    return _break_listing(state, error)


def _step_line(state: State, change: WatchEvent) -> Step:
    if isinstance(state, Unlisted):
        filled = _step_line(Filling(state.failures, state.expiries), change)
        return filled._replace(events=(Init(), *filled.events))
    event = _read_change(change)
    if isinstance(state, Filling):
        if isinstance(event, Ready):
            following = Following(event.version, expiries=state.expiries)
            return Step(following, (event,))
        return Step(state, () if isinstance(event, Mark) else (event,))
    if isinstance(event, Ready):
        event = Mark(event.version)
    version = _version_of(event) or state.version
    return Step(replace(state, version=version, failures=0, expiries=0), (event,))


def _read_change(change: WatchEvent) -> Put | Gone | Ready | Mark | Unreadable:
    try:
        metadata = _objects.decode(change.raw).metadata
    except (msgspec.MsgspecError, RecursionError) as error:
        return Unreadable(change.raw, str(error))
    if change.type == "BOOKMARK":
        ends = _END_OF_LIST in (metadata.annotations or {})
        return Ready(metadata.version) if ends else Mark(metadata.version)
    if change.type == "DELETED":
        return Gone(metadata)
    return Put(metadata, change.raw)


def _version_of(event: Event) -> str:
    if isinstance(event, Put | Gone):
        return event.metadata.version
    return event.version if isinstance(event, Mark | Ready) else ""


def _step_listing(state: State, listing: Listing) -> Step:
    puts = (_read_change(WatchEvent("ADDED", raw)) for raw in listing.items)
    following = Following(listing.version, by_stream=False, expiries=state.expiries)
    return Step(following, (Init(), *puts, Ready(listing.version)))


def _break_following(state: Following, error: KohortError | None) -> Step:
    failures = state.failures + 1
    if isinstance(error, WatchExpired | NotFound):
        # Relist at once the first time; pause if the version expires again and again.
        return Step(Unlisted(state.by_stream, failures, state.expiries + 1), pause=state.expiries)
    return Step(replace(state, failures=failures), pause=failures)


def _break_listing(state: Unlisted | Filling, error: KohortError | None) -> Step:
    by_stream = isinstance(state, Filling) or state.by_stream
    if by_stream and isinstance(error, Invalid | BadRequest):
        return Step(Unlisted(by_stream=False, failures=state.failures, expiries=state.expiries))
    failures = state.failures + 1
    by_stream = by_stream and failures < STREAM_ATTEMPTS_MAX
    return Step(Unlisted(by_stream, failures, state.expiries), pause=failures)


def pause_seconds(failures: int, error: KohortError | None, chance: Random) -> float:
    """Seconds to wait after so many failures in a row, or as long as the API server asks."""
    if failures <= 0:
        return 0.0
    grown = PAUSE_SECONDS_FIRST * float(2 ** min(failures - 1, 20))
    seconds = min(grown, PAUSE_SECONDS_MAX) * chance.uniform(0.75, 1.25)
    details = error.details if isinstance(error, ClusterError) else None
    asked = float((details or {}).get("retryAfterSeconds") or 0)
    return max(seconds, min(asked, ASKED_SECONDS_MAX))


def _ignore(selection: Selection, error: KohortError) -> None:
    pass


class Watcher:
    """Drives the state machine: requests lists and watches, steps, fills the cache, pauses."""

    def __init__(
        self,
        cluster: Cluster,
        selection: Selection,
        emit: Callable[[Event], None],
        time: Time,
        chance: Random,
        report: Callable[[Selection, KohortError], None] = _ignore,
    ) -> None:
        # What to await while the kind is not served; None: list again with backoff.
        self.wait_until_served: Callable[[], Awaitable[None]] | None = None
        self.state: State = Unlisted()
        # Since when the cache may lack changes; None while a watch keeps it up to date.
        self.outdated_since: float | None = None
        self._cluster = cluster
        self._selection = selection
        self._listen = emit
        self._time = time
        self._chance = chance
        self._report = report

    async def run(self) -> None:
        """Keep the cache up to date, for ever; after a cancelled run another one may go on."""
        if isinstance(self.state, Filling):
            # A list that was cut off would be taken for the first part of the next one.
            self.state = Unlisted(failures=self.state.failures, expiries=self.state.expiries)
        if not isinstance(self.state, Following) and self.outdated_since is None:
            self.outdated_since = self._time.elapsed()
        while True:
            error: KohortError | None = None
            try:
                pause = await self._ask()
            except KohortError as failure:
                error = failure
                pause = self._take(Failed(failure))
                self._report(self._selection, failure)
            if isinstance(error, NotFound) and self.wait_until_served is not None:
                await self.wait_until_served()
            if pause:
                await self._time.sleep(pause_seconds(pause, error, self._chance))

    async def _ask(self) -> int:
        state = self.state
        if isinstance(state, Unlisted) and not state.by_stream:
            return self._take(await self._cluster.list(self._selection))
        version = state.version if isinstance(state, Following) else ""
        initial = not isinstance(state, Following)
        stream = self._cluster.watch(self._selection, version, initial=initial)
        async with AsyncExitStack() as stack:
            if isinstance(stream, AsyncGenerator):
                stack.push_async_callback(stream.aclose)
            async for change in stream:
                self._take(change)
        return self._take(Ended())

    def _take(self, happening: Happening) -> int:
        self.state, events, pause = step(self.state, happening)
        self._note_age(happening)
        for event in events:
            self._listen(event)
        return pause

    def _note_age(self, happening: Happening) -> None:
        """An answer of the API server shows that the cache is up to date, until one fails."""
        if not isinstance(self.state, Following) or isinstance(happening, Failed):
            if self.outdated_since is None:
                self.outdated_since = self._time.elapsed()
        else:
            self.outdated_since = None
