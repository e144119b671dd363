"""What points to a set follows it, there and back; what cannot follow is named."""

import pytest
from bridge_samples import lws

from kohort.apis.bridges.conversions import Conversion, convert_documents
from kohort.apis.bridges.lws_to_ms import convert_to_serving

OLD, NEW = "leaderworkerset.sigs.k8s.io/", "modelserving.volcano.sh/"
POD_NAME = "statefulset.kubernetes.io/pod-name"


def service(selector: dict, namespace: str = "ml"):
    metadata = {"name": "s", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata} | {
        "spec": {"selector": selector}
    }


def autoscaler(name: str, namespace: str = "ml"):
    target = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "name": name}
    metadata = {"name": "h", "namespace": namespace}
    kind = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"}
    return {**kind, "metadata": metadata, "spec": {"scaleTargetRef": target}}


def budget(**selector):
    metadata = {"name": "b", "namespace": "ml"}
    kind = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata}
    return {**kind, "spec": {"selector": selector}}


def convert(document, *, writes: bool = True) -> Conversion:
    return convert_documents([lws(), document], "ms", "default", rewrites_selectors=writes)


def convert_back(document) -> Conversion:
    serving = convert_to_serving(lws(), "serve").object
    return convert_documents([serving, document], "lws", "default", rewrites_selectors=True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({OLD + "name": "llama"}, {NEW + "name": "llama"}),
        (
            {OLD + "name": "llama", OLD + "worker-index": "0"},
            {NEW + "name": "llama", NEW + "entry": "true"},
        ),
        (
            {OLD + "name": "llama", OLD + "group-index": "1", "app": "x"},
            {NEW + "name": "llama", NEW + "group-index": "1", "app": "x"},
        ),
    ],
)
def test_selectors_are_rewritten_there_and_back(before: dict, after: dict):
    assert convert(service(before)).objects[1] == service(after)
    assert convert_back(service(after)).objects[1] == service(before)


def test_an_autoscaler_of_another_kind_with_that_name_is_left_alone():
    other = autoscaler("llama")
    other["spec"]["scaleTargetRef"]["apiVersion"] = "leaderworkerset.example.com/v1"
    assert convert(other).objects[1] == other


def test_a_selector_of_a_leader_by_the_name_of_its_pod_follows():
    made = convert(service({POD_NAME: "llama-1"}))
    expected = {NEW + "group-name": "llama-1", NEW + "entry": "true"}
    assert made.objects[1] == service(expected)


def test_a_selector_by_the_name_of_a_pod_is_reported_where_it_is_left():
    made = convert(service({POD_NAME: "llama-1"}), writes=False)
    assert made.objects[1] == service({POD_NAME: "llama-1"})
    assert "it finds no pods any more" in str(made.lines[-1])


def test_a_label_without_a_twin_stays_since_plugin_lws_writes_it():
    found = {OLD + "name": "llama", OLD + "worker-index": "2"}
    made = convert(service(found))
    expected = {NEW + "name": "llama", OLD + "worker-index": "2"}
    assert made.objects[1] == service(expected)
    assert not any(line.matters for line in made.lines)


@pytest.mark.parametrize(
    "other",
    [
        service({OLD + "name": "another"}),
        service({OLD + "name": "llama"}, "elsewhere"),
        service({"app": "llama"}),
        budget(matchExpressions=[{"key": OLD + "name", "operator": "NotIn", "values": ["llama"]}]),
        autoscaler("another"),
        autoscaler("llama", "elsewhere"),
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "spec": {}},
    ],
)
def test_what_points_elsewhere_is_left_alone(other: dict):
    assert convert(other).objects[1] == other


def test_expressions_of_a_budget_are_rewritten():
    expressions = [
        {"key": OLD + "name", "operator": "In", "values": ["llama"]},
        {"key": OLD + "worker-index", "operator": "In", "values": ["0"]},
    ]
    made = convert(budget(matchExpressions=expressions))
    assert made.objects[1] == budget(
        matchExpressions=[
            {"key": NEW + "name", "operator": "In", "values": ["llama"]},
            {"key": NEW + "entry", "operator": "In", "values": ["true"]},
        ]
    )


def test_on_the_way_back_group_and_role_are_understood():
    found = {
        NEW + "name": "llama",
        NEW + "group-name": "llama-1",
        NEW + "role": "serve",
        NEW + "role-id": "serve-0",
    }
    expected = {OLD + "name": "llama", OLD + "group-index": "1"}
    assert convert_back(service(found)).objects[1] == service(expected)


def test_on_the_way_back_a_label_without_a_twin_is_lost():
    made = convert_back(service({NEW + "name": "llama", NEW + "revision": "abc"}))
    assert [line.field for line in made.lines if line.matters] == [f"spec.selector[{NEW}revision]"]


FORMER_GROUP = "workload.volcano.sh/v1alpha1"
CURRENT_GROUP = "workload.serving.volcano.sh/v1alpha1"


def former_serving():
    made = convert_to_serving(lws(), "serve").object
    status = {"replicas": 2}
    marks = {NEW + "team": "chat"}
    metadata = {**made["metadata"], "labels": marks, "uid": "1", "resourceVersion": "7"}
    return {**made, "apiVersion": FORMER_GROUP, "metadata": metadata, "status": status}


def scaler_of(api_version: str):
    found = autoscaler("llama")
    target = {"apiVersion": api_version, "kind": "ModelServing", "name": "llama"}
    return {**found, "spec": {"scaleTargetRef": target}}


def test_a_modelserving_of_the_former_group_becomes_one_of_the_current_group():
    given = former_serving()
    made = convert_documents([given], "ms", "default")
    metadata = {"name": "llama", "namespace": "ml", "labels": {NEW + "team": "chat"}}
    expected = {"apiVersion": CURRENT_GROUP, "kind": "ModelServing", "metadata": metadata}
    assert made.objects == ({**expected, "spec": given["spec"]},)
    assert made.count == 1
    assert not any(line.matters for line in made.lines)
    (line,) = [line for line in made.lines if line.field == "apiVersion"]
    assert (line.target, line.level) == (CURRENT_GROUP, "exact")
    assert "delete the former object first" in line.note


def test_a_modelserving_of_the_current_group_passes_unchanged():
    given = {**former_serving(), "apiVersion": CURRENT_GROUP}
    made = convert_documents([given], "ms", "default")
    assert (made.objects, made.lines, made.count) == ((given,), (), 0)


def test_an_autoscaler_follows_into_the_current_group_on_request():
    given = [former_serving(), scaler_of(FORMER_GROUP)]
    made = convert_documents(given, "ms", "default", rewrites_selectors=True)
    assert made.objects[1] == scaler_of(CURRENT_GROUP)
    left = convert_documents(given, "ms", "default")
    assert left.objects[1] == given[1]
    assert [line.field for line in left.lines if line.level == "approximate"] == [
        "spec.scaleTargetRef"
    ]


def test_services_of_the_former_group_select_the_same_pods():
    chosen = service({NEW + "name": "llama", OLD + "worker-index": "0", OLD + "name": "llama"})
    made = convert_documents([former_serving(), chosen], "ms", "x", rewrites_selectors=True)
    assert made.objects[1] == chosen
