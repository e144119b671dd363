"""
Statuses that the operator writes: of workloads, and of children that have a status.

The operator does not write a status that is stored already, and writes each status at most once a
second: a later status waits, and the workload is reconciled again when the second is over. The
first status of a child waits as well, since a new child changes at once. A status of a child that
says only that more of its members are ready, and not yet all, waits for five seconds, since no
client acts on it. A status that becomes ready does not wait, since users and controllers wait for
it; but an object that flaps may be early once in two seconds only, and the first status of a child
pauses while its workload waits for other children: theirs would delay the status that users wait
for. The merge patch removes an old key by a null, at any depth; a wanted null means that the key is
absent.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from kohort.apis.references import Key, Projection
from kohort.cluster.actions import Patch
from kohort.cluster.objects import Object, name_of, namespace_of, uid_of
from kohort.cluster.port import Address
from kohort.controller.admission.probe import MOMENT_SECONDS
from kohort.controller.execute import Executor, Result

STATUS_SECONDS_MIN = 1.0
PARTIAL_SECONDS_MIN = 5.0  # between two statuses of a child of which ever more members are ready
EARLY_SECONDS_MIN = 2.0  # between two statuses of one object that did not wait for their second
PAUSE_SECONDS = 0.2  # of the first status of a ready child, while its workload is not ready


@dataclass(slots=True)
class WriteTimes:
    """When the statuses of one workload and its children were last written."""

    last: dict[Address, float] = field(default_factory=dict)
    ready: set[Address] = field(default_factory=set)  # objects whose last status said ready
    early: dict[Address, float] = field(default_factory=dict)  # when one last did not wait
    pause: float = 0.0  # how long a status that says ready waits after the hold or the last one

    def forget_others(self, kept: set[Address]) -> None:
        """Drop the write times of all objects but these."""
        self.last = {address: at for address, at in self.last.items() if address in kept}
        self.early = {address: at for address, at in self.early.items() if address in kept}
        self.ready &= kept

    def hold(self, addresses: Iterable[Address], elapsed: float) -> None:
        """Let the first status of each object wait for a second."""
        for address in addresses:
            self.last.setdefault(address, elapsed)

    def find_wait(
        self, address: Address, elapsed: float, *, is_ready: bool, is_partial: bool = False
    ) -> float:
        """The seconds until a status may be written; zero or less if it may be written now."""
        least = PARTIAL_SECONDS_MIN if is_partial else STATUS_SECONDS_MIN
        last = self.last.get(address, -least)
        wait = last + least - elapsed
        if is_ready and address not in self.ready:
            early = self.early.get(address, -EARLY_SECONDS_MIN)
            return min(wait, max(early + EARLY_SECONDS_MIN, last + self.pause) - elapsed)
        return wait

    def note(self, address: Address, elapsed: float, *, is_ready: bool) -> None:
        """Remember that a status is written now."""
        if elapsed - self.last.get(address, -STATUS_SECONDS_MIN) < STATUS_SECONDS_MIN:
            self.early[address] = elapsed
        self.last[address] = elapsed
        (self.ready.add if is_ready else self.ready.discard)(address)


@dataclass(frozen=True, slots=True)
class StatusWrite:
    """How a status write ended: written or not, failed or not, and when to reconcile again."""

    writes: int = 0
    is_failed: bool = False
    recheck_seconds: float | None = None


class StatusWriter:
    """Writes each status at most once a second; one that says ready for the first time at once."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    async def write(
        self, wish: Projection, times: WriteTimes, elapsed: float, key: Key, manager: str = ""
    ) -> StatusWrite:
        """Write the wanted status if the stored one differs; the key waits for the caches."""
        stored: Object = wish.obj.get("status") or {}
        wanted = drop_nulls(wish.status)
        if wanted == stored:
            return StatusWrite()
        address = find_status(wish)
        wait = times.find_wait(address, elapsed, is_ready=wish.is_ready, is_partial=wish.is_partial)
        if wait > 0:
            return StatusWrite(recheck_seconds=max(wait, MOMENT_SECONDS))
        body = {"metadata": {"uid": uid_of(wish.obj)}, "status": write_merge(stored, wanted)}
        times.note(address, elapsed, is_ready=wish.is_ready)
        change = Patch(address, body, manager=manager, why="the status changed")
        outcomes = await self._executor.run((change,), key)
        is_done = outcomes[0].result in (Result.DONE, Result.GONE)
        return StatusWrite(1, not is_done)


def find_status(wish: Projection) -> Address:
    """The address of an object's status subresource."""
    return Address(wish.kind, namespace_of(wish.obj), name_of(wish.obj), "status")


def write_merge(stored: Object, wanted: Object) -> Object:
    """The merge patch from the stored to the wanted object, with nulls for keys to remove."""
    patch: Object = dict.fromkeys(name for name in stored if name not in wanted)
    for name, value in wanted.items():
        old = stored.get(name)
        is_nested = isinstance(old, dict) and isinstance(value, dict)
        patch[name] = write_merge(old, value) if is_nested else value  # type: ignore[arg-type]
    return patch


def drop_nulls(value: Object) -> Object:
    """A mapping without keys that are null, at any depth of mappings."""
    return {
        name: drop_nulls(inner) if isinstance(inner, dict) else inner
        for name, inner in value.items()
        if inner is not None
    }
