"""
The verdict on a workload: one word, with the reason for it and since when.

This is the only place that judges. Every command shows this verdict, and the operator
makes its condition, its event and its metric of it, so all of them agree.

Words: ready, starting, updating, paused, leaving; and blocked, broken, stalled, which call for a
person. A blocked workload waits for something that time alone will not bring: a member of the new
revision that cannot start, a node that fits, or a ConfigMap. A broken one does not serve although
its spec did not change. A stalled one was refused: nothing happens before the object is changed.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from kohort.cluster.objects import Object, find_condition, is_leaving, metadata_of
from kohort.cluster.timestamps import write_time
from kohort.model.plans import Plan
from kohort.model.reasons import OF_CLIENTS
from kohort.views.ages import find_time
from kohort.views.evidence.children import REFUSED
from kohort.views.evidence.volumes import CONFIG_ERROR, FAILED_MOUNT
from kohort.views.picture import Picture
from kohort.views.roles import list_role_lines
from kohort.views.troubles import NODE_LOST, TERMINATING

STALLED, BLOCKED = "Stalled", "Blocked"  # conditions
WRITE_FAILS = "WriteFails"  # the reason of a stall: the operator tries again with backoff
# A name that another object holds, a permission, a policy or a webhook: none is of the workload.
_RETRIED = re.compile(r"already exists, and is | is forbidden: | denied (the )?request\b")
_OBSERVED = "observedGeneration"
OPERATOR_SILENT = "OperatorSilent"
DEGRADED = "TopologyDegraded"
# How long an object may wait for its first plan before a user should look for the operator.
CONTROLLER_PATIENCE = timedelta(seconds=30)
_WAITING = (
    "Unschedulable",
    "Schedulable",
    "SchedulingGated",
    "WaitingForScheduler",
    TERMINATING,
    NODE_LOST,
    REFUSED,
    FAILED_MOUNT,
    CONFIG_ERROR,
)


class Word(StrEnum):
    """How a workload is."""

    READY = "ready"
    STARTING = "starting"
    UPDATING = "updating"
    PAUSED = "paused"
    LEAVING = "leaving"
    BLOCKED = "blocked"
    BROKEN = "broken"
    STALLED = "stalled"

    @property
    def needs_help(self) -> bool:
        """Whether it will not end well by itself."""
        return self in (Word.BLOCKED, Word.BROKEN, Word.STALLED)


@dataclass(frozen=True, slots=True)
class Health:
    """How a workload is, why, and since when."""

    word: Word
    reason: str
    message: str
    since: datetime | None

    @property
    def is_tried_again(self) -> bool:
        """Whether the operator tries again by itself what the API server refused."""
        is_passing = self.reason == WRITE_FAILS or bool(_RETRIED.search(self.message))
        return self.word is Word.STALLED and is_passing


def judge(picture: Picture) -> Health:
    """How a workload is at the moment of the picture."""
    if is_leaving(picture.root):
        since = find_time(metadata_of(picture.root).get("deletionTimestamp"))
        held = list_finalizers(picture.root)
        hold = f", and held by its finalizer {', '.join(held)}" if held else ""
        return Health(Word.LEAVING, "Deleted", f"it is being deleted{hold}", since)
    said = _find_stall(picture) or _find_silence(picture) or _read_verdict(picture)
    return said or _date(picture, _judge_plan(picture))


def list_finalizers(root: Object) -> list[str]:
    """The finalizers that others have to remove; the garbage collector removes its own."""
    found = metadata_of(root).get("finalizers") or ()
    return [name for name in found if name not in ("foregroundDeletion", "orphan")]


def _read_verdict(picture: Picture) -> Health | None:
    """The health of an object without groups, from its status; None if it has no status."""
    told = picture.api.read_verdict(picture.root) if picture.root.get("status") else None
    if told is None:
        return None
    return Health(Word(told.word), told.reason, told.message, _created(picture))


def _date(picture: Picture, health: Health) -> Health:
    """The health with the time of its condition, which outlasts pods that are made anew."""
    held = find_condition(picture.root, BLOCKED) or {}
    told = find_time(held.get("lastTransitionTime"))
    is_same = (held.get("status"), held.get("reason")) == ("True", health.reason)
    if not health.word.needs_help or not is_same or told is None:
        return health
    return replace(health, since=min(told, health.since or told))


def _find_stall(picture: Picture) -> Health | None:
    generation = metadata_of(picture.root).get("generation", 0)
    told = find_condition(picture.root, STALLED) or {}
    # Conditions of some kinds have no generation of their own.
    seen = told.get("observedGeneration", (picture.root.get("status") or {}).get(_OBSERVED))
    is_told = told.get("status") == "True" and seen == generation
    since = find_time(told.get("lastTransitionTime")) if is_told else None
    if picture.fault is not None:
        return Health(
            Word.STALLED, picture.fault.reason, str(picture.fault), since or _created(picture)
        )
    if is_told:
        return Health(Word.STALLED, told.get("reason", ""), told.get("message", ""), since)
    return None


def _find_silence(picture: Picture) -> Health | None:
    """The health if the operator has not seen the spec, or does not take the next step."""
    if picture.facts.is_operator:
        return None
    generation = metadata_of(picture.root).get("generation", 0)
    seen = (picture.root.get("status") or {}).get(_OBSERVED)
    is_unseen = seen is not None and seen < generation
    operator, changed = picture.facts.operator, find_changed(picture.root)
    what = f"the operator has not seen generation {generation}, only {seen}"
    if operator is not None and operator.is_silent(picture.now):
        if not is_unseen and not _is_left_undone(picture):
            return None
        what = what if is_unseen else "there is something to do, and the operator does not do it"
        how = "was renewed last" if operator.holder else "was given back after it was renewed"
        stamp = write_time(operator.renewed)
        text = f"{what}: its lease {operator.lease} {how} at {stamp}"
        # A change that was made after the operator stopped has waited only since that change.
        since = max(operator.renewed, changed or operator.renewed)
        return Health(Word.BLOCKED, OPERATOR_SILENT, text, since)
    if not is_unseen:
        return None
    is_late = changed is not None and picture.now - changed > CONTROLLER_PATIENCE
    if is_late and operator is None:
        text = f"{what}: does it run?"
        return Health(Word.BLOCKED, OPERATOR_SILENT, text, changed)
    return Health(Word.UPDATING, "NotSeen", f"{what} yet", changed)


def _is_left_undone(picture: Picture) -> bool:
    """Whether there is a step to take, and the object has not been written for a while."""
    last = find_changed(picture.root, with_status=True) or _created(picture)
    return picture.is_moving and last is not None and picture.now - last > CONTROLLER_PATIENCE


def find_changed(root: Object, *, with_status: bool = False) -> datetime | None:
    """When the object itself was last written, and its status only if that is asked for."""
    entries = metadata_of(root).get("managedFields") or ()
    moments = [find_time(e.get("time")) for e in entries if with_status or not e.get("subresource")]
    return max((moment for moment in moments if moment), default=None)


def _judge_plan(picture: Picture) -> Health:
    decided = picture.plan
    assert decided is not None
    assert picture.reading is not None
    if picture.reading.observed.progress is None:
        return _unplanned(picture)
    report = decided.report
    is_role_waiting = any(blocker.reason in OF_CLIENTS for blocker in report.blockers) or (
        bool(report.blockers) and any(r.is_updating for r in report.roles.values())
    )
    is_updating = report.is_updating or is_role_waiting
    is_held = picture.is_held and bool(is_updating or picture.find_former_revision())
    stuck = picture.stuck
    # A group that crashes again and again is ready for a moment each time.
    is_crashing = any(trouble.is_remembered for trouble in stuck)
    if report.is_available and not (is_held or is_crashing or is_role_waiting):
        return _ready(picture, decided)
    if stuck and (is_crashing or not (is_updating and picture.is_moving)):
        is_waiting = is_updating or all(trouble.reason in _WAITING for trouble in stuck)
        word = Word.BLOCKED if is_waiting else Word.BROKEN
        moments = [trouble.since for trouble in stuck if trouble.since]
        first = stuck[0]
        place = f"container {first.container}: " if first.is_crash and first.container else ""
        message = f"{first.member}: {place}{first.message}"
        return Health(word, first.reason, message, min(moments, default=None))
    if is_held:
        what = _name_held(picture)
        message = f"the rollout{what} is paused: it goes on when it is resumed"
        # No condition records a pause, so the time of the last write of the object is taken.
        return Health(Word.PAUSED, "Paused", message, find_changed(picture.root) or _since(picture))
    word = Word.UPDATING if is_updating else Word.STARTING
    reason, message = _waiting_for(picture, decided)
    return Health(word, reason, message, _find_begin(picture, word))


def _find_begin(picture: Picture, word: Word) -> datetime | None:
    """Since when it starts or is updated; where no condition tells of an update, the edit does."""
    since, changed = _since(picture), find_changed(picture.root)
    if word is not Word.UPDATING or picture.api.verbs is not None or since is None:
        return since
    return max(since, changed or since)


def _name_held(picture: Picture) -> str:
    """The roles that are paused, where they are paused by themselves."""
    held = (picture.role,) if picture.role else picture.held
    count = len(picture.plan.report.roles) if picture.plan else 0
    if not all(held) or (len(held) == count and not picture.role):
        return ""
    return f" of role {held[0]}" if len(held) == 1 else f" of roles {', '.join(held)}"


def _unplanned(picture: Picture) -> Health:
    created = _created(picture)
    message = "nothing has been made for it yet"
    is_late = created is not None and picture.now - created > CONTROLLER_PATIENCE
    if is_late and not picture.facts.is_operator:
        text = f"{message}: no operator seems to run"
        return Health(Word.BLOCKED, "NotPlanned", text, created)
    return Health(Word.STARTING, "NotPlanned", message, created)


def _ready(picture: Picture, decided: Plan) -> Health:
    report = decided.report
    is_kept = report.rolled < report.wanted and not picture.is_one_group
    if is_kept and picture.find_former_revision():
        kept = report.wanted - report.rolled
        message = (
            f"{kept} of {report.wanted} {picture.units} keep their revision: the partition says so"
        )
        return Health(Word.READY, "PartitionReached", message, _since(picture))
    for role in list_role_lines(picture):
        if role.partition and role.updated < role.wanted:
            what = f"{role.wanted - role.updated} of {role.wanted} instances of role {role.name}"
            message = f"{what} keep their revision: the partition says so"
            return Health(Word.READY, "PartitionReached", message, _since(picture))
    wanted, _ = picture.count_units(report)
    return Health(Word.READY, "", f"all {wanted} {picture.units} are ready", _since(picture))


def _waiting_for(picture: Picture, decided: Plan) -> tuple[str, str]:
    for blocker in decided.report.blockers:
        return blocker.reason, blocker.message
    if decided.step.restarts:
        causes = ", ".join(restart.cause for restart in decided.step.restarts[:3])
        return "RestartingGroups", f"groups are restarted because of {causes}"
    report = decided.report
    missing = report.wanted - report.wanted_ready
    if not missing and (lag := describe_lag(picture)):
        return "WaitingForReady", lag
    if not missing:
        wanted, _ = picture.count_units(report)
        return "Progressing", f"all {wanted} {picture.units} are ready; the next step is due"
    return "WaitingForReady", picture.describe_missing(report)


def describe_lag(picture: Picture) -> str:
    """The first role whose update has not reached all of it; nothing if there is none."""
    for role in list_role_lines(picture):
        if role.updated < role.wanted:
            waiting = f"{role.wanted - role.updated} of {role.wanted} instances"
            return f"role {role.name}: {waiting} wait for the new revision"
    return ""


def _since(picture: Picture) -> datetime | None:
    """When the latest claim of the status came true; else when the object was made."""
    status = picture.root.get("status") or {}
    conditions = status.get("conditions") or ()
    held = [c for c in conditions if c.get("status") == "True" and c.get("type") != DEGRADED]
    moments = [find_time(condition.get("lastTransitionTime")) for condition in held]
    return max((moment for moment in moments if moment), default=_created(picture))


def _created(picture: Picture) -> datetime | None:
    return find_time(metadata_of(picture.root).get("creationTimestamp"))
