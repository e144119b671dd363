"""Strategies as a whole: selection, deployments of each shape, replicas, and compatibility."""

import pytest
import yaml
from isvc_builders import (
    INGRESS_OFF,
    OME,
    RUNNER,
    model,
    names_of,
    needs_shared,
    planned,
    rbg,
    runtime,
    service,
    shipped,
    shipped_models,
    shipped_runtimes,
)

from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.assembly import ServicePlan, plan_service
from kohort.apis.inferenceservice.models import BaseModel, Storage, VersionedName
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.resolution import ReferencedObjects
from kohort.apis.inferenceservice.spec import read_service
from kohort.apis.inferenceservice.status import write_status
from kohort.apis.inferenceservice.strategies.registry import load_manager
from kohort.cluster.kinds import AUTOSCALER, BUDGET, DEPLOYMENT, SERVICE

BOTH = (model(), runtime(decoderConfig={"runner": RUNNER}))


def test_without_an_annotation_components_are_deployed_apart():
    plan = planned(service())
    assert plan.workload.strategy == "SingleComponent"
    assert [(s.name, s.is_chosen) for s in plan.strategies] == [
        ("RBG", False),
        ("SingleComponent", True),
    ]


def test_with_the_annotation_they_are_one_group():
    assert planned(rbg()).workload.strategy == "RBG"


def test_modes_that_a_group_cannot_have_are_an_error():
    with pytest.raises(ServiceError) as error:
        planned(rbg(engine={"annotations": {"ome.io/deploymentMode": "Serverless"}}))
    assert error.value.reason == "InvalidDeploymentMode"


@pytest.mark.parametrize(
    ("parts", "roles"),
    [
        ({}, ["engine"]),
        ({"decoder": {}}, ["engine", "decoder"]),
        ({"router": {}}, ["engine", "router"]),
        ({"decoder": {}, "router": {}}, ["engine", "decoder", "router"]),
    ],
)
def test_a_group_has_the_roles_of_its_service(parts: dict, roles: list[str]):
    plan = planned(rbg(**parts), *BOTH)
    group = plan.find(kinds.ROLE_BASED_GROUP, "chat")
    assert [role["name"] for role in group["spec"]["roles"]] == roles
    for role in roles:
        for kind in (SERVICE, AUTOSCALER, BUDGET):
            assert plan.find(kind, f"chat-{role}") is not None
    assert (plan.find(kinds.ROLE, "chat-router") is not None) is ("router" in roles)


def test_replicas_are_the_users_first_and_the_autoscalers_then():
    made = planned(rbg(engine={"minReplicas": 2}))
    live = made.find(kinds.ROLE_BASED_GROUP, "chat")
    assert live["spec"]["roles"][0]["replicas"] == 2
    live["spec"]["roles"][0]["replicas"] = 7
    existing = {kinds.ROLE_BASED_GROUP: {"chat": live}}
    again = planned(rbg(engine={"minReplicas": 3, "maxReplicas": 9}), existing=existing)
    assert again.find(kinds.ROLE_BASED_GROUP, "chat")["spec"]["roles"][0]["replicas"] == 7
    scaler = again.find(AUTOSCALER, "chat-engine")["spec"]
    assert (scaler["minReplicas"], scaler["maxReplicas"]) == (3, 9)


def test_what_has_its_name_under_one_strategy_has_it_under_the_other():
    apart, group = planned(service(router={})), planned(rbg(router={}))
    shared = {name for name in names_of(apart) if not name.startswith("Deployment")}
    assert shared <= names_of(group)


def example(annotations: dict | None = None) -> ServicePlan:
    """The prefill and decode service that upstream ships, with the facts that its agent finds."""
    objects = yaml.safe_load_all((OME / "samples/isvc/deepseek-ai/deepseek-v3-pd.yaml").read_text())
    (obj,) = (each for each in objects if each and each["kind"] == "InferenceService")
    obj["metadata"] |= {"uid": "u", "annotations": annotations or {}}
    found = shipped_models()["deepseek-v3"]
    parsed = BaseModel(
        name=found.name,
        format=VersionedName("safetensors", "1.0.0"),
        framework=VersionedName("transformers", "4.33.1"),
        architecture="DeepseekV3ForCausalLM",
        quantization="fp8",
        parameter_size="685B",
        vendor=found.vendor,
        storage=found.storage,
    )
    known = ReferencedObjects((parsed,), shipped_runtimes())
    return plan_service(read_service(obj), known, INGRESS_OFF, load_manager())


APART = {
    "ConfigMap modelconfig-deepseek-v3",
    "LeaderWorkerSet lws-deepseek-v3-engine",
    "LeaderWorkerSet lws-deepseek-v3-decoder",
    "Service deepseek-v3-engine",
    "Service deepseek-v3-decoder",
    "ServiceAccount deepseek-v3-router",
    "Role deepseek-v3-router",
    "RoleBinding deepseek-v3-router",
    "Deployment deepseek-v3-router",
    "Service deepseek-v3-router",
    "HorizontalPodAutoscaler deepseek-v3-router",
    "PodDisruptionBudget deepseek-v3-router",
    "Service deepseek-v3",
}


@needs_shared
def test_the_worked_example_has_these_objects():
    plan = example({"ome.io/deploymentMode": "PDDisaggregated"})
    modes = plan.resolution.modes
    assert (modes.engine, modes.decoder) == ("MultiNode", "MultiNode")
    assert (modes.router, modes.ingress) == ("RawDeployment", "RawDeployment")
    assert names_of(plan) == APART


@needs_shared
@pytest.mark.parametrize("component", ["engine", "decoder"])
def test_the_worked_example_has_these_leaders_and_workers(component: str):
    plan = example()
    spec = plan.find(kinds.LEADER_WORKER_SET, f"lws-deepseek-v3-{component}")["spec"]
    group = spec["leaderWorkerTemplate"]
    assert (spec["replicas"], group["size"]) == (1, 2)
    for template in (group["leaderTemplate"], group["workerTemplate"]):
        pod = template["spec"]
        assert pod["nodeSelector"] == {"models.ome.io/clusterbasemodel.deepseek-v3": "Ready"}
        path = "/raid/models/deepseek-ai/deepseek-v3"
        assert pod["volumes"][-1] == {"name": "deepseek-v3", "hostPath": {"path": path}}
        env = pod["containers"][0]["env"]
        assert env[-2:] == [
            {"name": "MODEL_PATH", "value": path},
            {"name": "PARALLELISM_SIZE", "value": "16"},
        ]


@needs_shared
def test_the_worked_example_has_these_services_and_autoscaler():
    plan = example()
    for component in ("engine", "decoder"):
        ports = plan.find(SERVICE, f"deepseek-v3-{component}")["spec"]["ports"]
        assert [(p["name"], p["port"], p["targetPort"]) for p in ports] == [
            ("ome-container", 8080, 8080)
        ]
    router = plan.find(SERVICE, "deepseek-v3-router")["spec"]["ports"]
    assert [(p["name"], p["port"]) for p in router] == [("http", 8080)]
    external = plan.find(SERVICE, "deepseek-v3")["spec"]
    assert external["selector"] == {
        "ome.io/inferenceservice": "deepseek-v3",
        "component": "router",
    }
    assert external["ports"][0]["port"] == 8080
    scaler = plan.find(AUTOSCALER, "deepseek-v3-router")["spec"]
    assert (scaler["minReplicas"], scaler["maxReplicas"]) == (1, 1)
    target = {"type": "Utilization", "averageUtilization": 80}
    assert scaler["metrics"] == [
        {"type": "Resource", "resource": {"name": "cpu", "target": target}}
    ]
    budget = plan.find(BUDGET, "deepseek-v3-router")["spec"]
    assert budget["maxUnavailable"] == 1


@needs_shared
def test_the_worked_example_as_a_group():
    plan = example({"ome.io/deploymentMode": "RoleBasedGroup"})
    roles = plan.find(kinds.ROLE_BASED_GROUP, "deepseek-v3")["spec"]["roles"]
    assert [role["name"] for role in roles] == ["engine", "decoder", "router"]
    assert [role["leaderWorkerPattern"]["size"] for role in roles[:2]] == [2, 2]
    assert "standalonePattern" in roles[2]
    for role in ("engine", "decoder", "router"):
        target = plan.find(AUTOSCALER, f"deepseek-v3-{role}")["spec"]["scaleTargetRef"]
        assert target["kind"] == "RoleBasedGroupScalingAdapter"
        assert target["name"] == f"deepseek-v3-{role}"
    workloads = {"Deployment", "LeaderWorkerSet"}
    kept = {name for name in APART if name.split()[0] not in workloads}
    around = {"HorizontalPodAutoscaler", "PodDisruptionBudget"}
    more = {f"{kind} deepseek-v3-{part}" for kind in around for part in ("engine", "decoder")}
    assert names_of(plan) == {*kept, *more, "RoleBasedGroup deepseek-v3"}


@needs_shared
@pytest.mark.parametrize("component", ["engine", "decoder"])
def test_leaders_and_workers_of_the_worked_example_are_those_of_its_set(component: str):
    """But for variables that name what LeaderWorkerSet calls otherwise."""
    roles = example({"ome.io/deploymentMode": "RoleBasedGroup"}).find(
        kinds.ROLE_BASED_GROUP, "deepseek-v3"
    )["spec"]["roles"]
    pattern = next(r for r in roles if r["name"] == component)["leaderWorkerPattern"]
    group = example().find(kinds.LEADER_WORKER_SET, f"lws-deepseek-v3-{component}")["spec"]
    template = group["leaderWorkerTemplate"]
    for ours, theirs in (
        (pattern["template"]["spec"], template["leaderTemplate"]["spec"]),
        (pattern["workerTemplatePatch"]["spec"], template["workerTemplate"]["spec"]),
    ):
        (mine,), (other,) = ours["containers"], theirs["containers"]
        assert [entry["name"] for entry in mine["env"][:3]] == [
            "LWS_LEADER_ADDRESS",
            "LWS_GROUP_SIZE",
            "LWS_WORKER_INDEX",
        ]
        assert {**mine, "env": mine["env"][3:]} == other
        for field in ("nodeSelector", "tolerations", "hostNetwork", "volumes"):
            assert ours.get(field) == theirs.get(field), field


AVAILABLE = {"status": {"conditions": [{"type": "Available", "status": "True"}]}}
DONE = {"replicas": 1, "readyReplicas": 1, "updatedReplicas": 1}
ROLES = [{"name": name, **DONE} for name in ("engine", "decoder", "router")]
LIVE = {
    kinds.LEADER_WORKER_SET: {
        f"lws-deepseek-v3-{part}": AVAILABLE for part in ("engine", "decoder")
    },
    DEPLOYMENT: {"deepseek-v3-router": AVAILABLE},
    kinds.ROLE_BASED_GROUP: {
        "deepseek-v3": {
            "metadata": {"generation": 1},
            "status": {"observedGeneration": 1, "roleStatuses": ROLES},
        }
    },
}


@needs_shared
@pytest.mark.parametrize("mode", ["PDDisaggregated", "RoleBasedGroup"])
def test_the_worked_example_has_this_status(mode: str):
    """Decoder and router count as well here (D35), so their conditions have no severity."""
    status = write_status(example({"ome.io/deploymentMode": mode}), LIVE, (), "now")
    url = "http://deepseek-v3.deepseek-v3.svc.cluster.local:8080"
    assert (status["url"], status["address"]) == (url, {"url": url})
    told = [(c["type"], c["status"], c.get("reason", "")) for c in status["conditions"]]
    assert told == [
        ("DecoderReady", "True", ""),
        ("EngineReady", "True", ""),
        ("IngressReady", "True", "IngressDisabled"),
        ("Ready", "True", ""),
        ("RouterReady", "True", ""),
    ]
    assert all("severity" not in condition for condition in status["conditions"])


def stand_in(sample: dict) -> BaseModel:
    """A model of the name that a sample uses, with the facts that a shipped runtime serves."""
    spec = sample["spec"]
    wanted = (spec.get("runtime") or {}).get("name")
    chosen = [r for r in shipped_runtimes() if r.name == wanted]
    parts = {part for part in ("engine", "decoder", "router") if part in spec}
    automatic = [
        each
        for each in shipped_runtimes()
        if parts <= set(each.components) and any(form.auto_select for form in each.formats)
    ]
    pattern = (chosen or automatic)[0]
    form = next((f for f in pattern.formats if f.auto_select), pattern.formats[0])
    return BaseModel(
        name=spec["model"]["name"],
        format=VersionedName(form.format.name, form.format.version),
        framework=VersionedName(form.framework.name, form.framework.version),
        architecture=form.architecture,
        quantization=form.quantization,
        parameter_size=pattern.size_min or None,
        storage=Storage(path="/raid/models/stand-in"),
    )


@needs_shared
@pytest.mark.parametrize("mode", [None, "RoleBasedGroup"])
def test_every_sample_with_an_engine_is_rendered(mode: str | None):
    samples = [each for each in shipped("samples/isvc") if "engine" in each["spec"]]
    assert len(samples) == 146
    refused = []
    for sample in samples:
        notes = {"ome.io/deploymentMode": mode} if mode else {}
        metadata = {**sample["metadata"], "uid": "u", "annotations": notes}
        isvc = read_service({**sample, "metadata": metadata})
        known = ReferencedObjects((stand_in(sample),), shipped_runtimes())
        try:
            plan = plan_service(isvc, known, INGRESS_OFF, load_manager())
        except ServiceError as error:
            refused.append((isvc.name, error.reason))
            continue
        assert f"Service {isvc.name}" in names_of(plan)
    zero = [s["metadata"]["name"] for s in samples if s["spec"]["engine"]["minReplicas"] == 0]
    assert len(zero) == 3
    # Its runtime has no decoder, so the sample's has no container.
    expected = [("llama-3-3-70b-instruct", "WorkloadReconcileFailed")]
    # What may go to zero is Serverless, and no role.
    expected += [(name, "InvalidDeploymentMode") for name in zero] if mode else []
    assert sorted(refused) == sorted(expected)
