"""Metrics of autoscalers are set, shown and cleared by a command."""

import json
from collections.abc import Iterator

import pytest
from command_lines import Cli

HPA = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  maxReplicas: 5
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  metrics:
  - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}
  - {type: External, external: {metric: {name: lag}, target: {type: Value, value: "30"}}}
"""
DOTTED = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: dotted, namespace: kube-public}
spec:
  maxReplicas: 5
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  metrics:
  - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}
  - type: ContainerResource
    containerResource:
      {name: memory, container: main, target: {type: AverageValue, averageValue: 1Gi}}
  - type: Pods
    pods: {metric: {name: http.requests}, target: {type: AverageValue, averageValue: "5"}}
  - {type: External, external: {metric: {name: queue}, target: {type: Value, value: "30"}}}
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory, kubectl) -> Iterator[Cli]:
    """A cluster with a Deployment of one pod and its autoscaler."""
    cli = Cli(tmp_path_factory.mktemp("home"))
    told = cli("up", "--detach", "--port", "0", "--nodes", "2", "--speed", "50", "--no-operator")
    assert told.code == 0, told.err
    config = {"KUBECONFIG": str(cli.home / "sim" / "kubeconfig")}
    kubectl("create", "deployment", "web", "--image=web", env=config)
    kubectl("set", "resources", "deployment/web", "--requests=cpu=500m", env=config)
    kubectl("rollout", "status", "deployment/web", "--timeout=60s", env=config)
    kubectl("apply", "-f", "-", stdin=HPA, env=config)
    kubectl("apply", "-f", "-", stdin=DOTTED, env=config)
    yield cli
    cli("down")


@pytest.fixture
def cli(home: Cli) -> Iterator[Cli]:
    """The command line, and no metrics at the end of the test."""
    yield home
    home("sim", "metric", "clear", "web")


def test_a_metric_that_is_set_is_shown_and_scales_the_target(cli, kubectl):
    told = cli("sim", "metric", "set", "web", "lag=60")
    assert told.code == 0, told.err
    head, cpu, lag = told.out.splitlines()
    assert head.split() == ["AUTOSCALER", "METRIC", "TYPE", "SET", "SEEN", "TARGET"]
    assert cpu.split()[:4] == ["web", "cpu", "Resource", "-"]
    assert lag.split()[:4] == ["web", "lag", "External", "60"]
    config = {"KUBECONFIG": str(cli.home / "sim" / "kubeconfig")}
    ask = "--for=jsonpath={.spec.replicas}=5"
    kubectl("wait", ask, "deployment/web", "--timeout=60s", env=config)


def test_a_plain_number_where_a_share_is_usual_is_doubted(cli):
    told = cli("sim", "metric", "set", "web", "cpu=70", "lag=60")
    assert told.code == 0
    assert told.err == (
        "note: cpu=70 is 70 cores of each pod; for a share of its request set cpu=70%\n"
    )
    assert cli("sim", "metric", "set", "web", "cpu=70%").err == ""
    assert cli("sim", "metric", "set", "web", "cpu=700m").err == ""


def test_metrics_are_listed_for_programs(cli):
    cli("sim", "metric", "set", "web", "cpu=50%", "lag=30")
    rows = json.loads(cli("sim", "metric", "list", "-o", "json").out)
    assert [(row["metric"], row["value"], row["target"]) for row in rows] == [
        ("cpu", "50%", "50%"),
        ("lag", "30", "30"),
    ]
    assert {row["isShared"] for row in rows} == {False}
    everywhere = cli("sim", "metric", "list", "-A").out.splitlines()
    assert everywhere[1].split()[:3] == ["default", "web", "cpu"]


def test_what_pods_share_replaces_what_each_of_them_shows(cli):
    cli("sim", "metric", "set", "web", "cpu=50%")
    told = cli("sim", "metric", "set", "web", "cpu=250m", "--shared")
    assert "250m shared" in told.out
    (cpu, _) = json.loads(cli("sim", "metric", "list", "web", "-o", "json").out)
    assert (cpu["value"], cpu["isShared"]) == ("250m", True)


def test_metrics_are_cleared_by_name_or_all(cli):
    cli("sim", "metric", "set", "web", "cpu=50%", "lag=30")
    rows = json.loads(cli("sim", "metric", "clear", "web", "cpu", "-o", "json").out)
    assert [row["value"] for row in rows] == [None, "30"]
    rows = json.loads(cli("sim", "metric", "clear", "web", "-o", "json").out)
    assert [row["value"] for row in rows] == [None, None]
    told = cli("sim", "metric", "clear", "web", "cpu")
    assert (told.code, told.err) == (
        1,
        "error: the metric 'cpu' was not set; nothing was changed\n",
    )


def test_an_annotation_that_is_no_metric_is_not_cleared(cli):
    name = "kubectl.kubernetes.io/last-applied-configuration"
    told = cli("sim", "metric", "clear", "web", name)
    assert (told.code, told.err) == (
        1,
        f"error: the metric {name!r} was not set; nothing was changed\n",
    )
    cli("sim", "metric", "set", "web", "lag=3")
    assert cli("sim", "metric", "clear", "web", "sim.kohort.dev/metric-lag").code == 0


@pytest.mark.parametrize(
    ("metric", "code"),
    [
        ("http=5", 1),
        ("queue.length=7", 1),
        ("cpu.main=1", 1),
        ("http.requests=5", 0),
        ("memory.main=1Gi", 0),
        ("memory=1Gi", 0),
    ],
)
def test_only_what_is_looked_at_can_be_set(cli, metric, code):
    told = cli("sim", "metric", "set", "dotted", metric, "-n", "kube-public")
    assert told.code == code, told
    assert bool(code) == ("the autoscaler 'dotted' has no metric" in told.err)


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (("set", "wbe", "cpu=1"), 1, "there is no autoscaler 'wbe' in the namespace default"),
        (
            ("set", "web", "cpo=1"),
            1,
            "'web' has no metric 'cpo' (did you mean 'cpu'",
        ),
        (("set", "web", "zz=1"), 1, "has no metric 'zz'; it has: cpu, lag"),
        (
            ("set", "web", "lag=10%"),
            1,
            "'lag' is no resource, so it has no request",
        ),
        (("set", "web", "cpu"), 2, "a metric is set as NAME=VALUE, such as cpu=70%, not 'cpu'"),
        (("set", "web", "cpu=lots"), 2, "or 70%, not 'lots'"),
        (("set", "web", "cpu=-1"), 2, "or 70%, not '-1'"),
        (("set", "web", "cpu=70%", "--shared"), 2, "what pods share is an amount"),
        (("list", "web", "-A"), 2, "give a name or -A, not both"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_sentence(cli, words, code, error):
    told = cli("sim", "metric", *words)
    assert (told.code, told.out) == (code, "")
    assert error in told.err


def test_a_namespace_without_autoscalers_says_how_to_make_one(cli):
    told = cli("sim", "metric", "list", "-n", "kube-system")
    assert told.out == (
        "there are no autoscalers in the namespace kube-system; 'kubectl autoscale' makes one\n"
    )


def test_the_help_shows_examples():
    told = Cli(None)("sim", "metric", "set", "--help")
    assert "kohort sim metric set web cpu=2400m --shared" in told.out
