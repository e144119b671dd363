"""Knative, Ray, Ingress, Gateway API, VirtualService and the external Service."""

import re

import pytest
from isvc_builders import PARTS, RUNNER, model, multi_node, names_of, planned, runtime, service

from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.configuration import Configuration, IngressConfig, ProberConfig
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.cluster.kinds import BUDGET, CONFIG_MAP, DEPLOYMENT, INGRESS, SERVICE

DECODER = runtime(decoderConfig={"runner": {**RUNNER, "ports": [{"containerPort": 9000}]}})


def opened(**ingress) -> Configuration:
    fields = {"domain": "x.org", "class_name": "nginx", "gateway": "ns/gw", **ingress}
    return Configuration(ingress=IngressConfig(**fields))


def rules(plan) -> dict[str, tuple]:
    spec = plan.find(INGRESS, "chat")["spec"]
    found = {}
    for rule in spec["rules"]:
        (path,) = rule["http"]["paths"]
        assert (path["path"], path["pathType"]) == ("/", "Prefix")
        backend = path["backend"]["service"]
        found[rule["host"]] = (backend["name"], backend["port"]["number"])
    return found


def test_an_ingress_of_an_engine_has_one_host():
    plan = planned(service(annotations={"team": "a"}), config=opened())
    assert rules(plan) == {"chat.ml.x.org": ("chat-engine", 8080)}
    obj = plan.find(INGRESS, "chat")
    assert obj["spec"]["ingressClassName"] == "nginx"
    assert obj["metadata"]["annotations"] == {"team": "a"}
    assert plan.find(SERVICE, "chat") is None


def test_an_ingress_leads_to_each_component_at_its_own_port():
    plan = planned(service(decoder={}, router={}), model(), DECODER, config=opened())
    assert rules(plan) == {
        "chat.ml.x.org": ("chat-router", 8080),
        "chat-router.ml.x.org": ("chat-router", 8080),
        "chat-engine.ml.x.org": ("chat-engine", 8080),
        "chat-decoder.ml.x.org": ("chat-decoder", 9000),
    }


def test_without_a_router_the_engine_is_in_front():
    plan = planned(service(decoder={}), model(), DECODER, config=opened())
    assert rules(plan)["chat.ml.x.org"] == ("chat-engine", 8080)
    assert set(rules(plan)) == {"chat.ml.x.org", "chat-engine.ml.x.org", "chat-decoder.ml.x.org"}


def test_a_domain_template_may_use_annotations():
    notes = {"zone": "eu", "ome.io/ingress-domain": "y.org"}
    config = opened(domain_template="{{ .Name }}.{{ .Annotations.zone }}.{{ .IngressDomain }}")
    plan = planned(service(annotations=notes), config=config)
    assert list(rules(plan)) == ["chat.eu.y.org"]


@pytest.mark.parametrize(
    "ingress",
    [
        {"domain_template": "{{ .Name }}_x"},
        {"uses_gateway_api": True, "path_template": "no path"},
    ],
)
def test_a_template_that_gives_no_host_or_path_is_an_error(ingress: dict):
    with pytest.raises(ServiceError, match="which is no"):
        planned(service(), config=opened(**ingress))


def routes(path: str = "/serving/{{ .Namespace }}/{{ .Name }}") -> dict[str, dict]:
    config = opened(
        uses_gateway_api=True,
        ome_gateway="infra/gate",
        additional_domains=("y.org",),
        path_template=path,
    )
    obj = service(router={"timeoutSeconds": 5}, decoder={})
    plan = planned(obj, model(), DECODER, config=config)
    made = next(desired for desired in plan.objects if desired.kind == kinds.HTTP_ROUTE)
    return {each["metadata"]["name"]: each["spec"] for each in made.objects}


def test_routes_lead_to_services_that_exist():
    found = {}
    for name, spec in routes().items():
        backend = spec["rules"][0]["backendRefs"][0]
        found[name] = (backend["name"], backend["port"])
    assert found == {
        "chat": ("chat-router", 8080),
        "chat-engine": ("chat-engine", 8080),
        "chat-decoder": ("chat-decoder", 9000),
        "chat-router": ("chat-router", 8080),
        "chat-path": ("chat-router", 8080),
    }


def test_the_route_of_a_service_has_all_its_hosts():
    top = routes()["chat"]
    assert top["hostnames"] == ["chat.ml.x.org", "chat.ml.y.org"]
    parent = top["parentRefs"][0]
    assert (parent["namespace"], parent["name"]) == ("infra", "gate")
    (rule,) = top["rules"]
    assert rule["matches"] == [{"path": {"type": "RegularExpression", "value": "^/.*$"}}]
    headers = rule["filters"][0]["requestHeaderModifier"]["set"]
    assert [(h["name"], h["value"]) for h in headers] == [
        ("OMe-Isvc-Name", "chat"),
        ("OME-Isvc-Namespace", "ml"),
    ]


def test_on_the_shared_domain_a_service_gets_the_requests_of_its_path_alone():
    spec = routes("/v1.0/{{ .Namespace }}/{{ .Name }}/")["chat-path"]
    (rule,) = spec["rules"]
    (match,) = rule["matches"]
    assert (spec["hostnames"], match["path"]["type"]) == (["x.org"], "RegularExpression")
    pattern = re.compile(match["path"]["value"])
    assert all(map(pattern.search, ("/v1.0/ml/chat", "/v1.0/ml/chat/", "/v1.0/ml/chat/v1/models")))
    others = ("/", "/v1.0/ml/chat2/v1", "/v1x0/ml/chat", "/x/v1.0/ml/chat", "/v1.0/ml")
    assert not any(map(pattern.search, others))


def test_a_route_waits_as_long_as_its_component_says():
    found = routes()
    assert found["chat"]["rules"][0]["timeouts"] == {"request": "5s"}
    decoder = found["chat-decoder"]["rules"][0]
    assert decoder["matches"][0]["path"]["value"] == "^/v1/.*$"
    assert decoder["timeouts"] == {"request": "60s"}


def test_a_cluster_without_the_gateway_api_is_warned_of():
    config = opened(uses_gateway_api=True)
    plan = planned(service(), config=config, unserved=frozenset({kinds.HTTP_ROUTE}))
    assert any("HTTPRoute" in text for text in plan.warnings)


ZERO = {"minReplicas": 0, "maxReplicas": 3, "scaleTarget": 5, "scaleMetric": "concurrency"}


def test_a_serverless_engine_is_a_knative_service():
    obj = service(engine={**ZERO, "containerConcurrency": 2, "timeoutSeconds": 9})
    plan = planned(obj)
    assert names_of(plan) == {"ConfigMap modelconfig-chat", "Service chat-engine", "Service chat"}
    spec = plan.find(kinds.KNATIVE_SERVICE, "chat-engine")["spec"]
    notes = spec["template"]["metadata"]["annotations"]
    prefix = "autoscaling.knative.dev/"
    assert {k.removeprefix(prefix): v for k, v in notes.items() if k.startswith(prefix)} == {
        "min-scale": "0",
        "max-scale": "3",
        "class": "kpa.autoscaling.knative.dev",
        "target": "5",
        "metric": "concurrency",
    }
    revision = spec["template"]["spec"]
    assert (revision["containerConcurrency"], revision["timeoutSeconds"]) == (2, 9)
    assert revision["responseStartTimeoutSeconds"] == 9
    assert spec["traffic"] == [{"latestRevision": True, "percent": 100}]


@pytest.mark.parametrize(
    ("percent", "stable", "traffic"),
    [
        (20, "", [(True, None, 100)]),
        (20, "r1", [(True, None, 20), (False, "r1", 80)]),
        (100, "r1", [(True, None, 100)]),
    ],
)
def test_a_canary_gets_its_share_once_a_revision_is_rolled_out(percent, stable, traffic):
    obj = service(engine={"minReplicas": 0, "canaryTrafficPercent": percent})
    obj["status"] = {"components": {"engine": {"latestRolledoutRevision": stable}}}
    made = planned(obj).find(kinds.KNATIVE_SERVICE, "chat-engine")["spec"]["traffic"]
    found = [(t["latestRevision"], t.get("revisionName"), t["percent"]) for t in made]
    assert found == traffic


def test_tags_route_to_the_latest_revision():
    obj = service(engine={"minReplicas": 0}, annotations={"ome.io/enable-tag-routing": "true"})
    (target,) = planned(obj).find(kinds.KNATIVE_SERVICE, "chat-engine")["spec"]["traffic"]
    assert target["tag"] == "latest"


def test_the_labels_of_pods_do_not_hide_a_service_from_outside():
    obj = service(engine={"minReplicas": 0}, labels={"networking.knative.dev/visibility": "x"})
    made = planned(obj).find(kinds.KNATIVE_SERVICE, "chat-engine")
    key = "networking.knative.dev/visibility"
    assert key in made["metadata"]["labels"]
    assert key not in made["spec"]["template"]["metadata"]["labels"]


def test_a_virtual_service_leads_to_the_knative_service():
    config = opened(
        local_gateway="ns/local",
        local_gateway_service="local.svc",
        knative_gateway_service="knative.svc",
    )
    plan = planned(service(engine={"minReplicas": 0}), config=config)
    spec = plan.find(kinds.VIRTUAL_SERVICE, "chat")["spec"]
    assert spec["hosts"] == ["chat.ml.svc.cluster.local", "chat.ml.x.org"]
    assert spec["gateways"] == ["ns/local", "mesh", "ns/gw"]
    (route,) = spec["http"]
    assert route["route"][0]["destination"] == {"host": "knative.svc", "port": {"number": 8080}}
    assert route["headers"]["request"]["set"] == {"Host": "chat-engine.ml.svc.cluster.local"}
    alias = plan.find(SERVICE, "chat")["spec"]
    assert (alias["type"], alias["externalName"]) == ("ExternalName", "local.svc")


def test_a_virtual_service_leads_from_the_path_of_the_address_to_the_knative_service():
    config = opened(knative_gateway_service="k.svc", path_template="/serving/{{ .Name }}/")
    spec = planned(service(engine={"minReplicas": 0}), config=config).find(
        kinds.VIRTUAL_SERVICE, "chat"
    )["spec"]
    assert spec["hosts"] == ["chat.ml.svc.cluster.local", "chat.ml.x.org", "x.org"]
    assert spec["gateways"] == ["mesh", "ns/gw"]
    by_host, by_path = spec["http"]
    assert [each["uri"] for each in by_path["match"]] == [
        {"prefix": "/serving/chat/"},
        {"exact": "/serving/chat"},
    ]
    for each in by_path["match"]:
        assert re.match(each["authority"]["regex"], "x.org:80")
        assert each["gateways"] == ["ns/gw"]
    assert by_path["rewrite"] == {"uri": "/"}
    assert (by_path["route"], by_path["headers"]) == (by_host["route"], by_host["headers"])


def test_a_virtual_host_may_be_left_out():
    config = opened(is_virtual_host_disabled=True)
    plan = planned(service(engine={"minReplicas": 0}), config=config)
    assert plan.find(kinds.VIRTUAL_SERVICE, "chat") is None


def test_a_private_service_is_not_at_the_ingress_gateway():
    obj = service(
        engine={"minReplicas": 0}, labels={"networking.knative.dev/visibility": "cluster-local"}
    )
    spec = planned(obj, config=opened(path_template="/{{ .Name }}")).find(
        kinds.VIRTUAL_SERVICE, "chat"
    )["spec"]
    assert spec["hosts"] == ["chat.ml.svc.cluster.local"]
    assert (spec["gateways"], len(spec["http"])) == (["mesh"], 1)


def external(obj, *held) -> dict | None:
    return planned(obj, *held).find(SERVICE, "chat")


def test_the_external_service_leads_to_router_or_engine():
    found = external(service())
    assert found["metadata"]["labels"] == {
        "ome.io/inferenceservice": "chat",
        "component": "external-service",
    }
    assert found["spec"] == {
        "type": "ClusterIP",
        "selector": {"ome.io/inferenceservice": "chat", "component": "engine"},
        "ports": [{"name": "http", "port": 8080, "targetPort": 8080, "protocol": "TCP"}],
    }
    router = external(service(router={}))["spec"]["selector"]
    assert router["component"] == "router"


def test_the_external_service_carries_what_a_cloud_reads_and_no_more():
    notes = {"service.beta.kubernetes.io/x": "1", "cloud.google.com/y": "2", "team": "a"}
    kept = external(service(annotations=notes))["metadata"]["annotations"]
    assert kept == {"service.beta.kubernetes.io/x": "1", "cloud.google.com/y": "2"}


def test_a_private_service_has_no_external_service():
    assert external(service(labels={"networking.knative.dev/visibility": "cluster-local"})) is None


RAY = {"annotations": {"ome.io/deploymentMode": "MultiNodeRayVLLM"}}


def test_a_ray_engine_is_a_cluster_and_a_prober_for_each_replica():
    plan = planned(service(engine={**RAY, "minReplicas": 2}), model(), multi_node())
    assert names_of(plan) == {
        "ConfigMap modelconfig-chat",
        "RayCluster chat-engine-0",
        "RayCluster chat-engine-1",
        "Deployment chat-engine-0-mnp",
        "Deployment chat-engine-1-mnp",
        "Service chat-engine",
        "Service chat",
    }


def test_a_ray_cluster_has_a_head_and_workers_that_kuberay_starts():
    plan = planned(service(engine=RAY), model(), multi_node())
    spec = plan.find(kinds.RAY_CLUSTER, "chat-engine-0")["spec"]
    head, (worker,) = spec["headGroupSpec"], spec["workerGroupSpecs"]
    assert head["headService"]["metadata"]["name"] == "chat-engine-0"
    assert head["rayStartParams"]["dashboard-host"] == "0.0.0.0"
    main = head["template"]["spec"]["containers"][0]
    assert main["lifecycle"]["preStop"]["exec"]["command"][-1] == "ray stop"
    assert (worker["groupName"], worker["replicas"]) == ("wg", 1)
    started = worker["template"]["spec"]["containers"][0]
    assert started["command"] == ["/bin/bash", "-lc", "--"]
    assert "$KUBERAY_GEN_RAY_START_CMD" in started["args"][0]
    ports = plan.find(SERVICE, "chat-engine")["spec"]["ports"]
    assert [port["port"] for port in ports] == [8080, 8265, 8000, 6379]


def test_a_prober_asks_the_head_of_its_cluster():
    config = Configuration(
        ingress=IngressConfig(is_disabled=True),
        prober=ProberConfig(image="prober:1", startup={"failureThreshold": 150}),
    )
    plan = planned(service(engine=RAY), model(), multi_node(), config=config)
    spec = plan.find(DEPLOYMENT, "chat-engine-0-mnp")["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    assert (container["name"], container["image"]) == ("multinode-prober", "prober:1")
    assert "http://chat-engine-0.ml.svc.cluster.local:8080" in container["args"]
    assert container["startupProbe"]["failureThreshold"] == 150
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": "25%", "maxSurge": "25%"}


def test_istio_gets_a_sidecar_for_a_multi_node_component_that_lets_it_in():
    obj = service(engine={**PARTS, "labels": {"sidecar.istio.io/inject": "true"}})
    plan = planned(obj)
    found = plan.find(kinds.ISTIO_SIDECAR, "chat-engine")["spec"]
    assert found["workloadSelector"]["labels"] == {
        "ome.io/inferenceservice": "chat",
        "component": "engine",
    }
    assert found["egress"][0]["hosts"] == ["./*"]
    missing = planned(obj, unserved=frozenset({kinds.ISTIO_SIDECAR}))
    assert any("Sidecar" in text for text in missing.warnings)


@pytest.mark.parametrize(
    ("notes", "labels"),
    [
        ({"ome.io/volcano-queue": "q"}, {"volcano.sh/queue-name": "q"}),
        (
            {"ome.io/dedicated-ai-cluster": "d", "kueue-enabled": "true"},
            {
                "kueue.x-k8s.io/queue-name": "d",
                "kueue.x-k8s.io/priority-class": "kueue-scheduling-high-priority",
            },
        ),
        (
            {"ome.io/dedicated-ai-cluster": "d", "volcano": "true"},
            {
                "volcano.sh/queue-name": "d",
                "ray.io/priority-class-name": "volcano-scheduling-high-priority",
                "ray.io/scheduler-name": "volcano",
            },
        ),
    ],
)
def test_queues_are_named_by_labels_of_all_raw_objects(notes: dict, labels: dict):
    plan = planned(service(annotations=notes))
    made = plan.find(DEPLOYMENT, "chat-engine")
    pods = made["spec"]["template"]["metadata"]["labels"]
    for held in (made["metadata"]["labels"], pods):
        assert labels.items() <= held.items()
    budget = plan.find(BUDGET, "chat-engine")
    assert labels.items() <= budget["metadata"]["labels"].items()


def test_the_model_config_says_where_the_model_lies():
    held = model(modelType="llama", storage={"storageUri": "hf://a", "path": "/p", "key": "k"})
    obj = planned(service(), held, runtime()).find(CONFIG_MAP, "modelconfig-chat")
    assert obj["metadata"]["labels"] == {"ome.io/inferenceservice": "chat"}
    assert obj["data"]["models.json"] == (
        '[{"modelName":"llama","modelSpec":{"storageUri":"hf://a","path":"/p","storageKey":"k",'
        '"modelFormatName":"safetensors","modelFormatVersion":"1.0.0","modelType":"llama",'
        '"modelFrameworkName":"transformers","modelFrameworkVersion":"4.43.0"}}]'
    )
