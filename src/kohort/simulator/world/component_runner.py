"""
The runner of one component: its caches, its queue and its timers.

A key is queued once however often it is named, worked on by one step at a time,
and looked at again after the delay that the step asked for. A key whose action
was refused comes back with a growing delay.

The caches may lag behind the store. The store pushes events into an inbox; they reach the cache
when they are delivered, one kind at a time. The runner of the component decides when. That is how
a simulation makes one cache lag behind another, and how a component never sees half of a change.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from heapq import heappop, heappush

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.store.entries import ChangeType, Event, StoredObject
from kohort.cluster.objects import Kind
from kohort.simulator.component import Component, Step, View

Key = tuple[str, str]
_Index = dict[str, dict[Key, StoredObject]]


class Cache:
    """One component's copy of one kind. Entries are shared with the store, so it is small.

    Indexes are made when they are first asked for: most components never ask.
    """

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.entries: dict[Key, StoredObject] = {}
        self.inbox: deque[Event] = deque()
        self._spaces: _Index | None = None
        self._owned: _Index | None = None

    def take(self, event: Event) -> tuple[StoredObject | None, StoredObject | None]:
        """Apply one event; returns the entries before and after it."""
        key = event.entry.key
        if event.change is ChangeType.DELETED:
            old, new = self.entries.pop(key, None), None
        else:
            old, new = self.entries.get(key), event.entry
            self.entries[key] = new
        if self._spaces is not None:
            _move(self._spaces, old, key[0], new, key[0])
        if self._owned is not None:
            before = old.controller if old is not None else ""
            _move(self._owned, old, before, new, new.controller if new is not None else "")
        return old, new

    def within(self, namespace: str) -> Iterable[StoredObject]:
        """The objects of one namespace."""
        if self._spaces is None:
            self._spaces = {}
            for key, entry in self.entries.items():
                self._spaces.setdefault(key[0], {})[key] = entry
        return self._spaces.get(namespace, {}).values()

    def owned(self, uid: str) -> Iterable[StoredObject]:
        """The objects whose controller has that uid."""
        if self._owned is None:
            self._owned = {}
            for key, entry in self.entries.items():
                self._owned.setdefault(entry.controller, {})[key] = entry
        return self._owned.get(uid, {}).values()


def _move(
    index: _Index, old: StoredObject | None, source: str, new: StoredObject | None, goal: str
) -> None:
    """Move an object from its old index group to the new one."""
    if old is not None and source in index:
        group = index[source]
        group.pop(old.key, None)
        if not group:
            del index[source]
    if new is not None:
        index.setdefault(goal, {})[new.key] = new


class Caches:
    """All caches of one component: its view of the cluster."""

    def __init__(self) -> None:
        self.by_kind: dict[Kind, Cache] = {}

    def find(self, kind: Kind, namespace: str, name: str) -> StoredObject | None:
        """The object as in this component's cache."""
        return self.by_kind[kind].entries.get((namespace, name))

    def all(self, kind: Kind, namespace: str | None = None) -> Iterable[StoredObject]:
        """All objects of a kind, or those of one namespace."""
        cache = self.by_kind[kind]
        if namespace is None:
            return cache.entries.values()
        return cache.within(namespace)

    def owned(self, kind: Kind, uid: str) -> Iterable[StoredObject]:
        """The objects of a kind whose controller has that uid."""
        return self.by_kind[kind].owned(uid)


BACKOFF_SECONDS_MIN = 0.05
BACKOFF_SECONDS_MAX = 30.0
REFUSED_MAX = 1_100  # refusals in a row, after which no event shortens the wait of a key
# After more reconciles of a key than this within so short a time, the key waits: two components
# undo each other's writes, as real ones may, but in a real cluster each round takes time.
LOOKS_MAX, INSTANT_SECONDS = 100, 0.001


class ComponentRunner:
    """One component with its caches, its queued keys and its timers."""

    def __init__(self, component: Component, api: ApiServer, wake: Callable[[], None]) -> None:
        self.component = component
        self.view: View
        self.caches = Caches()
        self.view = self.caches
        self.busy: set[str] = set()
        self._api = api
        self._wake = wake
        self._queue: deque[str] = deque()
        self._queued: set[str] = set()
        self._timers: list[tuple[float, int, str]] = []
        self._due: dict[str, float] = {}
        self._failures: dict[str, int] = {}
        self._count = 0
        self._looks: Counter[str] = Counter()  # steps of each key since the instant began
        self._instant = 0.0
        self._delivering: list[Cache] = []
        self._held: set[Kind] = set()

    def watch(self, kinds: Iterable[Kind]) -> None:
        """Watch more kinds; their existing objects arrive as events."""
        for kind in kinds:
            if kind in self.caches.by_kind:
                continue
            cache = self.caches.by_kind[kind] = Cache(kind)
            bucket = self._api.registry.of(kind).bucket
            for entry in self._api.store.bucket(bucket).entries.values():
                cache.inbox.append(Event(ChangeType.ADDED, entry, None))
            self._api.store.subscribe(bucket, self._receiver(cache))
            if cache.inbox:
                self._arrived(cache)

    def _receiver(self, cache: Cache) -> Callable[[Event], None]:
        def receive(event: Event) -> None:
            cache.inbox.append(event)
            if len(cache.inbox) == 1:
                self._arrived(cache)

        return receive

    def _arrived(self, cache: Cache) -> None:
        if cache.kind not in self._held:
            self._delivering.append(cache)
            self._wake()

    def hold(self, kind: Kind) -> None:
        """Make the cache of a kind lag: its events arrive after ``release``."""
        self._held.add(kind)
        self._delivering = [cache for cache in self._delivering if cache.kind != kind]

    def release(self, kind: Kind) -> None:
        """Let all held events arrive."""
        cache = self.caches.by_kind.get(kind)
        if kind in self._held:
            self._held.discard(kind)
            if cache is not None and cache.inbox:
                self._arrived(cache)

    @property
    def is_awaited(self) -> bool:
        """Whether events wait that the caches have not applied."""
        return bool(self._delivering)

    def deliver(self, events_max: int) -> bool:
        """Apply the waiting events; returns whether some are left."""
        while self._delivering:
            cache = self._delivering[0]
            while cache.inbox:
                if events_max == 0:
                    return True
                events_max -= 1
                self.deliver_one(cache)
            del self._delivering[0]
        return False

    def deliver_one(self, cache: Cache) -> None:
        """Apply the oldest event of one cache."""
        old, new = cache.take(cache.inbox.popleft())
        keys = self.component.observe(cache.kind, old, new, self.view)
        # A set has no order of its own, and a simulation must repeat itself.
        for key in sorted(keys) if isinstance(keys, set) else keys:
            # A key that is refused so often gets events of its own writes, and would run in a loop.
            if self._failures.get(key, 0) < REFUSED_MAX or key not in self._due:
                self.add(key)

    def add(self, key: str) -> None:
        """Queue a key, unless it is queued already."""
        if key not in self._queued:
            self._queued.add(key)
            self._queue.append(key)

    def count_due(self, elapsed: float) -> int:
        """How many keys are due."""
        self._ring(elapsed)
        return len(self._queue)

    def take(self, elapsed: float) -> str | None:
        """The next key to work on, if one is due and not being worked on."""
        self._ring(elapsed)
        for _ in range(len(self._queue)):
            key = self._queue.popleft()
            if key not in self.busy:
                self._queued.discard(key)
                self._due.pop(key, None)
                if not self._runs_in_circles(key, elapsed):
                    return key
                self.later(key, elapsed + BACKOFF_SECONDS_MIN)
                continue
            self._queue.append(key)
        return None

    def _runs_in_circles(self, key: str, elapsed: float) -> bool:
        """Whether a key runs again and again while hardly any time passes."""
        if elapsed > self._instant + INSTANT_SECONDS:
            self._instant = elapsed
            self._looks.clear()
        self._looks[key] += 1
        return self._looks[key] > LOOKS_MAX

    def _ring(self, elapsed: float) -> None:
        while self._timers and self._timers[0][0] <= elapsed:
            due, _, key = heappop(self._timers)
            if self._due.get(key) == due:
                del self._due[key]
                self.add(key)

    def later(self, key: str, due: float) -> None:
        """Set a timer of a key, unless it has an earlier one."""
        if due < self._due.get(key, float("inf")):
            self._due[key] = due
            self._count += 1
            heappush(self._timers, (due, self._count, key))

    def finished(self, key: str, step: Step, *, refused: bool, elapsed: float) -> None:
        """Note how a step ended, and when the key is due again."""
        if refused:
            failures = self._failures.get(key, 0)
            self._failures[key] = failures + 1
            # After a thousand doublings a float overflows.
            wait = BACKOFF_SECONDS_MIN * 2 ** min(failures, 16)
            self.later(key, elapsed + min(wait, BACKOFF_SECONDS_MAX))
            return
        self._failures.pop(key, None)
        if step.after is not None:
            self.later(key, elapsed + step.after)

    @property
    def has_work(self) -> bool:
        """Whether a key is due, or an event waits."""
        return bool(self._delivering) or any(key not in self.busy for key in self._queue)

    def next_due(self) -> float | None:
        """When the earliest timer rings."""
        while self._timers and self._due.get(self._timers[0][2]) != self._timers[0][0]:
            heappop(self._timers)
        return self._timers[0][0] if self._timers else None
