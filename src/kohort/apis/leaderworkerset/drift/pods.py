"""
Pods that another client edited in place: what is kept of that, and how it is told.

The image of a container is the one field of a pod that changes what it runs (``kubectl
set image pod/…``); a label that says its revision is what a rollout looks at. A pod
that was edited so was not made from its revision any more, whatever it says: its group is
made anew, within the budget. The image is seen by who set it; so is the label, and one
that names a revision which is not stored was not written by us either.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from kohort.apis.edits import Edit, Path, find_edits
from kohort.apis.facts import PodFacts
from kohort.apis.leaderworkerset import labels
from kohort.model.observed import Group
from kohort.model.units import Phase

# Set by the server when a pod is made, and never changed: its holder has made the pod.
_MAKER = ("f:spec", "f:restartPolicy")
_LABELS = ("f:metadata", "f:labels")
_REVISION = f"f:{labels.REVISION}"
_NAMED_MAX = 3


def find_pod_edits(raw: bytes) -> tuple[Edit, ...]:
    """The images and the revision of a pod that another client than its maker has set."""
    found: list[Edit] = []
    # Nearly all pods were written by one client, but for their status.
    if raw.count(b'"f:spec"') > 1:
        found += [e for e in find_edits(raw, "", "f:spec", maker=_MAKER) if _is_image(e.path)]
    if raw.count(b'"f:labels"') > 1:
        marks = find_edits(raw, "", *_LABELS, maker=_MAKER)
        found += [edit for edit in marks if edit.path[-1] == _REVISION]
    return tuple(found)


def _is_image(path: Path) -> bool:
    return path[1] in ("f:containers", "f:initContainers") and path[-1] == "f:image"


def has_foreign_image(pod: PodFacts) -> bool:
    """Whether a container of it runs an image that another client has set."""
    return any(edit.path[0] == "f:spec" for edit in pod.edits)


def judge_pods(
    groups: Iterable[Group], pods: Iterable[PodFacts], target: str, stored: Collection[str]
) -> tuple[Group, ...]:
    """The groups that pods carry, with what their labels do not tell."""
    edited = {pod.metadata.uid: pod for pod in pods if pod.edits}
    return tuple(_judge(group, edited, target, stored) for group in groups)


def _judge(
    group: Group, edited: dict[str, PodFacts], target: str, stored: Collection[str]
) -> Group:
    found = [edited[m.uid] for m in group.members if m.uid in edited and m.is_current]
    is_relabelled = group.revision not in stored or (
        group.incarnation in edited and bool(edited[group.incarnation].edits)
    )
    is_foreign = any(has_foreign_image(pod) for pod in found)
    if is_relabelled and group.revision != target:
        return replace(group, is_edited=True)
    if is_foreign and group.revision == target:
        return replace(group, revision="", is_edited=True)
    return group


def describe_edited(groups: Iterable[Group], pods: Iterable[PodFacts]) -> dict[int, str]:
    """What was edited in place of each edited group, by ordinal; the lowest pod speaks for it."""
    edited = {pod.metadata.uid: pod for pod in pods if pod.edits}
    if not edited:
        return {}
    told: dict[int, str] = {}
    for group in groups:
        found = [edited[m.uid] for m in group.members if group.is_edited and m.uid in edited]
        if found:
            told[group.ordinal] = _describe(found[0])
    return told


def _describe(pod: PodFacts) -> str:
    named = ", ".join(str(edit) for edit in pod.edits[:_NAMED_MAX])
    who = ", ".join(sorted({edit.manager for edit in pod.edits}))
    return f"Pod {pod.metadata.name}: {who} set {named}; its group is made anew"


def describe_pods(groups: Iterable[Group], pods: Iterable[PodFacts]) -> Iterator[str]:
    """Which pods of edited groups were edited in place, and by whom."""
    uids = {
        member.uid
        for group in groups
        for member in group.members
        if group.is_edited and member.is_current and group.phase is not Phase.LEAVING
    }
    found = sorted(
        (pod for pod in pods if pod.edits and pod.metadata.uid in uids),
        key=lambda pod: pod.metadata.name,
    )
    for pod in found[:_NAMED_MAX]:
        yield _describe(pod)
    if len(found) > _NAMED_MAX:
        yield f"{len(found) - _NAMED_MAX} more pods were edited so"
