"""
Groups of a LeaderWorkerSet whose pods another client edited in place.

We did not write a revision label that names a revision which is not stored, or another client
deleted that revision since. The operator cannot make the missing pods of such a group, because it
does not know their template: it makes the whole group anew, from a revision that is stored.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from kohort.apis.drift.pods import disown, has_foreign_image
from kohort.apis.facts import PodFacts
from kohort.model.observed import Group


def judge_pods(
    groups: Iterable[Group],
    pods: Iterable[PodFacts],
    targets: Sequence[str],
    stored: Collection[str],
) -> tuple[Group, ...]:
    """
    The groups, marked as edited where another client changed an image or a revision label.

    There are two targets while the spec asks for another one than the note holds.
    """
    edited = {pod.metadata.uid: pod for pod in pods if pod.edits}
    return tuple(_judge(group, edited, targets, {*stored, *targets}) for group in groups)


def _judge(
    group: Group, edited: dict[str, PodFacts], targets: Sequence[str], stored: Collection[str]
) -> Group:
    found = [edited[m.uid] for m in group.members if m.uid in edited and m.is_current]
    is_relabelled = group.revision not in stored or (
        group.incarnation in edited and bool(edited[group.incarnation].edits)
    )
    is_foreign = any(has_foreign_image(pod) for pod in found)
    if is_relabelled and group.revision not in targets:
        return _mark_edited(group, group.revision in stored)
    if is_foreign and group.revision in targets:
        return disown(group)
    return group


def _mark_edited(group: Group, is_stored: bool) -> Group:
    present = sum(member.is_current for member in group.members)
    if is_stored or not group.members or present >= group.size:
        return replace(group, is_edited=True)
    return replace(group, is_edited=True, unfit=(group.members[0].name,))
