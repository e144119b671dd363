"""
RoleBasedGroup in v1alpha1, which older clients write.

Beyond upstream's v1alpha1 it accepts the restart policy of v0.4, and a role without a template
whose leader and workers have theirs as patches: clients write both.
"""

from typing import Annotated, Literal

from msgspec import Meta

from kohort.apis.definitions.fields import Int32, Model, PodTemplate, about, keyed_by
from kohort.apis.rolebasedgroup.definition.fields import NAME_PATTERN, Raw, not_empty, rule
from kohort.apis.rolebasedgroup.definition.groups import (
    EngineRuntime,
    RoleTemplates,
    RolloutStrategy,
    ServicePort,
)

_PERCENT = "^([0-9]|[1-9][0-9]|100)%$"
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_VERSION = rf"^{_LABEL}(\.{_LABEL})*/v[0-9]+((alpha|beta)[0-9]+)?$"
_REFERS = "!has(self.templateRef) || !has(self.workload) || self.workload.kind != "
_ROLE_RULES = rule(
    (f"{_REFERS}'InstanceSet'", "templateRef is not supported for InstanceSet workloads"),
    (f"{_REFERS}'LeaderWorkerSet'", "templateRef is not supported for LeaderWorkerSet workloads"),
    (
        "(has(self.template) != has(self.templateRef)) || "
        "(has(self.workload) && self.workload.kind == 'InstanceSet') || has(self.leaderWorkerSet)",
        "template or templateRef must be set for non-InstanceSet workloads",
    ),
    (
        "!(has(self.template) && has(self.templateRef))",
        "template and templateRef are mutually exclusive",
    ),
)


class OldTemplateRef(Model):
    """A reference to one of the group's templates."""

    name: Annotated[str, about("The template.", min_length=1, max_length=63, pattern=NAME_PATTERN)]


class OldAdapter(Model):
    """Whether an autoscaler may scale the role."""

    enable: Annotated[bool, about("Whether the role has a RoleBasedGroupScalingAdapter.")] = False


class OldComponent(Model):
    """One kind of pod of an instance."""

    name: Annotated[str, about("Part of the names of its pods.")]
    template: Annotated[Raw, about("The pod.")]
    service_name: Annotated[str | None, about("The Service that names its pods.")] = None
    size: Annotated[Int32 | None, about("How many; 1 if not set.")] = None


class OldLeaderWorkers(Model):
    """A leader and its workers for each instance."""

    patch_leader_template: Annotated[Raw | None, about("What is different for leaders.")] = None
    patch_worker_template: Annotated[Raw | None, about("What is different for workers.")] = None
    size: Annotated[Int32, about("Pods of an instance, the leader among them.")] = 1


class OldWorkload(Model):
    """The kind of workload that runs the instances of the role."""

    api_version: Annotated[str, about("Its version.", pattern=_VERSION)] = "apps/v1"
    kind: Annotated[str, about("StatefulSet, Deployment, LeaderWorkerSet or RoleInstanceSet.")] = (
        "StatefulSet"
    )


class OldRole(Model):
    """One role: instances that scale and roll as one."""

    name: Annotated[str, about("Part of the names of all its objects.", min_length=1)]
    annotations: Annotated[dict[str, str] | None, about("Annotations of its workload.")] = None
    components: Annotated[list[OldComponent] | None, about("Instances of several pods.")] = None
    dependencies: Annotated[
        list[str] | None, about("Roles that must be ready before this one begins.")
    ] = None
    engine_runtimes: Annotated[
        list[EngineRuntime] | None, about("Profiles that are injected into its pods.")
    ] = None
    labels: Annotated[dict[str, str] | None, about("Labels of its workload.")] = None
    leader_worker_set: Annotated[
        OldLeaderWorkers | None, about("Instances of a leader and workers.")
    ] = None
    min_ready_seconds: Annotated[
        Int32, about("An instance is counted on after it has been ready for so long.")
    ] = 0
    replicas: Annotated[Int32, about("Instances.", ge=0)] = 1
    restart_policy: Annotated[
        Literal["None", "RecreateRoleInstanceOnPodRestart", "RecreateRBGOnPodRestart"] | None,
        about("What happens when a pod restarts. The last one is taken for the second."),
    ] = None
    rollout_strategy: Annotated[RolloutStrategy | None, about("How it is updated.")] = None
    scaling_adapter: Annotated[OldAdapter | None, about("For autoscalers.")] = None
    service_ports: Annotated[
        list[ServicePort] | None, about("Ports that the discovery file lists.")
    ] = None
    template: Annotated[PodTemplate | None, about("The pod.")] = None
    template_patch: Annotated[Raw | None, about("What differs from the shared template.")] = None
    template_ref: Annotated[OldTemplateRef | None, about("The pod, from a shared template.")] = None
    workload: Annotated[
        OldWorkload | None,
        about("The kind of workload that runs the instances of the role."),
        Meta(extra_json_schema={"default": {"apiVersion": "apps/v1", "kind": "StatefulSet"}}),
    ] = None


class OldRollingUpdate(Model):
    """How far updates of roles may be apart."""

    max_skew: Annotated[str | None, about("The difference.", pattern=_PERCENT)] = None
    max_unavailable: Annotated[
        str | None, about("Instances that may be missing.", pattern=_PERCENT)
    ] = None
    partition: Annotated[
        str | None, about("Instances that keep their revision.", pattern=_PERCENT)
    ] = None


class OldScaling(Model):
    """How far the growth of roles may be apart."""

    max_skew: Annotated[str | None, about("The difference.", pattern=_PERCENT)] = None
    progression: Annotated[
        Literal["OrderScheduled", "OrderReady"],
        about("What instances must have reached before a role grows further."),
    ] = "OrderScheduled"


class OldStrategy(Model):
    """What ties roles together."""

    rolling_update: Annotated[OldRollingUpdate | None, about("In updates.")] = None
    scaling: Annotated[OldScaling | None, about("In growth.")] = None


class OldCoordination(Model):
    """A rule over roles."""

    name: Annotated[str, about("The rule.")]
    roles: Annotated[list[str], about("The roles.")]
    strategy: Annotated[OldStrategy | None, about("What ties them together.")] = None


class KubeScheduling(Model):
    """A PodGroup of the scheduler plugins."""

    schedule_timeout_seconds: Annotated[Int32, about("How long pods wait for each other.")] = 60


class VolcanoScheduling(Model):
    """A PodGroup of Volcano."""

    priority_class_name: Annotated[str | None, about("Its priority class.")] = None
    queue: Annotated[str | None, about("Its queue.")] = None


class PodGroupPolicy(Model):
    """All pods are placed together, or none is."""

    kube_scheduling: Annotated[KubeScheduling | None, about("By the scheduler plugins.")] = None
    volcano_scheduling: Annotated[VolcanoScheduling | None, about("By Volcano.")] = None


OldRoles = Annotated[
    list[Annotated[OldRole, _ROLE_RULES]],
    keyed_by("name"),
    not_empty(),
    Raw.__metadata__[0],
]


class OldGroupSpec(Model):
    """The desired state of a RoleBasedGroup."""

    roles: Annotated[OldRoles, about("The roles.")]
    coordination: Annotated[
        Annotated[list[OldCoordination], keyed_by("name")] | None, about("Rules over roles.")
    ] = None
    pod_group_policy: Annotated[PodGroupPolicy | None, about("Gang scheduling.")] = None
    role_templates: Annotated[RoleTemplates | None, about("Templates that roles refer to.")] = None


class OldGroupSetSpec(Model):
    """Several groups that are alike."""

    template: Annotated[OldGroupSpec, about("What groups are made from.")]
    replicas: Annotated[Int32, about("Groups.")] = 1
