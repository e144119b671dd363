"""LeaderWorkerSet, as the value that simulations know it by."""

from kohort.simulation.checkers import ALL, Scene
from kohort.simulation.checkers.status import is_available
from kohort.simulation.checkers.truth import Group
from kohort.simulation.faults import draw_scenario
from kohort.simulation.leaderworkerset import groups, manifests, steps
from kohort.simulation.leaderworkerset.at_rest import find_trouble
from kohort.simulation.leaderworkerset.labels import LABELS, WORKLOAD
from kohort.simulation.leaderworkerset.versions import VERSIONS
from kohort.simulation.scenario import LEADER_FIRST
from kohort.simulation.simulated_api import SimulatedApi, StatusFields


def _count_gang(group: Group, scene: Scene) -> tuple[int, int]:
    """Who waits for a leader to be ready is not waited for."""
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
