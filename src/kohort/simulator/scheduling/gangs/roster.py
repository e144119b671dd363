"""
The roster: all gangs, with their waiting, placed and ended members.

A gang comes into being with its object or with the first pod that names it, and goes
with the last of both. Members are counted by uid, so a pod that was made again under
its old name is another member. A terminating member does not count, and its domain does
not bind the other members.
"""

from collections.abc import Iterator

from kohort.simulator.scheduling.demands import Demand
from kohort.simulator.scheduling.gangs.adapters import find_implicit
from kohort.simulator.scheduling.gangs.requests import GangKey, GangSpec

Order = tuple[int, bool, str, str, str]


class Gang:
    """One gang and its members."""

    __slots__ = (
        "_order",
        "admitted",
        "done",
        "doomed",
        "key",
        "message",
        "object",
        "placed",
        "priority",
        "reason",
        "running",
        "told",
        "waiting",
    )

    def __init__(self, key: GangKey) -> None:
        self.key = key
        self.object: GangSpec | None = None  # as its object says
        self.waiting: dict[str, Demand] = {}
        self.placed: dict[str, Demand] = {}
        self.running: set[str] = set()
        self.doomed: set[str] = set()  # evicted members, which may not show yet
        self.done: dict[str, str] = {}  # members that ended: Succeeded or Failed
        self.priority = 0  # of its class
        self.admitted = False
        self.reason = ""  # why it could not be placed when it was last tried
        self.message = ""
        self._order: Order | None = None
        self.told = ""  # the message of the last event, where no condition remembers it

    @property
    def spec(self) -> GangSpec | None:
        """The gang's requirements, from its object or from a member's annotations."""
        if self.object is not None:
            return self.object
        for pod in self.members():
            return find_implicit(self.key, pod.annotations, pod.created)
        return None

    @property
    def is_empty(self) -> bool:
        """Whether it has neither an object nor members."""
        return not (self.object or self.waiting or self.placed or self.done)

    def members(self) -> Iterator[Demand]:
        """The waiting and the placed members."""
        yield from self.waiting.values()
        yield from self.placed.values()

    def candidates(self) -> list[Demand]:
        """The waiting members that may be placed, in order."""
        ready = (pod for pod in self.waiting.values() if not pod.is_gated and not pod.is_leaving)
        return sorted(ready, key=lambda pod: pod.order)

    def standing(self) -> list[Demand]:
        """The placed members that are not evicted."""
        placed = self.placed.items()
        return [pod for uid, pod in placed if not pod.is_leaving and uid not in self.doomed]

    def succeeded(self) -> int:
        """How many members ended well."""
        return sum(phase == "Succeeded" for phase in self.done.values())

    def count(self) -> int:
        """How many members count for the minimum: placed or succeeded ones."""
        return len(self.standing()) + self.succeeded()

    @property
    def order(self) -> Order:
        """The order of gangs: priority, whether it has started, age, name."""
        if self._order is None:
            self._order = self._find_order()
        return self._order

    def touch(self) -> None:
        """Note a change, after which its order may differ."""
        self._order = None

    def _find_order(self) -> Order:
        spec = self.spec
        priority, created = self.priority, spec.created if spec else ""
        if spec is None or not spec.priority_class:
            priority = max((pod.priority for pod in self.members()), default=0)
        has_started = spec is not None and self.count() >= spec.minimum
        return -priority, has_started, created, self.key.namespace, self.key.name


class Roster:
    """All gangs, and those that changed since the last session."""

    def __init__(self) -> None:
        self.gangs: dict[GangKey, Gang] = {}
        self.changed: dict[GangKey, None] = {}
        self.hungry: dict[GangKey, Gang] = {}  # those with members that wait
        self._of: dict[str, GangKey] = {}

    def find(self, uid: str) -> Gang | None:
        """The gang of a pod."""
        key = self._of.get(uid)
        return self.gangs.get(key) if key else None

    def knows(self, uid: str) -> bool:
        """Whether a pod is a member of some gang."""
        return uid in self._of

    def put(self, spec: GangSpec) -> Gang:
        """Add or update a gang's object."""
        gang = self._open(spec.key)
        gang.object = spec
        return gang

    def drop(self, key: GangKey) -> None:
        """Remove a gang's object."""
        gang = self.gangs.get(key)
        if gang is not None:
            gang.object = None
            gang.admitted = False
            self._note(gang)

    def wait(self, pod: Demand) -> None:
        """Note a member that waits for a node."""
        assert pod.gang is not None
        gang = self._join(pod.uid, pod.gang)
        gang.placed.pop(pod.uid, None)
        gang.waiting[pod.uid] = pod
        self.hungry[gang.key] = gang

    def place(self, pod: Demand) -> None:
        """Note a member that has a node."""
        assert pod.gang is not None
        gang = self._join(pod.uid, pod.gang)
        gang.waiting.pop(pod.uid, None)
        gang.placed[pod.uid] = pod
        self._note(gang)

    def note_phase(self, uid: str, phase: str) -> None:
        """Note whether a placed member runs."""
        gang = self.find(uid)
        if gang is None or (phase == "Running") == (uid in gang.running):
            return
        if phase == "Running":
            gang.running.add(uid)
        else:
            gang.running.discard(uid)
        self._note(gang)

    def finish(self, uid: str, key: GangKey, phase: str) -> None:
        """Note a member that has ended."""
        self._join(uid, key).done[uid] = phase

    def doom(self, uid: str, *, is_doomed: bool = True) -> None:
        """Note that a member is evicted and counts no more, or that it stays after all."""
        gang = self.find(uid)
        if gang is None:
            return
        if is_doomed:
            gang.doomed.add(uid)
        else:
            gang.doomed.discard(uid)
        self._note(gang)

    def leave(self, uid: str) -> None:
        """Remove a deleted member."""
        gang = self.find(uid)
        if gang is None:
            return
        for held in (gang.waiting, gang.placed, gang.done):
            held.pop(uid, None)
        gang.running.discard(uid)
        gang.doomed.discard(uid)
        del self._of[uid]
        self._note(gang)

    def _join(self, uid: str, key: GangKey) -> Gang:
        self._of[uid] = key
        return self._open(key)

    def _open(self, key: GangKey) -> Gang:
        gang = self.gangs.get(key)
        if gang is None:
            gang = self.gangs[key] = Gang(key)
        self.changed[key] = None
        gang.touch()
        return gang

    def _note(self, gang: Gang) -> None:
        self.changed[gang.key] = None
        gang.touch()
        if not gang.waiting:
            self.hungry.pop(gang.key, None)
        if gang.is_empty:
            del self.gangs[gang.key]
