"""SingleComponentStrategy: each component by itself, in all modes, as upstream deploys them."""

import pytest
from isvc_builders import RUNNER, model, multi_node, names_of, planned, rbg, runtime, service

from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.configuration import Configuration
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.resolution.modes import ComponentDeploymentModes
from kohort.apis.inferenceservice.spec import DeploymentMode, read_service
from kohort.apis.inferenceservice.strategies.single_component import SingleComponentStrategy
from kohort.cluster.kinds import AUTOSCALER, BUDGET, DEPLOYMENT, INGRESS, SERVICE, SERVICE_ACCOUNT

RAW, MULTI = DeploymentMode.RAW, DeploymentMode.MULTI_NODE
RAY, ZERO = DeploymentMode.RAY, DeploymentMode.SERVERLESS


@pytest.mark.parametrize("mode", [None, "RawDeployment", "MultiNode", "Serverless", "nonsense"])
def test_it_is_for_every_service_that_does_not_ask_for_a_group(mode):
    notes = {"ome.io/deploymentMode": mode} if mode else {}
    assert SingleComponentStrategy().is_applicable(read_service(service()), notes)
    asked = read_service(rbg())
    assert not SingleComponentStrategy().is_applicable(asked, asked.annotations)


@pytest.mark.parametrize("engine", [RAW, MULTI, RAY, ZERO])
def test_all_modes_of_an_engine_are_supported(engine):
    modes = ComponentDeploymentModes(engine=engine, decoder=MULTI, router=ZERO)
    SingleComponentStrategy().validate_deployment_modes(modes)


@pytest.mark.parametrize(
    ("modes", "words"),
    [
        ({}, "cannot deploy component engine with no deployment mode"),
        ({"engine": DeploymentMode.VIRTUAL}, "component engine with deployment mode Virtual"),
        ({"engine": RAW, "decoder": ZERO}, "component decoder with deployment mode Serverless"),
        ({"engine": RAW, "router": MULTI}, "it supports RawDeployment, Serverless"),
    ],
)
def test_other_modes_are_refused_with_what_is_supported(modes: dict, words: str):
    with pytest.raises(ServiceError, match=words) as error:
        SingleComponentStrategy().validate_deployment_modes(ComponentDeploymentModes(**modes))
    assert error.value.reason == "InvalidDeploymentMode"


def test_a_raw_engine_is_a_deployment_and_what_belongs_to_it():
    assert names_of(planned(service())) == {
        "ConfigMap modelconfig-chat",
        "Deployment chat-engine",
        "Service chat-engine",
        "HorizontalPodAutoscaler chat-engine",
        "PodDisruptionBudget chat-engine",
        "Service chat",
    }


def deployment(obj=None, *held, **how) -> dict:
    found = planned(obj or service(), *held, **how).find(DEPLOYMENT, "chat-engine")
    assert found is not None
    return found


def test_a_deployment_rolls_one_by_one_and_keeps_ten_revisions():
    spec = deployment()["spec"]
    assert spec["selector"] == {"matchLabels": {"app": "chat-engine"}}
    assert spec["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1},
    }
    assert (spec["revisionHistoryLimit"], spec["progressDeadlineSeconds"]) == (10, 600)


def test_a_deployment_belongs_to_its_service():
    metadata = deployment()["metadata"]
    assert metadata["ownerReferences"] == [
        {
            "apiVersion": "ome.io/v1beta1",
            "kind": "InferenceService",
            "name": "chat",
            "uid": "isvc-uid",
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
    assert metadata["labels"]["app"] == "chat-engine"


def test_pods_have_upstreams_defaults():
    template = deployment()["spec"]["template"]
    assert (template["metadata"]["name"], template["metadata"]["namespace"]) == (
        "chat-engine",
        "ml",
    )
    pod = template["spec"]
    assert (pod["dnsPolicy"], pod["restartPolicy"]) == ("ClusterFirst", "Always")
    assert (pod["terminationGracePeriodSeconds"], pod["securityContext"]) == (30, {})
    assert pod["schedulerName"] == "default-scheduler"
    (container,) = pod["containers"]
    assert container["terminationMessagePath"] == "/dev/termination-log"
    assert container["terminationMessagePolicy"] == "File"
    assert container["imagePullPolicy"] == "IfNotPresent"
    assert container["readinessProbe"] == {
        "tcpSocket": {"port": 8080},
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }


def test_a_probe_asks_the_first_port_and_a_given_probe_stays():
    ports = {"runner": {"ports": [{"containerPort": 30000}]}}
    (container,) = deployment(service(engine=ports))["spec"]["template"]["spec"]["containers"]
    assert container["readinessProbe"]["tcpSocket"] == {"port": 30000}
    own = {"runner": {"readinessProbe": {"httpGet": {"port": 1}}}}
    (container,) = deployment(service(engine=own))["spec"]["template"]["spec"]["containers"]
    assert container["readinessProbe"] == {"httpGet": {"port": 1}}


def test_a_strategy_of_the_user_is_the_deployments():
    own = {"deploymentStrategy": {"type": "Recreate"}}
    assert deployment(service(engine=own))["spec"]["strategy"] == {"type": "Recreate"}
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0}}
    held = runtime(engineConfig={"runner": RUNNER, "deploymentStrategy": rolling})
    plan = planned(service(engine=own), model(), held)
    assert plan.find(DEPLOYMENT, "chat-engine")["spec"]["strategy"] == {"type": "Recreate"}
    assert not plan.warnings


def service_of(obj, *held, name="chat-engine") -> dict:
    found = planned(obj, *held).find(SERVICE, name)
    assert found is not None
    return found


def test_a_service_without_ports_gets_port_8080():
    assert service_of(service())["spec"] == {
        "type": "ClusterIP",
        "selector": {"app": "chat-engine"},
        "ports": [{"name": "ome-container", "port": 8080, "targetPort": 8080, "protocol": "TCP"}],
    }


def test_a_service_carries_no_annotations_that_only_pods_need():
    notes = {"prometheus.io/port": "1", "team": "a", "rdma.ome.io/auto-inject": "true"}
    metadata = service_of(service(annotations=notes))["metadata"]
    assert metadata["annotations"]["team"] == "a"
    assert not {"prometheus.io/port", "rdma.ome.io/auto-inject"} & set(metadata["annotations"])


def test_a_load_balancer_has_the_address_of_the_annotation():
    notes = {"ome.io/service-type": "LoadBalancer", "ome.io/load-balancer-ip": "10.0.0.9"}
    spec = service_of(service(annotations=notes))["spec"]
    assert (spec["type"], spec["loadBalancerIP"]) == ("LoadBalancer", "10.0.0.9")


def hpa(obj, *held, **how) -> dict:
    return planned(obj, *held, **how).find(AUTOSCALER, "chat-engine")["spec"]


def test_an_autoscaler_holds_cpu_at_eighty_percent():
    assert hpa(service(engine={"minReplicas": 2, "maxReplicas": 5})) == {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat-engine"},
        "minReplicas": 2,
        "maxReplicas": 5,
        "metrics": [
            {
                "type": "Resource",
                "resource": {
                    "name": "cpu",
                    "target": {"type": "Utilization", "averageUtilization": 80},
                },
            }
        ],
    }


@pytest.mark.parametrize(
    ("engine", "notes", "bounds", "target"),
    [
        ({}, {}, (1, 3), ("cpu", 80)),
        ({"minReplicas": 3, "maxReplicas": 1}, {}, (3, 3), ("cpu", 80)),
        ({"scaleMetric": "memory", "scaleTarget": 60}, {}, (1, 3), ("memory", 60)),
        ({"scaleTarget": 60}, {"ome.io/targetUtilizationPercentage": "70"}, (1, 3), ("cpu", 70)),
    ],
)
def test_bounds_and_targets_come_from_the_component(engine, notes, bounds, target):
    spec = hpa(service(engine=engine, annotations=notes))
    metric = spec["metrics"][0]["resource"]
    assert (spec["minReplicas"], spec["maxReplicas"]) == bounds
    assert (metric["name"], metric["target"]["averageUtilization"]) == target


def test_an_external_autoscaler_means_none_of_ours():
    notes = {"ome.io/autoscalerClass": "external"}
    assert not any("Autoscaler" in n for n in names_of(planned(service(annotations=notes))))


KEDA, VPA = ({"ome.io/autoscalerClass": name} for name in ("keda", "vpa"))


def test_an_unknown_autoscaler_is_an_error():
    held = runtime(engineConfig={"runner": RUNNER, "annotations": {**KEDA, **VPA}})
    for obj, base in ((service(annotations=VPA), runtime()), (service(), held)):
        with pytest.raises(ServiceError, match=r"of component engine.* not 'vpa'"):
            planned(obj, model(), base)


NAME = 'ome_io_inferenceservice="chat-engine"'


def scaled(**spec) -> dict:
    notes = {**KEDA, **spec.pop("annotations", {})}
    plan = planned(service(annotations=notes, **spec))
    assert plan.find(AUTOSCALER, "chat-engine") is None
    return plan.find(kinds.SCALED_OBJECT, "scaledobject-chat-engine")["spec"]


def test_keda_asks_prometheus_with_upstreams_query():
    spec = scaled(engine={"minReplicas": 0, "maxReplicas": 4}, decoder={"runner": RUNNER})
    assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == (1, 4)
    (trigger,) = spec["triggers"]
    assert trigger["type"] == "prometheus"
    assert trigger["metadata"] == {
        "serverAddress": "http://prometheus-operated.monitoring.svc.cluster.local:9090",
        "metricName": "tps",
        "query": (
            f"sum(avg_over_time(vllm:avg_generation_throughput_toks_per_s{{{NAME}}}[5m]) "
            f"< bool 10) * sum(rate(vllm:request_success_total{{{NAME}}}[1m]) > bool 0.50)"
        ),
        "threshold": "10",
        "operator": "LessThanOrEqual",
    }


def test_annotations_of_keda_win_over_its_configuration():
    config = {"promServerAddress": "http://p", "scalingThreshold": "5", "customPromQuery": "up"}
    notes = {"autoscaling.keda.sh/threshold": "7"}
    (trigger,) = scaled(kedaConfig=config, annotations=notes)["triggers"]
    found = trigger["metadata"]
    assert (found["serverAddress"], found["threshold"]) == ("http://p", "7")


def test_keda_may_authenticate():
    config = {"authenticationRef": {"name": "a"}, "authModes": "bearer"}
    (trigger,) = scaled(kedaConfig=config)["triggers"]
    assert trigger["authenticationRef"] == {"name": "a", "kind": "TriggerAuthentication"}
    assert trigger["metadata"]["authModes"] == "bearer"


def test_keda_that_is_not_installed_is_warned_of():
    plan = planned(service(annotations=KEDA), unserved=frozenset({kinds.SCALED_OBJECT}))
    assert any("ScaledObject" in text and "install KEDA" in text for text in plan.warnings)
    assert not any("ScaledObject" in name for name in names_of(plan))


@pytest.mark.parametrize(
    ("engine", "limits"),
    [
        ({}, {"maxUnavailable": 1}),
        ({"minAvailable": "50%"}, {"minAvailable": "50%"}),
        ({"maxUnavailable": 2}, {"maxUnavailable": 2}),
    ],
)
def test_a_budget_is_the_users_or_one_pod(engine: dict, limits: dict):
    spec = planned(service(engine=engine)).find(BUDGET, "chat-engine")["spec"]
    assert spec == {**limits, "selector": {"matchLabels": {"app": "chat-engine"}}}


def test_a_multi_node_engine_is_a_leader_worker_set():
    plan = planned(service(), model(), multi_node())
    assert names_of(plan) == {
        "ConfigMap modelconfig-chat",
        "LeaderWorkerSet lws-chat-engine",
        "Service chat-engine",
        "Service chat",
    }
    spec = plan.find(kinds.LEADER_WORKER_SET, "lws-chat-engine")["spec"]
    assert (spec["replicas"], spec["startupPolicy"]) == (1, "LeaderCreated")
    assert spec["networkConfig"] == {"subdomainPolicy": "Shared"}
    assert spec["rolloutStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 1},
    }
    group = spec["leaderWorkerTemplate"]
    assert (group["size"], group["restartPolicy"]) == (4, "RecreateGroupOnPodRestart")


def test_leaders_and_workers_are_told_apart():
    notes = {"prometheus.io/scrape": "true", "team": "a"}
    plan = planned(service(annotations=notes), model(), multi_node())
    group = plan.find(kinds.LEADER_WORKER_SET, "lws-chat-engine")["spec"]["leaderWorkerTemplate"]
    leader, worker = group["leaderTemplate"], group["workerTemplate"]
    assert leader["metadata"]["labels"]["ray.io/node-type"] == "head"
    assert leader["metadata"]["labels"]["app"] == "chat-engine"
    assert not {"ray.io/node-type", "app"} & set(worker["metadata"]["labels"])
    assert leader["metadata"]["annotations"]["prometheus.io/scrape"] == "true"
    assert "prometheus.io/scrape" not in worker["metadata"]["annotations"]
    assert worker["metadata"]["annotations"]["team"] == "a"
    assert "readinessProbe" not in leader["spec"]["containers"][0]
    assert worker["spec"]["containers"][0]["image"] == "worker:1"


def test_a_multi_node_component_may_ask_for_autoscaler_and_budget():
    notes = {"ome.io/autoscalerClass": "hpa"}
    obj = service(annotations=notes, engine={"maxReplicas": 3, "maxUnavailable": 1})
    plan = planned(obj, model(), multi_node())
    target = plan.find(AUTOSCALER, "chat-engine")["spec"]["scaleTargetRef"]
    assert (target["kind"], target["name"]) == ("LeaderWorkerSet", "lws-chat-engine")
    assert plan.find(BUDGET, "chat-engine") is not None


def test_leader_worker_set_that_is_not_served_is_an_error():
    with pytest.raises(ServiceError, match="does not serve LeaderWorkerSet") as error:
        planned(service(), model(), multi_node(), unserved=frozenset({kinds.LEADER_WORKER_SET}))
    assert error.value.reason == "WorkloadReconcileFailed"


def test_a_router_may_read_pods():
    plan = planned(service(router={}))
    role = plan.find(kinds.ROLE, "chat-router")
    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}
    ]
    assert plan.find(SERVICE_ACCOUNT, "chat-router") is not None
    binding = plan.find(kinds.ROLE_BINDING, "chat-router")
    assert binding["roleRef"]["name"] == "chat-router"
    assert binding["subjects"] == [
        {"kind": "ServiceAccount", "name": "chat-router", "namespace": "ml"}
    ]


def test_a_virtual_service_has_no_objects():
    notes = {"ome.io/deploymentMode": "VirtualDeployment"}
    assert names_of(planned(service(annotations=notes))) == set()


def test_fields_without_effect_are_warned_of():
    engine = {"canaryTrafficPercent": 5, "containerConcurrency": 1, "scaleMetric": "rps"}
    told = " ".join(planned(service(engine=engine)).warnings)
    for word in ("canaryTrafficPercent", "containerConcurrency", "scaleMetric rps"):
        assert word in told
    plan = planned(service(engine={"scaleTarget": 3}), model(), multi_node())
    assert any("scaleTarget and scaleMetric have no effect" in text for text in plan.warnings)


@pytest.mark.parametrize("mode", ["RawDeployment", "RoleBasedGroup"])
def test_a_minimum_of_zero_that_counts_as_one_is_warned_of(mode: str):
    """Only an engine alone is Serverless; beside a decoder it is not."""
    notes = {"ome.io/deploymentMode": mode}
    obj = service(annotations=notes, engine={"minReplicas": 0}, decoder={"minReplicas": 0})
    told = planned(obj, model(), runtime(decoderConfig={"runner": RUNNER})).warnings
    for component in ("engine", "decoder"):
        text = f"spec.{component}.minReplicas 0 counts as 1: only Serverless scales to zero"
        assert text in told


def test_everything_is_listed_so_that_what_is_left_over_goes():
    listed = {desired.kind for desired in planned(service()).objects}
    assert {kinds.LEADER_WORKER_SET, kinds.ROLE_BASED_GROUP, INGRESS} <= listed
    unserved = frozenset({kinds.LEADER_WORKER_SET})
    listed = {desired.kind for desired in planned(service(), unserved=unserved).objects}
    assert kinds.LEADER_WORKER_SET not in listed


def test_the_configuration_decides_the_mode_of_services_without_one():
    config = Configuration(default_mode=DeploymentMode.SERVERLESS)
    unserved = frozenset({kinds.KNATIVE_SERVICE})
    with pytest.raises(ServiceError, match="needs Knative") as error:
        planned(service(), config=config, unserved=unserved)
    assert error.value.reason == "ServerlessModeRejected"
    assert runtime()["kind"] == "ClusterServingRuntime"


RDMA = {"rdma.ome.io/auto-inject": "true"}


@pytest.mark.parametrize(("notes", "defined"), [(RDMA, ["dshm"]), ({}, [])])
def test_a_leader_worker_set_defines_the_volumes_that_its_runtime_mounts_for_rdma(
    notes: dict, defined: list[str]
):
    mounts = [{"name": "dshm", "mountPath": "/dev/shm"}]
    leader = {"runner": {**RUNNER, "volumeMounts": mounts}}
    worker = {"size": 1, "runner": RUNNER}
    held = runtime(engineConfig={"annotations": notes, "leader": leader, "worker": worker})
    made = planned(service(), model(), held).find(kinds.LEADER_WORKER_SET, "lws-chat-engine")
    templates = made["spec"]["leaderWorkerTemplate"]
    found = templates["leaderTemplate"]["spec"].get("volumes") or ()
    assert [v["name"] for v in found if v["name"] in ("dshm", "devinf")] == defined
    others = templates["workerTemplate"]["spec"].get("volumes") or ()
    assert not [v for v in others if v["name"] in ("dshm", "devinf")]


def test_a_deployment_defines_the_volumes_that_its_runtime_mounts_for_rdma():
    runner = {**RUNNER, "volumeMounts": [{"name": "dshm", "mountPath": "/dev/shm"}]}
    held = runtime(engineConfig={"annotations": RDMA, "runner": runner})
    pod = deployment(service(), model(), held)["spec"]["template"]["spec"]
    assert [volume["name"] for volume in pod["volumes"]] == ["llama", "dshm"]
