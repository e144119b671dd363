"""
The status of a LeaderWorkerSet, in upstream's shape and words.

Conditions exclude each other: when Available becomes true, Progressing and UpdateInProgress
become false, and the reverse. A condition that becomes false keeps its reason and message,
because clients look for them. Times move only when a condition changes or the operator has
observed a new generation.
"""

from kohort.apis.api import Reading, Snapshot
from kohort.apis.drift.reports import judge_edits, put_rare_claim
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.topology_losses import DEGRADED, SEPARATOR
from kohort.cluster.objects import Object, name_of
from kohort.model.plans import Plan, Report

AVAILABLE, PROGRESSING, UPDATING = "Available", "Progressing", "UpdateInProgress"
TEXTS = {
    AVAILABLE: ("AllGroupsReady", "All replicas are ready"),
    PROGRESSING: ("GroupsProgressing", "Replicas are progressing"),
    UPDATING: ("GroupsUpdating", "Rolling Upgrade is in progress"),
}
_ENDS = {
    AVAILABLE: (PROGRESSING, UPDATING),
    PROGRESSING: (AVAILABLE,),
    UPDATING: (AVAILABLE,),
}


def write_status(snapshot: Snapshot, reading: Reading[object], plan: Plan, now: str) -> Object:
    """The status for a report, based on the stored status."""
    lws, report = snapshot.root, plan.report
    old: Object = lws.get("status") or {}
    generation = reading.workload.generation
    counts = {
        "readyReplicas": report.groups_ready,
        "replicas": report.groups,
        "updatedReplicas": report.groups_updated,
    }
    return {
        **{key: value for key, value in old.items() if key != "conditions"},
        "conditions": judge_edits(
            _judge_placement(
                _conditions(old, claims(report), generation, now), report, generation, now
            ),
            report.drift,
            generation,
            now,
        ),
        "hpaPodSelector": _selector(name_of(lws)),
        "observedGeneration": generation,
        # A count that upstream left out is zero: writing it would change nothing.
        **{name: count for name, count in counts.items() if count or name in old or not old},
    }


def start_status(lws: Object) -> Object:
    """The status fields that autoscalers need, even if the object cannot be planned."""
    return {"hpaPodSelector": _selector(name_of(lws)), "replicas": 0}


def claims(report: Report) -> tuple[str, ...]:
    """The conditions that are true, the most important first."""
    if report.is_updating:
        return UPDATING, PROGRESSING
    return (AVAILABLE,) if report.is_available else (PROGRESSING,)


def _selector(name: str) -> str:
    return f"{labels.NAME}={name},{labels.WORKER_INDEX}=0"


def _conditions(old: Object, true: tuple[str, ...], generation: int, now: str) -> list[Object]:
    conditions: list[Object] = [dict(c) for c in old.get("conditions") or ()]
    ended = {other for claim in true for other in _ENDS[claim]} - set(true)
    for claim in true:
        reason, message = TEXTS[claim]
        _put(conditions, claim, {"status": "True", "reason": reason, "message": message}, now)
    for condition in conditions:
        if condition.get("type") in ended and condition.get("status") == "True":
            condition.update(status="False", lastTransitionTime=now)
        if condition.get("type") in TEXTS and condition.get("observedGeneration") != generation:
            condition["observedGeneration"] = generation
    return conditions


def _put(conditions: list[Object], claim: str, body: Object, now: str) -> None:
    found = next((c for c in conditions if c.get("type") == claim), None)
    if found is None:
        conditions.append({"type": claim, "lastTransitionTime": now, **body})
    elif found["status"] != "True":
        found.update(**body, lastTransitionTime=now)


def _judge_placement(
    conditions: list[Object], report: Report, generation: int, now: str
) -> list[Object]:
    """Set TopologyDegraded: whether clauses of the placement are lost; absent if none ever was."""
    losses = (*report.losses, *report.ignored)
    reason = "ClauseLost" if report.losses else "ConstraintIgnored"
    claim = {"status": "True", "reason": reason, "message": _join(losses)}
    if not losses:
        claim = {"status": "False", "reason": "AllTold", "message": "nothing is lost any more"}
    return put_rare_claim(conditions, DEGRADED, claim, generation, now)


def _join(sentences: tuple[str, ...]) -> str:
    return SEPARATOR.join(sentences)[:32_768]
