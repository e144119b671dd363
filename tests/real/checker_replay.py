"""
The checkers of simulations, on what happened on a cluster.

A record of watches is played to them as if their own store had made it. The writer of a
version is known from the audit log, so only what the operator itself decided is held
against it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import orjson
from audit_log import AuditLog
from watch_record import Record, Seen

from kohort.apis.leaderworkerset import labels
from kohort.apiserver.store.entries import ChangeType
from kohort.cluster.kinds import POD, STATEFUL_SET
from kohort.cluster.objects import Kind, Object, annotations_of, is_leaving, uid_of
from kohort.simulation.checkers import Scene
from kohort.simulation.checkers.stability import Stability
from kohort.simulation.checkers.truth import IS_USER, KINDS, Marks, Truth
from kohort.simulation.faulty_cluster import WRITER, Request
from kohort.simulation.leaderworkerset.labels import WORKLOAD
from kohort.simulation.leaderworkerset.simulated import LEADER_WORKER_SETS
from kohort.simulation.scenario import NAME, NAMESPACE, PODS, STATEFULSETS, Fault, Scenario

OPERATOR = "operator"
# For how long an operator, or any other controller, may not have seen something when busy.
PATIENCE_SECONDS = 5.0
# How late a watch may tell the operator of a change that it decides without.
WATCH_SECONDS = 1.0
LABELLER = "kubectl-label"
EDITS = {
    "kubectl": "scale-child",
    "kubectl-rollout": "restart-set",
    "kubectl-set": "set-image",
}
_BY_PLURAL = {kind.plural: kind for kind in (WORKLOAD, *KINDS)}


class _Feed:
    """What the truth subscribes to in place of a simulated API."""

    def __init__(self, scale: Object | None) -> None:
        self._scale = scale
        self._workload: Object = {}
        self._listeners: dict[Kind, Callable[[Any], None]] = {}
        self.registry = SimpleNamespace(of=lambda kind: SimpleNamespace(bucket=kind))
        self.store = SimpleNamespace(subscribe=self._listeners.__setitem__)

    def target(self, *place: str) -> None:
        """The one thing that is asked for besides changes: the scale of the workload."""

    def read(self, target: None) -> Any:
        """The scale; what it should be, if no test has read it from the cluster."""
        status = self._workload.get("status") or {}
        wanted = self._workload["spec"]["replicas"]
        said = {"replicas": status.get("replicas"), "selector": status.get("hpaPodSelector")}
        scale = self._scale or {"spec": {"replicas": wanted}, "status": said}
        return SimpleNamespace(raw=orjson.dumps(scale))

    def observe(self, seen: Seen, writer: str, *, is_user: bool) -> None:
        """Let one change happen, in the one namespace that the truth looks at."""
        if seen.kind == WORKLOAD and seen.obj["metadata"]["name"] == NAME:
            self._workload = seen.obj
        key = (NAMESPACE, seen.obj["metadata"]["name"])
        entry = SimpleNamespace(key=key, raw=orjson.dumps(seen.obj))
        event = SimpleNamespace(change=ChangeType(seen.type), entry=entry, rv=seen.version)
        tokens = WRITER.set(writer), IS_USER.set(is_user)
        self._listeners[seen.kind](event)
        WRITER.reset(tokens[0])
        IS_USER.reset(tokens[1])


@dataclass(slots=True)
class ReplayResult:
    """What the checkers found, and what is not yet as it was asked for."""

    breaches: list[str]
    trouble: str


class _Replay:
    """Checkers, and the stage on which a record is played to them."""

    def __init__(self, scenario: Scenario, scale: Object | None) -> None:
        self.breaches: list[str] = []
        self.now = 0.0
        self._feed = _Feed(scale)
        known = LEADER_WORKER_SETS
        marks = Marks(known.labels)
        self._truth = Truth(cast(Any, self._feed), known, lambda: self.now, marks)
        patience = PATIENCE_SECONDS
        self._truth.lag = min(patience, WATCH_SECONDS)
        scene = Scene(
            scenario,
            known,
            self._truth,
            lambda: self.now,
            self._breach,
            patience,
            lags=patience,
            # While an API server restarts, nothing that happens is delivered.
            has_true_times=False,
        )
        self.checkers = [make(scene) for make in known.checkers]
        self._truth.listeners.extend(checker.commit for checker in self.checkers)

    def _breach(self, text: str) -> None:
        # What happened last, for who has to find out why.
        last = [] if self.breaches else self._truth.log[-12:]
        self.breaches.append("\n  ".join([text, *last]))

    def run(self, changes: list[Seen], audit: AuditLog) -> None:
        """Let everything happen again."""
        held: dict[tuple[Kind, str], Object] = {}
        for seen in changes:
            self.now = seen.at
            place = (seen.kind, seen.obj["metadata"]["name"])
            writer = _find_writer(seen, held.get(place), audit)
            self._feed.observe(seen, writer, is_user=seen.version in audit.written_by_outsiders)
            held[place] = seen.obj

    def end(self) -> str:
        """What is not as it was asked for; if all is, it must be so in every way."""
        trouble = next(c for c in self.checkers if isinstance(c, Stability)).find_trouble()
        for checker in self.checkers if not trouble else ():
            checker.end()
        return trouble

    def ask(self, audit: AuditLog, namespace: str) -> None:
        """Let all requests of the operator be asked again."""
        for asked in audit.asked:
            kind = _BY_PLURAL.get(asked.resource.partition("/")[0])
            if asked.namespace != namespace or kind is None:
                continue
            self.now = asked.at
            request = Request(asked.verb, kind, asked.name, OPERATOR, (("uid", asked.uid),))
            for checker in self.checkers:
                checker.request(request)


def judge(
    record: Record, audit: AuditLog, namespace: str, replicas: int = 1, scale: Object | None = None
) -> ReplayResult:
    """Play a record to all checkers."""
    audit.read()
    changes = record.in_order()
    replay = _Replay(_describe(changes, replicas), scale)
    replay.run(changes, audit)
    trouble = replay.end()
    replay.ask(audit, namespace)
    breaches = replay.breaches
    if _is_network_changed(changes):
        # The checker tells an old group by its image and size alone.
        breaches = [breach for breach in breaches if not breach.startswith("G3")]
    if LABELLER in _find_managers(changes):
        # The checker takes the places that a client wrote on pods for the operator's.
        breaches = [breach for breach in breaches if not breach.startswith("G6")]
    return ReplayResult(breaches, trouble)


def _describe(changes: list[Seen], replicas: int) -> Scenario:
    """What checkers must know of the workload, from the workload."""
    found = [s.obj for s in changes if s.kind == WORKLOAD and s.obj["metadata"]["name"] == NAME]
    if not found:
        return Scenario(replicas=replicas)
    last = found[-1]
    template = last["spec"]["leaderWorkerTemplate"]
    is_by_pods = annotations_of(last).get(labels.CARRIER) == labels.PODS
    return Scenario(
        restart=template["restartPolicy"],
        startup=last["spec"]["startupPolicy"],
        carrier=PODS if is_by_pods else STATEFULSETS,
        replicas=replicas,
        faults=_find_edits(changes),
    )


def _find_edits(changes: list[Seen]) -> tuple[Fault, ...]:
    """What kubectl's commands did to sets and pods of ours."""
    return tuple(Fault(EDITS[name]) for name in sorted(_find_managers(changes) & set(EDITS)))


def _find_managers(changes: list[Seen]) -> set[str]:
    """The clients that have set a field of a set or a pod."""
    edited = [s.obj for s in changes if s.kind in (STATEFUL_SET, POD)]
    held = [field for obj in edited for field in obj["metadata"].get("managedFields") or ()]
    return {str(field.get("manager")) for field in held}


def _is_network_changed(changes: list[Seen]) -> bool:
    found = [s.obj["spec"].get("networkConfig") for s in changes if s.kind == WORKLOAD]
    return any(network != found[0] for network in found)


def _find_writer(seen: Seen, before: Object | None, audit: AuditLog) -> str:
    """The operator, if it asked for this; only pods are answered with the version of their end."""
    if seen.version in audit.written:
        return OPERATOR
    is_ending = seen.type == "DELETED" or is_leaving(seen.obj)
    is_first = before is not None and not is_leaving(before)
    is_ours = seen.kind != POD and uid_of(seen.obj) in audit.deleted
    return OPERATOR if is_ending and is_first and is_ours else ""
