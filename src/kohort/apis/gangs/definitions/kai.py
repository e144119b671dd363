"""
KAI's kinds as their users write them: PodGroup and Topology.

Names, defaults and limits are upstream's and never change.
"""

from typing import Annotated, Literal

from msgspec import field

from kohort.apis.definitions import Definition
from kohort.apis.definitions.fields import Int32, Model, Time, about
from kohort.apis.gangs.definitions.fields import (
    LABEL_KEY,
    Amounts,
    Atomic,
    SessionCondition,
    rules,
    words,
)
from kohort.cluster.objects import Kind

POD_GROUP = Kind("scheduling.run.ai", "v2alpha2", "PodGroup", "podgroups")
TOPOLOGY = Kind("kai.scheduler", "v1alpha1", "Topology", "topologies", namespaced=False)

HOST = "kubernetes.io/hostname"
Count = Annotated[Int32 | None, about("Pods.")]


class TopologyConstraint(Model):
    """How near to each other pods stand, by levels of a Topology."""

    preferred_topology_level: Annotated[
        str | None, about("The level to stay within if there is room.")
    ] = None
    required_topology_level: Annotated[str | None, about("The level to stay within.")] = None
    topology: Annotated[str | None, about("The Topology whose levels these are.")] = None


class SubGroup(Model):
    """Some pods of a group, or other subgroups of it."""

    name: Annotated[str, about("What its pods are labelled with.", min_length=1)]
    min_member: Annotated[Int32 | None, about("Pods that start together.", ge=1)] = None
    parent: Annotated[str | None, about("The subgroup that it is part of.")] = None
    topology_constraint: Annotated[TopologyConstraint | None, about("How near its pods stand.")] = (
        None
    )


class PodGroupSpec(Model):
    """The desired state of a PodGroup."""

    backoff_limit: Annotated[Int32 | None, about("Retries of its job.")] = None
    completions: Annotated[Int32 | None, about("Pods of its job that must succeed.")] = None
    mark_unschedulable: Annotated[
        bool | None, about("Whether its pods are told that they found no place.")
    ] = None
    min_member: Annotated[Int32 | None, about("Pods that start together.", ge=1)] = None
    parallelism: Annotated[Int32 | None, about("Pods of its job that run at once.")] = None
    preemptibility: Annotated[
        Literal["preemptible", "non-preemptible"] | None,
        about("Whether others may take its place; by priority if not given."),
    ] = None
    priority_class_name: Annotated[str | None, about("The group's priority.")] = None
    queue: Annotated[str | None, about("The queue that it waits in.")] = None
    scheduling_backoff: Annotated[Int32 | None, about("Tries before it is given up.")] = None
    sub_groups: Annotated[list[SubGroup] | None, about("Its subgroups.")] = None
    topology_constraint: Annotated[
        TopologyConstraint | None, about("How near the pods of the group stand.")
    ] = None


class QueueDetails(Model):
    """How full the queue was."""

    name: Annotated[str | None, about("The queue.")] = None
    pod_group_requested_non_preemptible_resources: Annotated[
        Amounts | None, about("The non-preemptible resources that the group requests.")
    ] = None
    pod_group_requested_resources: Annotated[Amounts | None, about("What the group asks for.")] = (
        None
    )
    queue_allocated_non_preemptible_resources: Annotated[
        Amounts | None, about("The non-preemptible resources that the queue uses.")
    ] = None
    queue_allocated_resources: Annotated[Amounts | None, about("What the queue uses.")] = None
    queue_deserved_resources: Annotated[Amounts | None, about("The queue's share.")] = None
    queue_requested_resources: Annotated[Amounts | None, about("What is asked of the queue.")] = (
        None
    )
    queue_resource_limits: Annotated[Amounts | None, about("The most it may use.")] = None


class ReasonDetails(Model):
    """Details of a reason."""

    queue_details: Annotated[QueueDetails | None, about("How full the queue was.")] = None


class Reason(Model):
    """One reason why there was no place."""

    details: Annotated[ReasonDetails | None, about("What goes with it.")] = None
    message: Annotated[str | None, about("The reason in a sentence.")] = None
    reason: Annotated[str | None, about("The reason in one word.")] = None


class SchedulingCondition(Model):
    """Why one pool of nodes had no place."""

    last_transition_time: Annotated[Time | None, about("When it last changed.")] = None
    message: Annotated[str | None, about("The reason in a sentence.")] = None
    node_pool: Annotated[str | None, about("The pool.")] = None
    reason: Annotated[str | None, about("The reason in one word.")] = None
    reasons: Annotated[list[Reason] | None, about("All reasons.")] = None
    status: Annotated[str | None, about("True, False or Unknown.")] = None
    transition_id: Annotated[str | None, about("Counts the changes.")] = field(
        default=None, name="transitionID"
    )
    type: Annotated[str | None, about("The name of the condition.")] = None


class ResourcesStatus(Model):
    """The resources that the group requests and has."""

    allocated: Annotated[Amounts | None, about("The resources that the group has.")] = None
    allocated_non_preemptible: Annotated[
        Amounts | None, about("The non-preemptible resources that the group has.")
    ] = None
    requested: Annotated[Amounts | None, about("The resources that the group requests.")] = None


class PodGroupStatus(Model):
    """The observed state of a PodGroup."""

    conditions: Annotated[list[SessionCondition] | None, about("How it is.")] = None
    failed: Count = None
    pending: Count = None
    phase: Annotated[str | None, about("How far it is.")] = None
    resources_status: Annotated[ResourcesStatus | None, about("What it asks for and has.")] = None
    running: Count = None
    scheduling_conditions: Annotated[
        list[SchedulingCondition] | None, about("Why there was no place.")
    ] = None
    succeeded: Count = None


class TopologyLevel(Model):
    """One width of domains."""

    node_label: Annotated[
        str,
        about(
            "The node label whose values tell its domains apart.",
            min_length=1,
            max_length=316,
            pattern=LABEL_KEY,
        ),
    ]


class TopologySpec(Model):
    """The desired state of a Topology."""

    levels: Annotated[
        list[TopologyLevel],
        Atomic,
        words(minItems=1, maxItems=16),
        about("The levels, the widest first."),
        rules(
            ("self == oldSelf", "field is immutable"),
            ("size(self.filter(i, size(self.filter(j, j == i)) > 1)) == 0", "must be unique"),
            (
                f"size(self.filter(i, i.nodeLabel == '{HOST}')) == 0 || "
                f"self[size(self) - 1].nodeLabel == '{HOST}'",
                f"the {HOST} label can only be used at the lowest level of topology",
            ),
        ),
    ]


POD_GROUPS = Definition(
    kind=POD_GROUP,
    short_names=("pg",),
    description="Pods that KAI starts together, or not at all.",
    spec=PodGroupSpec,
    status=PodGroupStatus,
    columns=(),
    categories=(),
)
TOPOLOGIES = Definition(
    kind=TOPOLOGY,
    short_names=(),
    description="The levels of the network, by node labels.",
    spec=TopologySpec,
    status=None,
    columns=(),
    categories=(),
    is_status_apart=False,
    is_spec_required=True,
)
