"""
The groups of a LeaderWorkerSet that a ModelServing carries, read from its pods.

Plugin `lws` gives these pods LeaderWorkerSet's labels; their owner is the ModelServing.
"""

from collections import defaultdict
from collections.abc import Iterable

from kohort.apis.carriers.members import Reader, read_member, read_moment
from kohort.apis.facts import Meta, PodFacts
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.spec import size_of
from kohort.cluster.numbers import find_whole
from kohort.cluster.objects import Object
from kohort.model.observed import Group, Member
from kohort.model.units import Phase


def _read_label(metadata: Meta, key: str) -> int | None:
    return find_whole(metadata.labels.get(key, ""))


_READER = Reader(
    group_of=lambda metadata: _read_label(metadata, labels.GROUP_INDEX),
    index_of=lambda metadata: _read_label(metadata, labels.WORKER_INDEX),
    revision_of=lambda metadata: metadata.labels.get(labels.REVISION, ""),
    size_of=lambda metadata: 1,
)


def read_groups(pods: Iterable[PodFacts], owner: str, lws: Object) -> tuple[Group, ...]:
    """The groups that the pods of this owner form, lowest ordinal first."""
    found: dict[int, dict[int, PodFacts]] = defaultdict(dict)
    for pod in pods:
        group, index = _READER.group_of(pod.metadata), _READER.index_of(pod.metadata)
        if owner and pod.metadata.controller == owner and group is not None and index is not None:
            found[group][index] = pod
    return tuple(_read_group(ordinal, own, lws) for ordinal, own in sorted(found.items()))


def _read_group(ordinal: int, pods: dict[int, PodFacts], lws: Object) -> Group:
    members = tuple(
        read_member(_READER, i, pod, is_current=True) for i, pod in sorted(pods.items())
    )
    first = pods[min(pods)]
    revisions = {member.revision for member in members}
    return Group(
        ordinal=ordinal,
        revision=revisions.pop() if len(revisions) == 1 else "",
        phase=_find_phase(members, size_of(lws)),
        incarnation=first.metadata.uid,
        size=size_of(lws),
        members=members,
        made_at=read_moment(first.metadata.creation_timestamp),
    )


def _find_phase(members: tuple[Member, ...], size: int) -> Phase:
    if all(member.phase is Phase.LEAVING for member in members):
        return Phase.LEAVING
    if sum(member.phase is Phase.READY for member in members) == size:
        return Phase.READY
    if any(member.phase is Phase.BROKEN for member in members):
        return Phase.BROKEN
    return Phase.STARTING
