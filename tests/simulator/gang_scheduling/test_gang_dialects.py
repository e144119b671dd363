"""Gangs in the words of each scheduler, through a whole API with their own kinds."""

import json
from dataclasses import dataclass, field

import pytest
from gang_builders import pod
from gang_cluster import GangCluster

from kohort.apis.gangs.definitions import coscheduling, kai, koordinator, kubernetes, volcano
from kohort.cluster.kinds import POD
from kohort.cluster.node_labels import RACK
from kohort.cluster.objects import Kind, Object

GATHER = "gang.scheduling.koordinator.sh/network-topology-spec"


@dataclass(frozen=True)
class Case:
    """One dialect: its scheduler, its group, and how a pod names it."""

    dialect: str
    scheduler: str
    kind: Kind | None = None
    spec: Object = field(default_factory=dict)  # of a group of three within one rack
    note: dict[str, str] = field(default_factory=dict)  # annotations of the group
    annotations: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    pod: Object = field(default_factory=dict)
    knows_topology: bool = True


def gather(strategy: str) -> dict[str, str]:
    return {GATHER: json.dumps({"gatherStrategy": [{"layer": "rack", "strategy": strategy}]})}


CASES = [
    Case(
        "volcano",
        "volcano",
        volcano.POD_GROUP,
        {"minMember": 3, "networkTopology": {"mode": "hard", "highestTierAllowed": 1}},
        annotations={"scheduling.k8s.io/group-name": "g"},
    ),
    Case(
        "coscheduling",
        "scheduler-plugins-scheduler",
        coscheduling.POD_GROUP,
        {"minMember": 3},
        labels={"scheduling.x-k8s.io/pod-group": "g"},
        knows_topology=False,
    ),
    Case(
        "koordinator",
        "koord-scheduler",
        koordinator.POD_GROUP,
        {"minMember": 3},
        gather("MustGather"),
        labels={"pod-group.scheduling.sigs.k8s.io": "g"},
    ),
    Case(
        "kai",
        "kai-scheduler",
        kai.POD_GROUP,
        {
            "minMember": 3,
            "topologyConstraint": {"topology": "default", "requiredTopologyLevel": RACK},
        },
        annotations={"pod-group-name": "g"},
    ),
    Case(
        "kubernetes",
        "default-scheduler",
        kubernetes.POD_GROUP,
        {
            "schedulingPolicy": {"gang": {"minCount": 3}},
            "schedulingConstraints": {"topology": [{"key": RACK}]},
        },
        pod={"schedulingGroup": {"podGroupName": "g"}},
    ),
    Case(
        "kueue",
        "default-scheduler",
        labels={"kueue.x-k8s.io/pod-group-name": "g"},
        annotations={
            "kueue.x-k8s.io/pod-group-total-count": "3",
            "kueue.x-k8s.io/podset-required-topology": RACK,
        },
    ),
]
cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.dialect)


async def run_steps(case: Case, gpus: int) -> GangCluster:
    plane = await GangCluster().start(case.dialect)
    if case.kind:
        metadata = {"name": "g", "annotations": dict(case.note)}
        await plane.create(case.kind, {"metadata": metadata, "spec": case.spec})
    for at in range(3):
        if at == 2:
            await plane.settle()
            assert plane.placed() == {}
        made = pod(f"g-{at}", gpus, labels=dict(case.labels), **case.pod)
        made["metadata"]["annotations"] = dict(case.annotations)
        made["spec"]["schedulerName"] = case.scheduler
        await plane.create(POD, made)
    await plane.settle()
    return plane


@cases
async def test_a_gang_that_fits_starts_whole(case: Case):
    plane = await run_steps(case, gpus=4)
    assert len(plane.placed()) == 3
    racks = {plane.placed()[name] for name in plane.placed()}
    if case.knows_topology:
        assert racks <= {"gpu-00", "gpu-01"} or racks <= {"gpu-02", "gpu-03"}


@cases
async def test_a_gang_that_fits_no_domain_waits_and_says_why(case: Case):
    plane = await run_steps(case, gpus=8)
    if not case.knows_topology:
        assert len(plane.placed()) == 3
        return
    assert plane.placed() == {}
    told = plane.reason("g-0")
    assert "rack): 2 of 3 fit into " in told
    assert "rack-0; 1 of 3 lacks 8 nvidia.com/gpu" in told
    assert ("Pod", "FailedScheduling", case.scheduler) in plane.events()


@cases
async def test_the_group_says_how_far_it_is(case: Case):
    if case.kind is None:
        return
    plane = await run_steps(case, gpus=4)
    status = plane.read(case.kind, "g").get("status", {})
    told = {c["type"] for c in status.get("conditions", [])}
    assert (status.get("phase"), told) == {
        "volcano": ("Running", {"Scheduled", "Unschedulable"}),
        "coscheduling": ("Scheduling", set()),
        "koordinator": ("Scheduling", set()),
        "kai": (None, set()),
        "kubernetes": (None, {"PodGroupScheduled"}),
    }[case.dialect]


@cases
async def test_a_cluster_at_rest_writes_nothing(case: Case):
    plane = await run_steps(case, gpus=8)
    before = plane.api.store.revision
    assert plane.world is not None
    await plane.world.advance(3600)
    assert plane.api.store.revision == before
