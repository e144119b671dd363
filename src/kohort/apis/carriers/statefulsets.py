"""
Groups carried by StatefulSets: one set of entry members, and one set of others for each entry.

The entry pod owns the StatefulSet of the group's other members, so a new entry is a new
incarnation, and the garbage collector deletes everything of the old one. An object whose owner
no longer exists is a leftover: it is not read as part of the group, nor taken over by name.

A StatefulSet can only replace a suffix of ordinals, so a rollout is its partition and its
replicas. Both are also our memory: they are read back as the progress.
"""

from collections.abc import Iterable, Mapping
from functools import partial

from kohort.apis.carriers.members import Reader, read_member, read_moment
from kohort.apis.facts import PodFacts, SetFacts
from kohort.apis.group_cache import GroupCache
from kohort.model.observed import Group, Member
from kohort.model.units import Phase


def read_groups(
    reader: Reader,
    pods: Iterable[PodFacts],
    sets: Mapping[str, SetFacts],
    lost: Mapping[str, tuple[str, ...]],
    group_cache: GroupCache[Group] | None = None,
) -> tuple[Group, ...]:
    """The groups that exist, lowest ordinal first; unchanged groups come from the cache."""
    group_cache = group_cache or GroupCache()
    by_group: dict[int, dict[int, PodFacts]] = {}
    for pod in pods:
        group, index = reader.group_of(pod.metadata), reader.index_of(pod.metadata)
        if group is not None and index is not None:
            by_group.setdefault(group, {})[index] = pod
    group_cache.keep(by_group)
    found = []
    for ordinal, members in sorted(by_group.items()):
        if 0 in members:
            entry = members[0].metadata
            gone = lost.get(entry.uid, ())
            facts = (_read_group, gone, sets.get(entry.name), *members.values())
            read = partial(_read_group, reader, ordinal, members, sets, gone)
            found.append(group_cache.read(ordinal, facts, read))
    return tuple(found)


def _read_group(
    reader: Reader,
    ordinal: int,
    pods: Mapping[int, PodFacts],
    sets: Mapping[str, SetFacts],
    lost: tuple[str, ...],
) -> Group:
    entry = pods[0]
    size = reader.size_of(entry.metadata)
    others = find_own_set(entry, sets)
    revision = reader.revision_of(entry.metadata)
    if size > 1 and others is not None and reader.revision_of(others.metadata) != revision:
        revision = ""
    set_uid = others.metadata.uid if others is not None else ""
    members = tuple(
        read_member(reader, index, pod, index == 0 or pod.metadata.controller == set_uid != "")
        for index, pod in sorted(pods.items())
        # A pod whose index is beyond the size of its group is no member.
        if index == 0 or index < size
    )
    phase = _phase_of(entry, others, size, members)
    return Group(
        ordinal=ordinal,
        revision=revision,
        phase=phase,
        incarnation=entry.metadata.uid,
        size=size,
        members=members,
        is_whole=size == 1 or others is not None,
        lost=lost,
        made_at=read_moment(entry.metadata.creation_timestamp),
        is_uncounted=phase is Phase.STARTING and _is_uncounted(others, size, members),
    )


def find_own_set(entry: PodFacts, sets: Mapping[str, SetFacts]) -> SetFacts | None:
    """The StatefulSet of a group's other members, if this very entry pod owns it."""
    found = sets.get(entry.metadata.name)
    if found is None or found.metadata.controller != entry.metadata.uid:
        return None
    return found


def _phase_of(
    entry: PodFacts, others: SetFacts | None, size: int, members: tuple[Member, ...]
) -> Phase:
    if entry.metadata.is_leaving:
        return Phase.LEAVING
    has_others = size == 1 or (
        others is not None and others.is_settled and not others.metadata.is_leaving
    )
    # A StatefulSet counts a terminating pod until it is gone, so the pods are checked, too.
    ready = {m.index for m in members if m.is_current and m.phase is Phase.READY}
    if has_others and all(index in ready for index in range(size)):
        return Phase.READY
    if any(member.phase is Phase.BROKEN for member in members if member.is_current):
        return Phase.BROKEN
    return Phase.STARTING


def _is_uncounted(others: SetFacts | None, size: int, members: tuple[Member, ...]) -> bool:
    """Whether all members are ready, and only their StatefulSet does not count them yet."""
    if others is None or others.metadata.is_leaving:
        return False
    # A StatefulSet that stays between two revisions was edited, and may stay so for ever.
    status = others.status
    ready = sum(m.is_current and m.phase is Phase.READY for m in members)
    return status.current_revision == status.update_revision and ready == size
