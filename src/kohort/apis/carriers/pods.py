"""
Groups carried by pods alone: the workload owns each entry pod, which owns the other pods.

The entry's uid is the incarnation, and owner references say which pods are part of it: a pod of
another owner is a leftover, whatever its name. No StatefulSet stands between us and the pods, so
only our own note remembers a rollout, as a StatefulSet's spec does for the other carrier. The
operator first writes a decision there and acts on it in a later plan that has read it, so it
may die after any write.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

import msgspec
import orjson

from kohort.apis.carriers.members import Reader, read_member, read_moment
from kohort.apis.facts import PodFacts
from kohort.apis.group_cache import GroupCache
from kohort.model.observed import Group, Member, Progress
from kohort.model.units import Phase


@dataclass(frozen=True, slots=True)
class Note:
    """The progress of a rollout, stored on the revision that it leads to."""

    progress: Progress
    base: str  # the revision from which lost units below the boundary are recreated
    turn: int  # rises with each change of target: the note with the highest is in force


_Number = Annotated[int, msgspec.Meta(ge=0)]
# More groups than any workload may have: it bounds a note that another client wrote.
_Count = Annotated[int, msgspec.Meta(ge=0, le=2_000_000)]


class _NoteFacts(msgspec.Struct):
    """A note in its stored form."""

    turn: _Number
    boundary: _Number
    count: _Count
    noted: _Number
    base: str


_notes = msgspec.json.Decoder(_NoteFacts)


def write_note(note: Note) -> str:
    """The text of a note."""
    progress = note.progress
    facts = {
        "turn": note.turn,
        "boundary": progress.boundary,
        "count": progress.count,
        "noted": progress.noted,
        "base": note.base,
    }
    return orjson.dumps(facts).decode()


def find_note(text: str, target: str) -> Note | None:
    """The note in a text, or None; the target is the revision that carries the note."""
    try:
        facts = _notes.decode(text)
    except (msgspec.MsgspecError, ValueError):
        # Another client overwrote the note; the progress is then found from the pods.
        return None
    progress = Progress(facts.boundary, facts.count, facts.noted, target)
    return Note(progress, facts.base, facts.turn)


def assume_progress(groups: tuple[Group, ...]) -> Progress | None:
    """The progress if there is no note: these groups exist, and none may be replaced yet."""
    if not groups:
        return None
    count = groups[-1].ordinal + 1
    return Progress(boundary=count, count=count, noted=count, target="")


def settle_base(note: Note, groups: Iterable[Group], stored: Collection[str]) -> str:
    """
    The revision to recreate lost units below the boundary from: the target, once it is done.

    It is done when every wanted unit has served on it: then all of them serve now, or the base
    is no longer stored. A missing unit does not count: the target may never have served.
    """
    progress, units = note.progress, {group.ordinal: group for group in groups}
    serving = {o for o, g in units.items() if g.phase is Phase.READY}
    is_whole = sum(ordinal < progress.noted for ordinal in serving) == progress.noted
    is_updated = all(group.revision == progress.target for group in units.values())
    is_done = progress.boundary == 0 and is_updated and is_whole
    return progress.target if is_done or note.base not in stored else note.base


def read_groups(
    reader: Reader,
    pods: Iterable[PodFacts],
    owner: str,
    lost: Mapping[str, tuple[str, ...]],
    group_cache: GroupCache[Group] | None = None,
) -> tuple[Group, ...]:
    """
    The groups of the workload with that uid, lowest ordinal first.

    Groups that did not change come from the cache.
    """
    group_cache = group_cache or GroupCache()
    entries: dict[int, PodFacts] = {}
    others: dict[str, list[tuple[int, PodFacts]]] = {}
    for pod in pods:
        group, index = reader.group_of(pod.metadata), reader.index_of(pod.metadata)
        if group is None or index is None:
            continue
        controller = pod.metadata.controller
        if index == 0 and controller == owner:
            entries[group] = pod
        elif index > 0 and controller:
            others.setdefault(controller, []).append((index, pod))
    group_cache.keep(entries)
    found = []
    for ordinal, entry in sorted(entries.items()):
        gone, workers = lost.get(entry.metadata.uid, ()), others.get(entry.metadata.uid, [])
        facts = (_read_group, gone, entry, *(pod for _, pod in workers))
        read = partial(_read_group, reader, ordinal, entry, workers, gone)
        found.append(group_cache.read(ordinal, facts, read))
    return tuple(found)


def _read_group(
    reader: Reader,
    ordinal: int,
    entry: PodFacts,
    others: list[tuple[int, PodFacts]],
    lost: tuple[str, ...],
) -> Group:
    size = reader.size_of(entry.metadata)
    # A pod whose index is beyond the size of its group is no member.
    within = [place for place in others if place[0] < size]
    places = [(0, entry), *sorted(within, key=lambda place: place[0])]
    members = tuple(_read_member(reader, index, pod) for index, pod in places)
    return Group(
        ordinal=ordinal,
        revision=reader.revision_of(entry.metadata),
        phase=_phase_of(size, members),
        incarnation=entry.metadata.uid,
        size=size,
        members=members,
        is_whole=size == 1 or len(members) > 1,
        lost=lost,
        made_at=read_moment(entry.metadata.creation_timestamp),
    )


def _read_member(reader: Reader, index: int, pod: PodFacts) -> Member:
    member = read_member(reader, index, pod, is_current=True)
    # No controller replaces a pod that has ended, so it counts as failed.
    return replace(member, has_ended=True) if pod.has_ended else member


def _phase_of(size: int, members: tuple[Member, ...]) -> Phase:
    if members[0].phase is Phase.LEAVING:
        return Phase.LEAVING
    ready = {member.index for member in members if member.phase is Phase.READY}
    if all(index in ready for index in range(size)):
        return Phase.READY
    if any(member.phase is Phase.BROKEN for member in members):
        return Phase.BROKEN
    return Phase.STARTING
