"""RBGStrategy: applicability, modes, configurations, and the group made and updated."""

import pytest
from isvc_builders import RUNNER, model, multi_node, names_of, planned, rbg, runtime, service

from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.resolution.modes import ComponentDeploymentModes
from kohort.apis.inferenceservice.spec import ComponentType, DeploymentMode, read_service
from kohort.apis.inferenceservice.strategies.role_based_group import RBGStrategy
from kohort.cluster.kinds import AUTOSCALER, BUDGET, SERVICE

RAW, MULTI = DeploymentMode.RAW, DeploymentMode.MULTI_NODE


@pytest.mark.parametrize("mode", [None, "RawDeployment", "MultiNode", "rolebasedgroup"])
def test_it_is_only_for_services_that_ask_for_a_group(mode):
    notes = {"ome.io/deploymentMode": mode} if mode else {}
    assert not RBGStrategy().is_applicable(read_service(service()), notes)
    asked = read_service(rbg())
    assert RBGStrategy().is_applicable(asked, asked.annotations)


@pytest.mark.parametrize("engine", [RAW, MULTI])
@pytest.mark.parametrize("decoder", [None, RAW, MULTI])
@pytest.mark.parametrize("router", [None, RAW])
def test_raw_and_multi_node_components_are_supported(engine, decoder, router):
    modes = ComponentDeploymentModes(engine, decoder, router)
    RBGStrategy().validate_deployment_modes(modes)


@pytest.mark.parametrize(
    ("modes", "words"),
    [
        ({}, "component engine with no deployment mode"),
        ({"engine": DeploymentMode.SERVERLESS}, "minReplicas: 0 makes a component Serverless"),
        ({"engine": DeploymentMode.RAY}, "it supports RawDeployment, MultiNode"),
        ({"engine": DeploymentMode.VIRTUAL}, "deployment mode VirtualDeployment"),
        ({"engine": RAW, "decoder": DeploymentMode.SERVERLESS}, "component decoder"),
        ({"engine": RAW, "router": MULTI}, "component router with deployment mode MultiNode"),
        ({"engine": RAW, "router": DeploymentMode.SERVERLESS}, "it supports RawDeployment;"),
    ],
)
def test_other_modes_are_refused(modes: dict, words: str):
    with pytest.raises(ServiceError, match=words) as error:
        RBGStrategy().validate_deployment_modes(ComponentDeploymentModes(**modes))
    assert error.value.reason == "InvalidDeploymentMode"


def test_an_engine_that_may_go_to_zero_is_refused_with_the_reason():
    with pytest.raises(ServiceError, match="set it to 1 or more"):
        planned(rbg(engine={"minReplicas": 0}))


def test_the_error_for_a_kind_that_is_not_served_says_what_to_do():
    with pytest.raises(ServiceError, match="does not serve RoleBasedGroup") as error:
        planned(rbg(), unserved=frozenset({kinds.ROLE_BASED_GROUP}))
    assert error.value.reason == "WorkloadReconcileFailed"
    assert "--apis rbg" in str(error.value)


def test_the_configurations_of_all_components_are_extracted():
    plan = planned(rbg(decoder={}, router={}), model(), multi_node())
    configs = plan.workload.configs
    assert list(configs) == list(ComponentType)
    assert configs[ComponentType.DECODER].worker_size == 3
    assert configs[ComponentType.ROUTER].worker_pod_spec is None


def test_a_group_has_autoscalers_budgets_services_and_access():
    held = (model(), runtime(decoderConfig={"runner": RUNNER}))
    components = ("engine", "decoder", "router")
    kinds_each = ("Service", "HorizontalPodAutoscaler", "PodDisruptionBudget")
    each = {f"{kind} chat-{c}" for c in components for kind in kinds_each}
    assert names_of(planned(rbg(decoder={}, router={}), *held)) == {
        *each,
        "RoleBasedGroup chat",
        "ConfigMap modelconfig-chat",
        "ServiceAccount chat-router",
        "Role chat-router",
        "RoleBinding chat-router",
        "Service chat",
    }


def test_an_autoscaler_scales_the_adapter_of_its_role():
    spec = planned(rbg(), model(), multi_node()).find(AUTOSCALER, "chat-engine")["spec"]
    assert spec["scaleTargetRef"] == {
        "apiVersion": "workloads.x-k8s.io/v1alpha2",
        "kind": "RoleBasedGroupScalingAdapter",
        "name": "chat-engine",
    }


def test_keda_scales_the_adapter_too_and_an_external_one_is_left_alone():
    plan = planned(rbg(annotations={"ome.io/autoscalerClass": "keda"}))
    found = plan.find(kinds.SCALED_OBJECT, "scaledobject-chat-engine")["spec"]["scaleTargetRef"]
    assert found["kind"] == "RoleBasedGroupScalingAdapter"
    external = names_of(planned(rbg(annotations={"ome.io/autoscalerClass": "external"})))
    assert not any("Autoscaler" in name or "ScaledObject" in name for name in external)


def test_a_service_selects_the_pods_of_its_component_and_leaders_only():
    raw = planned(rbg()).find(SERVICE, "chat-engine")["spec"]["selector"]
    assert raw == {"ome.io/inferenceservice": "chat", "component": "engine"}
    multi = planned(rbg(), model(), multi_node()).find(SERVICE, "chat-engine")
    assert multi["spec"]["selector"] == {**raw, "ray.io/node-type": "head"}


def test_only_the_router_gets_access():
    assert not any("Role " in name for name in names_of(planned(rbg())))


@pytest.mark.parametrize(
    ("engine", "kept"),
    [
        ({"minReplicas": 4}, 3),
        ({"minReplicas": 1}, 0),
        ({"minReplicas": 4, "maxUnavailable": "50%"}, 2),
        ({"minReplicas": 4, "minAvailable": "60%"}, 3),
        ({"minReplicas": 4, "minAvailable": 1}, 1),
    ],
)
def test_a_budget_is_a_number_of_pods_since_instances_have_no_scale(engine: dict, kept: int):
    spec = planned(rbg(engine=engine)).find(BUDGET, "chat-engine")["spec"]
    assert spec == {"minAvailable": kept, "selector": {"matchLabels": {"app": "chat-engine"}}}


def test_roles_may_be_kept_together_in_a_rollout():
    notes = {"kohort.dev/coordination-max-skew": "10%"}
    plan = planned(rbg(router={}, annotations=notes))
    policy = plan.find(kinds.COORDINATED_POLICY, "chat")["spec"]["policies"][0]
    assert policy["roles"] == ["engine", "router"]
    assert policy["strategy"] == {"rollingUpdate": {"maxSkew": "10%"}}
    alone = planned(rbg(annotations=notes))
    assert alone.find(kinds.COORDINATED_POLICY, "chat") is None
    assert planned(rbg(router={})).find(kinds.COORDINATED_POLICY, "chat") is None


def test_images_may_be_pulled_before_pods_roll():
    plan = planned(rbg(router={}, annotations={"kohort.dev/image-preload": "true"}))
    (found,) = (d.objects for d in plan.objects if d.kind == kinds.WARM_UP)
    roles = found[0]["spec"]["targetRoleBasedGroup"]["roles"]
    assert roles["router"] == {"imagePreload": {"images": ["router:1"]}}
    other = planned(
        rbg(
            router={"runner": {"image": "router:2"}},
            annotations={"kohort.dev/image-preload": "true"},
        )
    )
    (changed,) = (d.objects for d in other.objects if d.kind == kinds.WARM_UP)
    assert changed[0]["metadata"]["name"] != found[0]["metadata"]["name"]
