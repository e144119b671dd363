"""
The fields of the smaller kinds: scaling adapters, policies, runtime profiles and warm-ups.

``updateOrder``, ``versionsTogether`` and ``ratio`` of a policy are ours; users write annotations
instead where upstream's definition drops these fields.
"""

from typing import Annotated, Literal

from msgspec import Meta

from kohort.apis.definitions.fields import (
    Conditions,
    Int32,
    Int64,
    Model,
    Time,
    about,
    keyed_by,
)
from kohort.apis.rolebasedgroup.definition.fields import (
    Container,
    SecretReference,
    Toleration,
    Volume,
    not_empty,
    rule,
)

_ONE_ENTRY = Meta(extra_json_schema={"minProperties": 1})
_ONE_ACTION = (
    "has(self.imagePreload) || has(self.customizedAction)",
    "at least one of imagePreload or customizedAction must be specified",
)


class ScaleTarget(Model):
    """The role that an adapter scales."""

    name: Annotated[str, about("The RoleBasedGroup.")]
    role: Annotated[str, about("Its role.")]


class AdapterSpec(Model):
    """The role to scale, and the replicas that an autoscaler asks for."""

    scale_target_ref: Annotated[ScaleTarget, about("The role.")]
    replicas: Annotated[Int32 | None, about("Instances of the role.")] = None


class AdapterStatus(Model):
    """The replicas and the selector that an autoscaler reads."""

    last_scale_time: Annotated[Time | None, about("When replicas last changed.")] = None
    phase: Annotated[str | None, about("Bound, or NotBound while there is no such role.")] = None
    ready_replicas: Annotated[Int32 | None, about("Instances that serve.")] = None
    replicas: Annotated[Int32 | None, about("Instances of the role.")] = None
    selector: Annotated[str | None, about("Pods that are measured, one for each instance.")] = None


class VersionsTogether(Model):
    """Roles that end an update together."""

    roll_back_after_seconds: Annotated[
        Int32 | None,
        Meta(ge=1),
        about("All roles go back if an updated instance is unready for so long."),
    ] = None


class PolicyRollingUpdate(Model):
    """How far updates of roles may be apart."""

    max_skew: Annotated[int | str | None, about("Instances, or a percentage of each role.")] = None
    max_unavailable: Annotated[
        int | str | None, about("Instances of each role that may be missing.")
    ] = None
    partition: Annotated[int | str | None, about("Instances that keep their revision.")] = None
    update_order: Annotated[
        list[str] | None, about("Roles, each updated only when those before it are.")
    ] = None
    versions_together: Annotated[
        VersionsTogether | None,
        about("No role ends an update that another does not: paused roles hold the others."),
    ] = None


class PolicyScaling(Model):
    """How far the growth of roles may be apart."""

    max_skew: Annotated[int | str | None, about("Instances, or a percentage of each role.")] = None
    progression: Annotated[
        Literal["OrderScheduled", "OrderReady"] | None,
        about("What instances must have reached before a role grows further."),
    ] = None
    ratio: Annotated[
        dict[str, Int32] | None,
        about("Instances of each role for those of the others: one that grows takes them along."),
    ] = None


class PolicyStrategy(Model):
    """What ties roles together."""

    rolling_update: Annotated[PolicyRollingUpdate | None, about("In updates.")] = None
    scaling: Annotated[PolicyScaling | None, about("In growth.")] = None


class PolicyRule(Model):
    """A rule over roles."""

    name: Annotated[str, about("The name of the rule in blockers.", min_length=1)]
    roles: Annotated[list[str], about("The roles."), not_empty()]
    strategy: Annotated[PolicyStrategy, about("What ties them together.")]


class PolicySpec(Model):
    """Rules over roles of the RoleBasedGroup of the same name."""

    policies: Annotated[list[PolicyRule], about("The rules."), keyed_by("name"), not_empty()]


class PolicyStatus(Model):
    """The observed state of a CoordinatedPolicy."""

    conditions: Annotated[Conditions | None, about("The conditions.")] = None
    observed_generation: Annotated[Int64 | None, about("The generation that this is about.")] = None


class ProfileSpec(Model):
    """Containers and volumes that roles inject into their pods."""

    containers: Annotated[list[Container] | None, about("Containers beside the role's.")] = None
    init_containers: Annotated[list[Container] | None, about("Containers that run first.")] = None
    update_strategy: Annotated[
        Literal["NoUpdate", "RollingUpdate"], about("Whether an edit reaches pods that exist.")
    ] = "NoUpdate"
    volumes: Annotated[list[Volume] | None, about("Volumes of both.")] = None


class ProfileStatus(Model):
    """Nothing yet."""


class ImagePreload(Model):
    """Images that are pulled."""

    images: Annotated[list[str], about("The images."), not_empty()]
    pull_secrets: Annotated[list[SecretReference] | None, about("Secrets for their registry.")] = (
        None
    )


class CustomizedAction(Model):
    """Containers that run to their end."""

    containers: Annotated[list[Container], about("The containers."), not_empty()]
    volumes: Annotated[list[Volume] | None, about("Their volumes.")] = None


class WarmupActions(Model):
    """What is done on a node."""

    customized_action: Annotated[CustomizedAction | None, about("Containers that run.")] = None
    image_preload: Annotated[ImagePreload | None, about("Images that are pulled.")] = None


class TargetNodes(Model):
    """Nodes by name or by label, and what is done on them."""

    customized_action: Annotated[CustomizedAction | None, about("Containers that run.")] = None
    image_preload: Annotated[ImagePreload | None, about("Images that are pulled.")] = None
    node_names: Annotated[list[str] | None, about("The nodes."), not_empty()] = None
    node_selector: Annotated[dict[str, str] | None, about("Labels of nodes."), _ONE_ENTRY] = None


class TargetGroup(Model):
    """Nodes that run pods of a RoleBasedGroup, and what is done on them by role."""

    name: Annotated[str, about("The RoleBasedGroup.", min_length=1)]
    roles: Annotated[
        dict[str, Annotated[WarmupActions, rule(_ONE_ACTION)]], about("By role."), _ONE_ENTRY
    ]


class WarmupPolicies(Model):
    """How many nodes at once, and how often a node is tried."""

    backoff_limit_per_node: Annotated[Int32 | None, about("Further tries.", ge=0)] = None
    global_timeout_seconds: Annotated[Int64 | None, about("For all nodes.", ge=1)] = None
    max_failed_nodes: Annotated[Int32 | None, about("Nodes that may fail.", ge=0)] = None
    parallelism: Annotated[Int32 | None, about("Nodes at once.", ge=1)] = None
    ttl_seconds_after_finished: Annotated[Int32 | None, about("Kept for so long.", ge=0)] = None


_NODES = rule(
    (
        "has(self.nodeNames) || has(self.nodeSelector)",
        "either nodeNames or nodeSelector must be specified",
    ),
    (
        "!(has(self.nodeNames) && has(self.nodeSelector))",
        "nodeNames and nodeSelector are mutually exclusive",
    ),
    _ONE_ACTION,
)
_FAILURES = rule(
    (
        "!has(self.maxFailedNodes) || has(self.backoffLimitPerNode)",
        "backoffLimitPerNode must be set when maxFailedNodes is specified",
    )
)
TARGETS = rule(
    (
        "has(self.targetNodes) || has(self.targetRoleBasedGroup)",
        "either targetNodes or targetRoleBasedGroup must be specified",
    ),
    (
        "!(has(self.targetNodes) && has(self.targetRoleBasedGroup))",
        "targetNodes and targetRoleBasedGroup are mutually exclusive",
    ),
)


class WarmupSpec(Model):
    """Images and models that are brought to nodes before a rollout needs them."""

    paused: Annotated[bool | None, about("No further node is begun.")] = None
    policies: Annotated[WarmupPolicies | None, about("How far it goes at once."), _FAILURES] = None
    target_nodes: Annotated[TargetNodes | None, about("Nodes."), _NODES] = None
    target_role_based_group: Annotated[TargetGroup | None, about("Nodes of a group.")] = None
    tolerations: Annotated[list[Toleration] | None, about("Of its pods.")] = None


class WarmupStatus(Model):
    """How far a warm-up is; counts are nodes."""

    active: Annotated[Int32, about("Nodes at work.")]
    desired: Annotated[Int32, about("All nodes.")]
    failed: Annotated[Int32, about("Nodes that failed.")]
    phase: Annotated[str, about("Running, Paused, Completed or Failed.")]
    succeeded: Annotated[Int32, about("Nodes that are warm.")]
    completion_time: Annotated[Time | None, about("When it ended.")] = None
    conditions: Annotated[Conditions | None, about("Complete, Failed, VolumeConflict.")] = None
    start_time: Annotated[Time | None, about("When it began.")] = None
