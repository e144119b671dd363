"""
Why one pod is as it is, and where it belongs: its workload, its group and its place there.

The verdict on the workload stands beside it, since a pod is rarely the whole story.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from kohort.cluster.objects import Object, uid_of
from kohort.model.observed import Group, Member
from kohort.views.explain import EventLine, events_of, list_events, suggest_look
from kohort.views.health import Word, judge
from kohort.views.picture import Picture, find_revision
from kohort.views.table import Row, make_row
from kohort.views.troubles import Trouble, find_trouble


@dataclass(frozen=True, slots=True)
class PodExplanation:
    """One pod of a workload."""

    pod: str
    namespace: str
    role: str
    group: int | None  # None: the workload is the only group
    revision: str
    node: str
    phase: str
    is_current: bool  # false: a leftover of an earlier group
    trouble: Trouble | None
    events: tuple[EventLine, ...]
    commands: tuple[str, ...]
    workload: Row

    @property
    def needs_help(self) -> bool:
        """Whether it will not end well by itself."""
        return self.trouble is not None and self.trouble.is_stuck

    @property
    def since(self) -> datetime | None:
        """Since when it is in trouble."""
        return self.trouble.since if self.trouble else None


def find_place(picture: Picture, pod: str) -> tuple[Group, Member] | None:
    """The group and the member that a pod is, if it is one of this workload."""
    groups = picture.reading.observed.groups if picture.reading else ()
    for group in groups:
        for member in group.members:
            if member.name == pod:
                return group, member
    return None


def explain_pod(
    picture: Picture, pod: Object, place: tuple[Group, Member], events: Sequence[Object] = ()
) -> PodExplanation:
    """Why a pod of this workload does not serve, or that it does."""
    group, member = place
    known = (t for t in picture.troubles if t.uid == member.uid)
    trouble = next(known, None) or find_trouble(pod, group.ordinal, picture.now, picture.facts)
    verbs = picture.api.verbs
    about = events_of(events, uid_of(pod))
    health = judge(picture)
    flag = "" if picture.namespace in ("", "default") else f" -n {picture.namespace}"
    ask = f"kohort why {picture.reference}{flag}"
    look = suggest_look(picture, trouble, flag) if trouble is not None else ()
    return PodExplanation(
        pod=member.name,
        namespace=picture.namespace,
        role=verbs.role_of(member.index) if verbs else "",
        group=picture.tell_group(group.ordinal),
        revision=picture.name_revision(find_revision(group)),
        node=(pod.get("spec") or {}).get("nodeName", ""),
        phase=str(member.phase),
        is_current=member.is_current,
        trouble=trouble,
        events=tuple(list_events(about, told=trouble.message if trouble else "")),
        commands=(*look, *((ask,) if health.word is not Word.READY else ())),
        workload=make_row(picture),
    )
