"""
``kohort why`` of gangs without room, for the three APIs that have gangs.

Eight nodes with eight GPUs each stand in two racks under one spine. Each situation has the cluster
for itself, since a gang in the queue of Volcano keeps others out of it; the clock stands meanwhile.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from command_lines import Cli, Told
from told_parts import BUDGET, DESCRIBE, HOUR, OF_ROLE, UNDO, Expected, check_parts
from why_situations import KINDS, Template, write_object

from kohort.cluster.http import HttpCluster, connect
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object
from kohort.cluster.port import Address, Selection

pytestmark = pytest.mark.slow
GANG = {"annotations": {"rbg.workloads.x-k8s.io/group-gang-scheduling": "true"}}
HARD = {"mode": "hard", "highestTierAllowed": 1}


@dataclass(frozen=True, slots=True)
class Shape:
    """A workload whose groups are gangs."""

    size: int  # pods of a group
    gpus: int  # of each pod
    groups: int = 1
    topology: Object | None = None


@dataclass(frozen=True, slots=True)
class Situation:
    """A workload that finds no room, and what ``why`` must say of it."""

    shape: Shape
    expected: Expected
    gang: tuple[str, ...]  # parts of what is said under gang
    before: Shape | None = None  # what the workload was before it was changed
    others: Shape | None = None  # another workload that has taken room before


NO_ROOM = Expected(
    "blocked", "Unschedulable", "members have not started: ", "Unschedulable", "", "", DESCRIBE
)
WIDE = Situation(
    Shape(9, 8),
    replace(NO_ROOM, waits="9 members have not started: ", message="9/9 tasks in gang"),
    ("phase Inqueue", "8 of 9 fit into all 8 nodes; 1 of ", "Nowhere is there room for all"),
)
VAST = Situation(
    Shape(12, 8),
    replace(NO_ROOM, waits="12 members have not started: ", message="12/12 tasks in gang"),
    ("phase Pending", "minResources asks for 96 nvidia.com/gpu, more than the cluster has"),
)
QUEUE = Situation(
    Shape(2, 8),
    replace(NO_ROOM, waits="2 members have not started: ", message="resource in cluster is over"),
    ("phase Pending", "promised to groups that were let in before"),
    others=Shape(9, 8),
)
RACK = Situation(
    Shape(5, 8, topology=HARD),
    replace(NO_ROOM, waits="5 members have not started: ", message="5/5 tasks in gang"),
    (
        "5 of 5 members wait for a node; asked for: hard, tier 1.",
        "tier 1 (rack): 4 of 5 fit into rack-",
        "There is room at tier 2 (spine), spine-0: mode soft would place it.",
    ),
)
FULL = Situation(
    Shape(6, 8),
    replace(NO_ROOM, waits="6 members have not started: ", message="6/6 tasks in gang"),
    ("5 of 6 fit into all 8 nodes; 1 of ", "Nowhere is there room for all"),
    others=Shape(3, 8),
)
ROLL = Situation(
    Shape(2, 9, 2),
    replace(NO_ROOM, waits=BUDGET, message="2/2 tasks in gang", command=UNDO),
    ("0 of 2 fit into all 8 nodes", "lack nvidia.com/gpu in one piece"),
    before=Shape(2, 1, 2),
)
# Its gang is the whole group, of which the other instance runs.
OF_INSTANCE = replace(NO_ROOM, waits=OF_ROLE, message="2/4 tasks in gang")
SITUATIONS = {
    **{f"{kind}-wide": WIDE for kind in ("lws", "ms", "rbg")},
    **{f"{kind}-vast": VAST for kind in ("lws", "ms", "rbg")},
    **{f"{kind}-queue": QUEUE for kind in ("lws", "ms", "rbg")},
    **{f"{kind}-rack": RACK for kind in ("lws", "ms")},  # a RoleBasedGroup has no topology
    **{f"{kind}-full": FULL for kind in ("lws", "ms", "rbg")},
    **{f"{kind}-roll": ROLL for kind in ("lws", "ms")},
    "rbg-roll": replace(ROLL, expected=OF_INSTANCE),
}


def write_pod(shape: Shape, **spec: Any) -> Object:
    amounts = {"nvidia.com/gpu": str(shape.gpus)}
    resources = {"requests": amounts, "limits": amounts}
    return Template(container={"resources": resources}, spec=spec).pod


def write_lws(shape: Shape) -> Object:
    rules = {"maxUnavailable": 1, "maxSurge": 0}
    pod = write_pod(shape, schedulerName="volcano")
    topology = {"networkTopology": shape.topology} if shape.topology else {}
    return {
        "replicas": shape.groups,
        "leaderWorkerTemplate": {"size": shape.size, "workerTemplate": pod},
        "rolloutStrategy": {"type": "RollingUpdate", "rollingUpdateConfiguration": rules},
        **topology,
    }


def write_ms(shape: Shape) -> Object:
    pod = write_pod(shape)
    counts = {"replicas": 1, "workerReplicas": shape.size - 1}
    role = {"name": "engine", **counts, "entryTemplate": pod, "workerTemplate": pod}
    topology = {"networkTopology": {"groupPolicy": shape.topology}} if shape.topology else {}
    return {
        "replicas": shape.groups,
        "schedulerName": "volcano",
        "template": {"roles": [role], "gangPolicy": {}, **topology},
        "rolloutStrategy": {"type": "ServingGroupRollingUpdate"},
    }


def write_rbg(shape: Shape) -> Object:
    pod = write_pod(shape, schedulerName="volcano")
    pattern = {"leaderWorkerPattern": {"size": shape.size, "template": pod}}
    return {"roles": [{"name": "engine", "replicas": shape.groups, **pattern}]}


WRITERS = {"lws": write_lws, "ms": write_ms, "rbg": write_rbg}


@dataclass(frozen=True, slots=True)
class Crowded:
    """A cluster in which gangs find no room, one situation after the other."""

    cli: Cli
    kubeconfig: Path

    def do(self, work: Callable[[HttpCluster], Any]) -> Any:
        async def run() -> Any:
            async with connect(self.kubeconfig) as door:
                return await work(door)

        return asyncio.run(run())

    def step(self, duration: str) -> str:
        """Let time pass; what time it is then, in minutes and seconds after nine."""
        told = self.cli("sim", "clock", "step", duration, "-o", "json")
        assert told.code == 0, told.err
        return str(json.loads(told.out)["now"]).removeprefix(HOUR)[:5]

    def make(self, kind: str, name: str, shape: Shape) -> None:
        body = write_object(kind, name, WRITERS[kind](shape), **GANG)
        self.do(lambda door: door.create(KINDS[kind], "default", body))

    def ask(self, name: str, found: Situation) -> tuple[Told, str]:
        """What ``why`` says in a situation, and when that began."""
        kind = name.partition("-")[0]
        if found.others:
            self.make(kind, f"{kind}-others", found.others)
        if found.before:
            self.make(kind, name, found.before)
        begun = self.step("30s")
        if found.before:
            address = Address(KINDS[kind], "default", name)
            change = {"spec": WRITERS[kind](found.shape)}
            self.do(lambda door: door.patch(address, change))
        else:
            self.make(kind, name, found.shape)
        self.step("30s")
        flags = ("--kubeconfig", self.kubeconfig, "-o", "json")
        return self.cli("why", f"{kind}/{name}", *flags), begun

    def clear(self) -> None:
        """Delete all workloads, and wait until their pods are gone."""

        async def delete(door: HttpCluster) -> None:
            for kind in WRITERS:
                for raw in (await door.list(Selection(KINDS[kind], "default"))).items:
                    name = json.loads(raw)["metadata"]["name"]
                    await door.delete(Address(KINDS[kind], "default", name))

        async def count(door: HttpCluster) -> int:
            return len((await door.list(Selection(POD, "default"))).items)

        self.do(delete)
        self.step("30s")
        assert self.do(count) == 0


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crowded]:
    cli = Cli(tmp_path_factory.mktemp("crowded"))
    flags = ("--port", "0", "--gang", "volcano", "--no-dashboard", "--detach", "-o", "json")
    told = cli("up", *flags, "--clock", f"{HOUR}00:00Z")
    assert told.code == 0, told.err
    yield Crowded(cli, Path(json.loads(told.out)["kubeconfig"]))
    cli("down")


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_four_parts_are_right_of_a_gang_without_room(crowded: Crowded, name: str):
    found = SITUATIONS[name]
    try:
        told, begun = crowded.ask(name, found)
    finally:
        crowded.clear()
    # Of a change, to ten seconds: the pods that are replaced end first.
    since = begun[:-1] if found.before else begun
    check_parts(told, name.partition("-")[0], name, replace(found.expected, since=since))
    lines = " ".join(json.loads(told.out)["gangs"])
    assert [part for part in found.gang if part not in lines] == [], lines
