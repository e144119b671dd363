"""The status of a service: conditions, addresses and the model, from the first second on."""

from typing import Any

import pytest
from isvc_builders import RUNNER, accelerator, model, multi_node, planned, rbg, runtime, service

from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.configuration import Configuration, IngressConfig
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.spec import read_service
from kohort.apis.inferenceservice.status import write_error_status, write_status
from kohort.cluster.kinds import DEPLOYMENT

NOW, LATER = "2026-01-02T03:04:05Z", "2026-01-02T04:00:00Z"


def with_condition(name: str, status: str, reason: str = "", message: str = "") -> dict:
    found = {"type": name, "status": status, "reason": reason, "message": message}
    return {"metadata": {}, "status": {"conditions": [found]}}


def deployment(status: str = "True", **facts: str) -> dict:
    obj = with_condition("Available", status, **facts)
    obj["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "3"}
    return obj


def pod(name: str = "p", app: str = "chat-engine", *, ready: bool = True, **status: Any) -> dict:
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    marks = {"app": app, "component": app.removeprefix("chat-")}
    metadata = {"name": name, "labels": marks, "creationTimestamp": NOW}
    return {"metadata": metadata, "status": {"conditions": conditions, **status}}


def crashed(name: str = "p", container: str = "ome-container", **fields: Any) -> dict:
    ended = {"reason": "Error", "exitCode": 137, "message": "no memory", "finishedAt": NOW}
    state = {"waiting": {"reason": "CrashLoopBackOff"}}
    entry = {"name": container, "state": state, "lastState": {"terminated": ended}}
    return pod(name, ready=False, containerStatuses=[entry], **fields)


def status_of(obj, *held, live=None, pods=(), config=None, now=NOW, **how) -> dict:
    plan = planned(obj, *held, **({"config": config} if config else {}))
    return write_status(plan, live or {}, pods, now, **how)


def conditions(status: dict) -> dict[str, tuple]:
    return {c["type"]: (c["status"], c.get("reason", "")) for c in status["conditions"]}


ENGINE = {DEPLOYMENT: {"chat-engine": deployment()}}


def test_the_first_status_says_what_is_not_known_yet():
    assert conditions(status_of(service())) == {
        "EngineReady": ("Unknown", "WorkloadNotFound"),
        "IngressReady": ("True", "IngressDisabled"),
        "Ready": ("Unknown", "WorkloadNotFound"),
    }


def test_a_service_whose_deployment_is_available_is_ready():
    status = status_of(service(), live=ENGINE, pods=[pod()])
    assert conditions(status)["Ready"] == ("True", "")
    assert status["observedGeneration"] == 1
    engine = status["components"]["engine"]
    assert engine == {
        "latestCreatedRevision": "3",
        "url": "http://chat-engine.ml.svc.cluster.local",
    }


def test_the_reason_is_the_workloads_own():
    live = {DEPLOYMENT: {"chat-engine": deployment("False", reason="MinimumReplicas")}}
    found = conditions(status_of(service(), live=live))
    assert found["EngineReady"] == found["Ready"] == ("False", "MinimumReplicas")


def test_conditions_are_sorted_and_only_those_that_count_have_no_severity():
    both = {DEPLOYMENT: {"chat-engine": deployment(), "chat-router": deployment("False")}}
    status = status_of(service(router={}), live=both, is_lenient=True)
    types = [each["type"] for each in status["conditions"]]
    assert types == sorted(types)
    severities = {c["type"]: c.get("severity") for c in status["conditions"]}
    assert severities == {
        "EngineReady": None,
        "IngressReady": None,
        "Ready": None,
        "RouterReady": "Info",
    }
    assert conditions(status)["Ready"] == ("True", "")


def test_a_router_that_is_not_ready_holds_the_service():
    both = {DEPLOYMENT: {"chat-engine": deployment(), "chat-router": deployment("False")}}
    found = conditions(status_of(service(router={}), live=both))
    assert found["Ready"][0] == "False"


def test_a_condition_keeps_its_time_until_it_changes():
    first = status_of(service(), live=ENGINE)
    again = status_of({**service(), "status": first}, live=ENGINE, now=LATER)
    assert again == first
    live = {DEPLOYMENT: {"chat-engine": deployment("False", reason="Gone")}}
    changed = status_of({**service(), "status": first}, live=live, now=LATER)
    times = {c["type"]: c["lastTransitionTime"] for c in changed["conditions"]}
    assert times == {"EngineReady": LATER, "IngressReady": NOW, "Ready": LATER}


def test_a_crash_is_the_reason_and_a_service_that_crashes_is_not_ready():
    status = status_of(service(), live=ENGINE, pods=[crashed()])
    ready = next(c for c in status["conditions"] if c["type"] == "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "CrashLoopBackOff")
    assert ready["message"] == (
        "component engine crashes: "
        "container ome-container of pod p ended with exit code 137: no memory"
    )
    assert status["modelStatus"] == {
        "transitionStatus": "BlockedByFailedLoad",
        "modelRevisionStates": {"activeModelState": "", "targetModelState": "FailedToLoad"},
        "modelCopies": {"failedCopies": 1, "totalCopies": 1},
        "lastFailureInfo": {
            "location": "p",
            "reason": "ModelLoadFailed",
            "message": "no memory",
            "exitCode": 137,
            "time": NOW,
        },
    }


@pytest.mark.parametrize(
    ("pods", "state", "transition"),
    [
        ([], "Pending", "InProgress"),
        ([pod(ready=False)], "Pending", "InProgress"),
        (
            [
                pod(
                    ready=False,
                    initContainerStatuses=[{"name": "model-init", "state": {"running": {}}}],
                )
            ],
            "Loading",
            "InProgress",
        ),
    ],
)
def test_a_model_is_pending_until_its_pod_loads_it(pods, state, transition):
    found = status_of(service(), pods=pods)["modelStatus"]
    assert found["modelRevisionStates"]["targetModelState"] == state
    assert found["transitionStatus"] == transition


def test_a_model_that_is_served_is_loaded():
    found = status_of(service(), live=ENGINE, pods=[pod()])["modelStatus"]
    assert found == {
        "transitionStatus": "UpToDate",
        "modelRevisionStates": {"activeModelState": "Loaded", "targetModelState": "Loaded"},
        "modelCopies": {"failedCopies": 0, "totalCopies": 1},
    }


def test_the_worst_component_decides_for_the_model():
    both = {DEPLOYMENT: {"chat-engine": deployment(), "chat-decoder": deployment("False")}}
    held = (model(), runtime(decoderConfig={"runner": RUNNER}))
    pods = [pod(), pod("d", "chat-decoder", ready=False)]
    found = status_of(service(decoder={}), *held, live=both, pods=pods)["modelStatus"]
    assert found["modelRevisionStates"]["targetModelState"] == "Pending"


@pytest.mark.parametrize("active", ["", "Loaded"])
def test_a_model_that_was_never_loaded_whole_is_not_active(active: str):
    """A decoder that still loads beside an engine that is ready leaves what was."""
    both = {DEPLOYMENT: {"chat-engine": deployment(), "chat-decoder": deployment("False")}}
    held = (model(), runtime(decoderConfig={"runner": RUNNER}))
    before = {"modelStatus": {"modelRevisionStates": {"activeModelState": active}}}
    obj = {**service(decoder={}), "status": before}
    pods = [pod(), pod("d", "chat-decoder", ready=False)]
    found = status_of(obj, *held, live=both, pods=pods)["modelStatus"]["modelRevisionStates"]
    assert found == {"activeModelState": active, "targetModelState": "Pending"}


def test_a_multi_node_model_is_loaded_when_its_set_is_available():
    live = {kinds.LEADER_WORKER_SET: {"lws-chat-engine": with_condition("Available", "True")}}
    status = status_of(service(), model(), multi_node(), live=live, pods=[pod()])
    assert conditions(status)["EngineReady"] == ("True", "")
    assert status["modelStatus"]["transitionStatus"] == "UpToDate"


def group(generation: int = 2, seen: int = 2, **counts: int) -> dict:
    roles = [{"name": "engine", **counts}] if counts else []
    return {
        kinds.ROLE_BASED_GROUP: {
            "chat": {
                "metadata": {"generation": generation},
                "status": {"observedGeneration": seen, "roleStatuses": roles},
            }
        }
    }


@pytest.mark.parametrize(
    ("live", "claim"),
    [
        ({}, ("Unknown", "WorkloadNotFound")),
        (group(seen=1, replicas=1, readyReplicas=1), ("Unknown", "WaitingForReport")),
        (group(), ("False", "RoleNotFound")),
        (group(replicas=2, readyReplicas=1, updatedReplicas=2), ("False", "RoleNotReady")),
        (group(replicas=2, readyReplicas=2, updatedReplicas=1), ("False", "RoleNotReady")),
        (group(replicas=0, readyReplicas=0, updatedReplicas=0), ("False", "RoleNotReady")),
        (group(replicas=2, readyReplicas=2, updatedReplicas=2), ("True", "")),
    ],
)
def test_a_role_is_ready_when_all_its_instances_are_new_and_ready(live: dict, claim: tuple):
    assert conditions(status_of(rbg(), live=live))["EngineReady"] == claim


def test_a_service_that_cannot_be_resolved_says_why_at_once():
    error = ServiceError("RuntimeSelectionError", "no runtime for model x", "NoSupportingRuntime")
    status = write_error_status(read_service(service()), error, NOW)
    assert conditions(status) == {"Ready": ("False", "RuntimeSelectionError")}
    assert status["modelStatus"]["transitionStatus"] == "InvalidSpec"
    assert status["modelStatus"]["lastFailureInfo"] == {
        "reason": "NoSupportingRuntime",
        "message": "no runtime for model x",
        "time": NOW,
    }
    again = write_error_status(read_service({**service(), "status": status}), error, LATER)
    assert again == status


def test_an_error_keeps_what_was_known_of_the_components():
    before = status_of(service(), live=ENGINE, pods=[pod()])
    error = ServiceError("ModelReconcileError", "gone", "BaseModelNotFound")
    status = write_error_status(read_service({**service(), "status": before}), error, LATER)
    assert conditions(status)["EngineReady"] == ("True", "")
    assert conditions(status)["Ready"] == ("False", "ModelReconcileError")
    states = status["modelStatus"]["modelRevisionStates"]
    assert states["activeModelState"] == "Loaded"


def test_a_virtual_service_is_ready_by_definition():
    status = status_of(service(annotations={"ome.io/deploymentMode": "VirtualDeployment"}))
    url = "http://chat.ml.svc.cluster.local"
    assert (status["url"], status["address"]) == (url, {"url": url})
    assert status["components"] == {"predictor": {"url": url}}
    assert conditions(status) == {"Ready": ("True", "VirtualDeployment")}


OPEN = IngressConfig(domain="x.org", class_name="nginx")


@pytest.mark.parametrize(
    ("ingress", "url", "address"),
    [
        (
            IngressConfig(is_disabled=True),
            "http://chat.ml.svc.cluster.local:8080",
            "http://chat.ml.svc.cluster.local:8080",
        ),
        (OPEN, "http://chat.ml.x.org:8080", "http://chat-engine.ml.svc.cluster.local:8080"),
        (
            IngressConfig(domain="x.org", uses_gateway_api=True, url_scheme="https"),
            "https://chat.ml.x.org",
            "https://chat-engine.ml.svc.cluster.local:8080",
        ),
    ],
)
def test_addresses_lead_to_what_exists(ingress, url, address):
    status = status_of(service(), config=Configuration(ingress=ingress))
    assert (status["url"], status["address"]["url"]) == (url, address)


def test_a_template_of_hosts_that_no_host_needs_does_not_keep_the_status_away():
    obj = service(annotations={"ome.io/ingress-domain-template": "{{ .Name }}_{{ .Domain }}"})
    status = status_of(obj, live=ENGINE, pods=[pod()])
    assert conditions(status)["Ready"] == ("True", "")
    assert "url" not in status["components"]["engine"]
    (warning,) = planned(obj).warnings
    assert warning.startswith("template '{{ .Name }}_{{ .Domain }}' gives no host name")


@pytest.mark.parametrize("template", ["domain_template", "path_template"])
def test_a_template_that_only_the_address_of_knative_needs_is_an_error_of_the_plan(template: str):
    ingress = IngressConfig(is_virtual_host_disabled=True, **{template: "{{ .Name }}_"})
    with pytest.raises(ServiceError, match="which is no"):
        planned(service(engine={"minReplicas": 0}), config=Configuration(ingress=ingress))


def test_a_serverless_service_is_reached_by_its_gateway():
    obj = service(engine={"minReplicas": 0})
    status = status_of(obj, config=Configuration(ingress=OPEN))
    assert status["url"] == "http://chat.ml.x.org"
    assert status["address"]["url"] == "http://chat.ml.svc.cluster.local"
    obj["metadata"]["labels"] = {"networking.knative.dev/visibility": "cluster-local"}
    status = status_of(obj, config=Configuration(ingress=OPEN))
    assert status["url"] == "http://chat.ml.svc.cluster.local"


def test_an_ingress_waits_for_the_component_in_front():
    config = Configuration(ingress=OPEN)
    assert conditions(status_of(service(), config=config))["IngressReady"] == (
        "False",
        "ComponentNotReady",
    )
    assert conditions(status_of(service(), config=config, live=ENGINE))["IngressReady"][0] == "True"


def test_a_route_is_ready_when_its_gateway_took_it():
    config = Configuration(ingress=IngressConfig(domain="x.org", uses_gateway_api=True))

    def claim(*parents: dict) -> tuple:
        routes = {kinds.HTTP_ROUTE: {"chat": {"status": {"parents": list(parents)}}}}
        found = status_of(service(), config=config, live={**ENGINE, **routes})
        return conditions(found)["IngressReady"]

    def parent(accepted: str) -> dict:
        types = {"Accepted": accepted, "ResolvedRefs": "True"}
        return {"conditions": [{"type": k, "status": v, "reason": "R"} for k, v in types.items()]}

    assert claim() == ("Unknown", "WaitingForGateway")
    assert claim(parent("False")) == ("False", "R")
    assert claim(parent("True")) == ("True", "")


def knative(**facts: Any) -> dict:
    types = ("Ready", "RoutesReady", "ConfigurationsReady")
    conditions_ = [{"type": each, "status": "True"} for each in types]
    return {
        kinds.KNATIVE_SERVICE: {"chat-engine": {"status": {"conditions": conditions_, **facts}}}
    }


def test_a_serverless_component_has_knatives_conditions_and_revisions():
    traffic = [{"latestRevision": True, "percent": 100, "revisionName": "r2"}]
    live = knative(
        latestReadyRevisionName="r2",
        latestCreatedRevisionName="r2",
        url="http://chat-engine.ml.x.org",
        traffic=traffic,
    )
    before = {"components": {"engine": {"latestRolledoutRevision": "r1"}}}
    obj = {**service(engine={"minReplicas": 0}), "status": before}
    status = status_of(obj, live=live)
    for name in ("EngineReady", "EngineRouteReady", "EngineConfigurationReady", "RoutesReady"):
        assert conditions(status)[name] == ("True", "")
    assert status["components"]["engine"] == {
        "latestReadyRevision": "r2",
        "latestCreatedRevision": "r2",
        "latestRolledoutRevision": "r2",
        "previousRolledoutRevision": "r1",
        "url": "http://chat-engine.ml.x.org",
        "traffic": traffic,
    }


def test_the_accelerator_of_a_component_is_reported():
    gpu = accelerator(
        "h100",
        discovery={"nodeSelector": {"gpu": "h100"}},
        resources=[{"name": "nvidia.com/gpu", "quantity": "8"}],
    )
    held = runtime(acceleratorRequirements={"acceleratorClasses": ["h100"]})
    obj = service(acceleratorSelector={"acceleratorClass": "h100"})
    status = status_of(obj, model(), held, gpu)
    assert status["components"]["engine"]["selectedAccelerator"] == {
        "acceleratorClass": "h100",
        "reason": "named by the service",
        "nodeSelector": {"gpu": "h100"},
        "resourceRequests": {"nvidia.com/gpu": "8"},
    }


@pytest.mark.parametrize(("second", "ready"), [("True", "True"), ("False", "False")])
def test_a_ray_engine_is_ready_when_all_its_probers_are(second: str, ready: str):
    ray = {"annotations": {"ome.io/deploymentMode": "MultiNodeRayVLLM"}, "minReplicas": 2}
    probers = {
        "chat-engine-0-mnp": with_condition("Available", "True"),
        "chat-engine-1-mnp": with_condition("Available", second, "Down"),
    }
    live = {DEPLOYMENT: probers}
    found = conditions(status_of(service(engine=ray), model(), multi_node(), live=live))
    assert found["EngineReady"][0] == ready


def test_the_model_of_a_ray_engine_is_that_of_its_heads():
    ray = {"annotations": {"ome.io/deploymentMode": "MultiNodeRayVLLM"}}
    live = {DEPLOYMENT: {"chat-engine-0-mnp": with_condition("Available", "True")}}
    pods = [pod(name, app) for name, app in (("head", ""), ("worker", ""), ("prober", "prober"))]
    for each, kind in zip(pods, ("head", "worker"), strict=False):
        marks = {"component": "engine", "ome.io/inferenceservice": "chat", "ray.io/node-type": kind}
        each["metadata"]["labels"] = marks
    status = status_of(service(engine=ray), model(), multi_node(), live=live, pods=pods)
    assert status["modelStatus"]["transitionStatus"] == "UpToDate"
    assert status["modelStatus"]["modelRevisionStates"]["activeModelState"] == "Loaded"
    assert status["modelStatus"]["modelCopies"] == {"failedCopies": 0, "totalCopies": 1}
