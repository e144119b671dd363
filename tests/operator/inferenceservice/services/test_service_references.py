"""What services name: missing, edited, coming later; and nothing that serves restarts for it."""

import pytest
from races import act_before_patch
from service_lab import KIND, RBG, RUNNER, ServiceLab, kinds, model, runtime, service, start

from kohort.apis.inferenceservice import labels
from kohort.apis.inferenceservice.api import INFERENCE_SERVICE
from kohort.apis.inferenceservice.report import UPDATE_HELD
from kohort.apiserver.api.requests import DeleteOptions, PatchBody, WriteOptions
from kohort.cluster import kinds as builtin
from kohort.cluster.kinds import AUTOSCALER, DEPLOYMENT, SERVICE
from kohort.cluster.objects import annotations_of
from kohort.cluster.port import PatchType

RUNTIMES = kinds.CLUSTER_SERVING_RUNTIME
RUNNER_PATH = "/spec/engineConfig/runner"


async def set_runtime_image(lab: ServiceLab, image: str) -> None:
    await edit_runtime(lab, [{"op": "replace", "path": f"{RUNNER_PATH}/image", "value": image}])


async def scale(lab: ServiceLab, count: int) -> None:
    target = lab.api.target(DEPLOYMENT, lab.namespace, "chat-engine", "scale")
    body = {"spec": {"replicas": count}}
    await lab.api.patch(target, PatchBody(PatchType.MERGE, body), WriteOptions(manager="hpa"))


async def edit_runtime(lab: ServiceLab, change: list) -> None:
    target = lab.api.target(RUNTIMES, "", "srt")
    await lab.api.patch(target, PatchBody(PatchType.JSON, change), WriteOptions(manager="admin"))


def images(lab: ServiceLab) -> set[str]:
    return {pod["spec"]["containers"][0]["image"] for pod in lab.pods("engine").values()}


class TestMissing:
    async def test_a_missing_model_is_said_at_once_and_mended_by_its_coming(self, lab: ServiceLab):
        await lab.stock(runtime())
        lab.remove_webhooks()
        await lab.apply(service())
        await lab.run(2)
        ready, status = lab.condition(), lab.service()["status"]
        assert (ready["status"], ready["reason"]) == ("False", "ModelReconcileError")
        assert "there is no BaseModel llama" in ready["message"]
        assert status["modelStatus"]["lastFailureInfo"]["reason"] == "BaseModelNotFound"
        assert status["modelStatus"]["transitionStatus"] == "InvalidSpec"
        await lab.apply(model())
        await lab.until(lab.is_ready)
        assert "lastFailureInfo" not in lab.service()["status"]["modelStatus"]

    async def test_a_runtime_that_comes_later_is_found(self, lab: ServiceLab):
        await lab.stock(model())
        lab.remove_webhooks()
        await lab.apply(service())
        await lab.run(2)
        assert lab.condition()["reason"] == "RuntimeSelectionError"
        await lab.apply(runtime())
        await lab.until(lab.is_ready)

    async def test_what_serves_stays_when_its_model_goes(self, lab: ServiceLab):
        await start(lab)
        before = lab.uids()
        target = lab.api.target(kinds.CLUSTER_BASE_MODEL, "", "llama")
        await lab.api.delete(target, DeleteOptions())
        await lab.run(30)
        assert lab.uids() == before
        assert lab.condition()["reason"] == "ModelReconcileError"


class TestEdits:
    @pytest.mark.parametrize("mode", ["", RBG])
    async def test_an_edited_runtime_restarts_nothing_that_serves(self, lab: ServiceLab, mode: str):
        await start(lab, service("engine", mode=mode))
        before = lab.uids()
        await set_runtime_image(lab, "engine:2")
        await lab.run(60)
        assert lab.uids() == before and images(lab) == {"engine:1"}
        held = lab.condition(UPDATE_HELD)
        assert held["status"] == "True" and labels.AUTO_UPDATE in held["message"]

    @pytest.mark.parametrize("mode", ["", RBG])
    async def test_a_service_gets_its_selector_back_while_an_update_is_held(
        self, lab: ServiceLab, mode: str
    ):
        await start(lab, service("engine", mode=mode))
        before = lab.find(SERVICE, "chat")
        await set_runtime_image(lab, "engine:2")
        await lab.run(5)
        assert lab.condition(UPDATE_HELD)["status"] == "True"
        body = {"spec": {"selector": {"app": "other"}}}
        target = lab.api.target(SERVICE, lab.namespace, "chat")
        await lab.api.patch(
            target, PatchBody(PatchType.MERGE, body), WriteOptions(manager="kubectl")
        )
        await lab.run(5)
        assert lab.find(SERVICE, "chat")["spec"]["selector"] == before["spec"]["selector"]
        assert images(lab) != {"engine:2"}

    async def test_what_stands_around_a_held_workload_stays_as_it_is(self, lab: ServiceLab):
        await start(lab)
        ports = [
            {"op": "replace", "path": f"{RUNNER_PATH}/ports", "value": [{"containerPort": 9000}]}
        ]
        await edit_runtime(lab, ports)
        await lab.run(30)
        for name in ("chat", "chat-engine"):
            (port,) = lab.find(SERVICE, name)["spec"]["ports"]
            assert port["targetPort"] == 8080

    async def test_a_pod_that_dies_lets_no_edit_pass(self, lab: ServiceLab):
        await start(lab)
        await scale(lab, 2)
        await lab.until(lambda: len(lab.pods("engine")) == 2 and lab.is_ready())
        await set_runtime_image(lab, "engine:2")
        await lab.run(5)
        await lab.delete(builtin.POD, sorted(lab.pods("engine"))[0])
        await scale(lab, 3)
        await lab.run(60)
        assert images(lab) == {"engine:1"} and len(lab.pods("engine")) == 3

    async def test_an_edit_that_would_change_the_form_changes_nothing(self, lab: ServiceLab):
        await start(lab)
        before = lab.uids()
        gang = {"leader": {"runner": RUNNER}, "worker": {"size": 1, "runner": RUNNER}}
        path = "/spec/engineConfig"
        await edit_runtime(lab, [{"op": "replace", "path": path, "value": gang}])
        await lab.run(60)
        assert lab.uids() == before and not lab.all(kinds.LEADER_WORKER_SET)
        assert lab.find(AUTOSCALER, "chat-engine") is not None
        assert lab.is_ready() and lab.condition(UPDATE_HELD)["status"] == "True"
        await lab.annotate(labels.AUTO_UPDATE, "true")
        await lab.until(lambda: bool(lab.all(kinds.LEADER_WORKER_SET)))

    async def test_the_users_word_lets_it_follow(self, lab: ServiceLab):
        await start(lab)
        await set_runtime_image(lab, "engine:2")
        await lab.run(5)
        await lab.annotate(labels.AUTO_UPDATE, "true")
        await lab.until(lambda: images(lab) == {"engine:2"} and lab.is_ready())
        assert not lab.condition(UPDATE_HELD)

    async def test_an_edit_of_the_service_takes_the_runtime_of_now(self, lab: ServiceLab):
        await start(lab)
        await set_runtime_image(lab, "engine:2")
        await lab.run(5)
        await lab.set_field("/spec/engine/runner", {"env": [{"name": "A", "value": "1"}]})
        await lab.until(lambda: images(lab) == {"engine:2"} and lab.is_ready())

    async def test_a_service_that_does_not_serve_follows_at_once(self, lab: ServiceLab):
        await lab.stock()
        await lab.cordon()
        await lab.apply(service())
        await lab.run(20)
        await set_runtime_image(lab, "engine:2")
        await lab.until(lambda: "engine:2" in images(lab))

    async def test_edits_are_held_over_a_restart_of_the_operator(self, lab: ServiceLab):
        await start(lab)
        before = lab.uids()
        await set_runtime_image(lab, "engine:2")
        await lab.stop_operator()
        lab.start_operator()
        await lab.run(30)
        assert lab.uids() == before
        (deployment,) = lab.all(DEPLOYMENT)
        assert labels.RENDERED_FROM in annotations_of(deployment)


class TestConditions:
    """The definition has no observedGeneration in conditions, so the API server drops ours."""

    async def test_a_stalled_service_is_told_once_however_often_it_is_looked_at(
        self, lab: ServiceLab
    ):
        await start(lab, service("engine", "router", mode=RBG))
        lab.remove_webhooks()
        await lab.annotate(labels.COORDINATION_RATIO, "engine=0")
        await lab.run(5)
        assert lab.condition("Stalled")["status"] == "True"
        await look_again(lab)

    async def test_a_blocked_service_is_told_once_however_often_it_is_looked_at(
        self, lab: ServiceLab
    ):
        await lab.stock()
        await lab.cordon()
        await lab.apply(service())
        await lab.run(120)
        assert lab.condition("Blocked")["status"] == "True"
        await look_again(lab)


async def look_again(lab: ServiceLab) -> None:
    """Wake the operator by an edit that matters to no service, and see that it writes nothing."""
    before = dict(lab.cluster.tried)
    for number in range(3):
        note = [{"op": "add", "path": "/metadata/annotations", "value": {"look": str(number)}}]
        await edit_runtime(lab, note)
        await lab.run(5)
    assert dict(lab.cluster.tried) == before


class TestScale:
    async def test_a_number_that_an_autoscaler_set_stays(self, lab: ServiceLab):
        await start(lab)
        await scale(lab, 3)
        await lab.until(lambda: len(lab.pods("engine")) == 3)
        await lab.set_field("/spec/engine/runner", {"env": [{"name": "A", "value": "1"}]})
        await lab.until(lab.is_ready)
        await lab.run(30)
        assert lab.find(DEPLOYMENT, "chat-engine")["spec"]["replicas"] == 3

    async def test_a_number_that_an_autoscaler_sets_under_a_write_stays(self, lab: ServiceLab):
        await start(lab)
        patches = act_before_patch(lab.cluster, DEPLOYMENT, lambda: scale(lab, 3))
        await lab.set_field("/spec/engine/runner", {"env": [{"name": "A", "value": "1"}]})
        await lab.run(30)
        assert len(patches) == 2
        assert lab.find(DEPLOYMENT, "chat-engine")["spec"]["replicas"] == 3

    async def test_a_variable_that_is_taken_away_goes(self, lab: ServiceLab):
        await start(lab)
        await lab.set_field("/spec/engine/runner", {"env": [{"name": "A", "value": "1"}]})
        await lab.run(30)
        await lab.edit("chat", {"op": "remove", "path": "/spec/engine/runner"}, kind=KIND)
        await lab.run(30)
        template = lab.find(DEPLOYMENT, "chat-engine")["spec"]["template"]
        names = [e["name"] for e in template["spec"]["containers"][0].get("env", ())]
        assert "A" not in names


class TestDecisions:
    async def test_strategies_and_runtimes_that_are_passed_over_are_named(self, lab: ServiceLab):
        await lab.stock(model(), runtime(), runtime("none", supportedModelFormats=[]))
        await lab.apply(service("engine", mode=RBG))
        await lab.until(lab.is_ready)
        told = "\n".join(explain(lab))
        assert "workload strategy RBG is used: the first that is for the service" in told
        assert "workload strategy SingleComponent is not used: RBG comes before it" in told
        assert "ClusterServingRuntime srt is used" in told
        assert "passed over: ClusterServingRuntime none" in told

    async def test_what_has_no_effect_is_named(self, lab: ServiceLab):
        await start(lab)
        await lab.annotate(labels.DEPLOYMENT_MODE, "RolebasedGroup")
        await lab.set_field("/spec/engine/canaryTrafficPercent", 5)
        await lab.run(5)
        told = "\n".join(explain(lab))
        assert "warning: annotation ome.io/deploymentMode RolebasedGroup names no" in told
        assert "warning: spec.engine.canaryTrafficPercent has no effect" in told

    @pytest.mark.parametrize("mode", ["", "MultiNode", RBG])
    async def test_layers_at_rest_are_not_quoted(self, lab: ServiceLab, mode: str):
        parts = {"leader": {"runner": RUNNER}, "worker": {"size": 1, "runner": RUNNER}}
        spec = {"engineConfig": parts} if mode == "MultiNode" else {}
        await lab.stock(model(), runtime(**spec))
        await lab.apply(service("engine", mode=mode))
        await lab.until(lab.is_ready, 120)
        await lab.run(5)
        assert not [line for line in explain(lab) if " says " in line]

    async def test_the_layer_that_waits_is_quoted(self, lab: ServiceLab):
        await lab.stock()
        await lab.cordon()
        await lab.apply(service("engine", mode=RBG))
        await lab.run(30)
        assert any("RoleBasedGroup chat says Ready=False" in line for line in explain(lab))


def explain(lab: ServiceLab) -> tuple[str, ...]:
    """What the operator decided about the service, as why shows it."""
    found = next(each for each in lab.operator.controllers if each.api.kind == KIND)
    root = found.roots.find((lab.namespace, "chat"))
    reading = INFERENCE_SERVICE.read(found.gather((lab.namespace, "chat"), root))
    return INFERENCE_SERVICE.list_decisions(reading)
