"""kubectl autoscales: it makes an autoscaler, shows what it sees, and scales with it."""

import json

import pytest
from client_manifests import deployment, eventually

pytestmark = pytest.mark.clients


@pytest.fixture
def web(k, apply):
    """A Deployment of one pod that requests half a processor."""
    made = deployment("web", replicas=1)
    container = made["spec"]["template"]["spec"]["containers"][0]
    container["resources"] = {"requests": {"cpu": "500m"}}
    apply(made)
    k("rollout", "status", "deployment/web", "--timeout=60s")


def test_kubectl_autoscale_scales_a_deployment_by_the_load_that_is_set(k, web):
    k("autoscale", "deployment/web", "--min=1", "--max=5", "--cpu=50%")
    k("annotate", "hpa/web", "sim.kohort.dev/load-cpu=600m")
    k("wait", "--for=jsonpath={.spec.replicas}=3", "deployment/web", "--timeout=120s")
    k("wait", "--for=jsonpath={.status.currentReplicas}=3", "hpa/web", "--timeout=120s")
    row = k("get", "hpa", "web", "--no-headers").stdout.split()
    assert row[:2] == ["web", "Deployment/web"]
    assert row[4:7] == ["1", "5", "3"]


def test_kubectl_describes_what_an_autoscaler_sees_and_did(k, web):
    k("autoscale", "deployment/web", "--min=2", "--max=5", "--cpu=50%")
    k("annotate", "hpa/web", "sim.kohort.dev/metric-cpu=50%")
    k("wait", "--for=condition=ScalingActive", "hpa/web", "--timeout=120s")
    told = k("describe", "hpa", "web").stdout
    assert "resource cpu on pods  (as a percentage of request):  50% (250m) / 50%" in told
    assert "Min replicas:" in told
    assert "ValidMetricFound" in told
    reason = "Current number of replicas below Spec.MinReplicas"
    assert f"New size: 2; reason: {reason}" in told


def test_the_list_has_the_columns_of_a_real_server(k, web):
    k("autoscale", "deployment/web", "--max=3")
    head, row = k("get", "hpa").stdout.splitlines()
    columns = ["NAME", "REFERENCE", "TARGETS", "MINPODS", "MAXPODS", "REPLICAS", "AGE"]
    assert head.split() == columns
    assert "cpu: <unknown>/80%" in row


def test_a_missing_metric_is_reported_with_the_way_to_set_it(k, web):
    k("autoscale", "deployment/web", "--max=3", "--cpu=50%")
    k("wait", "--for=condition=ScalingActive=False", "hpa/web", "--timeout=60s")

    def told() -> list[str]:
        events = json.loads(k("get", "events", "-o=json").stdout)["items"]
        return [e["message"] for e in events if e["reason"] == "FailedGetResourceMetric"]

    assert "sim.kohort.dev/metric-cpu" in eventually(told)[0]


def test_an_older_client_reads_and_writes_the_older_version(k, apply, web, read):
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "maxReplicas": 4, "targetCPUUtilizationPercentage": 60}
    kind = {"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler"}
    apply({**kind, "metadata": {"name": "old"}, "spec": spec})
    path = "{.spec.targetCPUUtilizationPercentage}"
    assert read("horizontalpodautoscalers.v1.autoscaling/old", path) == "60"
    assert read("hpa/old", "{.spec.metrics[0].resource.target.averageUtilization}") == "60"
    apply({**kind, "metadata": {"name": "old"}, "spec": {**spec, "maxReplicas": 6}})
    assert read("hpa/old", "{.spec.maxReplicas}") == "6"
