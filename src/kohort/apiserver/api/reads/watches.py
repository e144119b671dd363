"""
Watches: streams of all changes after a version.

Events since the version come from the history, later ones from the store as they are
committed; the watch fills one queue from both in the same moment, so no event falls
between them and none comes twice. ``ApiServer.watch`` flushes the store before: without it the
history would hold events that are not committed yet, and they would come twice. A bookmark
names a version only after all events up to it: a client that resumes there would miss
earlier ones for ever. A selector changes what its watcher sees: an object that no longer
matches is reported as deleted.

Where a conversion webhook makes the watched version, events wait in the queue as they
were stored until they are read. If the webhook fails, they keep waiting, in their order,
and the call is repeated; if the first events still fail, the watch ends with an error.
"""

from asyncio import Event as Signal
from asyncio import sleep, timeout
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import orjson

from kohort.apiserver.api.context import Context, encode, load_stored, write
from kohort.apiserver.api.reads.pages import check_fields, list_entries, read_version, too_new
from kohort.apiserver.api.requests import ListOptions, Target
from kohort.apiserver.resources.resource import Resource
from kohort.apiserver.store.entries import ChangeType, Event, StoredObject
from kohort.cluster.errors import ClusterError, WatchExpired
from kohort.cluster.objects import encode_json

QUEUE_EVENTS_MAX = 50_000
CONVERSION_RETRY_SECONDS = 1.0
CONVERSION_TRIES_AT_START = 3


class WatchEvent(NamedTuple):
    """One event of a watch: its type, the encoded object, and the stored entry."""

    type: str
    raw: bytes
    entry: StoredObject | None = None


class Watch:
    """One open watch. Read it in batches; close it when done."""

    def __init__(self, context: Context, target: Target, options: ListOptions) -> None:
        self.target = target
        self._context = context
        self._options = options
        self._queue: deque[WatchEvent | Event] = deque()  # Event: yet to be converted
        conversion = target.resource.conversion
        self._conversion = conversion if conversion is not None and conversion.waits else None
        self._has_begun = False
        self._room = QUEUE_EVENTS_MAX  # for events that wait, and before the first read for more
        self._signal = Signal()
        self._stop: Callable[[], None] = _nothing
        self.is_closed = False
        self._is_ending = False

    def start(self, version: int, *, initial: bool, bookmarks: bool) -> None:
        """Begin after a version, or with the current state as events of their own."""
        bucket = self.target.resource.bucket
        if initial:
            entries, version = list_entries(self._context, self.target, self._begin())
            self._queue.extend(self._added(entry) for entry in entries)
            if bookmarks:
                self._queue.append(self._bookmark(initial=True))
            # However many objects there are, the watcher had no time to read them yet.
            self._room += len(self._queue)
        else:
            for event in self._context.store.since(bucket, version):
                self._offer(event)
        self._stop = self._context.store.subscribe(bucket, self._offer)
        self._context.registry.listeners.append(self._end_unserved)
        self._has_begun = not self._queue
        if self._queue:
            self._signal.set()

    def _end_unserved(self) -> None:
        """End after the last event once the kind is no longer served: a client has to list anew."""
        kind = self.target.resource.kind
        if self._context.registry.find(kind.group, kind.version, kind.plural) is None:
            self._is_ending = True
            self._signal.set()

    def _begin(self) -> ListOptions:
        if self._conversion is not None:
            return ListOptions()
        return ListOptions(self._options.labels, self._options.fields)

    def _added(self, entry: StoredObject) -> WatchEvent | Event:
        if self._conversion is not None:
            return Event(ChangeType.ADDED, entry, None)
        return WatchEvent("ADDED", encode(self.target.resource, entry), entry)

    def _bookmark(self, *, initial: bool = False) -> WatchEvent:
        """The version up to which everything is in the queue or was read from it."""
        revision = self._context.store.settled_revision
        metadata: dict[str, object] = {"resourceVersion": str(revision)}
        if initial:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        kind = self.target.resource.kind
        body = {"kind": kind.name, "apiVersion": kind.api_version, "metadata": metadata}
        return WatchEvent("BOOKMARK", orjson.dumps(body))

    def _offer(self, event: Event) -> None:
        namespace = self.target.namespace
        if namespace and event.entry.key[0] != namespace:
            return
        seen = self._translate(event) if self._conversion is None else event
        if seen is None or self.is_closed:
            return
        if len(self._queue) >= self._room:
            self._queue.clear()
            expired = WatchExpired("the watcher reads too slowly: list again")
            self._queue.append(WatchEvent("ERROR", encode_json(expired.status())))
            self._unsubscribe()
        else:
            self._queue.append(seen)
        self._signal.set()

    def _translate(self, event: Event) -> WatchEvent | None:
        """The watch event for a change; None if the watcher does not select it."""
        seen, entry = self._seen(event), event.entry
        if seen is None:
            return None
        if seen == "DELETED" and event.change is not ChangeType.DELETED:
            entry = _as_it_was(event, self.target.resource)
        raw = encode(self.target.resource, entry) if self._conversion is None else entry.raw
        return WatchEvent(seen, raw, entry)

    def _seen(self, event: Event) -> str | None:
        """The type of the event for this watcher's selection; None: the watcher is not told."""
        is_there = event.change is not ChangeType.DELETED and self._matches(event.entry)
        was_there = event.previous is not None and self._matches(event.previous)
        if is_there:
            return "MODIFIED" if was_there else "ADDED"
        return "DELETED" if was_there else None

    def _matches(self, entry: StoredObject) -> bool:
        options = self._options
        if options.labels.requirements and not options.labels.matches(entry.labels):
            return False
        if not options.fields.clauses:
            return True
        conversion = self.target.resource.conversion
        seen = entry if conversion is None else conversion.seen(entry)
        return options.fields.matches(seen.fields)

    @property
    def has_events(self) -> bool:
        """Whether events wait to be read."""
        return bool(self._queue)

    async def batch(self, bookmark_seconds: float | None = None) -> list[WatchEvent]:
        """All waiting events; without any, wait for the next ones or for a due bookmark."""
        try:
            async with timeout(bookmark_seconds):
                while not self._queue and not self.is_closed and not self._is_ending:
                    self._signal.clear()
                    await self._signal.wait()
        except TimeoutError:
            return await self.catch_up()
        events = await self._convert(self._take())
        if self._is_ending and not self._queue:
            self.close()
        return events

    async def catch_up(self) -> list[WatchEvent]:
        """All waiting events, and a bookmark after them."""
        events = self._take()
        # The wait may time out in the same moment in which an event comes.
        last = events[-1] if events else None
        if not isinstance(last, WatchEvent) or last.type != "ERROR":
            events.append(self._bookmark())
        return await self._convert(events)

    def _take(self) -> list[WatchEvent | Event]:
        events = list(self._queue)
        self._queue.clear()
        self._room = QUEUE_EVENTS_MAX
        return events

    async def _convert(self, events: list[WatchEvent | Event]) -> list[WatchEvent]:
        """The watch events for changes; changes that cannot be converted yet wait again."""
        if self._conversion is not None:
            tries = 0
            # The first events must all be converted; later a watch sends as many as it can.
            needed = min(1, len(events)) if self._has_begun else len(events)
            while (ready := await self._learn(events)) < needed:
                tries += 1
                if not self._has_begun and tries == CONVERSION_TRIES_AT_START:
                    late = too_new(self._context.store.revision, 0)
                    return [WatchEvent("ERROR", encode_json(late.status()))]
                await sleep(CONVERSION_RETRY_SECONDS)
                if self.is_closed:
                    return []
            self._queue.extendleft(reversed(events[ready:]))
            events = events[:ready]
        self._has_begun = True
        told = (e if isinstance(e, WatchEvent) else self._convert_event(e) for e in events)
        return [event for event in told if event is not None]

    async def _learn(self, events: list[WatchEvent | Event]) -> int:
        """Convert the objects of events; returns how many events can be sent then."""
        assert self._conversion is not None
        entries = [self._entries_of(event) for event in events]
        try:
            await self._conversion.learn(entry for some in entries for entry in some)
        except ClusterError:
            for count, some in enumerate(entries):
                if not all(map(self._conversion.knows, some)):
                    return count
        return len(events)

    def _entries_of(self, event: WatchEvent | Event) -> list[StoredObject]:
        if isinstance(event, WatchEvent):
            return []
        if event.previous is None or not self._is_selective:
            return [event.entry]
        return [event.entry, event.previous]

    @property
    def _is_selective(self) -> bool:
        return bool(self._options.labels.requirements or self._options.fields.clauses)

    def _convert_event(self, event: Event) -> WatchEvent | None:
        assert self._conversion is not None
        see, before = self._conversion.seen, event.previous
        if before is not None and self._is_selective:
            before = see(before)
        return self._translate(Event(event.change, see(event.entry), before))

    def close(self) -> None:
        """Stop; a reader that waits for a batch gets an empty one."""
        if not self.is_closed:
            self.is_closed = True
            self._unsubscribe()
            self._signal.set()

    def _unsubscribe(self) -> None:
        """Stop the subscription; a watch that fell behind has done so before it is closed."""
        stop, self._stop = self._stop, _nothing
        stop()
        listeners = self._context.registry.listeners
        if self._end_unserved in listeners:
            listeners.remove(self._end_unserved)


def _nothing() -> None:
    pass


def _as_it_was(event: Event, resource: Resource) -> StoredObject:
    """The last state that the selector matched, with the version of the change after it."""
    last = event.previous
    assert last is not None
    obj = load_stored(resource, last)
    obj["metadata"]["resourceVersion"] = str(event.rv)
    return StoredObject.make(last.key, event.rv, obj, last.fields, write(resource, obj))


def open_watch(
    context: Context, target: Target, options: ListOptions, *, initial: bool, bookmarks: bool
) -> Watch:
    """Start a watch, or raise WatchExpired when its version is too old."""
    check_fields(target.resource, options)
    version = read_version(options.resource_version)
    watch = Watch(context, target, options)
    watch.start(version, initial=initial or version == 0, bookmarks=bookmarks and initial)
    return watch
