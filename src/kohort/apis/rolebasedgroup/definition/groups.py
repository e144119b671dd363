"""
Every field of RoleBasedGroup in v1alpha2, the version that the API server stores.

Names, defaults, limits and rules equal upstream's and never change.
"""

from typing import Annotated, Literal

from kohort.apis.definitions.fields import (
    Conditions,
    Int32,
    Int64,
    Model,
    PodTemplate,
    about,
    keyed_by,
)
from kohort.apis.rolebasedgroup.definition.fields import (
    NAME_PATTERN,
    Container,
    InPlaceUpdateStrategy,
    OldRestart,
    Raw,
    Restart,
    not_empty,
    rule,
)

_ONE_SOURCE = rule(
    (
        "!(has(self.template) && has(self.templateRef))",
        "template and templateRef are mutually exclusive",
    )
)
_TYPE = "rbg.workloads.x-k8s.io/role-workload-type"
_LEADER_ONLY = (
    "!has(self.leaderWorkerPattern) || !has(self.leaderWorkerPattern.sharedServiceSelection) || "
    "self.leaderWorkerPattern.sharedServiceSelection != 'LeaderOnly' || !has(self.annotations) || "
    f"!('{_TYPE}' in self.annotations) || "
    f"self.annotations['{_TYPE}'] == 'workloads.x-k8s.io/v1alpha2/RoleInstanceSet'"
)
_ROLE_RULES = rule(
    (
        "!(has(self.standalonePattern) && has(self.leaderWorkerPattern))",
        "standalonePattern and leaderWorkerPattern are mutually exclusive",
    ),
    (
        _LEADER_ONLY,
        "leaderWorkerPattern.sharedServiceSelection=LeaderOnly is only supported for "
        "RoleInstanceSet + leaderWorkerPattern",
    ),
)


class RoleTemplate(Model):
    """A pod template that several roles refer to."""

    name: Annotated[
        str, about("What roles call it.", min_length=1, max_length=63, pattern=NAME_PATTERN)
    ]
    template: Annotated[PodTemplate, about("The template.")]


class TemplateRef(Model):
    """A reference to one of the group's templates."""

    name: Annotated[str, about("The template.", min_length=1, max_length=63, pattern=NAME_PATTERN)]
    patch: Annotated[Raw | None, about("What differs, as a strategic merge patch.")] = None


class RollingUpdate(Model):
    """How instances are brought to a new revision."""

    in_place_update_strategy: Annotated[
        InPlaceUpdateStrategy | None, about("How pods are changed as they run.")
    ] = None
    max_surge: Annotated[
        int | str, about("Instances beyond replicas, or a percentage, rounded up.")
    ] = 0
    max_unavailable: Annotated[
        int | str, about("Instances that may be missing, or a percentage of replicas.")
    ] = 1
    partition: Annotated[int | str, about("Instances below it keep their revision.")] = 0
    paused: Annotated[bool | None, about("Nothing is updated meanwhile.")] = None
    type: Annotated[
        str | None, about("InPlaceIfPossible, which is the default, InPlaceOnly or RecreatePod.")
    ] = None


class RolloutStrategy(Model):
    """How a role is updated."""

    rolling_update: Annotated[RollingUpdate | None, about("How far it may go at once.")] = None
    type: Annotated[Literal["RollingUpdate"], about("The only type.")] = "RollingUpdate"


class ServicePort(Model):
    """A port that the discovery file lists."""

    port: Annotated[Int32, about("The number.")]
    app_protocol: Annotated[str | None, about("The application protocol.")] = None
    name: Annotated[str | None, about("Its key in the discovery file.")] = None
    node_port: Annotated[Int32 | None, about("Not used.")] = None
    protocol: Annotated[str, about("TCP, UDP or SCTP.")] = "TCP"
    target_port: Annotated[int | str | None, about("Not used.")] = None


class EngineRuntime(Model):
    """A profile whose containers are injected into pods of the role."""

    profile_name: Annotated[str, about("The ClusterEngineRuntimeProfile.")]
    containers: Annotated[
        list[Container] | None, about("Variables and arguments for containers of the profile.")
    ] = None
    inject_containers: Annotated[
        list[str] | None, about("Containers of the role; pods without any of them get nothing.")
    ] = None


class ScalingAdapter(Model):
    """Whether an autoscaler may scale the role."""

    enable: Annotated[bool, about("Whether the role has a RoleBasedGroupScalingAdapter.")] = False
    labels: Annotated[dict[str, str] | None, about("Labels of the adapter.")] = None


class StandalonePattern(Model):
    """One pod for each instance."""

    template: Annotated[PodTemplate | None, about("The pod.")] = None
    template_ref: Annotated[TemplateRef | None, about("The pod, from a shared template.")] = None


class LeaderWorkerPattern(Model):
    """A leader and its workers for each instance."""

    leader_template_patch: Annotated[Raw | None, about("What is different for leaders.")] = None
    restart_policy: OldRestart = None
    restart_policy_config: Restart = None
    shared_service_selection: Annotated[
        Literal["All", "LeaderOnly"] | None,
        about(
            "The pods that the role's Service selects; LeaderOnly on RoleInstanceSets if not set."
        ),
    ] = None
    size: Annotated[Int32, about("Pods of an instance, the leader among them.")] = 1
    template: Annotated[PodTemplate | None, about("The pod of both.")] = None
    template_ref: Annotated[TemplateRef | None, about("The same, from a shared template.")] = None
    worker_template_patch: Annotated[Raw | None, about("What is different for workers.")] = None


class ComponentTemplate(Model):
    """One kind of pod of an instance."""

    name: Annotated[str, about("Part of the names of its pods.")]
    template: Annotated[Raw, about("The pod.")]
    annotations: Annotated[dict[str, str] | None, about("Annotations of its pods.")] = None
    labels: Annotated[dict[str, str] | None, about("Labels of its pods.")] = None
    service_name: Annotated[str | None, about("The Service that names its pods.")] = None
    size: Annotated[Int32 | None, about("How many; 1 if not set.")] = None


class CustomComponentsPattern(Model):
    """Several kinds of pods for each instance."""

    components: Annotated[list[ComponentTemplate] | None, about("What an instance is made of.")] = (
        None
    )
    restart_policy: OldRestart = None
    restart_policy_config: Restart = None


class Role(Model):
    """One role: instances that scale and roll as one."""

    name: Annotated[str, about("Part of the names of all its objects.", min_length=1)]
    annotations: Annotated[dict[str, str] | None, about("Annotations of its workload.")] = None
    custom_components_pattern: Annotated[
        CustomComponentsPattern | None, about("Instances of several kinds of pods.")
    ] = None
    dependencies: Annotated[
        list[str] | None, about("Roles that must be ready before this one begins.")
    ] = None
    engine_runtimes: Annotated[
        list[EngineRuntime] | None, about("Profiles that are injected into its pods.")
    ] = None
    labels: Annotated[dict[str, str] | None, about("Labels of its workload.")] = None
    leader_worker_pattern: Annotated[
        LeaderWorkerPattern | None, about("Instances of a leader and workers."), _ONE_SOURCE
    ] = None
    min_ready_seconds: Annotated[
        Int32, about("An instance is counted on after it has been ready for so long.")
    ] = 0
    pod_management_policy: Annotated[
        Literal["OrderedReady", "Parallel"], about("Whether instances are made one by one.")
    ] = "Parallel"
    replicas: Annotated[Int32, about("Instances.", ge=0)] = 1
    rollout_strategy: Annotated[RolloutStrategy | None, about("How it is updated.")] = None
    scaling_adapter: Annotated[ScalingAdapter | None, about("For autoscalers.")] = None
    service_ports: Annotated[
        list[ServicePort] | None, about("Ports that the discovery file lists.")
    ] = None
    standalone_pattern: Annotated[
        StandalonePattern | None, about("Instances of one pod."), _ONE_SOURCE
    ] = None


Roles = Annotated[
    list[Annotated[Role, _ROLE_RULES]],
    keyed_by("name"),
    not_empty(),
    Raw.__metadata__[0],
]
RoleTemplates = Annotated[list[RoleTemplate], keyed_by("name")]


class GroupSpec(Model):
    """The desired state of a RoleBasedGroup."""

    roles: Annotated[Roles, about("The roles.")]
    role_templates: Annotated[RoleTemplates | None, about("Templates that roles refer to.")] = None


class RoleStatus(Model):
    """The observed state of one role; counts are instances."""

    name: Annotated[str, about("The role.")]
    ready_replicas: Annotated[Int32, about("Instances that serve.")]
    replicas: Annotated[Int32, about("Instances that exist.")]
    updated_replicas: Annotated[Int32, about("Instances of the newest revision.")]


class GroupStatus(Model):
    """The observed state of a RoleBasedGroup."""

    role_statuses: Annotated[list[RoleStatus], about("Each role, in the order of the spec.")]
    conditions: Annotated[Conditions | None, about("Ready, and whether updates go on.")] = None
    observed_generation: Annotated[Int64 | None, about("The generation that this is about.")] = None


class GroupTemplate(Model):
    """What the groups of a set are made from."""

    annotations: Annotated[dict[str, str] | None, about("Annotations of each group.")] = None
    labels: Annotated[dict[str, str] | None, about("Labels of each group.")] = None
    spec: Annotated[GroupSpec | None, about("The groups.")] = None


class GroupSetSpec(Model):
    """Several groups that are alike."""

    group_template: Annotated[GroupTemplate, about("What groups are made from.")]
    replicas: Annotated[Int32, about("Groups.")] = 1


class GroupSetStatus(Model):
    """The observed state of a RoleBasedGroupSet."""

    conditions: Annotated[Conditions | None, about("Ready.")] = None
    observed_generation: Annotated[Int64 | None, about("The generation that this is about.")] = None
    ready_replicas: Annotated[Int32 | None, about("Groups that are ready.")] = None
    replicas: Annotated[Int32 | None, about("Groups that exist.")] = None
