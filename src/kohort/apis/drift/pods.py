"""
Pods that another client edited in place: what is seen of that, and how it is told.

The image of a container is the one field of a pod that changes what it runs (``kubectl
set image pod/…``); a label that says its revision is what a rollout looks at. A pod
that was edited so was not made from its revision any more, whatever it says: its group is
made anew, within the budget. The image is seen by who set it, and so is the label.
"""

from collections.abc import Collection, Iterable, Iterator

from kohort.apis.edits import Edit, Path, find_edits
from kohort.apis.facts import PodFacts
from kohort.model.observed import Instance
from kohort.model.units import Phase

# Set by the server when a pod is made, and never changed: its holder has made the pod.
_MAKER = ("f:spec", "f:restartPolicy")
_LABELS = ("f:metadata", "f:labels")
_NAMED_MAX = 3


def find_pod_edits(raw: bytes, revisions: Collection[str]) -> tuple[Edit, ...]:
    """The images and the labels of its revision that another client than a pod's maker has set."""
    found: list[Edit] = []
    # Nearly all pods were written by one client, but for their status.
    if raw.count(b'"f:spec"') > 1:
        found += [e for e in find_edits(raw, "", "f:spec", maker=_MAKER) if _is_image(e.path)]
    if raw.count(b'"f:labels"') > 1:
        marks = find_edits(raw, "", *_LABELS, maker=_MAKER)
        found += [edit for edit in marks if edit.path[-1].removeprefix("f:") in revisions]
    return tuple(found)


def _is_image(path: Path) -> bool:
    return path[1] in ("f:containers", "f:initContainers") and path[-1] == "f:image"


def has_foreign_image(pod: PodFacts) -> bool:
    """Whether a container of it runs an image that another client has set."""
    return any(edit.path[0] == "f:spec" for edit in pod.edits)


def describe_edit(pod: PodFacts) -> str:
    """What was edited of a pod, and by whom."""
    named = ", ".join(str(edit) for edit in pod.edits[:_NAMED_MAX])
    who = ", ".join(sorted({edit.manager for edit in pod.edits}))
    return f"Pod {pod.metadata.name}: {who} set {named}; its group is made anew"


def describe_edited(units: Iterable[Instance], pods: Iterable[PodFacts]) -> dict[int, str]:
    """What was edited in place of each edited unit, by ordinal; the lowest pod speaks for it."""
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
    """Which pods of edited units were edited in place, and by whom."""
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
