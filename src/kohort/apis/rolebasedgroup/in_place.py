"""
In-place updates: what can change in a running pod, and the writes that change it.

Images of containers and metadata can change; any other change needs a new pod, and so does a new
annotation that asks for a restart. An update takes three writes. Each shows on the pod, so every
plan sees how far the update is and does the next:

1. set both readiness gates to False, so that the endpoints drop the pod;
2. once the pod is not ready, write the new hash, a note of what the pod ran, and the change; with
   a grace period, write the change into an annotation instead;
3. after the grace period, apply the change from the annotation.

If the template changes again within the grace period, the pod has the hash of a template that it
never took over. So the pending change stays part of the new one.

The update ends when the containers run the new images and the operator sets the gates to True, for
all pods of the instance together.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from kohort.apis.carriers.members import read_moment
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.objects.pods import GATES
from kohort.apis.rolebasedgroup.pod_facts import RolePod, write_note
from kohort.apis.user_edits import RESTARTED
from kohort.cluster.actions import Action, Patch
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object, annotations_of
from kohort.cluster.port import Address, PatchType

OPEN, CLOSED = dict.fromkeys(GATES, True), dict.fromkeys(GATES, False)
_NOT_READY = orjson.dumps([{"userAgent": "Lifecycle", "key": "InstanceReady"}]).decode()


@dataclass(frozen=True, slots=True)
class InPlaceChange:
    """The difference between two pod templates that a running pod can take over in place."""

    images: dict[str, str] = field(default_factory=dict)  # by container
    labels: dict[str, str | None] = field(default_factory=dict)  # None: remove it
    annotations: dict[str, str | None] = field(default_factory=dict)

    @property
    def body(self) -> Object:
        """The patch that brings a pod to the new template, without empty parts."""
        containers = [{"name": name, "image": image} for name, image in self.images.items()]
        metadata = {"labels": self.labels, "annotations": self.annotations}
        spec: Object = {"spec": {"containers": containers}} if containers else {}
        return {"metadata": {key: value for key, value in metadata.items() if value}, **spec}

    def follow(self, earlier: "InPlaceChange") -> "InPlaceChange":
        """This change, and what an earlier one changes that was never applied."""
        return InPlaceChange(
            {**earlier.images, **self.images},
            {**earlier.labels, **self.labels},
            {**earlier.annotations, **self.annotations},
        )


def find_in_place_change(old: Object, new: Object) -> InPlaceChange | None:
    """The in-place change from one template to another; None if the pod must be recreated."""
    if RESTARTED in _compare_marks(old, new, "annotations") and RESTARTED in annotations_of(new):
        return None
    before, after = old.get("spec") or {}, new.get("spec") or {}
    held, asked = before.get("containers") or [], after.get("containers") or []
    if [c.get("name") for c in held] != [c.get("name") for c in asked]:
        return None
    if _without(before, "containers") != _without(after, "containers"):
        return None
    for own, wanted in zip(held, asked, strict=True):
        if _without(own, "image") != _without(wanted, "image"):
            return None
    pairs = zip(held, asked, strict=True)
    images = {w["name"]: w["image"] for o, w in pairs if o.get("image") != w.get("image")}
    return InPlaceChange(
        images, *(_compare_marks(old, new, key) for key in ("labels", "annotations"))
    )


def _without(value: Object, key: str) -> Object:
    return {name: inner for name, inner in value.items() if name != key}


def _compare_marks(old: Object, new: Object, key: str) -> dict[str, str | None]:
    before = (old.get("metadata") or {}).get(key) or {}
    after = (new.get("metadata") or {}).get(key) or {}
    found: dict[str, str | None] = {k: v for k, v in after.items() if before.get(k) != v}
    return found | {name: None for name in before if name not in after}


@dataclass(frozen=True, slots=True)
class Walk:
    """The in-place update of one pod to another revision of its instance."""

    pod: RolePod
    hash: str  # the label value of the new revision
    revision: str  # its whole name
    difference: InPlaceChange
    grace_seconds: float
    now: str  # a timestamp

    def list_steps(self) -> Iterator[Action]:
        """The next write of the update, or none while the kubelet still has to act."""
        closed = set_gates(self.pod, CLOSED, self.now, "StartInPlaceUpdate")
        if closed is not None:
            yield closed
        elif not self.pod.is_ready:
            yield self._begin()

    def _begin(self) -> Patch:
        changed = frozenset(self.difference.images)
        note = write_note(self.pod, self.revision, changed, self.now)
        grace: str | None = None
        body = self.difference.body
        if self.grace_seconds > 0 and changed:
            grace, body = orjson.dumps(body).decode(), {"metadata": {}}
        marks = {labels.IN_PLACE_STATE: note, labels.IN_PLACE_GRACE: grace}
        return _patch_pod(self.pod, body, {labels.REVISION: self.hash}, marks, "changes in place")


def is_grace_over(pod: RolePod, seconds: float, now: float) -> bool:
    """Whether a pending change is due, also if its start lies in the future (clock set back)."""
    end = find_grace_end(pod, seconds)
    return end is not None and not now < end <= now + seconds


def find_grace_end(pod: RolePod, seconds: float) -> float | None:
    """When to apply the pending change of a pod; None if none is pending."""
    if labels.IN_PLACE_GRACE not in pod.metadata.annotations:
        return None
    return read_moment(pod.note.started if pod.note else "") + seconds


def read_pending(pod: RolePod) -> InPlaceChange | None:
    """The change that waits for the grace period of a pod; None if it is missing or invalid."""
    try:
        body = orjson.loads(pod.metadata.annotations.get(labels.IN_PLACE_GRACE, ""))
        metadata = body["metadata"]
        containers = (body.get("spec") or {}).get("containers") or ()
        return InPlaceChange(
            {each["name"]: each["image"] for each in containers},
            dict(metadata.get("labels") or {}),
            dict(metadata.get("annotations") or {}),
        )
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError, ValueError):
        return None


def apply_pending(pod: RolePod, template: Object) -> Patch:
    """Apply the pending change; if its annotation is invalid, compare with the template again."""
    pending = read_pending(pod)
    body = pending.body if pending else _find_missing(pod, template)
    marks: dict[str, str | None] = {labels.IN_PLACE_GRACE: None}
    return _patch_pod(pod, body, {}, marks, "grace period is over")


def _find_missing(pod: RolePod, template: Object) -> Object:
    """The images, labels and annotations in which a running pod differs from its template."""
    asked = (template.get("spec") or {}).get("containers") or []
    images = {c["name"]: c["image"] for c in asked if pod.find_image(c["name"]) != c.get("image")}
    held = {"labels": pod.metadata.labels, "annotations": pod.metadata.annotations}
    marks = template.get("metadata") or {}
    new = {
        key: {k: v for k, v in (marks.get(key) or {}).items() if held[key].get(k) != v}
        for key in held
    }
    return InPlaceChange(images, dict(new["labels"]), dict(new["annotations"])).body


def _patch_pod(
    pod: RolePod,
    body: Object,
    own_labels: dict[str, str],
    marks: dict[str, Any],
    why: str,
) -> Patch:
    metadata = pod.metadata
    said = body.get("metadata") or {}
    merged = {
        "uid": metadata.uid,
        "labels": {**(said.get("labels") or {}), **own_labels},
        "annotations": {**(said.get("annotations") or {}), **marks},
    }
    merged = {key: value for key, value in merged.items() if value}
    address = Address(POD, metadata.namespace, metadata.name)
    return Patch(
        address,
        {**_without(body, "metadata"), "metadata": merged},
        PatchType.STRATEGIC,
        why=f"pod {metadata.name}: {why}",
    )


def set_gates(pod: RolePod, wanted: Mapping[str, bool], now: str, reason: str) -> Patch | None:
    """One status patch that sets readiness gates of a pod; None if all are set already."""
    conditions = []
    for gate, is_open in wanted.items():
        status = "True" if is_open else "False"
        if pod.find_condition(gate) != status:
            said = {"type": gate, "status": status, "lastTransitionTime": now, "reason": reason}
            conditions.append(said if is_open else {**said, "message": _NOT_READY})
    if not conditions:
        return None
    metadata = pod.metadata
    address = Address(POD, metadata.namespace, metadata.name, "status")
    body = {"metadata": {"uid": metadata.uid}, "status": {"conditions": conditions}}
    changed = ", ".join(f"{said['type']} {said['status']}" for said in conditions)
    return Patch(address, body, PatchType.STRATEGIC, why=f"pod {metadata.name}: {changed}")
