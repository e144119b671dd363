"""
Pods that another client edited in place: how we see that, and how we report it.

The image of a container is the one field of a pod that changes what it runs (``kubectl
set image pod/…``); its revision label is what a rollout looks at. After such an edit a
pod no longer matches its revision, so we recreate its group, within the budget. The
managed fields tell which client set the image or the label.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from kohort.apis.edits import Edit, Path, find_edits
from kohort.apis.facts import PodFacts
from kohort.model.observed import Instance
from kohort.model.units import Phase

# The API server sets it on creation and never changes it: its manager has created the pod.
_MAKER = ("f:spec", "f:restartPolicy")
_LABELS = ("f:metadata", "f:labels")
_NAMED_MAX = 3


def find_pod_edits(raw: bytes, revisions: Collection[str]) -> tuple[Edit, ...]:
    """The images and revision labels of a pod that another client than its maker has set."""
    found: list[Edit] = []
    # Nearly all pods have one manager, except for their status.
    if raw.count(b'"f:spec"') > 1:
        found += [e for e in find_edits(raw, "", "f:spec", maker=_MAKER) if _is_image(e.path)]
    if raw.count(b'"f:labels"') > 1:
        marks = find_edits(raw, "", *_LABELS, maker=_MAKER)
        found += [edit for edit in marks if edit.path[-1].removeprefix("f:") in revisions]
    return tuple(found)


def _is_image(path: Path) -> bool:
    return path[1] in ("f:containers", "f:initContainers") and path[-1] == "f:image"


def has_foreign_image(pod: PodFacts) -> bool:
    """Whether another client has set the image of one of the pod's containers."""
    return any(edit.path[0] == "f:spec" for edit in pod.edits)


U = TypeVar("U", bound=Instance)


def disown(unit: U) -> U:
    """The unit marked as edited and without its revision, which its failures still count for."""
    return replace(unit, revision="", made_from=unit.revision, is_edited=True)


def describe_edit(pod: PodFacts) -> str:
    """Which fields of a pod were edited, and by which client."""
    named = ", ".join(str(edit) for edit in pod.edits[:_NAMED_MAX])
    who = ", ".join(sorted({edit.manager for edit in pod.edits}))
    return f"Pod {pod.metadata.name}: {who} set {named}; its group is made anew"


def describe_edited(units: Iterable[Instance], pods: Iterable[PodFacts]) -> dict[int, str]:
    """By ordinal, a sentence on the first edited pod of each unit that was edited in place."""
    edited = {pod.metadata.uid: pod for pod in pods if pod.edits}
    if not edited:
        return {}
    told: dict[int, str] = {}
    for unit in units:
        found = [edited[m.uid] for m in unit.members if unit.is_edited and m.uid in edited]
        if found:
            told[unit.ordinal] = describe_edit(found[0])
    return told


def describe_pods(units: Iterable[Instance], pods: Iterable[PodFacts]) -> Iterator[str]:
    """A sentence on each edited pod of the edited units: which fields, by which client."""
    edited = [pod for pod in pods if pod.edits]
    if not edited:
        return
    uids = {
        member.uid
        for unit in units
        for member in unit.members
        if unit.is_edited and member.is_current and unit.phase is not Phase.LEAVING
    }
    found = sorted(
        (pod for pod in edited if pod.metadata.uid in uids), key=lambda pod: pod.metadata.name
    )
    for pod in found[:_NAMED_MAX]:
        yield describe_edit(pod)
    if len(found) > _NAMED_MAX:
        yield f"{len(found) - _NAMED_MAX} more pods were edited so"
