"""
What one instance and its pods mean for a plan, kept until one of their facts changes.

A group has hundreds of instances, and most of them do not change between two reconciles. All of a
view follows from the facts of its role, its RoleInstance and its pods; so rendering and reporting
need not look at them again. The views may be dropped at any time without harm.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kohort.apis.references import Projection
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.in_place import OPEN
from kohort.apis.rolebasedgroup.instance_facts import RoleInstanceFacts
from kohort.apis.rolebasedgroup.instances import is_current, read_instance
from kohort.apis.rolebasedgroup.lifecycle import LifecycleView
from kohort.apis.rolebasedgroup.pod_facts import RolePod, is_update_complete
from kohort.apis.rolebasedgroup.put_back import are_misplaced
from kohort.apis.rolebasedgroup.role_facts import RoleFacts
from kohort.model.observed import Instance


@dataclass(slots=True)
class InstanceView:
    """One instance of the model, and what follows for the writes to its objects."""

    instance: Instance
    is_misplaced: bool  # a pod has wrong labels, or should not exist
    is_closed: bool  # a gate of a pod is closed; the kubelet may still call it ready
    is_at_rest: bool  # a plan that keeps the instance writes nothing to its pods
    told: Projection | None = None  # its status, if the stored one is right


def make_view(
    role: RoleFacts, ordinal: int, instance: RoleInstanceFacts, pods: Mapping[str, RolePod]
) -> InstanceView:
    """The view of an instance, from its facts."""
    is_misplaced = are_misplaced(role, instance, pods)
    return InstanceView(
        instance=read_instance(role, ordinal, instance, pods),
        is_misplaced=is_misplaced,
        is_closed=any(
            pod.find_condition(gate) == "False" for pod in pods.values() for gate in OPEN
        ),
        is_at_rest=not is_misplaced and _is_at_rest(role, instance, pods),
    )


def _is_at_rest(role: RoleFacts, instance: RoleInstanceFacts, pods: Mapping[str, RolePod]) -> bool:
    if len(pods) < len(instance.places) or instance.metadata.is_leaving:
        return False
    if LifecycleView(role.spec.lifecycle, instance.metadata).hides_pods:
        return False
    return all(_serves(role, instance, pod) for pod in pods.values())


def _serves(role: RoleFacts, instance: RoleInstanceFacts, pod: RolePod) -> bool:
    """Whether a pod is ready, with open gates, and has nothing left to change."""
    return (
        pod.is_ready
        and pod.are_containers_ready
        and not pod.metadata.is_leaving
        and labels.IN_PLACE_GRACE not in pod.metadata.annotations
        and all(pod.find_condition(gate) == "True" for gate in OPEN)
        and is_current(role, instance, pod)
        and is_update_complete(pod)
    )
