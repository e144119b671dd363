"""
ModelServing as its users write it: every field, once, with what it may hold.

Names, defaults, limits and rules are upstream's and never change; ``maxSurge`` is ours. The
metadata of a template are labels and annotations alone. Admission checks what the schema
cannot express.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta

from kohort.apis.definitions.embedded_types import POD_SPEC
from kohort.apis.definitions.fields import EMBEDS, Condition, Int32, Int64, Model, about

PodSpec = Annotated[dict[str, Any], Meta(extra_json_schema={EMBEDS: POD_SPEC})]
AnyValue = Annotated[Any, Meta(extra_json_schema={"x-kubernetes-preserve-unknown-fields": True})]


def _rule(rule: str, message: str, **words: Any) -> Meta:
    validations = [{"rule": rule, "message": message}]
    return Meta(extra_json_schema={**words, "x-kubernetes-validations": validations})


class TemplateMetadata(Model):
    """Labels and annotations of the pods of a template."""

    annotations: Annotated[dict[str, str] | None, about("Annotations of its pods.")] = None
    labels: Annotated[
        dict[str, str] | None,
        about("Labels of its pods. Those of modelserving.volcano.sh/ are the controller's."),
    ] = None


class RolePodTemplate(Model):
    """A pod of a role."""

    metadata: Annotated[TemplateMetadata | None, about("Labels and annotations of the pod.")] = None
    spec: Annotated[
        PodSpec | None, about("The pod. Its schedulerName is that of the ModelServing.")
    ] = None


class Role(Model):
    """One role of a group: instances, each an entry pod and its workers."""

    entry_template: Annotated[RolePodTemplate, about("The entry pod of an instance.")]
    name: Annotated[
        str,
        about(
            "The role's name, a DNS label that starts with a letter.",
            max_length=12,
            pattern=r"^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$",
        ),
    ]
    worker_replicas: Annotated[Int32, about("Worker pods of an instance, beside its entry.")]
    max_unavailable: Annotated[
        int | str,
        about(
            "Instances that may be missing in a rollout by role: a number, or a percentage of "
            "replicas, rounded down. Not 0."
        ),
    ] = 1
    partition: Annotated[
        int | str | None,
        about("In a rollout by role, instances before this place keep their revision."),
    ] = None
    replicas: Annotated[Int32, about("Instances in each group.")] = 1
    worker_template: Annotated[
        RolePodTemplate | None, about("A worker pod. Required with workers.")
    ] = None


class GangPolicy(Model):
    """How many instances of each role are placed together, or none is."""

    min_role_replicas: Annotated[
        dict[str, Int32] | None,
        about("Instances by role; a role that is not named counts whole."),
        _rule("self == oldSelf", "minRoleReplicas is immutable"),
    ] = None


class TopologyPolicy(Model):
    """How near to each other pods stand. Tiers count from near to far."""

    highest_tier_allowed: Annotated[
        int | None, about("The tier of the widest domain that is allowed.", ge=0)
    ] = None
    highest_tier_name: Annotated[
        str | None,
        about("The same by name. Not together with highestTierAllowed.", max_length=253),
    ] = None
    mode: Annotated[
        Literal["hard", "soft"],
        about("Whether pods wait until they can stand so, or go on without."),
    ] = "hard"


class NetworkTopology(Model):
    """How near to each other the pods of a group stand."""

    group_policy: Annotated[TopologyPolicy | None, about("For all pods of a group.")] = None
    role_policy: Annotated[TopologyPolicy | None, about("For the pods of each role instance.")] = (
        None
    )


class ServingGroup(Model):
    """What one group is made of. A change of a role's templates rolls pods."""

    roles: Annotated[
        list[Role],
        about("The roles of a group."),
        _rule(
            "self.all(x, self.exists_one(y, y.name == x.name))",
            "roles name must be unique",
            minItems=1,
            maxItems=4,
        ),
    ]
    gang_policy: Annotated[
        GangPolicy | None, about("Without it, all pods of a group are placed together.")
    ] = None
    network_topology: Annotated[
        NetworkTopology | None, about("How near to each other the pods of a group stand.")
    ] = None
    restart_grace_period_seconds: Annotated[
        Int64, about("How long a failed pod may take to become ready again by itself.")
    ] = 0


class RollingUpdateConfiguration(Model):
    """How far a rollout by group may go at once."""

    max_surge: Annotated[
        int | str | None,
        about(
            "Groups that may be added during a rollout: a number, or a percentage of replicas, "
            "rounded up."
        ),
    ] = None
    max_unavailable: Annotated[
        int | str,
        about(
            "Groups that may be missing during a rollout: a number, or a percentage of replicas, "
            "rounded down. Not 0."
        ),
    ] = 1
    partition: Annotated[
        int | str | None,
        about("Groups before this place keep their revision; percentages round up."),
    ] = None


class RolloutStrategy(Model):
    """How a change of the templates reaches the pods."""

    rolling_update_configuration: Annotated[
        RollingUpdateConfiguration | None, about("How far a rollout by group may go at once.")
    ] = None
    type: Annotated[
        Literal["ServingGroupRollingUpdate", "RoleRollingUpdate"],
        about("Group after group, or in all groups role after role."),
    ] = "ServingGroupRollingUpdate"


class PluginScope(Model):
    """The pods that a plugin is asked about."""

    roles: Annotated[list[str] | None, about("Roles by name; none means all.")] = None
    target: Annotated[str | None, about("All, Entry or Worker; none means All.")] = None


class Plugin(Model):
    """Changes pods before they are created."""

    name: Annotated[str, about("The plugin's name, such as lws.")]
    config: Annotated[AnyValue | None, about("The plugin's configuration, in its own format.")] = (
        None
    )
    scope: Annotated[PluginScope | None, about("The pods that it is asked about.")] = None
    type: Annotated[Literal["BuiltIn"], about("BuiltIn is the only type.")] = "BuiltIn"


class ModelServingSpec(Model):
    """The desired state of a ModelServing."""

    template: Annotated[
        ServingGroup,
        about("What one group is made of."),
        _rule(
            "!has(oldSelf.gangPolicy) || has(self.gangPolicy)", "gangPolicy is required once set"
        ),
    ]
    plugins: Annotated[list[Plugin] | None, about("Asked about every new pod, in this order.")] = (
        None
    )
    recovery_policy: Annotated[
        Literal["ServingGroupRecreate", "RoleRecreate", "None"],
        about("What is made anew when a pod fails: its group, its role instance, or itself."),
    ] = "RoleRecreate"
    replicas: Annotated[Int32, about("Groups.")] = 1
    rollout_strategy: Annotated[
        RolloutStrategy | None, about("How a change of the templates reaches the pods.")
    ] = None
    scheduler_name: Annotated[
        str, about("The scheduler of all pods, whatever their templates say.")
    ] = "volcano"


class ModelServingStatus(Model):
    """The observed state of a ModelServing."""

    available_replicas: Annotated[Int32 | None, about("Groups that are ready.")] = None
    conditions: Annotated[
        list[Condition] | None,
        about("Available, Progressing, UpdateInProgress, and what hinders."),
    ] = None
    current_replicas: Annotated[Int32 | None, about("Groups of the current revision.")] = None
    current_revision: Annotated[str | None, about("The revision that is replaced.")] = None
    label_selector: Annotated[
        str | None, about("Selects one entry pod of each group, for autoscalers.")
    ] = None
    observed_generation: Annotated[
        Int64 | None, about("The generation of the spec that this status is of.")
    ] = None
    replicas: Annotated[Int32 | None, about("Groups that exist.")] = None
    update_revision: Annotated[str | None, about("The target revision.")] = None
    updated_replicas: Annotated[Int32 | None, about("Groups of the target revision.")] = None
