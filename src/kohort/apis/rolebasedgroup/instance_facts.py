"""RoleInstances in the cache, with the names of the pods that each should have."""

from typing import NamedTuple

import msgspec
import orjson

from kohort.apis.facts import Condition, Meta
from kohort.apis.rolebasedgroup.objects.pods import list_places
from kohort.apis.rolebasedgroup.roles import as_map, as_objects
from kohort.apis.rolebasedgroup.status import INSTANCE_READY
from kohort.cluster.objects import Object


class PodName(NamedTuple):
    """A pod that an instance should have."""

    name: str
    component: str
    position: int  # within the instance; 0 is the leader or first pod
    number: int = 0  # within its component


class InstanceStatusFacts(msgspec.Struct, rename="camel"):
    """The fields of a RoleInstance's status that the operator reads back."""

    observed_generation: int = 0
    update_revision: str = ""
    conditions: list[Condition] | None = None
    restart_count: int = 0

    @property
    def has_ready(self) -> bool:
        """Whether there is a condition that says if the instance is ready."""
        return any(condition.type == INSTANCE_READY for condition in self.conditions or ())


class RoleInstanceFacts(msgspec.Struct, rename="camel"):
    """A RoleInstance, with its JSON for comparisons field by field."""

    metadata: Meta
    status: InstanceStatusFacts = msgspec.field(default_factory=InstanceStatusFacts)
    raw: bytes = b""
    places: tuple[PodName, ...] = ()
    images: dict[str, dict[str, str]] = {}  # by component and container

    def decode(self) -> Object:
        """The whole object, as a fresh dictionary."""
        decoded: Object = orjson.loads(self.raw)
        return decoded


_decoder = msgspec.json.Decoder(RoleInstanceFacts)


def read_facts(raw: bytes) -> RoleInstanceFacts:
    """Decode a RoleInstance for the cache."""
    found = _decoder.decode(raw)
    decoded: Object = orjson.loads(raw)
    listed = list_places(decoded)
    found.raw = raw
    found.places = tuple(
        PodName(place.name, place.component_name, position, place.index)
        for position, place in enumerate(listed)
    )
    found.images = _read_images(decoded)
    return found


def _read_images(instance: Object) -> dict[str, dict[str, str]]:
    found = {}
    for component in as_objects(as_map(instance.get("spec")).get("components")):
        template = as_map(as_map(component.get("template")).get("spec"))
        held = as_objects(template.get("containers"))
        found[str(component.get("name"))] = {
            str(container.get("name")): str(container.get("image") or "") for container in held
        }
    return found
