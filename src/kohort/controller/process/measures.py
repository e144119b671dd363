"""
The operator's metrics, and the one line that it logs for each plan.

Metrics of workloads come from reconciles, so at rest they cost nothing and stay true: a
workload that was not reconciled has not changed. When a workload is deleted its series
are dropped.
"""

import logging
from collections import Counter as Tally
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from kohort import __version__
from kohort.apis.api import Key
from kohort.cluster.actions import Action, Create, Delete
from kohort.cluster.errors import KohortError, NotFound, TooManyRequests
from kohort.cluster.port import Selection
from kohort.controller.api_controller import ApiController
from kohort.controller.caches.cache import UndecodableObject
from kohort.controller.caches.informers import Reports
from kohort.controller.clock import Time
from kohort.controller.reconcile import ReconcileResult
from kohort.model.observed import Observed
from kohort.model.units import Level, Phase
from kohort.observability.metrics import Gauge, Metric, Registry
from kohort.observability.process import measure_process

UNSERVED_SECONDS_MAX = 5.0  # an API server serves a new definition within so many
WARNING_SECONDS = 60.0  # how often a lasting failure is logged again
# Watches try again at least twice in that time, so a failure silent for so long is over.
OUTAGE_QUIET_SECONDS = 90.0
_WORKLOAD = ("kind", "namespace", "name")
log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Outage:
    """Failures with the same message: when the first and last were, and when we last logged."""

    begun: float
    seen: float
    told: float


@dataclass(slots=True)
class _Seen:
    """The facts from the last reconcile of a workload."""

    observed: Observed | None = None  # its units are counted when metrics are scraped
    wanted: int = 0
    strategy: str = ""
    blocked: dict[str, float] = field(default_factory=dict)  # since when, by the verdict's reason
    waiting: dict[str, float] = field(default_factory=dict)  # since when, by the blocker's reason


class Measures(Reports):
    """The metrics of one process, and the log lines that go with them."""

    def __init__(self, time: Time) -> None:
        self.registry = registry = Registry()
        self._time = time
        self._controllers: list[ApiController] = []
        self._seen: dict[tuple[str, Key], _Seen] = {}
        self._troubled: dict[Selection, str] = {}
        self._mistakes: dict[tuple[str, Key], str] = {}
        self._outages: dict[str, _Outage] = {}  # by error message
        self._number = 0
        self.is_leading: Callable[[], bool] = lambda: False
        kind = ("kind",)
        self._plans = registry.histogram("kohort_plan_seconds", "Time of a whole look.", *kind)
        self._strategies = registry.histogram(
            "kohort_strategy_reconcile_seconds",
            "Time of a whole look, by the strategy of the workload.",
            "kind",
            "strategy",
            "result",
        )
        self._actions = registry.counter(
            "kohort_plan_actions_total", "Actions that were done.", "kind", "action"
        )
        self._empty = registry.counter(
            "kohort_plans_empty_total", "Looks that found nothing to do.", *kind
        )
        self._retries = registry.counter("workqueue_retries_total", "Looks that failed.", "name")
        self._writes = registry.counter(
            "kohort_writes_total", "Writes by verb and result.", "verb", "result"
        )
        self._restarts = registry.counter(
            "kohort_watch_restarts_total", "Lists and watches that failed.", "resource"
        )
        self._requests = registry.counter(
            "controller_runtime_webhook_requests_total", "Admission requests.", "webhook", "code"
        )
        self._latency = registry.histogram(
            "controller_runtime_webhook_latency_seconds", "Time of an answer.", "webhook"
        )
        build = registry.gauge("kohort_build_info", "The version that runs.", "version")
        build.set(1.0, __version__)
        registry.collect(measure_process)
        registry.collect(self._measure)

    def follow(self, controller: ApiController) -> None:
        """Record the reconciles of an API controller from now on."""
        self._controllers.append(controller)
        kind = controller.api.kind.name

        def record(key: Key, result: ReconcileResult, seconds: float) -> None:
            self._note(kind, key, result, seconds)

        def report(key: Key, error: Exception) -> None:
            self._report_mistake(kind, key, error)

        controller.record = record
        controller.on_fault = report

    def leave(self, controller: ApiController) -> None:
        """Forget an API controller that has stopped, and its workloads."""
        self._controllers.remove(controller)

    def _report_mistake(self, kind: str, key: Key, error: Exception) -> None:
        """Log a bug of ours about one object: once with its traceback, then at debug level."""
        words = f"{type(error).__name__}: {error}"
        facts = {"kind": kind, "namespace": key[0], "name": key[1], "mistake": words[:200]}
        self._retries.count(kind)
        is_known = self._mistakes.get((kind, key)) == words
        self._mistakes[kind, key] = words
        if is_known:
            log.debug("a look failed by a mistake of ours again", extra={"facts": facts})
        else:
            log.error("a look failed by a mistake of ours", exc_info=error, extra={"facts": facts})

    def note_write(self, verb: str, result: str) -> None:
        """Count one write by verb and result."""
        self._writes.count(verb, result)

    def note_review(self, path: str, code: int, seconds: float) -> None:
        """Count one call of a webhook, with its time."""
        self._requests.count(path, str(code))
        self._latency.observe(seconds, path)

    def trouble(self, selection: Selection, error: KohortError) -> None:
        """
        Count and log a failed list or watch, which the watcher tries again.

        The same message is logged once for each kind, and then once a minute for all. A kind that
        is not served yet is not logged for some seconds, since its definition may be new.
        """
        self._restarts.count(selection.kind.group_resource)
        words, now = str(error), self._time.elapsed()
        outage = self._outages.get(words)
        if outage is None or now - outage.seen > OUTAGE_QUIET_SECONDS:
            outage = self._outages[words] = _Outage(now, now, now)
            self._troubled = {s: w for s, w in self._troubled.items() if w != words}
        outage.seen = now
        is_unserved = isinstance(error, NotFound | TooManyRequests)
        if is_unserved and now - outage.begun < UNSERVED_SECONDS_MAX:
            return
        if self._troubled.get(selection) != words:
            self._troubled[selection] = words
            facts = {"resource": selection.kind.group_resource, "error": words}
            log.warning("cannot watch", extra={"facts": facts})
        elif now - outage.told >= WARNING_SECONDS:
            outage.told = now
            lasting = f"{int(now - outage.begun)}s"
            log.warning("still cannot watch", extra={"facts": {"error": words, "for": lasting}})

    def fault(self, selection: Selection, fault: UndecodableObject) -> None:
        """Log an object that cannot be decoded, which the cache leaves out."""
        facts = {
            "resource": selection.kind.group_resource,
            "namespace": fault.key[0],
            "name": fault.key[1],
            "error": fault.why,
        }
        log.warning("cannot read an object", extra={"facts": facts})

    def _note(self, kind: str, key: Key, result: ReconcileResult, seconds: float) -> None:
        self._plans.observe(seconds, kind)
        self._mistakes.pop((kind, key), None)
        if result.is_failed:
            self._retries.count(kind)
        if result.strategy:
            ended = "failed" if result.is_failed else "done"
            self._strategies.observe(seconds, kind, result.strategy, ended)
        for action in result.done:
            self._actions.count(kind, _verb(action))
        seen = self._seen.setdefault((kind, key), _Seen())
        now = self._time.elapsed()
        if result.observed is not None:
            seen.observed, seen.wanted = result.observed, result.wanted
            seen.strategy = result.strategy
            seen.waiting = {reason: seen.waiting.get(reason, now) for reason in result.blocked}
        if result.health is not None:
            blocked = (result.health.reason,) if result.health.word.needs_help else ()
            seen.blocked = {reason: seen.blocked.get(reason, now) for reason in blocked}
        if not result.actions:
            self._empty.count(kind)
            return
        self._number += 1
        self._log(kind, key, result, seconds)

    def _log(self, kind: str, key: Key, result: ReconcileResult, seconds: float) -> None:
        facts: dict[str, object] = {
            "plan": self._number,
            "kind": kind,
            "namespace": key[0],
            "name": key[1],
            "actions": result.actions,
            **Tally(_verb(action) for action in result.done),
            "seconds": round(seconds, 4),
        }
        if result.strategy:
            facts["strategy"] = result.strategy
        if result.blocked:
            facts["blocked"] = ",".join(result.blocked)
        if result.is_failed:
            facts["retried"] = True
        log.info("plan", extra={"facts": facts})

    def _measure(self) -> Iterable[Metric]:
        yield from self._measure_queues()
        yield from self._measure_workloads()
        yield self._measure_strategies()
        leads = Gauge("leader_election_master_status", "1 if this process leads.")
        leads.set(float(self.is_leading()))
        yield leads

    def _measure_queues(self) -> Iterable[Metric]:
        depth = Gauge("workqueue_depth", "Keys that are due and wait.", ("name",))
        oldest = Gauge(
            "workqueue_unfinished_work_seconds", "How long the oldest of them waits.", ("name",)
        )
        for controller in self._controllers:
            depth.set(float(controller.queue.depth), controller.api.kind.name)
            oldest.set(controller.queue.oldest_seconds, controller.api.kind.name)
        return (depth, oldest)

    def _measure_workloads(self) -> Iterable[Metric]:
        self._drop_gone()
        now = self._time.elapsed()
        units = Gauge("kohort_units", "Units by phase.", (*_WORKLOAD, "level", "phase"))
        wanted = Gauge("kohort_units_desired", "Units that were asked for.", (*_WORKLOAD, "level"))
        blocked = Gauge(
            "kohort_blocked_seconds", "How long it has needed help.", (*_WORKLOAD, "reason")
        )
        waiting = Gauge(
            "kohort_waiting_seconds", "How long its plans have waited.", (*_WORKLOAD, "reason")
        )
        for (kind, key), seen in self._seen.items():
            for (level, phase), count in _count_units(seen.observed).items():
                units.set(float(count), kind, *key, level, phase)
            wanted.set(float(seen.wanted), kind, *key, Level.GROUP)
            for reason, since in seen.blocked.items():
                blocked.set(round(now - since, 3), kind, *key, reason)
            for reason, since in seen.waiting.items():
                waiting.set(round(now - since, 3), kind, *key, reason)
        return (units, wanted, blocked, waiting)

    def _measure_strategies(self) -> Metric:
        found = Gauge(
            "kohort_strategy_workloads",
            "Workloads by the strategy that runs them.",
            ("kind", "namespace", "strategy"),
        )
        for (kind, (namespace, _)), seen in self._seen.items():
            if seen.strategy:
                found.add(1.0, kind, namespace, seen.strategy)
        return found

    def _drop_gone(self) -> None:
        roots = {controller.api.kind.name: controller.roots for controller in self._controllers}

        def is_gone(kind: str, key: Key) -> bool:
            return kind not in roots or roots[kind].find(key) is None

        gone = [workload for workload in self._seen if is_gone(*workload)]
        for workload in gone:
            del self._seen[workload]
        known = self._mistakes
        self._mistakes = {w: words for w, words in known.items() if not is_gone(*w)}


def _count_units(observed: Observed | None) -> dict[tuple[str, str], int]:
    """How many units of each level are in each phase; phases without units are 0."""
    if observed is None:
        return {}
    found = {(str(level), str(p)): 0 for level in (Level.GROUP, Level.MEMBER) for p in Phase}
    for group in observed.groups:
        found[Level.GROUP, group.phase] += 1
        for member in group.members:
            found[Level.MEMBER, member.phase] += 1
    return found


def _verb(action: Action) -> str:
    if isinstance(action, Create):
        return "create"
    return "delete" if isinstance(action, Delete) else "patch"
