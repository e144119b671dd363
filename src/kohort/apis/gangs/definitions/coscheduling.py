"""
The PodGroup of the scheduler plugins.

Names, defaults and limits are upstream's and never change.
"""

from typing import Annotated

from kohort.apis.definitions import Column, Definition
from kohort.apis.definitions.definition import AGE
from kohort.apis.definitions.fields import Int32, Model, Time, about
from kohort.apis.gangs.definitions.fields import Amounts
from kohort.cluster.objects import Kind

POD_GROUP = Kind("scheduling.x-k8s.io", "v1alpha1", "PodGroup", "podgroups")

Count = Annotated[Int32 | None, about("Pods.")]


class PodGroupSpec(Model):
    """The desired state of a PodGroup."""

    min_member: Annotated[Int32 | None, about("Pods that start together.", ge=1)] = None
    min_resources: Annotated[
        Amounts | None, about("Resources that the cluster must have before any pod is tried.")
    ] = None
    schedule_timeout_seconds: Annotated[
        Int32 | None, about("How long pods that have a place wait for the others.")
    ] = None


class PodGroupStatus(Model):
    """The observed state of a PodGroup."""

    failed: Count = None
    occupied_by: Annotated[str | None, about("Whose pods it holds.")] = None
    phase: Annotated[str | None, about("How far it is.")] = None
    running: Count = None
    schedule_start_time: Annotated[Time | None, about("When it was first tried.")] = None
    succeeded: Count = None


POD_GROUPS = Definition(
    kind=POD_GROUP,
    short_names=("pg", "pgs"),
    description="Pods that start together, or not at all.",
    spec=PodGroupSpec,
    status=PodGroupStatus,
    columns=(
        Column("Phase", ".status.phase"),
        Column("MinMember", ".spec.minMember", "integer"),
        Column("Running", ".status.running", "integer"),
        Column("Succeeded", ".status.succeeded", "integer"),
        Column("Failed", ".status.failed", "integer"),
        AGE,
    ),
    categories=(),
    annotations={
        "api-approved.kubernetes.io": (
            "https://github.com/kubernetes-sigs/scheduler-plugins/pull/50"
        )
    },
)
