"""
The register of upstream's defects, D1 to D40, row by row: what is decided here.

D8 (edits of what services refer to) is tested with updates, D31 (foreign Services) with handovers.
"""

from typing import Any

import pytest
from isvc_builders import (
    PARTS,
    RUNNER,
    model,
    model_format,
    multi_node,
    planned,
    rbg,
    resolved,
    runtime,
    service,
    weight,
)

from kohort.apis.inferenceservice import kinds, names
from kohort.apis.inferenceservice.assembly import OWNED
from kohort.apis.inferenceservice.configuration import Configuration, IngressConfig
from kohort.apis.inferenceservice.handover import plan_handover
from kohort.apis.inferenceservice.nodes import find_facts
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.spec import ComponentType, read_service
from kohort.apis.inferenceservice.status import write_error_status, write_status
from kohort.cluster.kinds import AUTOSCALER, DEPLOYMENT, INGRESS, SERVICE, SERVICE_ACCOUNT
from kohort.cluster.objects import Kind

NOW = "2026-01-02T03:04:05Z"
KEDA = {"ome.io/autoscalerClass": "keda"}


def deployment(obj, *held, **how) -> dict:
    return planned(obj, *held, **how).find(DEPLOYMENT, "chat-engine")["spec"]


def runner(obj, *held) -> dict:
    return deployment(obj, *held)["template"]["spec"]["containers"][-1]


def query(obj) -> str:
    found = planned(obj).find(kinds.SCALED_OBJECT, "scaledobject-chat-engine")
    return found["spec"]["triggers"][0]["metadata"]["query"]


def test_d1_config_maps_of_long_names_do_not_meet():
    ends_alike = [f"{team}-llama-3-70b-instruct-prod" for team in ("red", "blue")]
    made = {names.model_config_name(name) for name in ends_alike}
    assert len(made) == 2
    assert names.model_config_name("deepseek-v3") == "modelconfig-deepseek-v3"
    assert names.model_config_name("a" * 20) == f"modelconfig-{'a' * 20}"


def test_d2_the_annotation_of_metrics_counts_where_the_field_is_open():
    notes = {"ome.io/metrics": "memory"}
    for engine, metric in (({}, "memory"), ({"scaleMetric": "cpu"}, "cpu")):
        plan = planned(service(annotations=notes, engine=engine))
        spec = plan.find(AUTOSCALER, "chat-engine")["spec"]
        assert spec["metrics"][0]["resource"]["name"] == metric


def test_d3_the_components_keda_comes_before_the_services():
    own = {"kedaConfig": {"customPromQuery": "own"}}
    assert query(service(annotations=KEDA, kedaConfig={"customPromQuery": "all"})) == "all"
    both = service(annotations=KEDA, kedaConfig={"customPromQuery": "all"}, engine=own)
    assert query(both) == "own"


def test_d4_a_runner_without_a_name_has_one():
    assert runner(service(engine={"runner": {"image": "x"}}))["name"] == "ome-container"
    bare = {"runner": {"image": "x"}}
    assert runner(service(engine=bare), model())["name"] == "ome-container"


def test_d5_a_range_with_one_end_is_open():
    held = runtime(modelSizeRange={"min": "7B"})
    assert resolved(service(), model(), held).runtime.name == "srt"


def test_d6_quantization_is_filled_in():
    entries = {"node": {"config": {"quantization": "fp8", "apiCapabilities": ["chat"]}}}
    assert find_facts({}, entries) == {"quantization": "fp8", "apiCapabilities": ["chat"]}


def test_d7_weights_without_configuration_or_strategy_keep_their_annotations():
    obj = service(model={"name": "llama", "fineTunedWeights": ["tuned"]})
    notes = deployment(obj, model(), runtime(), weight(strategy=""))["template"]["metadata"]
    assert notes["annotations"]["ome.io/inject-fine-tuned-adapter"] == "tuned"
    assert notes["annotations"]["ome.io/fine-tuned-weight-ft-strategy"] == ""


def test_d9_an_early_error_is_in_the_status():
    with pytest.raises(ServiceError) as error:
        planned(service(), runtime())
    status = write_error_status(read_service(service()), error.value, NOW)
    assert status["modelStatus"]["transitionStatus"] == "InvalidSpec"
    assert status["modelStatus"]["lastFailureInfo"]["reason"] == "BaseModelNotFound"
    assert status["conditions"][0]["reason"] == "ModelReconcileError"


def test_d10_only_the_services_own_predictor_is_replaced():
    marks = {"component": "predictor"}
    owner = {"kind": "InferenceService", "name": "chat", "uid": "isvc-uid", "controller": True}
    mine = {"metadata": {"name": "chat", "labels": marks, "ownerReferences": [owner]}}
    other = {"metadata": {"name": "other", "labels": marks}}
    existing = {DEPLOYMENT: {"chat": mine, "other": other}}
    found = plan_handover(planned(service(), existing=existing), existing, {})
    assert found.held == {(DEPLOYMENT, "chat")}


def test_d11_a_kind_that_is_named_is_used():
    obj = service(model={"name": "llama", "kind": "BaseModel"})
    found = resolved(obj, model(), model(namespace="ml"), runtime())
    assert found.model.namespace == "ml"


def test_d12_only_a_format_that_takes_the_model_selects_its_runtime():
    mixed = [model_format(autoSelect=False), model_format(modelArchitecture="Other")]
    with pytest.raises(ServiceError):
        resolved(service(), model(), runtime(formats=mixed))
    assert resolved(service(), model(), runtime(formats=[*mixed, model_format()])).runtime


def test_d13_a_runtime_may_set_replicas():
    held = runtime(engineConfig={"runner": RUNNER, "minReplicas": 2, "maxReplicas": 8})
    spec = planned(service(), model(), held).find(AUTOSCALER, "chat-engine")["spec"]
    assert (spec["minReplicas"], spec["maxReplicas"]) == (2, 8)


def test_d14_braces_and_quotes_in_arguments_are_no_error():
    args = ["--chat-template={{ messages }}", '--json={"a":"<b>"}', "{{ .Name }}"]
    held = runtime(engineConfig={"runner": {**RUNNER, "args": args}})
    assert runner(service(), model(), held)["args"] == [*args[:2], "chat"]


def test_d15_best_fit_needs_no_constraints():
    gpus = [{"kind": "AcceleratorClass", "metadata": {"name": n}, "spec": {}} for n in "ab"]
    held = runtime(acceleratorRequirements={"acceleratorClasses": ["a", "b"]})
    obj = service(acceleratorSelector={"policy": "BestFit"})
    found = resolved(obj, model(), held, *gpus).accelerators[ComponentType.ENGINE]
    assert found.accelerator.name == "a"


def test_d16_variables_of_a_router_come_in_the_order_of_their_names():
    orders = [{"a": "1", "b": "2"}, {"b": "2", "a": "1"}]
    made = [
        planned(service(router={"config": config})).find(DEPLOYMENT, "chat-router")
        for config in orders
    ]
    assert str(made[0]) == str(made[1])


def test_d17_a_model_with_a_dot_mounts_and_names_one_volume():
    obj = service(model={"name": "llama-3.1"})
    spec = deployment(obj, model("llama-3.1"), runtime())["template"]
    (volume,) = spec["spec"]["volumes"]
    (mount,) = spec["spec"]["containers"][0]["volumeMounts"]
    assert volume["name"] == mount["name"] == "llama-3-1"
    assert spec["metadata"]["annotations"]["ome.io/base-model-name"] == "llama-3.1"


def test_d18_weights_of_any_vendor_have_a_path():
    obj = service(model={"name": "llama", "fineTunedWeights": ["tuned"]})
    env = runner(obj, model(vendor="qwen"), runtime(), weight())["env"]
    assert {"MODEL_PATH", "ADAPTER_PATH"} <= {entry["name"] for entry in env}


def test_d19_a_deployment_starts_with_the_fewest_replicas_and_is_then_left_alone():
    obj = service(engine={"minReplicas": 3})
    assert deployment(obj)["replicas"] == 3
    existing: dict[Kind, Any] = {DEPLOYMENT: {"chat-engine": {"metadata": {}}}}
    assert "replicas" not in deployment(obj, existing=existing)


def test_d20_annotations_of_other_objects_do_not_roll_pods():
    before = deployment(service())["template"]
    for key in (
        "ome.io/ingress-domain",
        "ome.io/targetUtilizationPercentage",
        "ome.io/service-type",
        "autoscaling.keda.sh/threshold",
        "kubectl.kubernetes.io/restartedAt",
        "argocd.argoproj.io/sync-wave",
        "kohort.dev/coordination-max-skew",
    ):
        assert deployment(service(annotations={key: "9"}))["template"] == before, key
    assert deployment(service(annotations={"team": "a"}))["template"] != before


def test_d21_ports_are_those_of_the_container_that_serves():
    side = {"name": "side", "ports": [{"containerPort": 1}]}
    main = {**RUNNER, "ports": [{"containerPort": 30000, "name": "http"}]}
    held = runtime(engineConfig={"containers": [side], "runner": main})
    ports = planned(service(), model(), held).find(SERVICE, "chat-engine")["spec"]["ports"]
    assert [(p["name"], p["port"]) for p in ports] == [("http", 30000)]


def test_ports_of_one_number_have_names_of_their_own():
    ports = [{"containerPort": 443}, {"containerPort": 443, "protocol": "UDP"}]
    held = runtime(engineConfig={"runner": {**RUNNER, "ports": ports}})
    found = planned(service(), model(), held).find(SERVICE, "chat-engine")["spec"]["ports"]
    assert [each["name"] for each in found] == ["port-443", "port-443-udp"]


def test_d22_type_and_annotations_of_a_service_are_part_of_what_is_wanted():
    notes = {"ome.io/service-type": "NodePort", "team": "a"}
    found = planned(service(annotations=notes)).find(SERVICE, "chat-engine")
    assert found["spec"]["type"] == "NodePort"
    assert found["metadata"]["annotations"]["team"] == "a"


@pytest.mark.parametrize(
    ("custom", "made"),
    [
        ("up", "up"),
        ("rate(x[1m]) > 5%", "rate(x[1m]) > 5%"),
        ('up{app="%s"}', 'up{app="chat-engine"}'),
    ],
)
def test_d23_a_query_is_changed_only_where_it_has_a_place_for_a_name(custom: str, made: str):
    assert query(service(annotations=KEDA, kedaConfig={"customPromQuery": custom})) == made


def test_d24_replicas_of_a_leader_worker_set_are_left_alone():
    existing: dict[Kind, Any] = {kinds.LEADER_WORKER_SET: {"lws-chat-engine": {"metadata": {}}}}
    plan = planned(service(), model(), multi_node(), existing=existing)
    assert "replicas" not in plan.find(kinds.LEADER_WORKER_SET, "lws-chat-engine")["spec"]


def set_of(replicas: int) -> dict:
    held = {"metadata": {}, "spec": {"replicas": replicas}}
    return {kinds.LEADER_WORKER_SET: {"lws-chat-engine": held}}


@pytest.mark.parametrize(("held", "least", "made"), [(7, 1, 7), (1, 3, 3), (0, 3, 0), (2, 2, 2)])
def test_d24_a_set_without_an_autoscaler_has_no_fewer_groups_than_the_minimum(held, least, made):
    obj = service(engine={"minReplicas": least})
    plan = planned(obj, model(), multi_node(), existing=set_of(held))
    assert plan.find(kinds.LEADER_WORKER_SET, "lws-chat-engine")["spec"]["replicas"] == made
    told = [text for text in plan.warnings if "takes no group away" in text]
    assert len(told) == (1 if made > least else 0)


def test_d24_a_set_with_an_autoscaler_is_left_to_it():
    obj = service(engine={"minReplicas": 3}, annotations={"ome.io/autoscalerClass": "hpa"})
    plan = planned(obj, model(), multi_node(), existing=set_of(1))
    assert "replicas" not in plan.find(kinds.LEADER_WORKER_SET, "lws-chat-engine")["spec"]


def test_d25_a_multi_node_engine_without_workers_is_a_group_of_one():
    plan = planned(service(), model(), runtime(engineConfig={"leader": PARTS["leader"]}))
    group = plan.find(kinds.LEADER_WORKER_SET, "lws-chat-engine")["spec"]["leaderWorkerTemplate"]
    assert group["size"] == 1
    assert group["workerTemplate"]["spec"] == group["leaderTemplate"]["spec"]


def test_d26_and_d33_services_of_multi_node_engines_select_their_own_leaders():
    plan = planned(service(), model(), multi_node())
    for name in ("chat-engine", "chat"):
        assert plan.find(SERVICE, name)["spec"]["selector"] == {
            "ome.io/inferenceservice": "chat",
            "component": "engine",
            "ray.io/node-type": "head",
        }


OPEN = Configuration(ingress=IngressConfig(domain="x.org"))


def test_d27_and_d28_ingress_and_address_use_the_service_that_exists():
    ports = {"runner": {"ports": [{"containerPort": 30000}]}}
    plan = planned(service(engine=ports), config=OPEN)
    (rule,) = plan.find(INGRESS, "chat")["spec"]["rules"]
    backend = rule["http"]["paths"][0]["backend"]["service"]
    assert backend == {"name": "chat-engine", "port": {"number": 30000}}
    status = write_status(plan, {}, (), NOW)
    assert status["address"]["url"] == "http://chat-engine.ml.svc.cluster.local:30000"
    assert plan.find(SERVICE, "chat-engine") is not None


def test_d29_routes_need_no_condition_of_another_mode():
    gateway = Configuration(ingress=IngressConfig(domain="x.org", uses_gateway_api=True))
    plan = planned(service(router={}), config=gateway)
    for name in ("chat", "chat-engine", "chat-router"):
        backend = plan.find(kinds.HTTP_ROUTE, name)["spec"]["rules"][0]["backendRefs"][0]
        assert plan.find(SERVICE, backend["name"]) is not None


def test_d30_a_virtual_service_stays():
    obj = service(engine={"minReplicas": 0})
    first, second = (planned(obj, config=OPEN).find(kinds.VIRTUAL_SERVICE, "chat") for _ in "ab")
    assert first == second is not None


def test_d32_a_private_service_is_reached_by_its_component():
    plan = planned(service(labels={"networking.knative.dev/visibility": "cluster-local"}))
    url = write_status(plan, {}, (), NOW)["url"]
    assert url == "http://chat-engine.ml.svc.cluster.local:8080"


def test_d34_every_kind_that_a_service_may_own_is_in_every_plan():
    for obj in (service(), rbg(), service(engine={"minReplicas": 0})):
        assert {desired.kind for desired in planned(obj).objects} == set(OWNED)


def test_d35_to_d39_are_decided_by_the_status():
    available = {"status": {"conditions": [{"type": "Available", "status": "True"}]}}
    live = {kinds.LEADER_WORKER_SET: {"lws-chat-engine": available}}
    leader = {"metadata": {"name": "p", "labels": {"app": "chat-engine"}}}
    plan = planned({**service(router={})}, model(), multi_node())
    status = write_status(plan, live, [leader], NOW)
    found = {c["type"]: (c["status"], c.get("reason")) for c in status["conditions"]}
    assert found["Ready"] == ("Unknown", "WorkloadNotFound")  # D35, D37: the router's own reason
    assert status["observedGeneration"] == 1  # D36: of the service
    states = status["modelStatus"]["modelRevisionStates"]
    assert states["targetModelState"] == "Loaded"  # D38, D39: multi-node, and not the router's


def test_d40_a_service_with_containers_of_its_own_needs_no_runtime():
    plan = planned(service(engine={"runner": {"image": "x"}}), model())
    marks = plan.find(DEPLOYMENT, "chat-engine")["metadata"]["labels"]
    assert "serving-runtime" not in marks


def test_an_account_that_the_user_names_is_bound_and_none_is_made():
    plan = planned(service(router={"serviceAccountName": "mine"}))
    pod = plan.find(DEPLOYMENT, "chat-router")["spec"]["template"]["spec"]
    assert pod["serviceAccountName"] == "mine"
    subjects = plan.find(kinds.ROLE_BINDING, "chat-router")["subjects"]
    assert [each["name"] for each in subjects] == ["mine"]
    assert plan.find(SERVICE_ACCOUNT, "chat-router") is None


def test_labels_that_no_server_takes_are_made_such_that_one_does():
    marks = planned(service(), model(vendor="Meta AI"), runtime())
    found = marks.find(DEPLOYMENT, "chat-engine")["metadata"]
    assert found["labels"]["base-model-vendor"] == "Meta-AI"
    assert found["annotations"]["ome.io/base-model-vendor"] == "Meta AI"
