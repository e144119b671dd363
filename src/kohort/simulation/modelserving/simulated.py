"""
ModelServing, as the value that simulations know it by.

Beside the present operator there is an invented one before it, which names revisions differently.
The operator that takes over finds its revisions and pods, and has to go on with them.
"""

from dataclasses import replace

from kohort.apis.api import DEFAULTS, Reading, Snapshot
from kohort.apis.modelserving.api import MODEL_SERVING
from kohort.apis.modelserving.read import Memory
from kohort.cluster.objects import Object
from kohort.simulation.checkers.checker import Scene
from kohort.simulation.checkers.gangs import GangMembers, GangObjects, GangPlacements
from kohort.simulation.checkers.instances import Instances
from kohort.simulation.checkers.line_trust import LineTrust
from kohort.simulation.checkers.lines import LineBudget
from kohort.simulation.checkers.ownership import Ownership
from kohort.simulation.checkers.runtime import Runtime
from kohort.simulation.checkers.stability import Stability
from kohort.simulation.checkers.status import Status
from kohort.simulation.checkers.truth import Group
from kohort.simulation.modelserving import groups, scenarios
from kohort.simulation.modelserving.at_rest import find_trouble
from kohort.simulation.modelserving.labels import LABELS, WORKLOAD
from kohort.simulation.modelserving.scenarios import draw_scenario
from kohort.simulation.simulated_api import (
    EARLIER,
    OperatorVersion,
    OperatorVersions,
    SimulatedApi,
    StatusFields,
)


def _read_as_before(snapshot: Snapshot) -> Reading[Memory]:
    """The same reading, with revisions that are named as they were earlier."""
    reading: Reading[Memory] = MODEL_SERVING.read(snapshot)
    context = reading.memory.context
    target = context.target
    if target.is_stored or target.revision.startswith(EARLIER):
        return reading
    target = replace(target, revision=f"{EARLIER}{target.revision}")
    memory = replace(reading.memory, context=replace(context, target=target))
    return replace(
        reading, workload=replace(reading.workload, revision=target.revision), memory=memory
    )


_PRESENT = OperatorVersion(MODEL_SERVING, DEFAULTS)
VERSIONS = OperatorVersions(
    present=_PRESENT,
    before=OperatorVersion(replace(MODEL_SERVING, read=_read_as_before), DEFAULTS),
    after=_PRESENT,
)


def _says_over(status: Object) -> bool:
    """A rollout is over when all groups are of the revision that is asked for."""
    is_current = status.get("currentRevision") == status.get("updateRevision")
    return is_current and status.get("updatedReplicas", 0) == status.get("replicas", 0)


def _count_gang(group: Group, scene: Scene) -> tuple[int, int]:
    size = groups.count_pods(group, scene.truth)
    return size, size


MODEL_SERVINGS = SimulatedApi(
    name="ms",
    kind=WORKLOAD,
    labels=LABELS,
    status=StatusFields(
        lambda status: int(status.get("availableReplicas", 0)),
        lambda truth: len(truth.ready()),
        "labelSelector",
        _says_over,
    ),
    versions=VERSIONS,
    checkers=(
        LineBudget,
        Instances,
        LineTrust,
        Ownership,
        Runtime,
        Status,
        GangMembers,
        GangObjects,
        GangPlacements,
        Stability,
    ),
    draw=draw_scenario,
    make_workload=scenarios.make_workload,
    edits=scenarios.EDITS,
    read_policy=groups.read_policy,
    list_groups=groups.list_groups,
    list_lines=groups.list_lines,
    is_old=groups.is_old,
    is_in_place=groups.is_in_place,
    find_image=groups.find_image,
    has_old_image=groups.has_old_image,
    find_min_ready=groups.find_min_ready,
    count_gang=_count_gang,
    list_services=groups.list_services,
    list_free_names=scenarios.list_free_names,
    find_trouble=find_trouble,
    is_sparse=True,
    read_step=lambda truth, carrier: None,
    has_gone_back=lambda truth, carrier: False,
)
