"""The CustomResourceDefinition of LeaderWorkerSet."""

from kohort.apis.definitions import Column, Definition, ScalePaths, write_definition
from kohort.apis.definitions.definition import AGE
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.definition.model import (
    LeaderWorkerSetSpec,
    LeaderWorkerSetStatus,
)
from kohort.cluster.objects import Object

_DEFINITION = Definition(
    kind=labels.KIND,
    short_names=("lws",),
    description="Groups of pods, each a leader and its workers, that live and roll as one.",
    spec=LeaderWorkerSetSpec,
    status=LeaderWorkerSetStatus,
    columns=(
        Column("Ready", ".status.readyReplicas", "integer", "Groups that are ready."),
        Column("Desired", ".spec.replicas", "integer", "Groups that are asked for."),
        Column("Up-to-date", ".status.updatedReplicas", "integer", "Groups of the last revision."),
        AGE,
    ),
    scale=ScalePaths(".status.hpaPodSelector"),
    is_spec_required=True,
)


def define_leader_worker_set() -> Object:
    """The CustomResourceDefinition, made afresh at each call."""
    return write_definition(_DEFINITION)
