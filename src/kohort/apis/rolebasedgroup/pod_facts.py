"""
A pod of a role as caches keep it: with what its containers run, and how far a change in place is.

An update in place restarts containers. Those restarts are ours and no failures, so they are taken
off before anybody counts: the note on the pod says what ran, and how often it had restarted, when
the update began.
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
    """A container as the spec of a pod has it."""

    name: str = ""
    image: str = ""


class RunningContainer(msgspec.Struct, gc=False, rename="camel"):
    """A container as the status of a pod has it."""

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
    """What a container ran when an update in place began; None where that is not said."""

    image_id: str = ""
    restarts: int | None = None


@dataclass(frozen=True, slots=True)
class InPlaceNote:
    """The last update in place of a pod, as the pod says."""

    revision: str
    started: str  # a timestamp
    containers: Mapping[str, Baseline]  # those whose image changed


class RolePod(PodFacts):
    """A pod of a role."""

    asked: tuple[AskedContainer, ...] = ()
    running: tuple[RunningContainer, ...] = ()
    gates: frozenset[str] = frozenset()
    note: InPlaceNote | None = None
    raw: bytes = b""  # of one that another client edited, to see what it was made from

    @property
    def are_containers_ready(self) -> bool:
        """Whether all its containers run and are ready; gates do not count."""
        if self.status.phase != "Running":
            return False
        return self.find_condition("ContainersReady") == "True"

    def find_condition(self, name: str) -> str:
        """The status of a condition, or nothing."""
        found = (c.status for c in self.status.conditions or () if c.type == name)
        return next(found, "")

    def find_image(self, container: str) -> str:
        """The image that its spec has for a container, or nothing."""
        return next((c.image for c in self.asked if c.name == container), "")


_decoder = msgspec.json.Decoder(RolePod)
_running = msgspec.json.Decoder(_Running)


def read_pod(raw: bytes) -> RolePod:
    """A pod, with what its containers run."""
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
    """The note on a pod; None where there is none that can be read."""
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
    return Baseline(str(held.get("imageID") or ""), restarts if isinstance(restarts, int) else None)


def write_note(pod: RolePod, revision: str, containers: frozenset[str], now: str) -> str:
    """The note of an update that begins now and changes the images of these containers."""
    before = {
        own.name: {"imageID": own.image_id, "restartCount": own.restart_count}
        for own in pod.running
        if own.name in containers
    }
    said = {"revision": revision, "updateTimestamp": now, "lastContainerStatuses": before}
    return orjson.dumps(said).decode()


def is_update_complete(pod: RolePod) -> bool:
    """Whether all containers run the images that an update in place asked for."""
    if labels.IN_PLACE_GRACE in pod.metadata.annotations:
        return False
    running = {own.name: own for own in pod.running}
    return all(
        name in running and _has_changed(pod, running[name], before)
        for name, before in (pod.note.containers if pod.note else {}).items()
    )


def _has_changed(pod: RolePod, own: RunningContainer, before: Baseline) -> bool:
    asked = pod.find_image(own.name)
    return own.image_id != before.image_id or with_tag(own.image) == with_tag(asked)


def with_tag(image: str) -> str:
    """An image by its whole name: one without a tag is the latest."""
    name = image.rpartition("/")[2]
    return image if ":" in name or "@" in name else f"{image}:latest"


def count_restarts(pod: RolePod) -> int:
    """How often its containers have started again by themselves."""
    allowed = sum(_allow(pod, own) for own in pod.running)
    return max(0, pod.restarts - allowed)


def _allow(pod: RolePod, own: RunningContainer) -> int:
    """The restarts of a container that its update explains, and those from before it."""
    before = pod.note.containers.get(own.name) if pod.note else None
    if before is None:
        return 0
    # A note of another controller does not say how often it had restarted; once is explained.
    held = before.restarts if before.restarts is not None else max(0, own.restart_count - 1)
    return min(own.restart_count, held + _has_changed(pod, own, before))
