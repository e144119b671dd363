"""
Repair of running pods that another client edited.

If a client changed an image, the operator restores the instance's image with an in-place update. If
a client removed or changed the label with the revision's hash, the operator restores it, provided
that the pod runs the template of its instance, has that one's labels and annotations, and was not
made from another stored template. A pod that was is updated from that one, as if its label said so.
Where the pod only lacks labels or annotations, it gets them in place. The operator also restores
the labels that name a pod's instance, component and index.
"""

from collections.abc import Iterator, Mapping

from kohort.apis.api import Snapshot
from kohort.apis.drift.pods import has_foreign_image
from kohort.apis.drift.restores import put_labels_back
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.in_place import InPlaceChange
from kohort.apis.rolebasedgroup.instance_facts import PodName, RoleInstanceFacts
from kohort.apis.rolebasedgroup.objects.pods import GATES
from kohort.apis.rolebasedgroup.pod_facts import RolePod
from kohort.apis.rolebasedgroup.pod_origins import (
    find_lacking_marks,
    find_origin,
    find_own_component,
    fits,
    hash_of,
    runs_template,
)
from kohort.apis.rolebasedgroup.role_facts import RoleFacts
from kohort.apis.rolebasedgroup.roles import as_map
from kohort.apis.user_edits import RESTARTED
from kohort.cluster.actions import Action
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object


def find_foreign_images(instance: RoleInstanceFacts, pod: RolePod) -> dict[str, str]:
    """The images to restore, by container, where another client changed the pod's image."""
    if not pod.edits or not has_foreign_image(pod):
        return {}
    if labels.IN_PLACE_GRACE in pod.metadata.annotations:
        return {}
    component = next((p.component for p in instance.places if p.name == pod.metadata.name), "")
    asked = instance.images.get(component) or {}
    return {name: image for name, image in asked.items() if pod.find_image(name) != image}


def has_lost_hash(role: RoleFacts, instance: RoleInstanceFacts, pod: RolePod) -> bool:
    """Whether another client changed a pod's hash label while it runs its instance's template."""
    if not pod.raw or pod.metadata.labels.get(labels.REVISION) == hash_of(instance):
        return False
    own = find_own_component(instance, pod)
    if own is None or not fits(pod, as_map(own.get("template"))):
        return False
    return find_origin(role, instance, pod) is None


def find_unnamed_change(
    pod: RolePod, template: Object, foreign: dict[str, str]
) -> InPlaceChange | None:
    """
    The in-place change of a pod that no stored template explains; None if there is none.

    ``foreign`` has the images to restore.
    """
    lacks = find_lacking_marks(pod, template)
    if RESTARTED in lacks["annotations"]:
        return None
    runs_on = bool(pod.raw) and set(GATES) <= pod.gates and runs_template(pod, template)
    if not foreign and not runs_on:
        return None
    return InPlaceChange(foreign, {**lacks["labels"]}, {**lacks["annotations"]})


def put_place_back(
    snapshot: Snapshot,
    role: RoleFacts,
    instance: RoleInstanceFacts,
    place: PodName,
    pod: RolePod,
) -> Iterator[Action]:
    """Restore a pod's labels for its instance and component, if another client changed them."""
    changed = find_misplaced(role, instance, place, pod)
    if changed and not pod.metadata.is_leaving:
        yield from put_labels_back(snapshot, POD, pod.metadata, changed)


def find_misplaced(
    role: RoleFacts, instance: RoleInstanceFacts, place: PodName, pod: RolePod
) -> dict[str, str]:
    """The right values of a pod's instance, component and hash labels that are wrong now."""
    held = pod.metadata.labels
    wanted = {
        labels.INSTANCE_NAME: instance.metadata.name,
        labels.COMPONENT_NAME: place.component,
        labels.COMPONENT_ID: str(place.number),
    }
    if has_lost_hash(role, instance, pod):
        wanted[labels.REVISION] = hash_of(instance)
    return {key: value for key, value in wanted.items() if held.get(key) != value}


def are_misplaced(
    role: RoleFacts, instance: RoleInstanceFacts, pods: Mapping[str, RolePod]
) -> bool:
    """Whether a pod of an instance has missing or wrong labels, or should not exist."""
    if pods.keys() - {place.name for place in instance.places}:
        return True
    found = [(place, pods[place.name]) for place in instance.places if place.name in pods]
    return any(find_misplaced(role, instance, place, pod) for place, pod in found)
