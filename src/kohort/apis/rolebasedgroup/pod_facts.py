"""
A pod of a role in the cache: what its containers run, and how far an in-place update is.

An in-place update restarts containers. The operator causes these restarts, so it subtracts them
from the count of failures: an annotation on the pod records what each container ran, and how often
it had restarted, when the update began. If the kubelet had not started the image that the pod's
spec named until then (another client's edit, or an update that another one overtook), that image
is recorded as well: the kubelet may start it first, which is one restart more and not yet the
update.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import orjson

from kohort.apis.drift.pods import find_pod_edits
from kohort.apis.facts import PodFacts, add_details
from kohort.apis.rolebasedgroup import labels


class AskedContainer(msgspec.Struct, gc=False):
    """A container in the spec of a pod."""

    name: str = ""
    image: str = ""


class RunningContainer(msgspec.Struct, gc=False, rename="camel"):
    """A container in the status of a pod."""

    name: str = ""
    image: str = ""
    image_id: str = msgspec.field(default="", name="imageID")
    restart_count: int = 0


class _Gate(msgspec.Struct, gc=False, rename="camel"):
    condition_type: str = ""


class _Spec(msgspec.Struct, rename="camel"):
    containers: list[AskedContainer] = []
    readiness_gates: list[_Gate] | None = None


class _Status(msgspec.Struct, rename="camel"):
    container_statuses: list[RunningContainer] | None = None


class _Running(msgspec.Struct):
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a container ran when an in-place update began; None if the annotation lacks it."""

    image_id: str = ""
    restarts: int | None = None
    pending_image: str = ""  # what the spec named and the kubelet had not started; empty if nothing


@dataclass(frozen=True, slots=True)
class InPlaceNote:
    """The annotation on a pod about its last in-place update."""

    revision: str
    started: str  # a timestamp
    containers: Mapping[str, Baseline]  # the containers whose image changed


class RolePod(PodFacts):
    """A pod of a role."""

    asked: tuple[AskedContainer, ...] = ()
    running: tuple[RunningContainer, ...] = ()
    gates: frozenset[str] = frozenset()
    note: InPlaceNote | None = None
    raw: bytes = b""  # JSON, only if another client edited the pod, to compare with templates

    @property
    def are_containers_ready(self) -> bool:
        """Whether all containers of the pod run and are ready, whatever its readiness gates say."""
        if self.status.phase != "Running":
            return False
        return self.find_condition("ContainersReady") == "True"

    @property
    def owners(self) -> tuple[str, ...]:
        """The names of the pod's owners: the instance that it was made for."""
        return tuple(owner.name for owner in self.metadata.owner_references)

    def find_condition(self, name: str) -> str:
        """The status of a condition; empty if the pod lacks it."""
        found = (c.status for c in self.status.conditions or () if c.type == name)
        return next(found, "")

    def find_image(self, container: str) -> str:
        """The image of a container in the pod's spec; empty if it has no such container."""
        return next((c.image for c in self.asked if c.name == container), "")


_decoder = msgspec.json.Decoder(RolePod)
_running = msgspec.json.Decoder(_Running)


def read_pod(raw: bytes) -> RolePod:
    """Decode a pod of a role for the cache."""
    pod = add_details(_decoder.decode(raw), raw)
    found = _running.decode(raw)
    pod.asked = tuple(found.spec.containers)
    pod.running = tuple(found.status.container_statuses or ())
    pod.gates = frozenset(gate.condition_type for gate in found.spec.readiness_gates or ())
    pod.note = read_note(pod.metadata.annotations.get(labels.IN_PLACE_STATE, ""))
    pod.edits = find_pod_edits(raw, (labels.REVISION,))
    if pod.edits or labels.REVISION not in pod.metadata.labels:
        pod.raw = raw
    return pod


def read_note(text: str) -> InPlaceNote | None:
    """The in-place annotation of a pod; None if it is missing or invalid."""
    if not text:
        return None
    try:
        said = orjson.loads(text)
        before: dict[str, Any] = said.get("lastContainerStatuses") or {}
        return InPlaceNote(
            str(said.get("revision") or ""),
            str(said.get("updateTimestamp") or ""),
            {name: _read_baseline(held or {}) for name, held in before.items()},
        )
    except (orjson.JSONDecodeError, AttributeError, TypeError):
        return None


def _read_baseline(held: dict[str, Any]) -> Baseline:
    restarts = held.get("restartCount")
    return Baseline(
        str(held.get("imageID") or ""),
        restarts if isinstance(restarts, int) else None,
        str(held.get("pendingImage") or ""),
    )


def write_note(pod: RolePod, revision: str, containers: frozenset[str], now: str) -> str:
    """
    The annotation for an in-place update that starts now, of these containers' images.

    What an earlier update noted of other containers stays: it may still be under way, and the
    restarts that it caused are no failures later either.
    """
    earlier = pod.note.containers if pod.note else {}
    before = {n: _write_back(held) for n, held in earlier.items() if n not in containers}
    before |= {own.name: _write_baseline(pod, own) for own in pod.running if own.name in containers}
    said = {"revision": revision, "updateTimestamp": now, "lastContainerStatuses": before}
    return orjson.dumps(said).decode()


def _write_back(held: Baseline) -> dict[str, Any]:
    said = {
        "imageID": held.image_id,
        "restartCount": held.restarts,
        "pendingImage": held.pending_image or None,
    }
    return {key: value for key, value in said.items() if value is not None}


def _write_baseline(pod: RolePod, own: RunningContainer) -> dict[str, Any]:
    held: dict[str, Any] = {"imageID": own.image_id, "restartCount": own.restart_count}
    asked = pod.find_image(own.name)
    # A digest says nothing about a tag, so the two are compared only if both are tags.
    if "@" not in asked and is_tagged(own.image) and not is_same_image(own.image, asked):
        held["pendingImage"] = asked
    return held


def is_update_complete(pod: RolePod) -> bool:
    """Whether all containers run the images of the last in-place update."""
    if labels.IN_PLACE_GRACE in pod.metadata.annotations:
        return False
    running = {own.name: own for own in pod.running}
    return all(
        name in running and _has_changed(pod, running[name], before)
        for name, before in (pod.note.containers if pod.note else {}).items()
    )


def _has_changed(pod: RolePod, own: RunningContainer, before: Baseline) -> bool:
    if is_same_image(own.image, pod.find_image(own.name)):
        return True
    is_pending = bool(before.pending_image) and is_same_image(own.image, before.pending_image)
    return own.image_id != before.image_id and not is_pending


def is_same_image(running: str, asked: str) -> bool:
    """Whether a status names the image of a spec, perhaps with its registry before it."""
    running, asked = with_tag(running), with_tag(asked)
    return running == asked or running.endswith(f"/{asked}")


def is_tagged(image: str) -> bool:
    """Whether the image in a status is a name with a tag, not a digest."""
    return bool(image) and "@" not in image and not image.startswith("sha256:")


def with_tag(image: str) -> str:
    """An image with its tag: ``latest`` if it names neither tag nor digest."""
    name = image.rpartition("/")[2]
    return image if ":" in name or "@" in name else f"{image}:latest"


def count_restarts(pod: RolePod) -> int:
    """How often containers of a pod restarted for other reasons than our in-place updates."""
    allowed = sum(_allow(pod, own) for own in pod.running)
    return max(0, pod.restarts - allowed)


def _allow(pod: RolePod, own: RunningContainer) -> int:
    """A container's restarts before its in-place update, plus those that the update caused."""
    before = pod.note.containers.get(own.name) if pod.note else None
    if before is None:
        return 0
    # Upstream's annotation has no count of restarts: assume that the update caused the last.
    held = before.restarts if before.restarts is not None else max(0, own.restart_count - 1)
    caused = bool(before.pending_image) + _has_changed(pod, own, before)
    return min(own.restart_count, held + caused)
