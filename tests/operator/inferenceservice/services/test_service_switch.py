"""A live service changes its strategy: at every moment one of both forms serves."""

import pytest
from service_lab import KIND, RBG, RUNNER, ServiceLab, kinds, runtime, service, start

from kohort.apis.inferenceservice import labels
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.apiserver.store.entries import ChangeType, Event
from kohort.cluster import kinds as builtin
from kohort.cluster.kinds import AUTOSCALER, DEPLOYMENT, SERVICE, SERVICE_ACCOUNT
from kohort.cluster.objects import Object, is_true, labels_of, name_of
from kohort.cluster.port import PatchType

RAW = "RawDeployment"


def list_endpoints(lab: ServiceLab, name: str) -> list[Object]:
    """Pods that are ready and that the Service selects."""
    found = lab.find(builtin.SERVICE, name)
    selector = (found or {}).get("spec", {}).get("selector") or {}
    return [
        pod
        for pod in lab.pods().values()
        if selector and selector.items() <= labels_of(pod).items()
        if is_true(pod, "Ready") and not pod["metadata"].get("deletionTimestamp")
    ]


def count_endpoints(lab: ServiceLab, name: str) -> int:
    return len(list_endpoints(lab, name))


def forms(lab: ServiceLab) -> tuple[list[str], list[str]]:
    deployments = [name_of(each) for each in lab.all(DEPLOYMENT)]
    return sorted(deployments), [name_of(each) for each in lab.all(kinds.ROLE_BASED_GROUP)]


async def switch(lab: ServiceLab, mode: str, claim) -> int:
    """Ask for a strategy, and give the fewest endpoints that the external Service ever had."""
    await lab.annotate(labels.DEPLOYMENT_MODE, mode)
    least = 99
    for _ in range(600):
        await lab.run(0.2)
        least = min(least, count_endpoints(lab, "chat"))
        if claim() and lab.is_ready():
            return least
    raise AssertionError(f"never switched: {forms(lab)}")


@pytest.mark.parametrize("parts", [("engine",), ("engine", "decoder", "router")])
async def test_there_and_back_without_a_moment_of_silence(lab: ServiceLab, parts):
    await start(lab, service(*parts, mode=RAW))
    names = sorted(f"chat-{part}" for part in parts)
    assert forms(lab) == (names, [])
    least = await switch(lab, RBG, lambda: forms(lab) == ([], ["chat"]))
    assert least >= 1
    least = await switch(lab, RAW, lambda: forms(lab) == (names, []))
    assert least >= 1
    await lab.run(5)
    events = [e for e in lab.all(builtin.EVENT) if e["involvedObject"]["kind"] == KIND.name]
    assert [e["message"] for e in events if e["type"] == "Warning"] == []
    assert any("its form changes: RoleBasedGroup chat stays" in e["message"] for e in events)


async def test_the_old_form_stays_while_the_new_one_cannot_start(lab: ServiceLab):
    await start(lab, service("engine", mode=RAW))
    await lab.cordon()
    await lab.annotate(labels.DEPLOYMENT_MODE, RBG)
    await lab.run(120)
    assert forms(lab) == (["chat-engine"], ["chat"])
    assert count_endpoints(lab, "chat") == 1
    waits = lab.condition("Switching")
    assert "Deployment chat-engine stays until engine is ready" in waits["message"]


PAIR = ["chat-engine", "chat-router"]
ENDS = {RAW: (PAIR, []), RBG: ([], ["chat"])}


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "other"), [(RAW, RBG), (RBG, RAW)], ids=["group", "apart"])
async def test_an_operator_that_ends_after_any_write_leaves_one_serving(
    lab: ServiceLab, mode: str, other: str
):
    """It ends after its first write of a switch, in the next switch after two, and so on."""
    await start(lab, service("engine", "router", mode=mode))
    wanted, writes, died = other, 0, True
    while died:
        writes += 1
        died, least = False, 99
        lab.cluster.left = writes
        await lab.annotate(labels.DEPLOYMENT_MODE, wanted)
        for _ in range(400):
            await lab.run(0.3)
            least = min(least, count_endpoints(lab, "chat"))
            if lab.cluster.is_dead:
                died = True
                await lab.stop_operator()
                lab.start_operator()
            if forms(lab) == ENDS[wanted] and lab.is_ready():
                break
        assert (forms(lab), least >= 1) == (ENDS[wanted], True), (writes, wanted)
        await lab.run(5)
        wanted = {RAW: RBG, RBG: RAW}[wanted]
    assert writes > 15


async def test_a_router_that_is_added_gets_traffic_when_it_is_ready(lab: ServiceLab):
    await start(lab, service("engine"))
    await lab.set_field("/spec/router", {"minReplicas": 1})
    least = 99
    for _ in range(200):
        await lab.run(0.2)
        least = min(least, count_endpoints(lab, "chat"))
    assert lab.is_ready() and least >= 1
    selector = lab.find(builtin.SERVICE, "chat")["spec"]["selector"]
    assert selector[labels.COMPONENT] == "router"


async def test_what_the_old_form_needs_stays_with_it(lab: ServiceLab):
    await start(lab, service("engine", "router", mode=RAW))
    await lab.cordon()
    notes = f"/metadata/annotations/{labels.DEPLOYMENT_MODE.replace('/', '~1')}"
    change = (
        {"op": "replace", "path": notes, "value": RBG},
        {"op": "remove", "path": "/spec/router"},
    )
    await lab.edit("chat", *change, kind=KIND)
    await lab.run(60)
    assert count_endpoints(lab, "chat") == 1
    for kind in (kinds.ROLE, kinds.ROLE_BINDING, SERVICE_ACCOUNT, SERVICE):
        assert lab.find(kind, "chat-router") is not None


async def test_the_new_form_begins_with_the_units_of_the_old_one(lab: ServiceLab):
    await start(lab, service("engine", mode=RAW))
    target = lab.api.target(DEPLOYMENT, lab.namespace, "chat-engine", "scale")
    body = {"spec": {"replicas": 3}}
    await lab.api.patch(target, PatchBody(PatchType.MERGE, body), WriteOptions(manager="hpa"))
    await lab.until(lambda: count_endpoints(lab, "chat") == 3)
    least = await switch(lab, RBG, lambda: forms(lab) == ([], ["chat"]))
    assert least >= 3
    (role,) = lab.find(kinds.ROLE_BASED_GROUP, "chat")["spec"]["roles"]
    assert role["replicas"] == 3


async def edit_runtime(lab: ServiceLab, image: str) -> None:
    target = lab.api.target(kinds.CLUSTER_SERVING_RUNTIME, "", "srt")
    body = PatchBody(PatchType.MERGE, {"spec": runtime(image=image)["spec"]})
    await lab.api.patch(target, body, WriteOptions(manager="admin"))


@pytest.mark.parametrize(("mode", "other"), [(RAW, RBG), (RBG, RAW)])
async def test_a_runtime_that_changes_meanwhile_keeps_the_old_form_no_longer(
    lab: ServiceLab, mode: str, other: str
):
    await start(lab, service("engine", "router", mode=mode))
    await lab.annotate(labels.DEPLOYMENT_MODE, other)
    await lab.run(1)
    await edit_runtime(lab, "engine:2")
    names = ["chat-engine", "chat-router"]
    wanted = ([], ["chat"]) if other == RBG else (names, [])
    least = 99
    for _ in range(300):
        await lab.run(0.2)
        least = min(least, count_endpoints(lab, "chat"))
    assert forms(lab) == wanted and least >= 1
    assert lab.is_ready() and lab.condition("UpdateHeld")
    images = {pod["spec"]["containers"][0]["image"] for pod in lab.pods("engine").values()}
    assert images == {"engine:1"}


@pytest.mark.parametrize("mode", [RAW, RBG])
async def test_a_key_that_a_client_adds_to_a_selector_is_taken_away(lab: ServiceLab, mode: str):
    await start(lab, service("engine", mode=mode))
    for name in ("chat", "chat-engine"):
        target = lab.api.target(builtin.SERVICE, lab.namespace, name)
        body = {"spec": {"selector": {"tier": "other"}}}
        await lab.api.patch(
            target, PatchBody(PatchType.MERGE, body), WriteOptions(manager="kubectl")
        )
    await lab.run(5)
    assert [count_endpoints(lab, name) for name in ("chat", "chat-engine")] == [1, 1]
    before = dict(lab.cluster.tried)
    await lab.run(120)
    assert dict(lab.cluster.tried) == before


async def test_workloads_go_after_what_stood_around_them_where_the_new_form_keeps_its_spec(
    lab: ServiceLab,
):
    """What stands around a workload that keeps its spec stays, too, once no other form is left."""
    await start(lab, service("engine", "router", mode=RAW))
    gone: list[tuple[str, str]] = []

    def note(event: Event) -> None:
        if event.change is ChangeType.DELETED:
            gone.append((event.entry.decode()["kind"], event.entry.key[1]))

    for kind in (DEPLOYMENT, AUTOSCALER):
        lab.api.store.subscribe(lab.api.registry.of(kind).bucket, note)
    notes = f"/metadata/annotations/{labels.DEPLOYMENT_MODE.replace('/', '~1')}"
    change = (
        {"op": "replace", "path": notes, "value": RBG},
        {"op": "remove", "path": "/spec/router"},
    )
    await lab.edit("chat", *change, kind=KIND)
    await lab.run(1)
    await edit_runtime(lab, "engine:2")
    await lab.until(lambda: len(gone) == 3, 120)
    assert gone[0] == ("HorizontalPodAutoscaler", "chat-router")
    assert {kind for kind, _ in gone[1:]} == {"Deployment"}


@pytest.mark.parametrize("mode", [RAW, RBG])
async def test_the_access_of_a_removed_router_goes_where_the_new_form_keeps_its_spec(
    lab: ServiceLab, mode: str
):
    await start(lab, service("engine", "router", mode=mode))
    notes = f"/metadata/annotations/{labels.DEPLOYMENT_MODE.replace('/', '~1')}"
    change = (
        {"op": "replace", "path": notes, "value": RBG if mode == RAW else RAW},
        {"op": "remove", "path": "/spec/router"},
    )
    await lab.edit("chat", *change, kind=KIND)
    await lab.run(1)
    await edit_runtime(lab, "engine:2")
    around = (kinds.ROLE, kinds.ROLE_BINDING, SERVICE_ACCOUNT, SERVICE, AUTOSCALER)
    await lab.until(lambda: not any(lab.find(kind, "chat-router") for kind in around), 120)
    assert lab.condition("UpdateHeld")
    assert forms(lab) == ((["chat-engine"], []) if mode == RBG else ([], ["chat"]))


@pytest.mark.parametrize("mode", [RAW, RBG])
async def test_workers_of_several_nodes_get_no_requests_of_the_old_form(lab: ServiceLab, mode: str):
    await start(lab, service("engine", mode=mode))
    worker = {"size": 1, "runner": RUNNER}
    several = {"minReplicas": 1, "leader": {"runner": RUNNER}, "worker": worker}
    notes = f"/metadata/annotations/{labels.DEPLOYMENT_MODE.replace('/', '~1')}"
    change = (
        {"op": "replace", "path": notes, "value": "MultiNode"},
        {"op": "replace", "path": "/spec/engine", "value": several},
    )
    await lab.edit("chat", *change, kind=KIND)
    least, strays = 99, []
    for _ in range(400):
        await lab.run(0.2)
        for name in ("chat", "chat-engine"):
            least = min(least, count_endpoints(lab, name))
            strays += [pod for pod in list_endpoints(lab, name) if labels.APP not in labels_of(pod)]
        if forms(lab) == ([], []) and lab.is_ready():
            break
    assert forms(lab) == ([], []) and len(lab.all(kinds.LEADER_WORKER_SET)) == 1
    assert (least, strays) == (1, [])
