"""
The pods of a RoleInstance: a component's template with the name and labels of one pod.

Names and labels depend on the pattern, which a label of the instance holds. A pod has a host name
if its component has a Service. Two readiness gates keep it out of endpoints: one during an in-place
update, one until all pods of its instance run.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import orjson

from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.problems import INSTANCE_PODS_MAX
from kohort.apis.rolebasedgroup.roles import LEADER, WORKER, Pattern, as_int, as_map, as_objects
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object, labels_of, name_of, namespace_of, owner_reference

IN_PLACE_READY, INSTANCE_POD_READY = "InPlaceUpdateReady", "InstancePodReady"
GATES = (IN_PLACE_READY, INSTANCE_POD_READY)


@dataclass(frozen=True, slots=True)
class PodPlace:
    """One pod of an instance: its component, its ordinal there, and its name."""

    component: Object
    index: int
    name: str

    @property
    def component_name(self) -> str:
        """The name of the pod's component."""
        return str(self.component.get("name") or "")


def list_places(instance: Object) -> list[PodPlace]:
    """The pods that an instance should have, leaders first: so many as the operator makes."""
    return list(islice(_list_places(instance), INSTANCE_PODS_MAX))


def make_pod(instance: Object, place: PodPlace, revision: str) -> Object:
    """The manifest of one pod; ``revision`` is the hash of its instance's components."""
    template: Object = orjson.loads(orjson.dumps(as_map(place.component.get("template"))))
    metadata = as_map(template.get("metadata"))
    spec = dict(as_map(template.get("spec")))
    gates = as_objects(spec.get("readinessGates"))
    present = {gate.get("conditionType") for gate in gates}
    added = [{"conditionType": gate} for gate in GATES if gate not in present]
    spec["readinessGates"] = [*gates, *added]
    service = place.component.get("serviceName")
    if service:
        spec |= {"hostname": place.name, "subdomain": service}
    marks = {**labels_of(template), **pod_marks(instance, place), labels.REVISION: revision}
    return {
        "apiVersion": POD.api_version,
        "kind": POD.name,
        "metadata": {
            **metadata,
            "name": place.name,
            "generateName": f"{name_of(instance)}-",
            "namespace": namespace_of(instance),
            "labels": marks,
            "ownerReferences": [owner_reference(instance)],
        },
        "spec": spec,
    }


def pod_marks(instance: Object, place: PodPlace) -> dict[str, str]:
    """The labels for a pod's instance, component and index within it."""
    marks = {
        labels.INSTANCE_NAME: name_of(instance),
        labels.COMPONENT_NAME: place.component_name,
        labels.COMPONENT_ID: str(place.index),
    }
    if _pattern_of(instance) == Pattern.LEADER_WORKER:
        marks[labels.COMPONENT_INDEX] = str(_index_in_pair(place.component_name, place.index))
    elif labels.COMPONENT_SIZE not in labels_of(as_map(place.component.get("template"))):
        marks[labels.COMPONENT_SIZE] = str(_size_of(place.component))
    return marks


def _list_places(instance: Object) -> Iterator[PodPlace]:
    pattern = _pattern_of(instance)
    for component in as_objects(as_map(instance.get("spec")).get("components")):
        for index in range(_size_of(component)):
            yield PodPlace(component, index, _name(instance, pattern, component, index))


def _name(instance: Object, pattern: str, component: Object, index: int) -> str:
    owner, own_name = name_of(instance), str(component.get("name") or "")
    if pattern == Pattern.STANDALONE:
        return names.standalone_pod_name(owner)
    if pattern == Pattern.LEADER_WORKER and own_name in (LEADER, WORKER):
        return names.leader_worker_pod_name(owner, _index_in_pair(own_name, index))
    return names.component_pod_name(owner, own_name, index)


def _index_in_pair(component: str, index: int) -> int:
    return index + 1 if component == WORKER else index


def _pattern_of(instance: Object) -> str:
    return labels_of(instance).get(labels.ROLE_TYPE, Pattern.COMPONENTS.value)


def _size_of(component: Object) -> int:
    return max(0, as_int(component.get("size"), 1))
