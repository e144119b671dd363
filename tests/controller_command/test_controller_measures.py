"""What the controller tells of workloads: numbers while they live, lines when it acts."""

from collections.abc import AsyncIterator

import pytest
from process_world import Running, running, until

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.served import APIS
from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster.objects import Object, find_condition
from kohort.cluster.port import Address
from kohort.controller.install import InstallOptions, install_definitions
from kohort.simulator.embedded import Embedded, EmbeddedOptions
from kohort.simulator.stages import PULL_ERROR

LWS = LEADER_WORKER_SET.kind
LABELS = 'kind="LeaderWorkerSet",namespace="default",name="x"'


def make_lws(image: str = "i") -> Object:
    template = {"spec": {"containers": [{"name": "c", "image": image}]}}
    return {
        "apiVersion": LWS.api_version,
        "kind": LWS.name,
        "metadata": {"name": "x"},
        "spec": {"replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": template}},
    }


@pytest.fixture
async def embedded() -> AsyncIterator[Embedded]:
    cluster = await Embedded.start(EmbeddedOptions(token="t", speed=100.0, nodes=2, apis=APIS))
    await install_definitions(InProcessCluster(cluster.api), APIS, InstallOptions())
    yield cluster
    await cluster.stop()


async def read_metrics(one: Running) -> str:
    return (await one.read("/metrics"))[1]


def is_ready(embedded: Embedded) -> bool:
    found = embedded.api.store.find(LWS.group_resource, ("default", "x"))
    return found is not None and found.decode().get("status", {}).get("readyReplicas") == 2


async def test_units_are_counted_while_a_workload_lives_and_forgotten_with_it(embedded):
    options = {"install": False, "metrics_address": "127.0.0.1:0"}
    async with running(embedded.api, "a", **options) as one:
        await one.cluster.create(LWS, "default", make_lws())
        await until(lambda: is_ready(embedded), one.task)
        text = await read_metrics(one)
        assert f'kohort_units{{{LABELS},level="group",phase="ready"}} 2' in text
        assert f'kohort_units{{{LABELS},level="member",phase="ready"}} 4' in text
        assert f'kohort_units_desired{{{LABELS},level="group"}} 2' in text
        assert 'kohort_plan_actions_total{kind="LeaderWorkerSet",action="create"}' in text
        await one.cluster.delete(Address(LWS, "default", "x"))
        controller = one.operator.controllers[0]
        await until(lambda: controller.roots.find(("default", "x")) is None, one.task)
        assert LABELS not in await read_metrics(one)


async def test_what_needs_help_is_measured_with_the_reason_of_the_condition(embedded):
    options = {"install": False, "metrics_address": "127.0.0.1:0"}
    async with running(embedded.api, "a", **options) as one:
        body = make_lws()
        template = body["spec"]["leaderWorkerTemplate"]["workerTemplate"]
        template["metadata"] = {"annotations": {PULL_ERROR: "manifest unknown"}}
        await one.cluster.create(LWS, "default", body)
        await until(lambda: find_blocked(embedded).get("status") == "True", one.task)
        reason = find_blocked(embedded)["reason"]
        controller = one.operator.controllers[0]
        await until(lambda: controller.queue.depth == 0, one.task)
        lines = (await read_metrics(one)).splitlines()
        told = [line for line in lines if line.startswith("kohort_blocked_seconds{")]
        assert len(told) == 1
        assert f'{LABELS},reason="{reason}"' in told[0]


def find_blocked(embedded: Embedded) -> Object:
    found = embedded.api.store.find(LWS.group_resource, ("default", "x"))
    return (find_condition(found.decode(), "Blocked") if found else None) or {}


async def test_what_plans_wait_for_is_told_with_its_reason(embedded):
    options = {"install": False, "metrics_address": "127.0.0.1:0"}
    async with running(embedded.api, "a", **options) as one:
        body = make_lws()
        body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["nodeSelector"] = {"no": "x"}
        await one.cluster.create(LWS, "default", body)
        await until(lambda: one.operator is not None, one.task)
        pods = embedded.api.store.bucket("pods").entries
        await until(lambda: len(pods) == 4, one.task)
        await until(lambda: one.operator.controllers[0].queue.depth == 0, one.task)
        assert f"kohort_waiting_seconds{{{LABELS},reason=" in await read_metrics(one)


async def test_a_plan_that_acts_is_one_line_and_rest_is_silent(embedded, caplog):
    caplog.set_level("INFO", "kohort")
    async with running(embedded.api, "a", install=False) as one:
        await one.cluster.create(LWS, "default", make_lws())
        await until(lambda: is_ready(embedded), one.task)
        plans = [record.facts for record in caplog.records if record.getMessage() == "plan"]
        assert plans[0]["kind"] == "LeaderWorkerSet"
        assert (plans[0]["namespace"], plans[0]["name"]) == ("default", "x")
        assert all(facts["actions"] for facts in plans)
        assert sum(facts.get("create", 0) for facts in plans) >= 4
