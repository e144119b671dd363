"""
Which pods and groups are ours, and which groups differ from what their labels say.

Leaders of an earlier leader set are about to be deleted. A leader may have the right
revision label and yet be old, when an annotation changed the template and not the
revision: the StatefulSet's status tells, once its controller has observed the generation.
Members that were made while our webhook was not called lack labels and variables, so their
group cannot work, whatever its pods report.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from kohort.apis.carriers.statefulsets import find_own_set
from kohort.apis.drift.pods import disown, has_foreign_image
from kohort.apis.facts import PodFacts, SetFacts
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.drift.sets import (
    Drift,
    find_drifted,
    judge_revision,
)
from kohort.apis.leaderworkerset.set_revisions import SET_REVISION
from kohort.model.observed import Group
from kohort.model.units import Phase


def own_pods(pods: Iterable[PodFacts], leader_set: SetFacts | None) -> list[PodFacts]:
    """All pods but the leaders of another set; our set will adopt leaders without an owner."""
    owners = {"", leader_set.metadata.uid if leader_set else ""}
    return [pod for pod in pods if not _is_leader(pod) or pod.metadata.controller in owners]


def judge_groups(
    groups: Iterable[Group],
    pods: Collection[PodFacts],
    leader_set: SetFacts | None,
    sets: Mapping[str, SetFacts],
    drift: Drift,
) -> tuple[Group, ...]:
    """The groups with their true revision, and marked where they are edited or unfit."""
    unmarked: dict[str, list[str]] = defaultdict(list)
    leaders: dict[str, PodFacts] = {}
    foreign = {pod.metadata.uid for pod in pods if pod.edits and has_foreign_image(pod)}
    for pod in pods:
        metadata = pod.metadata
        if _is_leader(pod):
            leaders[metadata.uid] = pod
        if not pod.is_admitted and not metadata.is_leaving:
            place = metadata.annotations.get(labels.LEADER_NAME) or metadata.name
            unmarked[place].append(metadata.name)
    if leader_set is not None:
        groups = [
            _compare(group, leaders[group.incarnation], leader_set, sets, drift) for group in groups
        ]
    if leader_set is not None and foreign:
        target = leader_set.metadata.labels.get(labels.REVISION, "")
        groups = [_disown(group, foreign, target) for group in groups]
    return tuple(_mark(group, unmarked) for group in groups)


def _compare(
    group: Group,
    leader: PodFacts,
    leader_set: SetFacts,
    sets: Mapping[str, SetFacts],
    drift: Drift,
) -> Group:
    """The group with the revision that its members were made from."""
    held = leader.metadata.labels
    made_from, label = held.get(SET_REVISION, ""), held.get(labels.REVISION, "")
    # Service, gang and workers follow the label: a leader without it is not ours, and is replaced.
    is_known = bool(made_from and label)
    own = judge_revision(label, made_from, leader_set, drift) if is_known else label
    others = find_own_set(leader, sets) if group.size > 1 else None
    is_one = others is None or (
        others.metadata.labels.get(labels.REVISION) == own and not find_drifted(others)
    )
    found = own if is_one else ""
    target = leader_set.metadata.labels.get(labels.REVISION, "")
    is_edited = found != target and target in (label, own)
    if (found, is_edited) == (group.revision, group.is_edited):
        return group
    return replace(group, revision=found, is_edited=is_edited)


def _disown(group: Group, foreign: set[str], target: str) -> Group:
    """The group without its revision, if another client set the image of one of its pods."""
    edited = any(m.uid in foreign and m.is_current for m in group.members)
    if group.revision != target or not edited:
        return group
    return disown(group)


def _mark(group: Group, unmarked: dict[str, list[str]]) -> Group:
    if unmarked and group.phase is not Phase.LEAVING:
        entry = next((member.name for member in group.members if member.index == 0), "")
        if entry in unmarked:
            group = replace(group, phase=Phase.BROKEN, unfit=tuple(unmarked[entry]))
    return group


def _is_leader(pod: PodFacts) -> bool:
    return pod.metadata.labels.get(labels.WORKER_INDEX) == "0"
