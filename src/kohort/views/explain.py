"""
Why a workload is as it is, always in four parts: what waits, on what, since when, what to do.

Commands are ordered by safety: those that read come before those that change, and
undo comes before edit. Lists hold facts and commands, and are empty where there are none:
the words for that belong to the page that shows them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from kohort.apis.served import APIS
from kohort.cluster.objects import Object, find_condition, find_controller, uid_of
from kohort.views.ages import find_time
from kohort.views.evidence.cluster import find_subject, find_text, last_seen
from kohort.views.evidence.volumes import (
    CONFIG_ERROR,
    FAILED_MOUNT,
    INVALID_IMAGE,
    find_missing,
)
from kohort.views.health import (
    DEGRADED,
    OPERATOR_SILENT,
    Health,
    Word,
    describe_lag,
    judge,
    list_finalizers,
)
from kohort.views.picture import Picture
from kohort.views.reasons import find_link
from kohort.views.roles import list_paused
from kohort.views.rollouts import find_former
from kohort.views.table import Row, make_row
from kohort.views.troubles import CRASH_LOOP, NODE_LOST, RESTARTED, Trouble

CULPRITS_MAX = 3
_EVENTS_MAX = 2
_TIER = "; tier "  # where the embedded cluster's scheduler goes on to the next tier in its message
# How a refusal names an object that has a name of ours and is not ours.
_HOLDER = re.compile(r"(\w+) (\S+) exists and ")
_CRASHES = (CRASH_LOOP, RESTARTED, "Error", "RunContainerError", "OOMKilled")


@dataclass(frozen=True, slots=True)
class EventLine:
    """One event."""

    reason: str
    message: str
    seen: datetime | None


@dataclass(frozen=True, slots=True)
class Finding:
    """One trouble that the workload waits for, with the events about it."""

    about: str  # a member, or another object with its kind
    reason: str
    message: str
    group: int | None  # None: the workload is the only group
    container: str = ""
    node: str = ""
    same: tuple[str, ...] = ()  # other members in the same trouble
    events: tuple[EventLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Rules:
    """By which rules the plan was made."""

    strategy: str
    carrier: str
    max_unavailable: int | None = None  # None: the object cannot be planned
    max_surge: int | None = None
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The four parts, and by which rules the plan was made."""

    row: Row
    waits: str
    on: tuple[Finding, ...]
    since: datetime | None
    commands: tuple[str, ...]
    rules: Rules
    notes: tuple[str, ...]
    gangs: tuple[str, ...] = ()  # why members that are placed together are not placed
    events: tuple[EventLine, ...] = ()  # of the workload itself
    decisions: tuple[str, ...] = ()  # what its API decided about it
    docs: str = ""  # where the reason is explained


def find_culprits(picture: Picture) -> tuple[Trouble, ...]:
    """The members whose events are worth reading: one for each different trouble."""
    return tuple(alike[0] for alike in _sort_troubles(picture)[:CULPRITS_MAX])


def _sort_troubles(picture: Picture) -> list[list[Trouble]]:
    """The troubles that matter, those with the same words together."""
    alike: dict[tuple[str, str], list[Trouble]] = {}
    for trouble in picture.stuck or picture.troubles:
        alike.setdefault((trouble.reason, trouble.message), []).append(trouble)
    return list(alike.values())


def explain(
    picture: Picture, events: Sequence[Object] = (), gangs: Sequence[str] = ()
) -> Explanation:
    """The explanation of a workload, with the events of it and of its culprits as evidence."""
    health = judge(picture)
    is_told = health.word in (Word.READY, Word.STALLED, Word.PAUSED)
    own = _leave_out_retold(picture, events_of(events, uid_of(picture.root)))
    return Explanation(
        row=make_row(picture),
        waits=describe_wait(picture, health),
        on=() if is_told else tuple(_find(picture, events, gangs)),
        since=health.since,
        commands=suggest_commands(picture, health),
        rules=_rules(picture),
        notes=tuple(_notes(picture, health)),
        gangs=tuple(gangs),
        events=() if is_told else tuple(list_events(own, any_type=True)),
        decisions=picture.api.list_decisions(picture.reading) if picture.reading else (),
        docs=find_link(health.reason),
    )


def describe_wait(picture: Picture, health: Health) -> str:
    """What waits, after the reason of the verdict."""
    if health.word is Word.READY:
        return f"nothing: {health.message}"
    what = _count_waiting(picture) if health.word is not Word.STALLED else ""
    is_told_below = any(trouble.reason == health.reason for trouble in picture.stuck)
    return f"{health.reason}: {what if what and is_told_below else health.message}"


def _count_waiting(picture: Picture) -> str:
    """The first blocker of the plan, or how many units are not ready."""
    if picture.plan is None:
        return ""
    report = picture.plan.report
    if report.blockers:
        return report.blockers[0].message
    missing = report.wanted - report.wanted_ready
    if not missing and (lag := describe_lag(picture)):
        return lag
    return picture.describe_missing(report)


def _find(picture: Picture, events: Sequence[Object], gangs: Sequence[str]) -> Iterator[Finding]:
    for alike in _sort_troubles(picture)[:CULPRITS_MAX]:
        trouble = alike[0]
        about = events_of(events, trouble.uid)
        yield Finding(
            about=trouble.member,
            reason=trouble.reason,
            message=_leave_to_gangs(trouble.details, gangs),
            group=picture.tell_group(trouble.ordinal),
            container=trouble.container,
            node=trouble.node,
            same=tuple(other.member for other in alike[1:]),
            events=tuple(list_events(about, told=trouble.message)),
        )


def _leave_to_gangs(message: str, gangs: Sequence[str]) -> str:
    """The scheduler's message, without its tiers if the lines about gangs explain them."""
    head, *tiers = message.split(_TIER)
    # The widest tier decides; the user may not have asked for a narrower one.
    if tiers and any(line.startswith(f"tier {tiers[-1].split()[0]} ") for line in gangs):
        return f"{head}; tier by tier below, under gang"
    return message


def events_of(events: Sequence[Object], uid: str) -> list[Object]:
    """The events of one object: by its uid, since another object may have had its name."""
    return [event for event in events if uid and find_subject(event).get("uid") == uid]


def _leave_out_retold(picture: Picture, own: Sequence[Object]) -> list[Object]:
    """The events of a workload without warnings that repeat the trouble of a member or child."""
    heads = tuple(f"{trouble.member}: " for trouble in picture.troubles)
    return [e for e in own if e.get("type") != "Warning" or not find_text(e).startswith(heads)]


def list_events(
    about: Sequence[Object], *, any_type: bool = False, told: str = ""
) -> Iterator[EventLine]:
    """The last events, without those whose reason has the text that is shown already."""
    telling = [e for e in about if any_type or e.get("type") == "Warning"]
    telling.sort(key=last_seen, reverse=True)
    flat = " ".join(told.split())
    again = {e.get("reason") for e in telling if told and find_text(e) == flat}
    for event in [e for e in telling if e.get("reason") not in again][:_EVENTS_MAX]:
        seen = find_time(last_seen(event))
        yield EventLine(str(event.get("reason", "")), find_text(event), seen)


def suggest_commands(picture: Picture, health: Health) -> tuple[str, ...]:
    """The commands that help the user now, the safest first; none for a ready workload."""
    flag = _namespace_flag(picture)
    target = f"{picture.reference}{flag}{_role_flag(picture)}"
    if health.word is Word.READY:
        return ()
    if health.word is Word.PAUSED and picture.api.verbs is not None:
        return (f"kohort rollout resume {_name_steered(picture)}{flag}{_role_flag(picture)}",)
    if health.word is Word.LEAVING and list_finalizers(picture.root):
        return (f"kubectl get {picture.api.kind.group_resource} {picture.name}{flag} -o yaml",)
    if health.word is Word.STALLED:
        holder = find_holder(health).lower()
        edit = f"kubectl edit {picture.api.kind.group_resource} {picture.name}{flag}"
        return (f"kubectl delete {holder}{flag}",) if holder else (*_undo(picture, target), edit)
    if health.word is Word.BLOCKED and health.reason in ("NotPlanned", OPERATOR_SILENT):
        return _find_operator(picture)
    return (*_look_on(picture, health, target, flag), *_resume_roles(picture, flag))


def _resume_roles(picture: Picture, flag: str) -> tuple[str, ...]:
    """The commands that resume paused roles with old instances, while others go on or wait."""
    resume = f"kohort rollout resume {_name_steered(picture)}{flag}"
    return tuple(f"{resume} --role {r}" if r else resume for r in list_paused(picture))


def _say_pause(picture: Picture) -> str:
    """How a pause is ended, or how it is had where the API has no field for it."""
    if picture.api.verbs is not None and picture.api.verbs.list_roles(picture.root):
        target = _name_steered(picture) + _namespace_flag(picture)
        return f"'kohort rollout resume {target}' lets it go on"
    return "emulated by the partition, since the API has no pause"


def _name_steered(picture: Picture) -> str:
    """The workload to steer: a controller that rolls this one puts back what is changed here."""
    owner = find_controller(picture.root) or {}
    steering = (api for api in APIS if api.kind.name == owner.get("kind") and api.verbs)
    return next((f"{api.short_name}/{owner['name']}" for api in steering), picture.reference)


def _look_on(picture: Picture, health: Health, target: str, flag: str) -> tuple[str, ...]:
    if picture.api.read_verdict(picture.root) is not None:
        return (f"kubectl describe {picture.api.kind.name.lower()} {picture.name}{flag}",)
    if not health.word.needs_help:
        undo = _undo(picture, target) if health.word is Word.UPDATING else ()
        return (f"kohort rollout status {target}", *undo)
    return _mend(picture, target, flag)


def find_holder(health: Health) -> str:
    """The object that holds a name which this workload needs; nothing if that is not why."""
    found = _HOLDER.match(health.message) if health.word is Word.STALLED else None
    return f"{found[1]} {found[2]}" if found else ""


def is_tried_again(picture: Picture, health: Health, moment: datetime) -> bool:
    """
    Whether a verdict may be outdated, since its cause was last tried before that moment.

    The operator tries again to create an object whose name was taken, or pods that the API server
    refused, without a change of the workload. Until then the old verdict stands.
    """
    if health.word is Word.STALLED:
        return not picture.fault and bool(find_holder(health) or health.is_tried_again)
    first = picture.stuck[0] if picture.stuck else None
    return first is not None and first.tried is not None and first.tried < moment


def _find_operator(picture: Picture) -> tuple[str, ...]:
    operator = picture.facts.operator
    if operator is None:
        return ("kohort controller",)
    namespace, _, name = operator.lease.partition("/")
    return (f"kubectl get pods,lease/{name} -n {namespace}", "kohort controller")


def _mend(picture: Picture, target: str, flag: str) -> tuple[str, ...]:
    culprit = next(iter(picture.stuck), None)
    if culprit is None:
        return (f"kohort rollout status {target}", *_undo(picture, target))
    look, undo = suggest_look(picture, culprit, flag), _undo(picture, target)
    if culprit.reason == NODE_LOST:
        return look
    updating = picture.plan is not None and picture.plan.report.is_updating
    is_looked_at_first = culprit.reason in _CRASHES or not updating
    return (*look, *undo) if is_looked_at_first else (*undo, *look)


def suggest_look(picture: Picture, culprit: Trouble, flag: str) -> tuple[str, ...]:
    """Commands that show more about a trouble, or end it where only a person can."""
    if culprit.reason == NODE_LOST:
        return _leave_node(picture, culprit, flag)
    if culprit.reason in _CRASHES and culprit.container:
        return _read_logs(culprit, flag)
    if culprit.reason in (FAILED_MOUNT, CONFIG_ERROR):
        return (*_supply(culprit, flag), f"kubectl describe pod {culprit.member}{flag}")
    if culprit.reason == INVALID_IMAGE and picture.api.verbs is not None:
        target = f"{picture.reference}{flag}{_role_flag(picture)}"
        return (f"kohort rollout set-image {target} {culprit.container}=IMAGE",)
    return (f"kubectl describe {_name_for_kubectl(culprit)}{flag}",)


def _supply(culprit: Trouble, flag: str) -> tuple[str, ...]:
    """The command that creates or edits the ConfigMap or Secret that a pod waits for."""
    missing = find_missing(culprit.message)
    if missing is None:
        return ()
    if missing.key:
        return (f"kubectl edit {missing.kind.lower()} {missing.name}{flag}",)
    kind = "configmap" if missing.kind == "ConfigMap" else "secret generic"
    return (f"kubectl create {kind} {missing.name}{flag} --from-file=PATH",)


def _leave_node(picture: Picture, culprit: Trouble, flag: str) -> tuple[str, ...]:
    """Commands for a pod on a lost node; only a person knows whether the node comes back."""
    node = picture.facts.nodes.get(culprit.node)
    look = f"kubectl describe node {culprit.node}"
    remove = f"kubectl delete pod {culprit.member}{flag} --force --grace-period=0"
    return (look, remove) if node is None or node.exists else (remove,)


def _read_logs(culprit: Trouble, flag: str) -> tuple[str, ...]:
    previous = " -f" if culprit.is_past else " --previous"
    return (f"kubectl logs {culprit.member}{flag} -c {culprit.container}{previous}",)


def _name_for_kubectl(culprit: Trouble) -> str:
    kind, _, name = culprit.member.rpartition(" ")
    return f"{kind.lower()} {name}" if kind else f"pod {name}"


def _undo(picture: Picture, target: str) -> tuple[str, ...]:
    former = find_former(picture)
    if former is None:
        return ()
    return (f"kohort rollout undo {target} --to-revision {former.number}",)


def _namespace_flag(picture: Picture) -> str:
    return "" if picture.namespace in ("", "default") else f" -n {picture.namespace}"


def _role_flag(picture: Picture) -> str:
    return f" --role {picture.role}" if picture.role else ""


def _rules(picture: Picture) -> Rules:
    row = make_row(picture)
    # An object that the user cannot roll out through us has no rollout of its own.
    if picture.reading is None or picture.api.verbs is None:
        return Rules("", row.carrier)
    policy = picture.reading.workload.rollout
    return Rules(row.strategy, row.carrier, policy.max_unavailable, policy.surge, policy.partition)


def _notes(picture: Picture, health: Health) -> Iterator[str]:
    if health.word is Word.LEAVING:
        for name in list_finalizers(picture.root):
            yield f"the controller that set {name} removes it when its work is done: is it running?"
    if holder := find_holder(health):
        yield f"delete {holder} only if it is not needed; else give this workload another name"
    yield from _note_culprits(picture)
    drifted = find_condition(picture.root, "Drifted") or {}
    drift = picture.plan.report.drift if picture.plan else ()
    if drift or drifted.get("status") == "True":
        yield f"Drifted: {'; '.join(drift) or drifted.get('message', '')}"
    degraded = find_condition(picture.root, DEGRADED) or {}
    if degraded.get("status") == "True":
        yield f"{DEGRADED}: {degraded.get('message', '')}"
    if picture.is_held:
        yield f"the rollout is paused: {_say_pause(picture)}"
    for restart in picture.plan.step.restarts if picture.plan else ():
        yield f"group {restart.ordinal} is to be restarted because {restart.cause} failed"


def _note_culprits(picture: Picture) -> Iterator[str]:
    for culprit in find_culprits(picture):
        if culprit.reason == NODE_LOST and "cannot end" in culprit.message:
            yield (
                f"a pod on {culprit.node} may still run: delete {culprit.member} by force only if "
                "the node is off, or let the node come back"
            )
        if culprit.reason in (FAILED_MOUNT, CONFIG_ERROR):
            yield from _note_missing(culprit, picture.namespace)
        if culprit.is_past:
            yield f"the pod {culprit.member} that crashed is gone; its successor has its name"


def _note_missing(culprit: Trouble, namespace: str) -> Iterator[str]:
    missing = find_missing(culprit.message)
    if missing is not None:
        what = f"key {missing.key} of {missing.kind}" if missing.key else missing.kind
        yield (
            f"{culprit.member} waits for {what} {missing.name} in namespace {namespace}, and "
            "starts by itself once that is there; a reference may also be made optional"
        )
