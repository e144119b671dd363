"""The RoleBasedGroup of a service: made once, updated with the replicas that it has."""

import pytest
from isvc_builders import RUNNER, model, planned, rbg, runtime

from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.cluster.kinds import BUDGET

GROUP = kinds.ROLE_BASED_GROUP


def group(obj, *held, live: dict | None = None) -> dict:
    existing = {} if live is None else {GROUP: {"chat": live}}
    found = planned(obj, *held, existing=existing).find(GROUP, "chat")
    assert found is not None
    return found


def replicas_of(found: dict) -> dict[str, int]:
    return {role["name"]: role["replicas"] for role in found["spec"]["roles"]}


def test_a_group_is_made_with_the_name_of_its_service():
    found = group(rbg())
    assert (found["apiVersion"], found["kind"]) == ("workloads.x-k8s.io/v1alpha2", "RoleBasedGroup")
    metadata = found["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("chat", "ml")
    assert metadata["labels"] == {"ome.io/inferenceservice": "chat"}
    assert metadata["ownerReferences"][0]["uid"] == "isvc-uid"


def test_roles_come_in_the_order_engine_decoder_router():
    held = (model(), runtime(decoderConfig={"runner": RUNNER}))
    found = group(rbg(router={}, decoder={}), *held)
    assert [role["name"] for role in found["spec"]["roles"]] == ["engine", "decoder", "router"]


@pytest.mark.parametrize(("least", "count"), [(None, 1), (1, 1), (5, 5)])
def test_a_new_role_has_the_fewest_replicas(least, count):
    engine = {} if least is None else {"minReplicas": least}
    assert replicas_of(group(rbg(engine=engine))) == {"engine": count}


def test_an_update_keeps_the_replicas_that_the_autoscaler_set():
    live = group(rbg(engine={"minReplicas": 2}, router={}))
    live["spec"]["roles"][0]["replicas"] = 7
    found = group(rbg(engine={"minReplicas": 3, "runner": {"image": "e:2"}}, router={}), live=live)
    assert replicas_of(found) == {"engine": 7, "router": 1}
    template = found["spec"]["roles"][0]["standalonePattern"]["template"]
    assert template["spec"]["containers"][0]["image"] == "e:2"


def test_a_role_that_was_scaled_to_zero_stays_there():
    live = group(rbg())
    live["spec"]["roles"][0]["replicas"] = 0
    assert replicas_of(group(rbg(engine={"minReplicas": 3}), live=live)) == {"engine": 0}


def test_a_role_that_is_new_in_an_update_starts_with_its_own():
    live = group(rbg())
    live["spec"]["roles"][0]["replicas"] = 7
    found = group(rbg(router={"minReplicas": 2}), live=live)
    assert replicas_of(found) == {"engine": 7, "router": 2}


def test_a_role_that_has_gone_is_left_out():
    live = group(rbg(router={}))
    assert replicas_of(group(rbg(), live=live)) == {"engine": 1}


def test_the_budget_follows_the_replicas_of_the_role():
    live = group(rbg())
    live["spec"]["roles"][0]["replicas"] = 7
    plan = planned(rbg(), existing={GROUP: {"chat": live}})
    assert plan.find(BUDGET, "chat-engine")["spec"]["minAvailable"] == 6


def test_annotations_of_groups_reach_the_group():
    key = "rbg.workloads.x-k8s.io/group-gang-scheduling"
    assert group(rbg(annotations={key: "true"}))["metadata"]["annotations"] == {key: "true"}


def test_the_same_service_gives_the_same_group_each_time():
    assert group(rbg(router={})) == group(rbg(router={}))


def test_a_component_that_cannot_be_extracted_stops_the_plan():
    with pytest.raises(ServiceError, match="component engine has no container"):
        group(rbg(), model(), runtime(engineConfig={}))


POLICY = kinds.COORDINATED_POLICY
RATIO = "kohort.dev/coordination-ratio"


def test_a_ratio_is_written_into_the_policy_of_the_group():
    found = planned(rbg(router={}, annotations={RATIO: "engine=1, router=2"})).find(POLICY, "chat")
    notes = found["metadata"]["annotations"]
    assert notes == {"kohort.dev/ratio": '{"rollout":{"engine":1,"router":2}}'}
    (policy,) = found["spec"]["policies"]
    assert (policy["name"], policy["roles"]) == ("rollout", ["engine", "router"])
    assert policy["strategy"] == {"scaling": {"maxSkew": "100%"}}


@pytest.mark.parametrize("text", ["engine", "engine=0", "engine=-1", "engine=x", "decoder=1"])
def test_a_ratio_that_cannot_be_read_is_refused_with_an_example(text):
    with pytest.raises(ServiceError, match="such as engine=1,decoder=2"):
        planned(rbg(router={}, annotations={RATIO: text}))
