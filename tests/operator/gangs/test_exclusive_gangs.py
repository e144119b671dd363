"""Exclusive topology in a gang: upstream's order would wait for ever, ours does not."""

from collections.abc import AsyncIterator

import pytest
from gang_lab import VOLCANO
from operator_lab import Lab
from topology_lab import make_packed, open_topology_lab

from kohort.apis.api import DEFAULTS
from kohort.apis.gangs.dialects.volcano import POD_GROUP
from kohort.apis.leaderworkerset import labels
from kohort.cluster import kinds
from kohort.cluster.node_labels import RACK
from kohort.cluster.objects import Object, labels_of, name_of
from kohort.simulator.scheduling.scheduler import Scheduler

ALONE = {labels.EXCLUSIVE_TOPOLOGY: RACK}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
VOLCANIC = {"schedulerName": "volcano"}


@pytest.fixture
async def lab() -> AsyncIterator[Lab]:
    opened = await open_topology_lab(VOLCANO)
    yield opened
    await opened.close()


@pytest.fixture(params=["statefulsets", "pods"])
def carrier(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def terms(pod: Object, part: str) -> list[str]:
    found = pod["spec"].get("affinity", {}).get(part, {}).get(REQUIRED) or []
    return [term["topologyKey"] for term in found]


def without_nodes(lab: Lab) -> bool:
    return not any(pod["spec"].get("nodeName") for pod in lab.all(kinds.POD))


async def test_workers_come_although_their_leader_has_no_node(lab: Lab, carrier: str):
    pod = {**VOLCANIC, "nodeSelector": {"example.com/nowhere": "yes"}}
    await lab.apply(make_packed(carrier, None, groups=1, size=3, annotations=ALONE, pod=pod))
    await lab.run(30)
    pods = {name_of(pod): pod for pod in lab.all(kinds.POD)}
    assert sorted(pods) == ["x-0", "x-0-1", "x-0-2"]
    assert without_nodes(lab)
    for pod in pods.values():
        assert (terms(pod, "podAffinity"), terms(pod, "podAntiAffinity")) == ([RACK], [RACK])
        assert RACK not in pod["spec"].get("nodeSelector", {})  # type: ignore[attr-defined]


async def test_the_gang_is_placed_in_a_domain_of_its_own(lab: Lab, carrier: str):
    await lab.apply(make_packed(carrier, None, groups=2, size=3, annotations=ALONE, pod=VOLCANIC))
    await lab.until(lab.is_available)
    zones = {name_of(node): labels_of(node)[RACK] for node in lab.all(kinds.NODE)}
    runners: dict[str, set[str]] = {}
    for pod in lab.all(kinds.POD):
        group = labels_of(pod)[labels.GROUP_INDEX]
        runners.setdefault(group, set()).add(zones[pod["spec"]["nodeName"]])
    assert sorted(map(len, runners.values())) == [1, 1]
    assert runners["0"] != runners["1"]


async def test_upstreams_order_in_a_gang_never_ends_and_ours_goes_on_from_there(lab: Lab):
    """Spec fact 8: workers that wait for a node, in a gang that waits for the workers."""
    runner = next(s for s in lab.world.runners if isinstance(s.component, Scheduler))
    lab.hold_component(runner)
    more = {"annotations": ALONE, "pod": VOLCANIC}
    await lab.apply(make_packed("statefulsets", None, groups=1, size=3, **more))
    await lab.run(10)
    # What upstream has now: the leader, its pod group, and no workers before it has a node.
    await lab.stop_operator()
    await lab.delete(kinds.STATEFUL_SET, "x-0", propagation="Background")
    await lab.run(60)
    lab.release_component(runner)
    await lab.run(3600)
    assert [name_of(pod) for pod in lab.all(kinds.POD)] == ["x-0"]
    assert without_nodes(lab)
    (group,) = lab.all(POD_GROUP)
    assert group["status"]["conditions"][0]["reason"] == "NotEnoughTasks"
    lab.start_operator()
    await lab.until(lab.is_available)


async def test_groups_that_are_in_no_gang_keep_upstreams_order(carrier: str):
    lab = await open_topology_lab(DEFAULTS)
    pod = {"nodeSelector": {"example.com/nowhere": "yes"}}
    await lab.apply(make_packed(carrier, None, groups=1, annotations=ALONE, pod=pod))
    await lab.run(30)
    assert [name_of(pod) for pod in lab.all(kinds.POD)] == ["x-0"]
    await lab.close()


async def test_a_group_that_starts_with_its_leader_keeps_upstreams_order(lab: Lab, carrier: str):
    spec = {"startupPolicy": "LeaderReady"}
    more = {"annotations": ALONE, "pod": VOLCANIC, "spec": spec}
    await lab.apply(make_packed(carrier, None, groups=1, **more))
    await lab.until(lab.is_available)
    worker = lab.find(kinds.POD, "x-0-1")
    assert worker is not None
    assert RACK in worker["spec"]["nodeSelector"]
    assert terms(worker, "podAffinity") == []
