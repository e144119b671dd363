"""Other modes and other failures: many machines, foreign objects, crashes."""

from service_lab import KIND, RBG, RUNNER, ServiceLab, kinds, model, runtime, service, start

from kohort.apis.inferenceservice import labels
from kohort.apiserver.api.requests import DeleteOptions
from kohort.cluster import kinds as builtin
from kohort.cluster.kinds import AUTOSCALER, DEPLOYMENT
from kohort.cluster.objects import name_of

PORT = {"port": 80}
GANG = {
    "leader": {"runner": RUNNER},
    "worker": {"size": 1, "runner": RUNNER},
}


async def test_many_machines_become_a_leader_worker_set(lab: ServiceLab):
    await lab.stock(model(), runtime(engineConfig=GANG))
    await lab.apply(service("engine", mode="MultiNode"))
    await lab.until(lab.is_ready, 120)
    assert [name_of(each) for each in lab.all(kinds.LEADER_WORKER_SET)] == ["lws-chat-engine"]
    assert len(lab.pods("engine")) == 2


async def test_many_machines_become_a_role_with_a_leader(lab: ServiceLab):
    await lab.stock(model(), runtime(engineConfig=GANG))
    await lab.apply(service("engine", mode=RBG))
    await lab.until(lab.is_ready, 120)
    assert sorted(lab.pods("engine")) == ["chat-engine-0-0", "chat-engine-0-1"]


async def test_a_foreign_deployment_of_the_name_is_never_touched(lab: ServiceLab):
    await lab.stock()
    marks = {"app": "other"}
    pod = {"containers": [{"name": "c", "image": "i"}]}
    template = {"metadata": {"labels": marks}, "spec": pod}
    foreign = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "chat-engine"},
        "spec": {"selector": {"matchLabels": marks}, "template": template},
    }
    await lab.apply(foreign)
    await lab.run(5)
    before = lab.find(DEPLOYMENT, "chat-engine")
    await lab.apply(service())
    await lab.run(30)
    after = lab.find(DEPLOYMENT, "chat-engine")
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["spec"] == before["spec"]
    stalled = lab.condition("Stalled")
    assert "Deployment chat-engine exists and lacks our labels" in stalled["message"]


async def test_a_name_is_taken_when_a_foreign_object_has_gone(lab: ServiceLab):
    await lab.stock()
    held = {"name": "chat-engine", "finalizers": ["example.com/wait"]}
    foreign = {"apiVersion": "v1", "kind": "Service", "metadata": held, "spec": {"ports": [PORT]}}
    await lab.apply(foreign)
    await lab.delete(builtin.SERVICE, "chat-engine")
    await lab.apply(service())
    await lab.run(20)
    assert "selector" not in lab.find(builtin.SERVICE, "chat-engine")["spec"]
    path = "/metadata/finalizers"
    await lab.edit("chat-engine", {"op": "remove", "path": path}, kind=builtin.SERVICE)
    await lab.until(
        lambda: "selector" in (lab.find(builtin.SERVICE, "chat-engine") or {"spec": {}})["spec"]
    )


async def test_a_component_that_is_taken_away_goes(lab: ServiceLab):
    await start(lab, service("engine", "router"))
    await lab.edit("chat", {"op": "remove", "path": "/spec/router"}, kind=KIND)
    await lab.until(lambda: lab.is_ready() and not lab.pods("router"))
    assert lab.find(builtin.SERVICE, "chat-router") is None


async def test_a_finalizer_of_the_former_controller_holds_nothing_up(lab: ServiceLab):
    await start(lab)
    await lab.set_field("/metadata/finalizers", [labels.FINALIZER])
    # What it names may go before it, as with its namespace.
    await lab.api.delete(lab.api.target(kinds.CLUSTER_BASE_MODEL, "", "llama"), DeleteOptions())
    await lab.run(5)
    await lab.delete(KIND, "chat")
    await lab.until(lambda: lab.find(KIND, "chat") is None and not lab.pods())


async def test_a_service_that_becomes_virtual_keeps_no_workload(lab: ServiceLab):
    await start(lab, service("engine", "router"))
    await lab.annotate(labels.DEPLOYMENT_MODE, "VirtualDeployment")
    await lab.until(lambda: not lab.pods(), 60)
    assert not lab.all(DEPLOYMENT) and not lab.all(AUTOSCALER)
    assert lab.condition()["reason"] == "VirtualDeployment"


async def test_a_raised_minimum_of_groups_is_obeyed(lab: ServiceLab):
    await lab.stock(model(), runtime(engineConfig=GANG))
    await lab.apply(service("engine", mode="MultiNode"))
    await lab.until(lab.is_ready, 120)
    await lab.set_field("/spec/engine/minReplicas", 2)
    await lab.until(lambda: lab.is_ready() and len(lab.pods("engine")) == 4, 120)
