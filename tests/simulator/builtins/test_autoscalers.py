"""HorizontalPodAutoscalers: they scale what has a scale, say so, and are silent at rest."""

from datetime import timedelta

import pytest
from builtins_world import START, World, messages

from kohort.cluster.errors import Forbidden
from kohort.cluster.kinds import AUTOSCALER, DEFINITION, DEPLOYMENT
from kohort.cluster.objects import Kind
from kohort.cluster.timestamps import write_time
from kohort.simulator.builtins.autoscalers.controller import Autoscalers
from kohort.simulator.builtins.autoscalers.targets import read_pod
from kohort.simulator.builtins.deployments.controller import Deployments
from kohort.simulator.builtins.deployments.replicasets import ReplicaSets
from kohort.simulator.component import MergeRequest, Moment

WIDGET = Kind("example.com", "v1", "Widget", "widgets")
CPU = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
}
MAIN = {"name": "main", "image": "i", "resources": {"requests": {"cpu": "500m"}}}


def deployment(name: str, replicas: int) -> dict:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [MAIN]}}
    rolling = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": template,
        "strategy": {"type": "RollingUpdate", **rolling},
    }
    return {"metadata": {"name": name}, "spec": spec}


def autoscaler(name: str, target: str = "web", kind: Kind = DEPLOYMENT, **notes: str) -> dict:
    """An autoscaler of at most nine replicas, with annotations by the ends of their names."""
    said = {f"sim.kohort.dev/{k.replace('_', '-', 1)}": v for k, v in notes.items()}
    target_ref = {"apiVersion": kind.api_version, "kind": kind.name, "name": target}
    spec = {"minReplicas": 1, "maxReplicas": 9, "metrics": [CPU], "scaleTargetRef": target_ref}
    return {"metadata": {"name": name, "annotations": said}, "spec": spec}


def start(replicas: int = 2, **notes: str) -> World:
    world = World(Autoscalers(), Deployments(), ReplicaSets())
    world.create(DEPLOYMENT, deployment("web", replicas))
    world.converge()
    for pod in [name for kind, _, name in list(world.objects) if kind.name == "Pod"]:
        stamp_start(world, pod)
    world.create(AUTOSCALER, autoscaler("web", **notes))
    world.converge()
    return world


def stamp_start(world: World, pod: str) -> None:
    world.patch(Kind("", "v1", "Pod", "pods"), pod, {"status": {"startTime": world.moment.stamp}})


def replicas_of(world: World, name: str = "web") -> int:
    return world.read(DEPLOYMENT, name)["spec"]["replicas"]


def reasons(world: World, name: str = "web") -> dict[str, str]:
    status = world.read(AUTOSCALER, name)["status"]
    return {condition["type"]: condition["reason"] for condition in status["conditions"]}


def say(world: World, **notes: str | None) -> None:
    said = {f"sim.kohort.dev/{k.replace('_', '-', 1)}": v for k, v in notes.items()}
    world.patch(AUTOSCALER, "web", {"metadata": {"annotations": said}})
    world.settle()


def test_a_deployment_is_scaled_as_soon_as_its_autoscaler_is_there():
    world = start(metric_cpu="80%")
    assert replicas_of(world) == 4
    assert messages(world, "SuccessfulRescale") == [
        "New size: 4; reason: cpu resource utilization (percentage of request) above target"
    ]
    status = world.read(AUTOSCALER, "web")["status"]
    assert (status["currentReplicas"], status["desiredReplicas"]) == (2, 4)
    assert status["lastScaleTime"] == world.moment.stamp
    assert reasons(world)["AbleToScale"] == "SucceededRescale"


def test_a_look_comes_every_fifteen_seconds():
    world = start(metric_cpu="80%")
    assert world.runners[0].timers == {"default/web": world.elapsed + 15}
    world.advance(15)
    assert reasons(world)["AbleToScale"] == "ReadyForNewScale"
    assert world.read(AUTOSCALER, "web")["status"]["currentReplicas"] == 4


def test_a_metric_that_is_set_is_seen_at_once():
    world = start()
    assert reasons(world)["ScalingActive"] == "FailedGetResourceMetric"
    say(world, metric_cpu="80%")
    assert replicas_of(world) == 4
    assert reasons(world)["ScalingActive"] == "ValidMetricFound"


def test_a_metric_without_a_value_is_reported_once():
    world = start()
    for _ in range(10):
        world.advance(15)
    (told,) = messages(world, "FailedGetResourceMetric")
    assert "kohort sim metric set" in told
    assert len(messages(world, "FailedComputeMetricsReplicas")) == 1


def test_a_complaint_is_not_made_again_when_something_else_changes():
    world = start()
    world.patch(DEPLOYMENT, "web", {"spec": {"replicas": 3}})
    world.advance(15)
    assert world.read(AUTOSCALER, "web")["status"]["currentReplicas"] == 3
    assert len(messages(world, "FailedGetResourceMetric")) == 1


@pytest.mark.parametrize(
    ("pod", "seen"),
    [
        ({"status": {"phase": "Failed"}}, {"is_ignored": True}),
        ({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, {"is_ignored": True}),
        ({"status": {"phase": "Pending"}}, {"is_pending": True}),
        ({}, {"is_starting": False, "is_ready": True}),
        ({"status": {"startTime": None}}, {"is_starting": True}),
        ({"ready": "False"}, {"is_starting": True, "is_ready": False}),
        ({"ready": "False", "seconds": 400}, {"is_starting": True}),
        ({"ready": "False", "changed": 60, "seconds": 400}, {"is_starting": False}),
    ],
)
def test_a_pod_is_seen_as_a_real_controller_sees_it(pod, seen):
    def stamp(seconds: int) -> str:
        return write_time(START + timedelta(seconds=seconds))

    ready = {"type": "Ready", "status": pod.get("ready", "True")}
    ready["lastTransitionTime"] = stamp(pod.get("changed", 5))
    status = {"phase": "Running", "startTime": stamp(0), "conditions": [ready]}
    made = {
        "metadata": {"name": "p", **pod.get("metadata", {})},
        "status": {**status, **pod.get("status", {})},
    }
    seconds = pod.get("seconds", 100)
    found = read_pod(made, Moment(START + timedelta(seconds=seconds), seconds))
    assert {name: getattr(found, name) for name in seen} == seen


def test_at_rest_nothing_is_written():
    world = start(metric_cpu="50%")
    world.advance(15)
    before = len(world.log)
    for _ in range(50):
        world.advance(15)
    assert world.log[before:] == []


def test_a_target_that_is_not_there_is_told_and_found_when_it_comes():
    world = World(Autoscalers())
    world.create(AUTOSCALER, autoscaler("web", metric_cpu="50%"))
    world.settle()
    assert reasons(world) == {"AbleToScale": "FailedGetScale"}
    assert messages(world, "FailedGetScale") == ['deployments.apps "web" not found']
    world.create(DEPLOYMENT, deployment("web", 20))
    world.settle()
    assert replicas_of(world) == 9
    assert reasons(world) == {"AbleToScale": "SucceededRescale"}


def test_a_kind_without_a_scale_and_an_unknown_kind_are_told():
    world = World(Autoscalers())
    world.create(AUTOSCALER, autoscaler("web", kind=WIDGET))
    world.settle()
    assert messages(world, "FailedGetScale") == [
        'no matches for kind "Widget" in group "example.com"'
    ]


def test_a_custom_kind_is_scaled_where_its_definition_says():
    component = Autoscalers()
    component.watch_kinds([WIDGET, DEPLOYMENT])
    world = World(component)
    paths = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}
    version = {"name": "v1", "storage": True, "subresources": {"scale": paths}}
    definition = {"metadata": {"name": "widgets.example.com"}, "spec": {"versions": [version]}}
    world.create(DEFINITION, definition)
    world.create(WIDGET, {"metadata": {"name": "w"}, "spec": {"size": 20}})
    world.create(AUTOSCALER, autoscaler("web", "w", WIDGET))
    world.settle()
    (scaled,) = [a for a in world.log if isinstance(a, MergeRequest) and a.subresource == "scale"]
    assert (scaled.kind, scaled.name, scaled.patch["spec"]) == (WIDGET, "w", {"replicas": 9})
    assert scaled.patch["metadata"]["resourceVersion"] == "2"


def test_a_scale_without_a_selector_is_told():
    component = Autoscalers()
    component.watch_kinds([WIDGET])
    world = World(component)
    paths = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}
    version = {"name": "v1", "storage": True, "subresources": {"scale": paths}}
    definition = {"metadata": {"name": "widgets.example.com"}, "spec": {"versions": [version]}}
    world.create(DEFINITION, definition)
    world.create(WIDGET, {"metadata": {"name": "w"}, "spec": {"size": 2}})
    world.create(AUTOSCALER, autoscaler("web", "w", WIDGET, metric_cpu="80%"))
    world.settle()
    assert reasons(world)["ScalingActive"] == "InvalidSelector"
    assert messages(world, "SelectorRequired") == ["selector is required"]


@pytest.mark.parametrize(
    "selector",
    [
        ["a"],
        7,
        {"matchLabels": "x"},
        {"matchLabels": {"a": 1}},
        {"matchExpressions": {"key": "a"}},
        {"matchExpressions": ["a"]},
        {"matchExpressions": [{"key": "a", "operator": "Like"}]},
        {"matchExpressions": [{"key": "a", "operator": "In", "values": [1]}]},
    ],
)
def test_an_odd_selector_is_none_and_stops_no_other_autoscaler(selector):
    world = start(metric_cpu="50%")
    world.runners[0].component.watch_kinds([WIDGET, DEPLOYMENT])  # type: ignore[attr-defined]
    paths = {f"{component}ReplicasPath": f".{component}.size" for component in ("spec", "status")}
    scale = {**paths, "labelSelectorPath": ".spec.selector"}
    version = {"name": "v1", "storage": True, "subresources": {"scale": scale}}
    definition = {"metadata": {"name": "widgets.example.com"}, "spec": {"versions": [version]}}
    world.create(DEFINITION, definition)
    world.create(WIDGET, {"metadata": {"name": "w"}, "spec": {"size": 2, "selector": selector}})
    world.create(AUTOSCALER, autoscaler("bad", "w", WIDGET, metric_cpu="80%"))
    world.settle()
    assert reasons(world, "bad")["ScalingActive"] == "InvalidSelector"
    say(world, metric_cpu="100%")
    assert replicas_of(world) == 4


def test_two_autoscalers_of_the_same_pods_scale_nothing():
    world = start(metric_cpu="50%")
    world.create(AUTOSCALER, autoscaler("other", metric_cpu="80%"))
    world.settle()
    assert replicas_of(world) == 2
    assert reasons(world, "other")["ScalingActive"] == "AmbiguousSelector"
    assert messages(world, "AmbiguousSelector") == [
        "pods by selector app=web are controlled by multiple HPAs: [default/other default/web]"
    ]


def test_a_scale_that_is_refused_is_told_and_tried_again():
    world = start(metric_cpu="50%")
    component, runner = world.runners[0].component, world.runners[0]
    say_busy = {"metadata": {"annotations": {"sim.kohort.dev/metric-cpu": "80%"}}}
    world.patch(AUTOSCALER, "web", say_busy)
    runner.deliver(AUTOSCALER)
    step = component.step("default/web", runner, world.moment)
    assert isinstance(step.actions[0], MergeRequest)
    component.refused("default/web", step.actions[0], Forbidden("not today"))
    assert component._histories["default/web"].added == ()  # type: ignore[attr-defined]
    world.settle()
    assert replicas_of(world) == 2
    assert reasons(world)["AbleToScale"] == "FailedUpdateScale"
    assert messages(world, "FailedRescale") == [
        "New size: 4; reason: cpu resource utilization (percentage of request) above target; "
        "error: not today"
    ]
    world.advance(15)
    assert replicas_of(world) == 4


def test_a_decrease_waits_for_five_minutes_of_the_cluster_s_clock():
    world = start(4, metric_cpu="10%")
    world.advance(285)
    assert replicas_of(world) == 4
    assert reasons(world)["AbleToScale"] == "ScaleDownStabilized"
    for _ in range(2):
        world.advance(15)
    assert replicas_of(world) == 1
    assert messages(world, "SuccessfulRescale") == ["New size: 1; reason: All metrics below target"]


def test_pods_say_what_they_show_themselves():
    world = start()
    for kind, _, name in list(world.objects):
        if kind.name == "Pod":
            said = {"annotations": {"sim.kohort.dev/metric-cpu": "400m"}}
            world.patch(kind, name, {"metadata": said})
    world.advance(15)
    assert replicas_of(world) == 4


def test_an_autoscaler_that_goes_is_forgotten():
    world = start(metric_cpu="80%")
    world.delete(AUTOSCALER, "web")
    world.settle()
    assert world.runners[0].component._histories == {}  # type: ignore[attr-defined]
    world.advance(15)
    assert world.runners[0].timers == {}
