"""
One reconcile of one workload: read, plan, render, carry out, report.

This module decides nothing about workloads. It limits the requests to the API server: the
operator does not repeat a request that the API server has refused until the spec changes,
no longer sends a field that the API server did not store, and writes a status that keeps
changing at most once a second, unless it becomes ready, but always its last state. The first
status counts what the same reconcile created, so that no second one has to add it.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import orjson

from kohort.apis.api import Api, ExecutionSummary, InvalidWorkload, Reading, Snapshot
from kohort.apis.group_cache import GroupCache
from kohort.apis.put_backs import PutBacks
from kohort.apis.references import Key, Projection
from kohort.cluster.actions import Action, Create, Delete, Patch, address_of, kind_of
from kohort.cluster.objects import (
    Kind,
    Object,
    annotations_of,
    labels_of,
    name_of,
    namespace_of,
    uid_of,
)
from kohort.cluster.port import Address
from kohort.cluster.timestamps import write_time
from kohort.controller.admission.probe import MOMENT_SECONDS, AdmissionProber, ProbeState
from kohort.controller.adoptions import Adoptions
from kohort.controller.blocked_condition import HealthReporter, Warnings
from kohort.controller.events import EventSink
from kohort.controller.execute import Executor, Outcome, Result
from kohort.controller.refusals import (
    Refusals,
    is_judged,
    is_quota,
    may_be_allowed,
    may_succeed_later,
)
from kohort.controller.stalled_condition import clear_stall, write_stall
from kohort.controller.status_writer import (
    PAUSE_SECONDS,
    StatusWriter,
    WriteTimes,
    find_status,
)
from kohort.model.observed import Observed
from kohort.model.plans import Plan
from kohort.model.reasons import Notice
from kohort.model.workload import Workload
from kohort.planning.plan import plan
from kohort.views.health import WRITE_FAILS, Health, Word

# No watch event announces that the API server serves a kind again while it has no objects.
ABSENT_RECHECK_SECONDS = 30.0
PUT_BACKS_FORGOTTEN_SECONDS = 600.0


@dataclass(slots=True)
class Memory:
    """The operator's memory of a workload beside the caches; a restart may lose it safely."""

    refusals: Refusals = field(default_factory=Refusals)
    probe_state: ProbeState = field(default_factory=ProbeState)
    dropped: frozenset[str] = frozenset()
    pruned: dict[Kind, frozenset[str]] = field(default_factory=dict)  # dropped fields of gangs
    fits: tuple[str, int | None] = ("", None)  # uid and generation of the last validated spec
    status_times: WriteTimes = field(default_factory=WriteTimes)
    projected_times: WriteTimes = field(default_factory=WriteTimes)
    group_cache: GroupCache[Any] = field(default_factory=GroupCache)
    warnings: Warnings = field(default_factory=Warnings)
    planning_seconds: float = 0.0  # time of the last plan, without its requests
    put_back: dict[Address, tuple[int, float, str]] = field(default_factory=dict)
    adoptions: Adoptions = field(default_factory=Adoptions)

    def find_put_backs(self, elapsed: float) -> dict[Address, PutBacks]:
        """The objects whose edits by other clients the operator has undone of late."""
        self.put_back = {
            address: held
            for address, held in self.put_back.items()
            if elapsed - held[1] < PUT_BACKS_FORGOTTEN_SECONDS
        }
        return {
            address: PutBacks(count, elapsed - last, why)
            for address, (count, last, why) in self.put_back.items()
        }

    def note_put_back(self, action: Patch | Delete, elapsed: float) -> None:
        """Note that the operator undid another client's edit of an object."""
        part = action.undoes_part if isinstance(action, Patch) else ""
        address = replace(address_of(action), part=part)
        count = self.put_back.get(address, (0, 0.0, ""))[0]
        self.put_back[address] = (count + 1, elapsed, action.undoes)


@dataclass(frozen=True, slots=True)
class ReconcileResult:
    """How one reconcile ended."""

    recheck_seconds: float | None = None
    is_failed: bool = False  # the queue runs the key again with backoff
    actions: int = 0
    blocked: tuple[str, ...] = ()
    observed: Observed | None = None  # None if the workload could not be planned
    done: tuple[Action, ...] = ()
    health: Health | None = None  # the reported verdict; None: nothing was reported
    workload: Workload | None = None  # as the planner saw it; None if it could not be planned
    decided: Plan | None = None
    strategy: str = ""  # the workload strategy in use, where the API has several
    members: tuple[Any, ...] = ()  # its pods, as the caches hold them


class Reconciler:
    """Reconciles the workloads of one API."""

    def __init__(
        self,
        api: Api,
        executor: Executor,
        events: EventSink,
        prober: AdmissionProber,
        judge: HealthReporter,
        clock: Callable[[], float],
    ) -> None:
        self._judge = judge
        self._api = api
        self._clock = clock
        self._executor = executor
        self._events = events
        self._statuses = StatusWriter(executor)
        self._prober = prober

    async def reconcile(
        self, snapshot: Snapshot, memory: Memory, moment: datetime, elapsed: float
    ) -> ReconcileResult:
        """Bring one workload one step closer to its spec."""
        now = write_time(moment)
        try:
            reading = self._read(snapshot, memory)
            decided = plan(reading.workload, reading.observed, moment.timestamp())
            rendered = self._api.render(snapshot, reading, decided)
        except InvalidWorkload as error:
            return await self._stall(snapshot, error, memory, now, elapsed)
        memory.planning_seconds = self._clock() - elapsed
        actions = _untried(rendered, snapshot, memory, elapsed)
        memory.probe_state.is_whole = decided.report.is_available
        actions = await self._prober.sift(snapshot, actions, memory.probe_state, now, elapsed)
        key = (namespace_of(snapshot.root), name_of(snapshot.root))
        outcomes = await self._executor.run(actions, key)
        self._learn(outcomes, memory, elapsed, snapshot.settings.gang_kinds)
        is_failed = any(may_succeed_later(outcome) for outcome in outcomes)
        result, ruling, summary = ReconcileResult(), None, _summarise(outcomes)
        list_events, known = self._api.list_events, memory.warnings
        refused = list_events(snapshot, reading, decided, summary) if summary.failed else ()
        known.note_refusals(refused, now)
        if is_judged(outcomes) or memory.refusals.failing or _is_seen(snapshot.root):
            status = self._status(_note_made(snapshot, summary), reading, decided, memory, now)
            await self._judge.read_warnings(snapshot, memory.probe_state, known, elapsed, moment)
            told = replace(snapshot, root={**snapshot.root, "status": status})
            ruling = self._judge.rule(told, reading, decided, known, moment)
            result = await self._report(snapshot, ruling.status, memory, elapsed, ruling.health)
        summary = replace(summary, is_reported=result.actions > 0 and not result.is_failed)
        # The stored Blocked condition shows whether the verdict is new, so it must be written.
        if ruling is not None and summary.is_reported and self._api.has_conditions:
            self._events.emit(snapshot.root, ruling.list_events(snapshot.root), now)
        if summary.done or summary.failed or summary.is_reported:
            notices = list_events(snapshot, reading, decided, summary)
            self._events.emit(snapshot.root, notices, now)
        projections = self._api.list_projections(snapshot, reading, decided, now)
        memory.projected_times.pause = _find_pause(ruling.health if ruling else None, outcomes)
        result = await self._project(result, projections, memory, key, elapsed)
        is_failed |= any(outcome.is_unknown for outcome in outcomes)
        return ReconcileResult(
            _soonest(
                result.recheck_seconds,
                _wait_at_least(decided.recheck_seconds),
                *(_wait_until(due, moment) for due in reading.due),
                _recheck_seconds(memory, elapsed),
                ABSENT_RECHECK_SECONDS if snapshot.absent else None,
                ruling.recheck_seconds if ruling else None,
            ),
            result.is_failed or is_failed,
            result.actions + len(outcomes),
            _list_reasons(decided, memory),
            reading.observed,
            summary.done,
            ruling.health if ruling else None,
            reading.workload,
            decided,
            self._api.name_strategy(reading),
            snapshot.all(self._api.members),
        )

    async def _stall(
        self, snapshot: Snapshot, error: InvalidWorkload, memory: Memory, now: str, elapsed: float
    ) -> ReconcileResult:
        """Report a workload whose spec cannot be planned."""
        told = self._api.write_error(snapshot, error, now)
        held = {**self._api.start_status(snapshot.root), **told}
        root = {**snapshot.root, "status": held}
        stalled = write_stall(root, error.reason, str(error), now)
        result = await self._report(snapshot, stalled, memory, elapsed)
        if result.actions and not result.is_failed:
            notice = Notice("Warning", error.reason, str(error)[:1_000], "Reconcile")
            self._events.emit(snapshot.root, (notice,), now)
        return replace(result, health=Health(Word.STALLED, error.reason, str(error), None))

    def _read(self, snapshot: Snapshot, memory: Memory) -> Reading[object]:
        """Read the snapshot; each generation of the spec is validated once."""
        generation = (uid_of(snapshot.root), snapshot.root["metadata"].get("generation"))
        if memory.fits == generation:
            return self._api.read(snapshot)
        reading = self._api.read_checked(snapshot)
        memory.fits = generation
        return reading

    def _learn(
        self, outcomes: list[Outcome], memory: Memory, elapsed: float, gangs: frozenset[Kind]
    ) -> None:
        memory.refusals.note_failures(outcomes, elapsed)
        for outcome in outcomes:
            action = outcome.action
            is_done = outcome.result is Result.DONE
            if isinstance(action, Patch | Delete) and action.undoes and is_done:
                memory.note_put_back(action, elapsed)
            if is_done:
                memory.adoptions.note(action, elapsed)
            kind = kind_of(outcome.action)
            if outcome.result in (Result.REFUSED, Result.TAKEN) and not is_quota(outcome):
                tried_at = elapsed if kind in gangs or may_be_allowed(outcome) else None
                memory.refusals.note(action, outcome.message, tried_at)
            elif outcome.result is Result.DONE and kind in gangs:
                known = memory.pruned.get(kind, frozenset())
                memory.pruned[kind] = _keep_unasked(known, outcome) | outcome.find_dropped()
            elif outcome.result is Result.DONE and isinstance(outcome.action, Patch):
                memory.dropped |= outcome.dropped

    def _status(
        self, snapshot: Snapshot, reading: Reading[object], decided: Plan, memory: Memory, now: str
    ) -> Object:
        status = self._api.write_status(snapshot, reading, decided, now)
        root = {**snapshot.root, "status": status}
        if memory.refusals.message:
            return write_stall(root, "Refused", memory.refusals.message, now)
        if memory.refusals.failing:
            return write_stall(root, WRITE_FAILS, memory.refusals.failing, now)
        if snapshot.absent:
            message = next(iter(snapshot.absent.values()))
            return write_stall(root, "NotServed", message, now)
        return clear_stall(root, now)

    async def _report(
        self,
        snapshot: Snapshot,
        status: Object,
        memory: Memory,
        elapsed: float,
        health: Health | None = None,
    ) -> ReconcileResult:
        """Write the status of the workload, and remove stored fields that cannot be read."""
        if not self._api.has_conditions:
            status = {name: value for name, value in status.items() if name != "conditions"}
        elif not self._api.has_condition_generations:
            status = _drop_generations(status)
        stored = {**dict.fromkeys(snapshot.stray), **(snapshot.root.get("status") or {})}
        is_ready = health is not None and health.word is Word.READY
        is_partial = self._api.is_partial(snapshot.root, status)
        root = {**snapshot.root, "status": stored}
        wish = Projection(self._api.kind, root, status, is_ready, is_partial)
        key = (namespace_of(snapshot.root), name_of(snapshot.root))
        done = await self._statuses.write(wish, memory.status_times, elapsed, key)
        return ReconcileResult(done.recheck_seconds, done.is_failed, done.writes)

    async def _project(
        self,
        result: ReconcileResult,
        projections: tuple[Projection, ...],
        memory: Memory,
        key: Key,
        elapsed: float,
    ) -> ReconcileResult:
        """Write the statuses of children that have one, each at most once a second."""
        times, manager = memory.projected_times, self._api.home.field_manager
        addresses = {find_status(each) for each in projections}
        times.forget_others(addresses)
        times.hold((find_status(p) for p in projections if not p.obj.get("status")), elapsed)
        writes = (self._statuses.write(each, times, elapsed, key, manager) for each in projections)
        done = await asyncio.gather(*writes)
        return replace(
            result,
            recheck_seconds=_soonest(result.recheck_seconds, *(d.recheck_seconds for d in done)),
            is_failed=result.is_failed or any(each.is_failed for each in done),
            actions=result.actions + sum(each.writes for each in done),
        )


def _find_pause(health: Health | None, outcomes: list[Outcome]) -> float:
    """
    How long the first statuses of ready children wait: while the workload only waits for others.

    A plan that deletes or creates because a child is ready tells so in the same reconcile.
    """
    is_ready = health is not None and health.word is Word.READY
    is_waiting = all(address_of(each.action).part == "status" for each in outcomes)
    return PAUSE_SECONDS if is_waiting and not is_ready else 0.0


def _list_reasons(decided: Plan, memory: Memory) -> tuple[str, ...]:
    reasons = tuple(blocker.reason for blocker in decided.report.blockers)
    return reasons + ("AdmissionSilent",) * memory.probe_state.is_silent


def _drop_generations(status: Object) -> Object:
    """The status without observedGeneration in its conditions."""
    conditions = [
        {name: value for name, value in condition.items() if name != "observedGeneration"}
        for condition in status.get("conditions") or ()
    ]
    return {**status, "conditions": conditions}


def _keep_unasked(known: frozenset[str], outcome: Outcome) -> frozenset[str]:
    """The known dropped fields that this write did not contain."""
    if not isinstance(outcome.action, Patch):
        return frozenset()
    assert isinstance(outcome.action.patch, dict), "gangs are patched by merges"
    asked = tuple(f"spec.{name}" for name in outcome.action.patch.get("spec") or {})
    return frozenset(path for path in known if not path.startswith(asked))


def _untried(
    actions: tuple[Action, ...], snapshot: Snapshot, memory: Memory, elapsed: float
) -> tuple[Action, ...]:
    """The actions that the API server has not refused for the same spec, adoptions if due."""
    root = snapshot.root
    asked = [root["metadata"].get("generation"), labels_of(root), annotations_of(root)]
    # The API server may accept a refused request once a missing kind is served again.
    asked.append(sorted(snapshot.absent.values()))
    wish = orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)
    memory.refusals.begin(wish, elapsed)
    return memory.adoptions.sift(memory.refusals.sift(actions), elapsed)


def _summarise(outcomes: list[Outcome]) -> ExecutionSummary:
    bad = (Result.REFUSED, Result.TAKEN, Result.FAILED)
    return ExecutionSummary(
        tuple(o.action for o in outcomes if o.result is Result.DONE),
        tuple((o.action, o.message) for o in outcomes if o.result in bad),
        is_reported=False,
    )


def _note_made(snapshot: Snapshot, summary: ExecutionSummary) -> Snapshot:
    """The snapshot with what was just created, if the workload has no status yet."""
    if snapshot.root.get("status"):
        return snapshot
    return replace(snapshot, made=tuple(a.obj for a in summary.done if isinstance(a, Create)))


def _is_seen(root: Object) -> bool:
    """Whether the stored status is of this generation; else a failed reconcile writes none."""
    seen = (root.get("status") or {}).get("observedGeneration")
    return bool(seen == root["metadata"].get("generation"))


def _recheck_seconds(memory: Memory, elapsed: float) -> float | None:
    waits_asked = memory.refusals.find_wait(elapsed), memory.adoptions.wait
    wait = _soonest(*(_wait_at_least(seconds) for seconds in waits_asked))
    puts = memory.find_put_backs(elapsed).values()
    waits = (s for put in puts for s in (put.quiet_seconds, put.pause_seconds))
    moments = (seconds + MOMENT_SECONDS for seconds in waits if seconds > 0)
    return _soonest(wait, memory.probe_state.recheck_seconds(elapsed), *moments)


def _wait_at_least(seconds: float | None) -> float | None:
    """The wait, but never so short that reconciles follow each other in a loop."""
    return None if seconds is None else max(seconds, MOMENT_SECONDS)


def _wait_until(due: float, moment: datetime) -> float | None:
    """The seconds until a moment; None if it has passed, since this plan took it into account."""
    seconds = due - moment.timestamp()
    return _wait_at_least(seconds) if seconds > 0 else None


def _soonest(*seconds: float | None) -> float | None:
    return min((s for s in seconds if s is not None), default=None)
