"""
LeaderWorkerSet, as the value that simulations know it by.

Beside the present operator there is an invented one before it, which names revisions differently
and has other defaults. The present version finds its revisions, StatefulSets and pods and has to
go on with them: a name that it would not have chosen itself is no reason to replace anything.
"""

from dataclasses import replace

from kohort.apis.api import DEFAULTS, Reading, Snapshot
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.simulation.checkers import ALL, Scene
from kohort.simulation.checkers.status import is_available
from kohort.simulation.checkers.truth import Group
from kohort.simulation.faults import draw_scenario
from kohort.simulation.leaderworkerset import groups, manifests, steps
from kohort.simulation.leaderworkerset.at_rest import find_trouble
from kohort.simulation.leaderworkerset.labels import KEY, LABELS, WORKLOAD
from kohort.simulation.scenario import LEADER_FIRST, PODS
from kohort.simulation.simulated_api import (
    EARLIER,
    OperatorVersion,
    OperatorVersions,
    SimulatedApi,
    StatusFields,
)


def _read_as_before(snapshot: Snapshot) -> Reading[object]:
    """The same reading, with revisions that are named as they were earlier."""
    reading = LEADER_WORKER_SET.read(snapshot)
    memory = reading.memory
    if memory.key.startswith(EARLIER):
        return reading
    key = f"{EARLIER}{memory.key}"
    held = [r for r in memory.revisions if r.metadata.labels.get(KEY) == key]
    memory = replace(memory, key=key, revision=held[-1] if held else None)
    return replace(reading, workload=replace(reading.workload, revision=key), memory=memory)


VERSIONS = OperatorVersions(
    present=OperatorVersion(LEADER_WORKER_SET, DEFAULTS),
    before=OperatorVersion(replace(LEADER_WORKER_SET, read=_read_as_before), DEFAULTS),
    # The version that takes over has another default for new workloads, which must not touch old
    # ones.
    after=OperatorVersion(LEADER_WORKER_SET, replace(DEFAULTS, carrier=PODS)),
)


def _count_gang(group: Group, scene: Scene) -> tuple[int, int]:
    """The minimum and the size of a gang; workers that start after their leader do not count."""
    return 1 if scene.scenario.startup == LEADER_FIRST else group.size, group.size


LEADER_WORKER_SETS = SimulatedApi(
    name="lws",
    kind=WORKLOAD,
    labels=LABELS,
    status=StatusFields(
        lambda status: int(status.get("readyReplicas", 0)),
        lambda truth: len(truth.ready()),
        selector="hpaPodSelector",
        says_over=is_available,
    ),
    versions=VERSIONS,
    checkers=ALL,
    draw=draw_scenario,
    make_workload=manifests.make_workload,
    edits=manifests.EDITS,
    read_policy=steps.read_policy,
    list_groups=groups.list_groups,
    list_lines=lambda truth: [],
    is_old=groups.is_old,
    is_in_place=lambda pod: True,
    find_image=groups.find_image,
    has_old_image=groups.has_old_image,
    find_min_ready=steps.find_min_ready,
    count_gang=_count_gang,
    list_services=groups.list_services,
    list_free_names=manifests.list_free_names,
    find_trouble=find_trouble,
    is_sparse=False,
    read_step=steps.read_step,
    has_gone_back=steps.has_gone_back,
)
