"""
The checkers of rehearsals, on what happened on a cluster.

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
from kohort.cluster.objects import Kind, Object, annotations_of, uid_of
from kohort.rehearsal.checkers import ALL, Checker, Scene
from kohort.rehearsal.checkers.stability import Stability
from kohort.rehearsal.checkers.truth import IS_USER, KINDS, WORKLOAD, Truth, is_leaving
from kohort.rehearsal.plane import WRITER, Request
from kohort.rehearsal.play import NAME, NAMESPACE, PODS, STATEFULSETS, Play
from kohort.simulator.kinds import POD
from kohort.simulator.store.entries import Change

OPERATOR = "operator"
# For how long an operator, or any other controller, may not have seen something when busy.
PATIENCE_SECONDS = 5.0
_BY_PLURAL = {kind.plural: kind for kind in KINDS}


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
        """The scale; what it should be, if nobody has asked the cluster."""
        status = self._workload.get("status") or {}
        wanted = self._workload["spec"]["replicas"]
        said = {"replicas": status.get("replicas"), "selector": status.get("hpaPodSelector")}
        scale = self._scale or {"spec": {"replicas": wanted}, "status": said}
        return SimpleNamespace(raw=orjson.dumps(scale))

    def tell(self, seen: Seen, writer: str, *, is_user: bool) -> None:
        """Let one change happen, in the one namespace that the truth looks at."""
        if seen.kind == WORKLOAD and seen.obj["metadata"]["name"] == NAME:
            self._workload = seen.obj
        key = (NAMESPACE, seen.obj["metadata"]["name"])
        entry = SimpleNamespace(key=key, raw=orjson.dumps(seen.obj))
        event = SimpleNamespace(change=Change(seen.type), entry=entry, rv=seen.version)
        tokens = WRITER.set(writer), IS_USER.set(is_user)
        self._listeners[seen.kind](event)
        WRITER.reset(tokens[0])
        IS_USER.reset(tokens[1])


@dataclass(slots=True)
class Verdict:
    """What the checkers found, and what is not yet as it was asked for."""

    breaches: list[str]
    trouble: str


def judge(
    record: Record,
    audit: AuditLog,
    namespace: str,
    replicas: int = 1,
    scale: Object | None = None,
) -> Verdict:
    """Play a record to all checkers."""
    audit.read()
    changes = record.in_order()
    play = _describe(changes, replicas)
    now, breaches, feed = [0.0], [], _Feed(scale)
    truth = Truth(cast(Any, feed), lambda: now[0])
    scene = Scene(
        play, truth, lambda: now[0], breaches.append, PATIENCE_SECONDS, lags=PATIENCE_SECONDS
    )
    checkers = [make(scene) for make in ALL]
    truth.listeners.extend(checker.commit for checker in checkers)
    held: dict[tuple[Kind, str], Object] = {}
    for seen in changes:
        now[0] = seen.at
        place = (seen.kind, seen.obj["metadata"]["name"])
        writer = _find_writer(seen, held.get(place), audit)
        feed.tell(seen, writer, is_user=seen.version in audit.written_by_users)
        held[place] = seen.obj
    trouble = next(c for c in checkers if isinstance(c, Stability)).find_trouble()
    for checker in checkers if not trouble else ():
        checker.end()
    _judge_requests(checkers, audit, namespace, now)
    if _is_network_changed(changes):
        # The checker tells an old group by its image and size alone.
        breaches = [breach for breach in breaches if not breach.startswith("G3")]
    return Verdict(breaches, trouble)


def _describe(changes: list[Seen], replicas: int) -> Play:
    """What checkers must know of the workload, from the workload."""
    found = [s.obj for s in changes if s.kind == WORKLOAD and s.obj["metadata"]["name"] == NAME]
    if not found:
        return Play(replicas=replicas)
    last = found[-1]
    template = last["spec"]["leaderWorkerTemplate"]
    is_by_pods = annotations_of(last).get(labels.CARRIER) == labels.PODS
    return Play(
        restart=template["restartPolicy"],
        startup=last["spec"]["startupPolicy"],
        carrier=PODS if is_by_pods else STATEFULSETS,
        replicas=replicas,
    )


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


def _judge_requests(
    checkers: list[Checker], audit: AuditLog, namespace: str, now: list[float]
) -> None:
    for asked in audit.asked:
        kind = _BY_PLURAL.get(asked.resource.partition("/")[0])
        if asked.namespace == namespace and kind is not None:
            now[0] = asked.at
            request = Request(asked.verb, kind, asked.name, OPERATOR, (("uid", asked.uid),))
            for checker in checkers:
                checker.request(request)
