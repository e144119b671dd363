"""
Which groups are ours, and which of them are not what their labels say.

A leader belongs to the leader set that exists now; one of an earlier set is on its
way out. A leader may carry the right revision and yet be old, when an annotation
changed the template and not the revision: the set says so, once it has seen its
own generation. And members that were made while our webhook was not asked lack
their marks and their variables, so their group cannot work, whatever it says.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from kohort.apis.facts import PodFacts, SetFacts
from kohort.apis.leaderworkerset import labels
from kohort.model.observed import Group
from kohort.model.units import Phase

_SET_REVISION = "controller-revision-hash"


def own_pods(pods: Iterable[PodFacts], leader_set: SetFacts | None) -> list[PodFacts]:
    """All pods but the leaders of another set; one without a set will be adopted by ours."""
    owners = {"", leader_set.metadata.uid if leader_set else ""}
    return [pod for pod in pods if not _is_leader(pod) or pod.metadata.controller in owners]


def judge_groups(
    groups: Iterable[Group], pods: Iterable[PodFacts], leader_set: SetFacts | None
) -> tuple[Group, ...]:
    """The groups, with what their labels do not tell."""
    unmarked: dict[str, list[str]] = defaultdict(list)
    hashes: dict[str, str] = {}
    for pod in pods:
        metadata = pod.metadata
        held = metadata.labels
        index = held.get(labels.WORKER_INDEX)
        if index == "0":
            hashes[metadata.uid] = held.get(_SET_REVISION, "")
        # Admission gives leaders their group, and workers their place.
        is_marked = index is not None and labels.GROUP_INDEX in held
        if not is_marked and not metadata.is_leaving:
            place = metadata.annotations.get(labels.LEADER_NAME) or metadata.name
            unmarked[place].append(metadata.name)
    newest = _newest_hash(leader_set)
    return tuple(_judge(group, hashes, newest, unmarked) for group in groups)


def _judge(
    group: Group, hashes: dict[str, str], newest: str, unmarked: dict[str, list[str]]
) -> Group:
    found = hashes.get(group.incarnation, "")
    if newest and found and found != newest:
        group = replace(group, revision="")
    if unmarked and group.phase is not Phase.LEAVING:
        entry = next((member.name for member in group.members if member.index == 0), "")
        if entry in unmarked:
            group = replace(group, phase=Phase.BROKEN, unfit=tuple(unmarked[entry]))
    return group


def _newest_hash(leader_set: SetFacts | None) -> str:
    """What leaders of the present template carry, if the set has seen that template."""
    if leader_set is None:
        return ""
    status, metadata = leader_set.status, leader_set.metadata
    return status.update_revision if status.observed_generation >= metadata.generation else ""


def _is_leader(pod: PodFacts) -> bool:
    return pod.metadata.labels.get(labels.WORKER_INDEX) == "0"
