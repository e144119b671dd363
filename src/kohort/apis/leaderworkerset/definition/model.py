"""
LeaderWorkerSet as its users write it: every field, with its type and limits.

Names, defaults and limits are upstream's and never change; the network topology is
ours. Admission checks what the schema cannot express: rules between fields, and fields
that are immutable.
"""

from typing import Annotated, Literal

from kohort.apis.definitions.fields import (
    Conditions,
    Int32,
    Int64,
    Model,
    PodTemplate,
    VolumeClaim,
    about,
)


class SubGroupPolicy(Model):
    """How the pods of a group are divided into subgroups."""

    sub_group_policy_type: Annotated[
        Literal["LeaderWorker", "LeaderExcluded"],
        about("Whether the leader belongs to the first subgroup, or to none."),
    ] = "LeaderWorker"
    sub_group_size: Annotated[
        Int32 | None,
        about(
            "Pods in a subgroup. Divides the size of a group, or that less one. "
            "Cannot be changed, added or removed."
        ),
    ] = None


class ClaimRetentionPolicy(Model):
    """Whether volume claims are kept when their pods are no longer wanted."""

    when_deleted: Annotated[
        str | None, about("Retain or Delete the claims when the set is deleted.")
    ] = None
    when_scaled: Annotated[
        str | None, about("Retain or Delete the claims of pods that scaling takes away.")
    ] = None


class LeaderWorkerTemplate(Model):
    """What one group is made of. A change of anything in here rolls the groups."""

    worker_template: Annotated[PodTemplate, about("The pod of a worker.")]
    leader_template: Annotated[
        PodTemplate | None, about("The leader's pod. Without it, leaders are like workers.")
    ] = None
    size: Annotated[Int32, about("Pods in a group, the leader among them. At least 1.")] = 1
    restart_policy: Annotated[
        Literal["Default", "RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None"],
        about(
            "What becomes of a group when one of its pods restarts or goes: the group is made "
            "anew, or so only once all its pods had started, or nothing (None, and Default)."
        ),
    ] = "RecreateGroupOnPodRestart"
    sub_group_policy: Annotated[
        SubGroupPolicy | None, about("Divides each group into subgroups.")
    ] = None
    volume_claim_templates: Annotated[
        list[VolumeClaim] | None, about("A volume claim of each of these for every pod.")
    ] = None
    persistent_volume_claim_retention_policy: Annotated[
        ClaimRetentionPolicy | None,
        about("Whether volume claims are kept when their pods are no longer wanted."),
    ] = None


class RollingUpdateConfiguration(Model):
    """How far a rollout may go at once."""

    partition: Annotated[
        Int32, about("Groups below this ordinal keep their revision until it is lowered.")
    ] = 0
    max_unavailable: Annotated[
        int | str,
        about(
            "Groups that may be missing during a rollout: a number, or a percentage of replicas, "
            "rounded down. Not 0 if maxSurge is 0."
        ),
    ] = 1
    max_surge: Annotated[
        int | str,
        about(
            "Groups that may be added during a rollout: a number, or a percentage of replicas, "
            "rounded up."
        ),
    ] = 0


class RolloutStrategy(Model):
    """How a change of the template reaches the groups."""

    type: Annotated[Literal["RollingUpdate"], about("Group after group.")] = "RollingUpdate"
    rolling_update_configuration: Annotated[
        RollingUpdateConfiguration | None, about("How far a rollout may go at once.")
    ] = None


class NetworkConfig(Model):
    """How the pods of a set find each other."""

    subdomain_policy: Annotated[
        Literal["Shared", "UniquePerReplica"],
        about("One headless service for the set, or one for each group."),
    ]


class NetworkTopology(Model):
    """How near to each other the pods of one group stand. Tiers count from near to far."""

    mode: Annotated[
        Literal["hard", "soft"],
        about(
            "Whether pods wait until they can stand so, or go on without where there is no room."
        ),
    ] = "hard"
    highest_tier_allowed: Annotated[
        int | None,
        about(
            "The tier of the widest domain that a group may span, as the cluster numbers them. "
            "Not together with highestTierName.",
            ge=0,
        ),
    ] = None
    highest_tier_name: Annotated[
        str | None,
        about("The same by name. Not together with highestTierAllowed.", max_length=253),
    ] = None


class LeaderWorkerSetSpec(Model):
    """The desired state of a LeaderWorkerSet."""

    leader_worker_template: Annotated[
        LeaderWorkerTemplate, about("What one group is made of. A change rolls the groups.")
    ]
    replicas: Annotated[Int32, about("Groups.", ge=0, le=1_000_000)] = 1
    rollout_strategy: Annotated[
        RolloutStrategy | None, about("How a change of the template reaches the groups.")
    ] = None
    startup_policy: Annotated[
        Literal["LeaderCreated", "LeaderReady"],
        about("Whether workers are made with their leader, or when it is ready."),
    ] = "LeaderCreated"
    network_config: Annotated[
        NetworkConfig | None, about("How the pods of a set find each other.")
    ] = None
    network_topology: Annotated[
        NetworkTopology | None,
        about(
            "How near to each other the pods of a group stand, as far as the gang scheduler in "
            "use supports it. Groups that have nodes stay where they are."
        ),
    ] = None


class LeaderWorkerSetStatus(Model):
    """The observed state of a LeaderWorkerSet."""

    conditions: Annotated[
        Conditions | None, about("Available, Progressing, UpdateInProgress, and what hinders.")
    ] = None
    hpa_pod_selector: Annotated[
        str | None, about("Selects the leaders, whose number is what an autoscaler scales.")
    ] = None
    observed_generation: Annotated[
        Int64 | None, about("The generation of the spec that this status is of.")
    ] = None
    ready_replicas: Annotated[Int32 | None, about("Groups whose pods are all ready.")] = None
    replicas: Annotated[Int32 | None, about("Groups that exist, surge among them.")] = None
    updated_replicas: Annotated[Int32 | None, about("Groups of the last revision.")] = None
