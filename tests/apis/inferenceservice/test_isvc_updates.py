"""Which workloads keep their spec when something changes that their service only refers to."""

import pytest
from isvc_builders import model, planned, rbg, runtime, service

from kohort.apis.inferenceservice import kinds, labels
from kohort.apis.inferenceservice.assembly import ServicePlan
from kohort.apis.inferenceservice.updates import find_held, stamp_workloads
from kohort.cluster.kinds import DEPLOYMENT as DEPLOYMENT_KIND

DEPLOYMENT = (DEPLOYMENT_KIND, "chat-engine")
NEWER = runtime(engineConfig={"runner": {"name": "ome-container", "image": "engine:2"}})


def stamped(obj, *objects) -> ServicePlan:
    return stamp_workloads(planned(obj, *objects))


def live(plan: ServicePlan) -> dict:
    return {d.kind: {obj["metadata"]["name"]: obj for obj in d.objects} for d in plan.objects}


def test_a_workload_keeps_its_spec_when_the_runtime_changes():
    plan = stamped(service(), model(), NEWER)
    assert find_held(plan, live(stamped(service())), True) == {DEPLOYMENT}


def test_nothing_is_held_while_no_pod_serves_or_where_the_user_allows_updates():
    held = live(stamped(service()))
    assert not find_held(stamped(service(), model(), NEWER), held, False)
    follows = service(annotations={labels.AUTO_UPDATE: "true"})
    assert not find_held(stamped(follows, model(), NEWER), live(stamped(follows)), True)


def test_an_annotation_of_a_tool_is_no_edit_by_the_user():
    noted = service(annotations={"argocd.argoproj.io/tracking-id": "7"})
    assert find_held(stamped(noted, model(), NEWER), live(stamped(service())), True) == {DEPLOYMENT}


@pytest.mark.parametrize(
    "edit",
    [
        {"annotations": {"example.com/restart": "7"}},
        {"labels": {"team": "a"}},
        {"engine": {"minReplicas": 2}},
    ],
)
def test_any_other_edit_lets_a_service_take_the_runtime_of_now(edit: dict):
    edited = service(**edit)
    assert not find_held(stamped(edited, model(), NEWER), live(stamped(service())), True)


def test_replicas_that_an_autoscaler_set_are_no_change():
    held = live(stamped(rbg()))
    held[kinds.ROLE_BASED_GROUP]["chat"]["spec"]["roles"][0]["replicas"] = 3
    plan = stamp_workloads(planned(rbg(), existing=held))
    assert plan.find(kinds.ROLE_BASED_GROUP, "chat")["spec"]["roles"][0]["replicas"] == 3
    assert not find_held(plan, held, True)


def test_traffic_that_follows_from_the_status_is_no_change():
    obj = service(engine={"minReplicas": 0, "canaryTrafficPercent": 10})
    held = live(stamped(obj))
    obj["status"] = {"components": {"engine": {"latestRolledoutRevision": "r1"}}}
    plan = stamped(obj)
    shares = plan.find(kinds.KNATIVE_SERVICE, "chat-engine")["spec"]["traffic"]
    assert [each["percent"] for each in shares] == [10, 90]
    assert not find_held(plan, held, True)
    assert find_held(stamped(obj, model(), NEWER), held, True)
