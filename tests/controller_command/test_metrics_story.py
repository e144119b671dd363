"""
Each metric that was promised has values of a running operator after a story, and is documented.

The story: two sets come up, one is rolled out, loses a pod and recovers, the other is blocked by
its image, a watch breaks, and then nothing happens. Names are written by hand, so that a metric
that is renamed or no longer set fails here.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from process_world import Running, WritingCluster, running

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.served import APIS
from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster.errors import Unavailable
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object, find_condition
from kohort.cluster.port import Address, Selection, WatchEvent
from kohort.controller.install import InstallOptions, install_definitions
from kohort.simulator.embedded import Embedded, EmbeddedOptions
from kohort.simulator.stages import PULL_ERROR

LWS = LEADER_WORKER_SET.kind
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"
OF_X = 'kind="LeaderWorkerSet",namespace="default",name="x"'
OF_STUCK = 'kind="LeaderWorkerSet",namespace="default",name="stuck"'
OF_KIND = 'kind="LeaderWorkerSet"'
SECONDS_MAX = 120.0

# The series, and the least that it has after the story.
TOLD: dict[str, float] = {
    f'kohort_units{{{OF_X},level="group",phase="ready"}}': 2,
    f'kohort_units{{{OF_X},level="member",phase="ready"}}': 4,
    f'kohort_units{{{OF_STUCK},level="group",phase="broken"}}': 1,
    f'kohort_units_desired{{{OF_X},level="group"}}': 2,
    f'kohort_units_desired{{{OF_X},level="member"}}': 4,
    f'kohort_blocked_seconds{{{OF_STUCK},reason="ImagePullBackOff"}}': 0,
    f"kohort_rollout_progress_ratio{{{OF_X}}}": 1,
    f'kohort_rollout_duration_seconds_count{{{OF_KIND},namespace="default"}}': 1,
    **{
        f'kohort_start_seconds_count{{{OF_KIND},namespace="default",phase="{phase}"}}': 4
        for phase in ("schedule", "pull", "load", "ready")
    },
    f'kohort_recoveries_total{{{OF_X},level="group",cause="lost"}}': 1,
    f'kohort_recovery_seconds_count{{{OF_KIND},namespace="default",level="group"}}': 1,
    f"kohort_plan_seconds_count{{{OF_KIND}}}": 5,
    f'kohort_plan_actions_total{{{OF_KIND},action="create"}}': 2,
    f"kohort_plans_empty_total{{{OF_KIND}}}": 1,
    'kohort_writes_total{verb="create",result="Done"}': 2,
    'kohort_watch_restarts_total{resource="pods"}': 1,
    'kohort_cache_age_seconds{resource="pods"}': 0,
    'workqueue_depth{name="LeaderWorkerSet"}': 0,
    'workqueue_adds_total{name="LeaderWorkerSet"}': 5,
    'workqueue_unfinished_work_seconds{name="LeaderWorkerSet"}': 0,
    "process_cpu_seconds_total": 0.01,
    "process_start_time_seconds": 1,
    "process_open_fds": 1,
    "process_max_fds": 1,
    "process_resident_memory_bytes": 1,
    "process_virtual_memory_bytes": 1,
    "kohort_build_info": 1,
}
# The list of the design, family by family; workqueue and process stand for all of their names.
FAMILIES = (
    *("kohort_units", "kohort_units_desired", "kohort_blocked_seconds"),
    *("kohort_rollout_progress_ratio", "kohort_rollout_duration_seconds", "kohort_start_seconds"),
    *("kohort_recoveries_total", "kohort_recovery_seconds", "kohort_plan_seconds"),
    *("kohort_plan_actions_total", "kohort_plans_empty_total", "kohort_writes_total"),
    *("kohort_watch_restarts_total", "kohort_cache_age_seconds", "kohort_build_info"),
    *("workqueue_depth", "workqueue_adds_total", "process_cpu_seconds_total"),
    *("process_resident_memory_bytes", "process_open_fds"),
)


class BreakingCluster(WritingCluster):
    """A cluster whose watch of pods can break once."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.must_break = asyncio.Event()

    async def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        async for event in super().watch(selection, version, initial=initial):
            yield event
            if selection.kind == POD and self.must_break.is_set():
                self.must_break.clear()
                raise Unavailable("the watch broke")


def make_lws(name: str, groups: int, **annotations: str) -> Object:
    template = {
        "metadata": {"annotations": annotations},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    groups_of = {"size": 2, "workerTemplate": template}
    groups_of["restartPolicy"] = "RecreateGroupOnPodRestart"
    return {
        "apiVersion": LWS.api_version,
        "kind": LWS.name,
        "metadata": {"name": name},
        "spec": {"replicas": groups, "leaderWorkerTemplate": groups_of},
    }


class Story:
    """What users see while it is told."""

    def __init__(self, embedded: Embedded, one: Running) -> None:
        self._embedded, self._one = embedded, one

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(SECONDS_MAX):
            while not is_so():
                if self._one.task.done():
                    self._one.task.result()
                await asyncio.sleep(0.01)

    def find(self, name: str) -> Object:
        found = self._embedded.api.store.find(LWS.group_resource, ("default", name))
        return found.decode() if found is not None else {}

    def is_whole(self, generation: int = 1) -> bool:
        status = self.find("x").get("status", {})
        counts = (status.get("readyReplicas"), status.get("updatedReplicas"))
        available = find_condition(self.find("x"), "Available") or {}
        told = available.get("observedGeneration", generation)
        return counts == (2, 2) and available.get("status") == "True" and told >= generation

    def is_pod(self, name: str, uid: str) -> bool:
        found = self._embedded.api.store.find("pods", ("default", name))
        return found is not None and found.decode()["metadata"]["uid"] == uid

    async def read(self) -> dict[str, float]:
        text = (await self._one.read("/metrics"))[1]
        lines = (line for line in text.splitlines() if line and not line.startswith("#"))
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}

    async def read_until(self, series: str, least: float) -> dict[str, float]:
        async with asyncio.timeout(SECONDS_MAX):
            while (told := await self.read()).get(series, -1) < least:
                await asyncio.sleep(0.05)
        return told


@pytest.fixture
async def embedded() -> AsyncIterator[Embedded]:
    cluster = await Embedded.start(EmbeddedOptions(token="t", speed=100.0, nodes=2, apis=APIS))
    await install_definitions(InProcessCluster(cluster.api), APIS, InstallOptions())
    yield cluster
    await cluster.stop()


async def live_through(embedded: Embedded, one: Running) -> dict[str, float]:
    """Let it all happen; the series at the end."""
    story, cluster = Story(embedded, one), one.cluster
    await cluster.create(LWS, "default", make_lws("x", 2))
    await story.until(story.is_whole)
    root = story.find("x")
    template = root["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    template["spec"]["containers"][0]["image"] = "i:2"
    await cluster.update(Address(LWS, "default", "x"), root)
    rollouts = f'kohort_rollout_duration_seconds_count{{{OF_KIND},namespace="default"}}'
    await story.read_until(rollouts, 1)
    pod = await cluster.read(Address(POD, "default", "x-0-1"))
    cluster.must_break.set()
    await cluster.delete(Address(POD, "default", "x-0-1"))
    await story.until(lambda: not story.is_pod("x-0-1", pod["metadata"]["uid"]))
    recoveries = f'kohort_recovery_seconds_count{{{OF_KIND},namespace="default",level="group"}}'
    await story.read_until(recoveries, 1)
    await cluster.create(LWS, "default", make_lws("stuck", 1, **{PULL_ERROR: "no such tag"}))
    await story.read_until(f'kohort_blocked_seconds{{{OF_STUCK},reason="ImagePullBackOff"}}', 0)
    await story.until(story.is_whole)
    return await story.read_until('kohort_watch_restarts_total{resource="pods"}', 1)


async def test_each_promised_metric_has_a_value_after_a_story(embedded: Embedded):
    options = {"install": False, "metrics_address": "127.0.0.1:0", "cluster": BreakingCluster}
    async with running(embedded.api, "a", **options) as one:
        told = await live_through(embedded, one)
    # The version is a label, and a shard of the queue may have a name that says more.
    told = {
        re.sub(r'^(kohort_build_info)\{version="[^"]+"\}$', r"\1", k): v for k, v in told.items()
    }
    small = {name: told.get(name) for name, least in TOLD.items() if told.get(name, -1) < least}
    assert small == {}


def test_the_story_has_each_metric_of_the_list_and_the_page_describes_it():
    told = {re.sub(r"_(count|sum)$", "", name.partition("{")[0]) for name in TOLD}
    page = PAGE.read_text()
    for family in FAMILIES:
        assert family in told, family
        assert f"| `{family}` |" in page, family
