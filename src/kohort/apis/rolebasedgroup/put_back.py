"""
Repair of running pods that another client edited.

If a client changed an image, the operator restores the instance's image with an in-place update. If
a client removed or changed the label with the revision's hash, the operator restores it, provided
that the pod runs the template of its instance and has that one's labels and annotations. Where the
pod lacks some of these, it gets them in place. The operator also restores the labels that name a
pod's instance, component and index.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from kohort.apis.api import Snapshot
from kohort.apis.drift.pods import has_foreign_image
from kohort.apis.drift.restores import put_labels_back
from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.in_place import InPlaceChange
from kohort.apis.rolebasedgroup.instance_facts import PodName, RoleInstanceFacts
from kohort.apis.rolebasedgroup.objects.pods import GATES
from kohort.apis.rolebasedgroup.pod_facts import RolePod
from kohort.apis.rolebasedgroup.roles import as_map, as_objects, as_texts
from kohort.apis.user_edits import RESTARTED
from kohort.cluster.actions import Action
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object

# Labels that a pod gets for its place and its revision, whatever its template says.
_GIVEN = (
    labels.INSTANCE_NAME,
    labels.COMPONENT_NAME,
    labels.COMPONENT_ID,
    labels.COMPONENT_INDEX,
    labels.COMPONENT_SIZE,
    labels.REVISION,
)


def find_foreign_images(instance: RoleInstanceFacts, pod: RolePod) -> dict[str, str]:
    """The images to restore, by container, where another client changed the pod's image."""
    if not pod.edits or not has_foreign_image(pod):
        return {}
    if labels.IN_PLACE_GRACE in pod.metadata.annotations:
        return {}
    component = next((p.component for p in instance.places if p.name == pod.metadata.name), "")
    asked = instance.images.get(component) or {}
    return {name: image for name, image in asked.items() if pod.find_image(name) != image}


def has_lost_hash(instance: RoleInstanceFacts, pod: RolePod) -> bool:
    """Whether another client changed a pod's hash label while it runs its instance's template."""
    if not pod.raw or pod.metadata.labels.get(labels.REVISION) == hash_of(instance):
        return False
    component = next((p.component for p in instance.places if p.name == pod.metadata.name), "")
    listed = as_objects(as_map(instance.decode().get("spec")).get("components"))
    found = next((each for each in listed if each.get("name") == component), None)
    if found is None:
        return False
    template = as_map(found.get("template"))
    lacks = find_lacking_marks(pod, template)
    return runs_template(pod, template) and not any(lacks.values())


def find_lacking_marks(pod: RolePod, template: Object) -> dict[str, dict[str, str]]:
    """The labels and the annotations of a template that a pod lacks or has with other values."""
    asked, held = as_map(template.get("metadata")), pod.metadata
    own = {"labels": held.labels, "annotations": held.annotations}
    return {
        part: {
            key: value
            for key, value in as_texts(asked.get(part)).items()
            if has.get(key) != value and key not in _GIVEN
        }
        for part, has in own.items()
    }


def find_unnamed_change(
    pod: RolePod, template: Object, foreign: dict[str, str]
) -> InPlaceChange | None:
    """
    The in-place change of a pod whose hash is that of no stored template; None if there is none.

    ``foreign`` has the images to restore. Nothing tells what the pod has from its former template
    alone, so that stays.
    """
    lacks = find_lacking_marks(pod, template)
    if RESTARTED in lacks["annotations"]:
        return None
    runs_on = bool(pod.raw) and set(GATES) <= pod.gates and runs_template(pod, template)
    if not foreign and not runs_on:
        return None
    return InPlaceChange(foreign, {**lacks["labels"]}, {**lacks["annotations"]})


def hash_of(instance: RoleInstanceFacts) -> str:
    """The revision hash that pods of an instance have as a label."""
    return names.short_revision(instance.metadata.labels.get(labels.REVISION, ""))


def runs_template(pod: RolePod, template: Object) -> bool:
    """Whether a pod's containers have the image, command, args and variables of a template."""
    held = {
        c.get("name"): c for c in as_objects(as_map(orjson.loads(pod.raw)["spec"])["containers"])
    }
    asked = as_objects(as_map(template.get("spec")).get("containers"))
    return all(_runs(held.get(container.get("name")), container) for container in asked)


def _runs(held: Object | None, asked: Object) -> bool:
    if held is None:
        return False
    if any(held.get(key) != asked.get(key) for key in ("image", "command", "args")):
        return False
    variables = _values_of(held)
    return all(variables.get(name, "") == value for name, value in _values_of(asked).items())


def _values_of(container: Object) -> Mapping[str, Any]:
    """A container's variables by name; the value is None if it comes from ``valueFrom``."""
    return {str(v.get("name")): v.get("value") for v in as_objects(container.get("env"))}


def put_place_back(
    snapshot: Snapshot, instance: RoleInstanceFacts, place: PodName, pod: RolePod
) -> Iterator[Action]:
    """Restore a pod's labels for its instance and component, if another client changed them."""
    changed = find_misplaced(instance, place, pod)
    if changed and not pod.metadata.is_leaving:
        yield from put_labels_back(snapshot, POD, pod.metadata, changed)


def find_misplaced(instance: RoleInstanceFacts, place: PodName, pod: RolePod) -> dict[str, str]:
    """The right values of a pod's instance, component and hash labels that are wrong now."""
    held = pod.metadata.labels
    wanted = {
        labels.INSTANCE_NAME: instance.metadata.name,
        labels.COMPONENT_NAME: place.component,
        labels.COMPONENT_ID: str(place.number),
    }
    if has_lost_hash(instance, pod):
        wanted[labels.REVISION] = hash_of(instance)
    return {key: value for key, value in wanted.items() if held.get(key) != value}


def are_misplaced(instance: RoleInstanceFacts, pods: Mapping[str, RolePod]) -> bool:
    """Whether a pod of an instance has missing or wrong labels, or should not exist."""
    if pods.keys() - {place.name for place in instance.places}:
        return True
    found = [(place, pods[place.name]) for place in instance.places if place.name in pods]
    return any(find_misplaced(instance, place, pod) for place, pod in found)
