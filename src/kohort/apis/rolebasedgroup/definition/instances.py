"""
The fields of RoleInstanceSet and RoleInstance, which clients read to see a role's instances.
"""

from typing import Annotated, Literal

from msgspec import field

from kohort.apis.definitions.fields import Int32, Int64, Model, Time, about
from kohort.apis.rolebasedgroup.definition.fields import (
    Claim,
    InPlaceUpdateStrategy,
    OldRestart,
    Raw,
    Restart,
    Selector,
)
from kohort.apis.rolebasedgroup.definition.groups import ComponentTemplate


class LifecycleHook(Model):
    """What holds an instance until another client has let it go."""

    finalizers_handler: Annotated[
        list[str] | None, about("Finalizers that another client removes.")
    ] = None
    labels_handler: Annotated[
        dict[str, str] | None, about("Labels that another client changes.")
    ] = None
    mark_pod_not_ready: Annotated[bool | None, about("Pods leave their endpoints meanwhile.")] = (
        None
    )


class Lifecycle(Model):
    """Hooks of stateless instances."""

    in_place_update: Annotated[LifecycleHook | None, about("Before an update in place.")] = None
    pre_delete: Annotated[LifecycleHook | None, about("Before a deletion.")] = None


class ScaleStrategy(Model):
    """Which stateless instances go, and how many may be missing."""

    max_unavailable: Annotated[
        int | str | None, about("Instances that may be missing while more are made.")
    ] = None
    role_instance_to_delete: Annotated[
        list[str] | None, about("Instances that are deleted, by name.")
    ] = None


class UpdateStrategy(Model):
    """How instances are brought to a new revision."""

    in_place_update_strategy: Annotated[
        InPlaceUpdateStrategy | None, about("How pods are changed as they run.")
    ] = None
    max_surge: Annotated[int | str | None, about("Instances beyond replicas.")] = None
    max_unavailable: Annotated[
        int | str | None, about("Instances that may be missing; 10% if not set.")
    ] = None
    partition: Annotated[int | str | None, about("Instances below it keep their revision.")] = None
    paused: Annotated[bool | None, about("Nothing is updated meanwhile.")] = None
    type: Annotated[str | None, about("InPlaceIfPossible, InPlaceOnly or RecreatePod.")] = None


class InstanceSetSpec(Model):
    """Instances of one role."""

    role_instance_template: Annotated[Raw, about("What instances are made from.")]
    lifecycle: Annotated[Lifecycle | None, about("Hooks of stateless instances.")] = None
    min_ready_seconds: Annotated[
        Int32 | None, about("An instance is counted on after it has been ready for so long.")
    ] = None
    pod_management_policy: Annotated[
        Literal["OrderedReady", "Parallel"], about("Whether instances are made one by one.")
    ] = "Parallel"
    replicas: Annotated[Int32 | None, about("Instances; 1 if not set.")] = None
    revision_history_limit: Annotated[Int32, about("Revisions that are kept.", ge=0)] = 10
    scale_strategy: Annotated[ScaleStrategy | None, about("Which instances go.")] = None
    selector: Annotated[Selector | None, about("The pods of the set.")] = None
    update_strategy: Annotated[UpdateStrategy | None, about("How it is updated.")] = None


class InstanceSetStatus(Model):
    """The observed state of a RoleInstanceSet; counts are instances."""

    available_replicas: Annotated[Int32, about("Instances that are counted on.")]
    current_replicas: Annotated[Int32, about("Instances of the current revision.")]
    ready_replicas: Annotated[Int32, about("Instances that serve.")]
    replicas: Annotated[Int32, about("Instances that exist.")]
    updated_ready_replicas: Annotated[Int32, about("Instances of the newest one that serve.")]
    updated_replicas: Annotated[Int32, about("Instances of the newest revision.")]
    collision_count: Annotated[Int32 | None, about("Hashes that were taken.")] = None
    conditions: Annotated[list[Claim] | None, about("FailedScale, FailedUpdate.")] = None
    current_revision: Annotated[str | None, about("The revision that all had last.")] = None
    expected_updated_replicas: Annotated[
        Int32 | None, about("Instances that the partition lets be updated.")
    ] = None
    label_selector: Annotated[str | None, about("The selector as a text.")] = None
    observed_generation: Annotated[Int64 | None, about("The generation that this is about.")] = None
    update_revision: Annotated[str | None, about("The newest revision.")] = None


class ReadinessGate(Model):
    """A condition that an instance waits for."""

    condition_type: Annotated[str, about("The condition.")]


class InstanceSpec(Model):
    """Pods that live and die together as one engine."""

    components: Annotated[list[ComponentTemplate], about("What it is made of.")]
    readiness_gates: Annotated[
        list[ReadinessGate] | None, about("Conditions that it waits for.")
    ] = None
    ready_policy: Annotated[str, about("AllPodReady, or None.")] = "AllPodReady"
    restart_policy: OldRestart = None
    restart_policy_config: Restart = None


class ComponentStatus(Model):
    """The observed state of one component; counts are pods."""

    available_replicas: Annotated[Int32, about("Pods that are counted on.")]
    name: Annotated[str, about("The component.")]
    ready_replicas: Annotated[Int32, about("Pods that serve.")]
    scheduled_replicas: Annotated[Int32, about("Pods that have a node.")]
    size: Annotated[Int32, about("Pods that exist.")]
    updated_ready_replicas: Annotated[Int32, about("Pods of the newest revision that serve.")]
    updated_replicas: Annotated[Int32, about("Pods of the newest revision.")]


class ContainerBaseline(Model):
    """What a container was before it was changed in place."""

    restart_count: Annotated[Int32, about("Its restarts.")]
    image: Annotated[str | None, about("The image that it ran.")] = field(
        default=None, name="imageID"
    )


class InstanceStatus(Model):
    """The observed state of a RoleInstance."""

    collision_count: Annotated[Int32 | None, about("Hashes that were taken.")] = None
    component_statuses: Annotated[list[ComponentStatus] | None, about("Each component.")] = None
    conditions: Annotated[list[Claim] | None, about("Readiness, restarts and failures.")] = None
    current_revision: Annotated[str | None, about("The revision that all pods had last.")] = None
    in_place_update_container_baselines: Annotated[
        dict[str, dict[str, ContainerBaseline]] | None,
        about("By pod and container: restarts that an update in place explains."),
    ] = None
    label_selector: Annotated[str | None, about("The selector of its pods.")] = None
    last_restart_time: Annotated[Time | None, about("When it was last recreated.")] = None
    observed_generation: Annotated[Int64 | None, about("The generation that this is about.")] = None
    restart_count: Annotated[Int32 | None, about("How often it was recreated.")] = None
    update_revision: Annotated[str | None, about("The newest revision.")] = None
