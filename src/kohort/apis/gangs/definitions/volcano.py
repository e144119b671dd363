"""
Volcano's kinds as their users write them: PodGroup, Queue and HyperNode.

Names, defaults and limits are upstream's and never change. Of these, PodGroup has no
status subresource: a client that updates a whole object also writes its status.
"""

from typing import Annotated, Literal

from kohort.apis.definitions import Column, Definition
from kohort.apis.definitions.fields import Condition, Int32, Int64, Model, about
from kohort.apis.gangs.definitions.fields import (
    SUBDOMAIN,
    Amounts,
    LabelSelector,
    Names,
    SessionCondition,
    rules,
    words,
)
from kohort.apis.gangs.dialects.volcano import HYPER_NODE, POD_GROUP, QUEUE

Count = Annotated[Int32 | None, about("Pods.", ge=0)]
Groups = Annotated[Int32 | None, about("Pod groups.", ge=0)]


class NetworkTopology(Model):
    """How near to each other pods stand."""

    highest_tier_allowed: Annotated[
        int | None, about("The widest tier of HyperNodes that may hold them.", ge=0)
    ] = None
    highest_tier_name: Annotated[
        str | None, about("The same by name; one of the two is given.", max_length=253)
    ] = None
    mode: Annotated[
        Literal["hard", "soft"], about("Whether they wait for such a place, or go wider.")
    ] = "hard"


class SubGroupPolicy(Model):
    """Pods of a group that stand nearer to each other than the group."""

    label_selector: Annotated[LabelSelector | None, about("The pods it is about.")] = None
    match_label_keys: Annotated[
        Names | None, about("Labels whose values tell one subgroup from the next.")
    ] = None
    min_sub_groups: Annotated[
        Int32, about("Subgroups that must be complete before anything is bound.", ge=0)
    ] = 0
    name: Annotated[str | None, about("A name for it.", max_length=253)] = None
    network_topology: Annotated[
        NetworkTopology | None, about("How near the pods of one subgroup stand.")
    ] = None
    sub_group_size: Annotated[Int32, about("Pods in a subgroup.", ge=1)] = 1


class PodGroupSpec(Model):
    """The desired state of a PodGroup."""

    min_member: Annotated[Int32 | None, about("Pods that are bound together.", ge=0)] = None
    min_resources: Annotated[
        Amounts | None, about("Resources that must be free before the queue lets the group in.")
    ] = None
    min_task_member: Annotated[
        dict[str, Int32] | None, about("Pods that are bound together, by role.")
    ] = None
    network_topology: Annotated[
        NetworkTopology | None, about("How near the pods of the group stand.")
    ] = None
    priority_class_name: Annotated[str | None, about("The group's priority.", max_length=253)] = (
        None
    )
    queue: Annotated[
        str, about("The queue that it waits in.", max_length=253, pattern=SUBDOMAIN)
    ] = "default"
    sub_group_policy: Annotated[list[SubGroupPolicy] | None, about("Its subgroups.")] = None


class PodGroupStatus(Model):
    """The observed state of a PodGroup."""

    conditions: Annotated[
        list[SessionCondition] | None, about("Scheduled, or Unschedulable and why.")
    ] = None
    failed: Count = None
    phase: Annotated[
        Literal["Pending", "Running", "Unknown", "Inqueue", "Completed"] | None,
        about("How far it is."),
    ] = None
    running: Count = None
    succeeded: Count = None


class NodeGroups(Model):
    """Groups of nodes, by name."""

    preferred_during_scheduling_ignored_during_execution: Annotated[
        list[str] | None, about("Groups that are preferred.")
    ] = None
    required_during_scheduling_ignored_during_execution: Annotated[
        list[str] | None, about("Groups that are required.")
    ] = None


class QueueAffinity(Model):
    """Where the pods of a queue go."""

    node_group_affinity: Annotated[NodeGroups | None, about("Nodes to go to.")] = None
    node_group_anti_affinity: Annotated[NodeGroups | None, about("Nodes to keep off.")] = None


class QueueCluster(Model):
    """A share of a queue in another cluster."""

    capacity: Annotated[Amounts | None, about("The resources of the queue there.")] = None
    name: Annotated[str | None, about("The cluster.")] = None
    weight: Annotated[Int32 | None, about("Its share.")] = None


class Guarantee(Model):
    """The resources that are reserved for a queue."""

    resource: Annotated[Amounts | None, about("The amounts.")] = None


class QueueSpec(Model):
    """The desired state of a Queue."""

    affinity: Annotated[QueueAffinity | None, about("Where its pods go.")] = None
    capability: Annotated[Amounts | None, about("The most that it may use.")] = None
    dequeue_strategy: Annotated[
        Literal["fifo", "traverse"],
        about("Whether the first group that does not fit holds up the others."),
    ] = "traverse"
    deserved: Annotated[
        Amounts | None, about("Resources that it may take back from other queues.")
    ] = None
    extend_clusters: Annotated[
        list[QueueCluster] | None, about("Its shares in other clusters.")
    ] = None
    guarantee: Annotated[Guarantee | None, about("Resources that are reserved for it.")] = None
    parent: Annotated[
        str | None, about("The queue above it.", max_length=253, pattern=SUBDOMAIN)
    ] = None
    priority: Annotated[Int32 | None, about("The higher, the earlier.", ge=0)] = None
    reclaimable: Annotated[bool | None, about("Whether others may take back from it.")] = None
    type: Annotated[str | None, about("What kind of queue it is.", max_length=253)] = None
    weight: Annotated[Int32, about("Its share among its equals.", ge=1, le=65535)] = 1


class Reservation(Model):
    """The nodes and resources that are locked for a queue."""

    nodes: Annotated[list[str] | None, about("The nodes.")] = None
    resource: Annotated[Amounts | None, about("The amounts.")] = None


class QueueStatus(Model):
    """The observed state of a Queue."""

    allocated: Annotated[Amounts | None, about("What its pods use.")] = None
    completed: Groups = None
    inqueue: Groups = None
    pending: Groups = None
    reservation: Annotated[Reservation | None, about("What is locked for it.")] = None
    running: Groups = None
    state: Annotated[
        Literal["Open", "Closed", "Closing", "Unknown"] | None,
        about("Whether it takes groups."),
    ] = None
    unknown: Groups = None


class ExactMatch(Model):
    """A member with exactly this name."""

    name: Annotated[str, about("The name.", min_length=1, max_length=253, pattern=SUBDOMAIN)]


class RegexMatch(Model):
    """Members whose name matches a pattern."""

    pattern: Annotated[str, about("The regular expression.", min_length=1)]


class MemberSelector(Model):
    """Members by name, by pattern or by labels: one of the three."""

    exact_match: Annotated[ExactMatch | None, about("One by name.")] = None
    label_match: Annotated[LabelSelector | None, about("Those with these labels.")] = None
    regex_match: Annotated[RegexMatch | None, about("Those whose name matches.")] = None


_COUNTED = " + ".join(f"(has(self.{way}Match) ? 1 : 0)" for way in ("exact", "regex", "label"))


class Member(Model):
    """Nodes, or narrower HyperNodes, that are in it."""

    type: Annotated[Literal["Node", "HyperNode"], about("What they are.")]
    selector: Annotated[
        MemberSelector | None,
        about("Which they are; HyperNodes by name only."),
        rules(
            (
                "has(self.exactMatch) || has(self.regexMatch) || has(self.labelMatch)",
                "Either ExactMatch or RegexMatch or LabelMatch must be specified",
            ),
            (
                f"{_COUNTED} <= 1",
                "Only one of ExactMatch, RegexMatch, or LabelMatch can be specified",
            ),
        ),
    ] = None


class HyperNodeSpec(Model):
    """The desired state of a HyperNode."""

    tier: Annotated[int, about("How wide it is; smaller is nearer.", ge=0)]
    members: Annotated[list[Member] | None, words(minItems=1), about("What is in it.")] = None
    tier_name: Annotated[str | None, about("The name of the tier.", max_length=253)] = None


class HyperNodeStatus(Model):
    """The observed state of a HyperNode."""

    conditions: Annotated[list[Condition] | None, about("How it is.")] = None
    node_count: Annotated[Int64 | None, about("Members by name.", ge=0)] = None


_AGE = ".metadata.creationTimestamp"

POD_GROUPS = Definition(
    kind=POD_GROUP,
    short_names=("pg", "podgroup-v1beta1"),
    description="Pods that Volcano binds together, or not at all.",
    spec=PodGroupSpec,
    status=PodGroupStatus,
    columns=(
        Column("STATUS", ".status.phase"),
        Column("minMember", ".spec.minMember", "integer"),
        Column("RUNNINGS", ".status.running", "integer"),
        Column("AGE", _AGE, "date"),
        Column("QUEUE", ".spec.queue", is_wide=True),
    ),
    categories=(),
    is_status_apart=False,
)
QUEUES = Definition(
    kind=QUEUE,
    short_names=("q", "queue-v1beta1"),
    description="A queue of pod groups, and its share of the cluster.",
    spec=QueueSpec,
    status=QueueStatus,
    columns=(Column("PARENT", ".spec.parent"),),
    categories=(),
)
HYPER_NODES = Definition(
    kind=HYPER_NODE,
    short_names=("hn",),
    description="A domain of the network: nodes, or narrower domains, that are near each other.",
    spec=HyperNodeSpec,
    status=HyperNodeStatus,
    columns=(
        Column("Tier", ".spec.tier"),
        Column("TierName", ".spec.tierName"),
        Column("NodeCount", ".status.nodeCount", "integer"),
        Column("Age", _AGE, "date"),
    ),
    categories=(),
)
