"""
One look at one workload: read, plan, render, carry out, report.

This module decides nothing about workloads. What it adds is manners towards the
server: nothing is tried again that the server has refused until the spec changes,
a field that it did not keep is no longer asked for, and a status that keeps
changing is written at most once a second, but its last state always.
"""

from dataclasses import dataclass, field

from kohort.apis.api import Api, Family, InvalidWorkload, Reading
from kohort.cluster.actions import Action, Patch
from kohort.cluster.errors import BadRequest, Forbidden, Invalid
from kohort.cluster.objects import Object, name_of, namespace_of, uid_of
from kohort.cluster.port import Address
from kohort.controller.events import EventSink
from kohort.controller.execute import Executor, Outcome, Result
from kohort.controller.stalling import clear_stall, write_stall
from kohort.model.observed import Observed
from kohort.model.plans import Plan
from kohort.planning.plan import plan

STATUS_SECONDS_MIN = 1.0


@dataclass(slots=True)
class Memory:
    """What is known of a workload beyond its objects; all of it may be lost without harm."""

    refused: dict[str, str] = field(default_factory=dict)  # what we asked for, and the answer
    refused_generation: int = -1
    dropped: frozenset[str] = frozenset()
    status_written: float = -STATUS_SECONDS_MIN


@dataclass(frozen=True, slots=True)
class Look:
    """How a look ended."""

    recheck_seconds: float | None = None
    is_failed: bool = False  # look again with backoff
    actions: int = 0
    blocked: tuple[str, ...] = ()
    observed: Observed | None = None  # None if it could not be read
    wanted: int = 0  # groups
    done: tuple[Action, ...] = ()


class Reconciler:
    """Looks at workloads of one API."""

    def __init__(self, api: Api, executor: Executor, events: EventSink) -> None:
        self._api = api
        self._executor = executor
        self._events = events

    async def look(self, family: Family, memory: Memory, now: str, elapsed: float) -> Look:
        """Take one workload one step closer to what its user asked for."""
        try:
            reading = self._api.read(family)
        except InvalidWorkload as error:
            stalled = write_stall(family.root, error.reason, str(error), now)
            return await self._report(family, stalled, memory, elapsed)
        decided = plan(reading.workload, reading.observed)
        actions = self._untried(self._api.render(family, reading, decided), reading, memory)
        key = (namespace_of(family.root), name_of(family.root))
        outcomes = await self._executor.run(actions, key)
        self._learn(outcomes, memory)
        if any(_may_succeed_later(outcome) for outcome in outcomes):
            return Look(is_failed=True, actions=len(actions))
        done = tuple(o.action for o in outcomes if o.result is Result.DONE)
        status = self._status(family, reading, decided, memory, now)
        look = await self._report(family, status, memory, elapsed)
        if done or look.actions:
            notices = self._api.tell(family, reading, decided, done)
            await self._events.tell(family.root, notices, now)
        retry = any(outcome.result is Result.CONFLICT for outcome in outcomes)
        blocked = tuple(blocker.reason for blocker in decided.report.blockers)
        return Look(
            look.recheck_seconds,
            look.is_failed or retry,
            look.actions + len(actions),
            blocked,
            reading.observed,
            decided.report.wanted,
            done,
        )

    def _untried(
        self, actions: tuple[Action, ...], reading: Reading, memory: Memory
    ) -> tuple[Action, ...]:
        if memory.refused_generation != reading.workload.generation:
            memory.refused_generation = reading.workload.generation
            memory.refused.clear()
        return tuple(action for action in actions if action.why not in memory.refused)

    def _learn(self, outcomes: list[Outcome], memory: Memory) -> None:
        for outcome in outcomes:
            if outcome.result in (Result.REFUSED, Result.TAKEN) and not _is_quota(outcome):
                memory.refused[outcome.action.why] = outcome.message
            elif outcome.result is Result.DONE and isinstance(outcome.action, Patch):
                memory.dropped |= outcome.dropped

    def _status(
        self, family: Family, reading: Reading, decided: Plan, memory: Memory, now: str
    ) -> Object:
        status = self._api.write_status(family, reading, decided, now)
        root = {**family.root, "status": status}
        if memory.refused:
            message = next(iter(memory.refused.values()))
            return write_stall(root, "Refused", message, now)
        return clear_stall(root, now)

    async def _report(self, family: Family, status: Object, memory: Memory, elapsed: float) -> Look:
        root = family.root
        if status == (root.get("status") or {}):
            return Look()
        wait = memory.status_written + STATUS_SECONDS_MIN - elapsed
        if wait > 0:
            return Look(recheck_seconds=wait)
        address = Address(self._api.kind, namespace_of(root), name_of(root), "status")
        body = {"metadata": {"uid": uid_of(root)}, "status": status}
        memory.status_written = elapsed
        key = (address.namespace, address.name)
        write = Patch(address, body, why="the status changed")
        outcomes = await self._executor.run((write,), key)
        is_done = outcomes[0].result in (Result.DONE, Result.GONE)
        return Look(is_failed=not is_done, actions=1)


def _may_succeed_later(outcome: Outcome) -> bool:
    """Whether it is worth trying again without anybody changing the workload."""
    if outcome.result is Result.SKIPPED:
        return not isinstance(outcome.error, Invalid | BadRequest)
    return outcome.result is Result.FAILED or _is_quota(outcome)


def _is_quota(outcome: Outcome) -> bool:
    """A quota is full now and may have room later."""
    return isinstance(outcome.error, Forbidden) and "exceeded quota" in outcome.message
