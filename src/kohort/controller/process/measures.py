"""
The operator's metrics, and the one line that it logs for each plan.

The catalogue describes all metrics; those of workloads are in ``workload_series``.
"""

import logging
from collections import Counter as Tally
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kohort import __version__
from kohort.apis.api import Key
from kohort.cluster.actions import Action, Create, Delete
from kohort.cluster.errors import KohortError, NotFound, TooManyRequests
from kohort.cluster.port import Selection
from kohort.controller.api_controller import ApiController
from kohort.controller.caches.cache import UndecodableObject
from kohort.controller.caches.informers import Reports
from kohort.controller.clock import Time
from kohort.controller.process.workload_series import WorkloadSeries
from kohort.controller.reconcile import ReconcileResult
from kohort.journal.buffer import Journal
from kohort.observability import catalogue
from kohort.observability.metrics import Counter, Gauge, Metric, Registry
from kohort.observability.process import measure_process

UNSERVED_SECONDS_MAX = 5.0  # an API server serves a new definition within so many
WARNING_SECONDS = 60.0  # how often a lasting failure is logged again
# Watches try again at least twice in that time, so a failure silent for so long is over.
OUTAGE_QUIET_SECONDS = 90.0
log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Outage:
    """Failures with the same message: when the first and last were, and when we last logged."""

    begun: float
    seen: float
    told: float


class Measures(Reports):
    """The metrics of one process, and the log lines that go with them."""

    def __init__(self, time: Time) -> None:
        self.registry = registry = Registry()
        self.journal = Journal()
        self._time = time
        self._controllers: list[ApiController] = []
        self._troubled: dict[Selection, str] = {}
        self._mistakes: dict[tuple[str, Key], str] = {}
        self.outages: dict[str, _Outage] = {}  # by error message
        self._number = 0
        self.is_leading: Callable[[], bool] = lambda: False
        self.workloads = WorkloadSeries(registry)
        self._plans = registry.histogram(catalogue.PLAN_SECONDS)
        self._strategies = registry.histogram(catalogue.STRATEGY_SECONDS)
        self._actions = registry.counter(catalogue.PLAN_ACTIONS)
        self._empty = registry.counter(catalogue.PLANS_EMPTY)
        self._retries = registry.counter(catalogue.QUEUE_RETRIES)
        self._writes = registry.counter(catalogue.WRITES)
        self._restarts = registry.counter(catalogue.WATCH_RESTARTS)
        self._requests = registry.counter(catalogue.WEBHOOK_REQUESTS)
        self._latency = registry.histogram(catalogue.WEBHOOK_SECONDS)
        registry.gauge(catalogue.BUILD_INFO).set(1.0, __version__)
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

        def forget(key: Key) -> None:
            if self._is_gone(kind, key):
                self.workloads.drop(kind, key)
                self._mistakes.pop((kind, key), None)

        controller.record = record
        controller.on_fault = report
        controller.on_gone = forget

    def leave(self, controller: ApiController) -> None:
        """Forget an API controller that has stopped, and its workloads."""
        self._controllers.remove(controller)
        self._drop_gone()

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
        outage = self.outages.get(words)
        if outage is None or now - outage.seen > OUTAGE_QUIET_SECONDS:
            # Messages with versions in them never come again: those of former outages go.
            known = self.outages.items()
            self.outages = {w: o for w, o in known if now - o.seen <= OUTAGE_QUIET_SECONDS}
            outage = self.outages[words] = _Outage(now, now, now)
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
        self.workloads.note(kind, key, result, self._time.elapsed())
        workload, observed, decided = result.workload, result.observed, result.decided
        if workload is not None and observed is not None and decided is not None:
            self.journal.note(kind, workload, observed, decided, result.done)
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
        leads = Gauge(catalogue.LEADS)
        leads.set(float(self.is_leading()))
        yield leads

    def _measure_queues(self) -> Iterable[Metric]:
        depth, oldest = Gauge(catalogue.QUEUE_DEPTH), Gauge(catalogue.QUEUE_OLDEST)
        adds, ages = Counter(catalogue.QUEUE_ADDS), Gauge(catalogue.CACHE_AGE)
        for controller in self._controllers:
            name = controller.api.kind.name
            depth.add(float(controller.queue.depth), name)
            oldest.set(max(controller.queue.oldest_seconds, oldest.value(name)), name)
            adds.add(float(controller.queue.adds), name)
            # APIs share caches, and a resource may have several: the oldest counts.
            for selection, age in controller.informers.ages.items():
                resource = selection.kind.group_resource
                ages.set(max(round(age, 3), ages.value(resource)), resource)
        return (depth, oldest, adds, ages)

    def _measure_workloads(self) -> Iterable[Metric]:
        self._drop_gone()
        return self.workloads.measure(self._time.elapsed())

    def _drop_gone(self) -> None:
        self.workloads.drop_gone(self._is_gone)
        known = self._mistakes
        self._mistakes = {w: words for w, words in known.items() if not self._is_gone(*w)}

    def _is_gone(self, kind: str, key: Key) -> bool:
        # Two groups of an API may have a kind of one name.
        own = (c for c in self._controllers if c.api.kind.name == kind)
        return all(controller.roots.find(key) is None for controller in own)


def _verb(action: Action) -> str:
    if isinstance(action, Create):
        return "create"
    return "delete" if isinstance(action, Delete) else "patch"
