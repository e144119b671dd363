"""
Why a workload is as it is, always in four parts: what waits, on what, since when, what to do.

The safest command is one that loses nothing: to look comes before to change, and
to go back comes before to edit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kohort.cluster.objects import Object, find_condition, metadata_of
from kohort.views.ages import find_time, write_age
from kohort.views.health import DEGRADED, Health, Word, judge
from kohort.views.picture import Picture
from kohort.views.rollouts import find_former
from kohort.views.table import Row, make_row
from kohort.views.troubles import Trouble

CULPRITS_MAX = 3
_EVENTS_MAX = 2
_TIER = "; tier "  # how the scheduler of the embedded cluster goes from one tier to the next
_LIVES_MANY = 4  # a change and its undo make three
_RECENT = timedelta(minutes=10)
_CRASHES = ("CrashLoopBackOff", "Error", "RunContainerError", "OOMKilled")


@dataclass(frozen=True, slots=True)
class Explanation:
    """The four parts, and by which rules the plan was made."""

    row: Row
    waits: str
    on: tuple[str, ...]
    since: datetime | None
    commands: tuple[str, ...]
    rules: str
    notes: tuple[str, ...]
    gangs: tuple[str, ...] = ()  # why members that are placed together are not placed


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
    return Explanation(
        row=make_row(picture),
        waits=_waits(picture, health),
        on=tuple(_evidence(picture, health, events, gangs)),
        since=health.since,
        commands=suggest_commands(picture, health),
        rules=_rules(picture),
        notes=tuple(_notes(picture, events)),
        gangs=tuple(gangs),
    )


def _waits(picture: Picture, health: Health) -> str:
    if health.word is Word.READY:
        return f"nothing: {health.message}"
    blockers = picture.plan.report.blockers if picture.plan else ()
    if health.word.needs_help and blockers:
        return f"{blockers[0].reason}: {blockers[0].message}"
    if health.word in (Word.BLOCKED, Word.BROKEN) and picture.plan and picture.stuck:
        report = picture.plan.report
        missing = report.wanted - report.wanted_ready
        return f"WaitingForReady: {missing} of {report.wanted} groups are not ready"
    return f"{health.reason}: {health.message}"


def _evidence(
    picture: Picture, health: Health, events: Sequence[Object], gangs: Sequence[str]
) -> Iterator[str]:
    if health.word is Word.READY:
        yield "nobody"
        return
    if health.word is Word.STALLED:
        yield "a change of the object: it is not tried again as it stands"
        return
    if health.word is Word.PAUSED:
        yield "somebody who resumes it"
        return
    sorts = _sort_troubles(picture)
    for alike in sorts[:CULPRITS_MAX]:
        trouble = alike[0]
        yield _describe_trouble(trouble, _leave_to_gangs(trouble.message, gangs))
        if len(alike) > 1:
            yield f"and the same of {', '.join(t.member for t in alike[1:4])}{_and_more(alike)}"
        about = _events_of(events, picture.api.members.name, trouble.member)
        yield from _tell_events(picture, about, told=trouble.message)
    if picture.reading is not None and picture.reading.observed.progress is None:
        yield "the operator: it has made nothing yet; is 'kohort controller' running?"
    elif not sorts:
        yield "members that do not exist yet, or have just changed"
    yield from _tell_events(
        picture, _events_of(events, picture.api.kind.name, picture.name), any_type=True
    )


def _and_more(alike: list[Trouble]) -> str:
    more = len(alike) - 4
    return f" and {more} more" if more > 0 else ""


def _leave_to_gangs(message: str, gangs: Sequence[str]) -> str:
    """What a scheduler says, without its tiers if the part about gangs goes through them."""
    head, *tiers = message.split(_TIER)
    # The widest is the one that decides; a narrower one may be nobody's wish.
    if tiers and any(line.startswith(f"tier {tiers[-1].split()[0]} ") for line in gangs):
        return f"{head}; tier by tier below, under gang"
    return message


def _describe_trouble(trouble: Trouble, message: str) -> str:
    place = [f"group {trouble.ordinal}"]
    if trouble.container:
        place.append(f"container {trouble.container}")
    if trouble.node:
        place.append(f"on {trouble.node}")
    return f"{trouble.member}  {trouble.reason}: {message} ({', '.join(place)})"


def _events_of(events: Sequence[Object], kind: str, name: str) -> list[Object]:
    about = [(event, event.get("involvedObject") or {}) for event in events]
    return [e for e, obj in about if (obj.get("kind"), obj.get("name")) == (kind, name)]


def _tell_events(
    picture: Picture, about: Sequence[Object], *, any_type: bool = False, told: str = ""
) -> Iterator[str]:
    """The last events, without those that say again, or said earlier, what is told already."""
    telling = [e for e in about if any_type or e.get("type") == "Warning"]
    telling.sort(key=_last_seen, reverse=True)
    again = {e.get("reason") for e in telling if told and _text_of(e) == _flatten(told)}
    for event in [e for e in telling if e.get("reason") not in again][:_EVENTS_MAX]:
        age = write_age(find_time(_last_seen(event)), picture.now)
        yield f"event {age} ago: {event.get('reason', '')}: {_text_of(event)}"


def _text_of(event: Object) -> str:
    return _flatten(str(event.get("message", "")))


def _flatten(text: str) -> str:
    return " ".join(text.split())


def _count_lives(picture: Picture, events: Sequence[Object], name: str) -> int:
    """How many pods of one name events of late tell of."""
    recent = [
        event
        for event in _events_of(events, picture.api.members.name, name)
        if (seen := find_time(_last_seen(event))) and picture.now - seen < _RECENT
    ]
    return len({event["involvedObject"].get("uid") for event in recent})


def _last_seen(event: Object) -> str:
    series = event.get("series") or {}
    stamps = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return next((str(stamp) for stamp in stamps if stamp), "")


def suggest_commands(picture: Picture, health: Health) -> tuple[str, ...]:
    """What a person can do now, the safest first."""
    flag = _namespace_flag(picture)
    target = f"{picture.reference}{flag}"
    if health.word is Word.READY:
        return ("nothing needs to be done",)
    if health.word is Word.PAUSED:
        return (f"kohort rollout resume {target}",)
    if health.word is Word.STALLED:
        edit = f"kubectl edit {picture.api.kind.group_resource} {picture.name}{flag}"
        return (*_undo(picture, target), edit)
    if health.reason == "NotPlanned" and health.word is Word.BLOCKED:
        return ("kohort controller",)
    if not health.word.needs_help:
        undo = _undo(picture, target) if health.word is Word.UPDATING else ()
        return (f"kohort rollout status {target}", *undo)
    return _mend(picture, target, flag)


def _mend(picture: Picture, target: str, flag: str) -> tuple[str, ...]:
    culprit = next(iter(picture.stuck), None)
    if culprit is None:
        return (f"kohort rollout status {target}",)
    look = f"kubectl describe pod {culprit.member}{flag}"
    if culprit.reason in _CRASHES:
        look = f"kubectl logs {culprit.member}{flag} -c {culprit.container} --previous"
        return (look, *_undo(picture, target))
    updating = picture.plan is not None and picture.plan.report.is_updating
    return (*_undo(picture, target), look) if updating else (look, *_undo(picture, target))


def _undo(picture: Picture, target: str) -> tuple[str, ...]:
    former = find_former(picture)
    if former is None:
        return ()
    return (f"kohort rollout undo {target} --to-revision {former.number}",)


def _namespace_flag(picture: Picture) -> str:
    return "" if picture.namespace in ("", "default") else f" -n {picture.namespace}"


def _rules(picture: Picture) -> str:
    row = make_row(picture)
    if picture.reading is None:
        return f"carrier {row.carrier}"
    policy = picture.reading.workload.rollout
    return (
        f"strategy {row.strategy}, carrier {row.carrier}, maxUnavailable "
        f"{policy.max_unavailable}, maxSurge {policy.surge}, partition {policy.partition}"
    )


def _notes(picture: Picture, events: Sequence[Object]) -> Iterator[str]:
    for culprit in find_culprits(picture):
        lives = _count_lives(picture, events, culprit.member)
        if lives >= _LIVES_MANY:
            yield (
                f"{culprit.member} has been made {lives} times in 10 minutes: "
                "its group seems to be restarted again and again"
            )
    degraded = find_condition(picture.root, DEGRADED) or {}
    if degraded.get("status") == "True":
        yield f"{DEGRADED}: {degraded.get('message', '')}"
    status = picture.root.get("status") or {}
    generation = metadata_of(picture.root).get("generation", 0)
    seen = status.get("observedGeneration", 0)
    if seen < generation:
        yield (
            f"the status is of generation {seen}, the object of {generation}: "
            "the operator has not seen the last change, or does not run"
        )
    if picture.is_held:
        yield "the rollout is paused: emulated by the partition, since the API has no pause"
    for restart in picture.plan.restarts if picture.plan else ():
        yield f"group {restart.ordinal} is to be restarted because {restart.cause} failed"
