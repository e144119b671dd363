"""Changing the form of a live service: one of the two workloads serves at every moment."""

import pytest
from isvc_builders import RUNNER, model, multi_node, planned, rbg, runtime, service

from kohort.apis.carriers.desired import DesiredObjects, render_desired
from kohort.apis.facts import Whole
from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.assembly import ServicePlan
from kohort.apis.inferenceservice.handover import (
    carry_replicas,
    hold_services,
    plan_handover,
    turn_services,
)
from kohort.apis.inferenceservice.objects.owned import FIELD_MANAGER
from kohort.apis.inferenceservice.read import find_serving
from kohort.apis.inferenceservice.spec import ComponentType
from kohort.cluster.actions import Delete
from kohort.cluster.kinds import AUTOSCALER, BUDGET, DEPLOYMENT, INGRESS, SERVICE
from kohort.cluster.objects import encode_json

ENGINE = ComponentType.ENGINE


def live(plan: ServicePlan) -> dict:
    """What exists after a plan was carried out."""
    return {
        desired.kind: {obj["metadata"]["name"]: obj for obj in desired.objects}
        for desired in plan.objects
    }


OLD = live(planned(service()))


def test_a_service_that_keeps_its_form_holds_nothing():
    assert plan_handover(planned(service()), OLD, {}).held == frozenset()


def test_the_old_workload_stays_until_the_new_one_is_ready():
    new = planned(rbg(), existing=OLD)
    found = plan_handover(new, OLD, {ENGINE: False})
    assert found.held == {(DEPLOYMENT, "chat-engine")}
    assert found.waits_on == "Deployment chat-engine stays until engine is ready"


def test_services_go_on_selecting_what_they_selected():
    new = planned(rbg(), model(), multi_node(), existing=OLD)
    kept = hold_services(new, plan_handover(new, OLD, {}))
    assert kept.find(SERVICE, "chat-engine")["spec"]["selector"] == {"app": "chat-engine"}
    wanted = new.find(SERVICE, "chat-engine")["spec"]["selector"]
    assert wanted["ray.io/node-type"] == "head"


def test_a_kept_service_claims_no_field_that_the_api_server_set():
    """Else the operator owns its address, and has to write once more to give that up."""
    held = OLD[SERVICE]["chat-engine"]
    entry = {"manager": FIELD_MANAGER, "operation": "Apply", "fieldsV1": {"f:spec": {"f:a": {}}}}
    former = {"manager": "manager", "operation": "Update", "fieldsV1": {"f:spec": {"f:b": {}}}}
    metadata = {**held["metadata"], "managedFields": [entry, former]}
    assigned = {"clusterIP": "10.0.0.7", "sessionAffinity": "None"}
    stored = {**held, "metadata": metadata, "spec": {**held["spec"], **assigned, "a": 1, "b": 2}}
    existing = {**OLD, SERVICE: {"chat-engine": stored}}
    new = planned(rbg(), model(), multi_node(), existing=existing)
    kept = hold_services(new, plan_handover(new, existing, {})).find(SERVICE, "chat-engine")["spec"]
    assert kept == {**held["spec"], "a": 1, "b": 2}


def test_then_services_select_the_new_pods_and_the_old_workload_still_stays():
    new = planned(rbg(), existing=OLD)
    both = {**OLD, **{k: v for k, v in live(new).items() if k == kinds.ROLE_BASED_GROUP}}
    found = plan_handover(new, both, {ENGINE: True})
    assert found.held == {(DEPLOYMENT, "chat-engine")}
    assert found.services == {}
    assert hold_services(new, found) is new


def test_the_old_workload_goes_when_services_are_seen_to_select_the_new_pods():
    new = planned(rbg(), existing=OLD)
    moved = {**live(new), DEPLOYMENT: OLD[DEPLOYMENT]}
    assert plan_handover(new, moved, {ENGINE: True}).held == frozenset()


def test_going_back_before_the_new_one_is_ready_ends_the_new_one():
    group = live(planned(rbg()))
    back = planned(service(), existing=OLD)
    both = {**OLD, kinds.ROLE_BASED_GROUP: group[kinds.ROLE_BASED_GROUP]}
    assert plan_handover(back, both, {ENGINE: True}).held == frozenset()
    still = plan_handover(back, both, {ENGINE: False})
    assert still.held == {(kinds.ROLE_BASED_GROUP, "chat")}


def test_a_workload_of_another_owner_is_neither_held_nor_deleted():
    foreign = {"metadata": {"name": "stranger", "namespace": "ml", "uid": "x"}}
    existing = {**OLD, DEPLOYMENT: {**OLD[DEPLOYMENT], "stranger": foreign}}
    plan = planned(service(), existing=existing)
    assert plan_handover(plan, existing, {}).held == frozenset()


def test_an_old_workload_that_is_being_deleted_is_not_waited_for():
    (gone,) = OLD[DEPLOYMENT].values()
    left = {**gone, "metadata": {**gone["metadata"], "deletionTimestamp": "now"}}
    found = plan_handover(planned(rbg()), {**OLD, DEPLOYMENT: {"chat-engine": left}}, {})
    assert (found.held, found.old) == (frozenset(), frozenset())


def test_services_that_have_the_names_of_knatives_go_first():
    new = planned(service(engine={"minReplicas": 0}), existing=OLD)
    found = plan_handover(new, OLD, {ENGINE: False})
    assert found.waits_on and not found.defers_end(SERVICE) and found.defers_end(DEPLOYMENT)
    assert plan_handover(planned(rbg()), OLD, {ENGINE: False}).defers_end(SERVICE)


def test_autoscalers_budgets_and_ingresses_change_when_the_new_form_serves():
    new = planned(rbg(), existing=OLD)
    late, soon = (plan_handover(new, OLD, {ENGINE: is_ready}) for is_ready in (False, True))
    for kind in (AUTOSCALER, BUDGET, INGRESS, kinds.HTTP_ROUTE, kinds.SCALED_OBJECT):
        assert late.defers_change(kind) and not soon.defers_change(kind), kind
    assert not late.defers_change(kinds.ROLE_BASED_GROUP)


def test_a_service_that_turns_to_other_pods_keeps_its_ports():
    """A workload that keeps its old spec listens where it did, whatever the runtime says now."""
    runner = {**RUNNER, "ports": [{"containerPort": 30000}]}
    new = planned(rbg(), model(), runtime(engineConfig={"runner": runner}))
    turned = turn_services(new, OLD).find(SERVICE, "chat-engine")["spec"]
    wanted, held = (plan.find(SERVICE, "chat-engine")["spec"] for plan in (new, planned(service())))
    assert wanted["ports"] != held["ports"] and wanted["selector"] != held["selector"]
    assert (turned["ports"], turned["selector"]) == (held["ports"], wanted["selector"])


def held_service(uid: str) -> Whole:
    owner = {"kind": "InferenceService", "name": "chat", "uid": uid, "controller": True}
    metadata = {"name": "chat", "namespace": "ml", "uid": "s", "ownerReferences": [owner]}
    raw = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {}}
    return Whole(encode_json(raw))


def services(plan: ServicePlan) -> DesiredObjects:
    return next(desired for desired in plan.objects if desired.kind == SERVICE)


def test_a_foreign_service_of_the_same_name_is_left_alone():
    private = {"networking.knative.dev/visibility": "cluster-local"}
    obj = service(labels=private)
    actions = list(render_desired(obj, services(planned(obj)), [held_service("another")]))
    assert not any(isinstance(action, Delete) for action in actions)
    mine = list(render_desired(obj, services(planned(obj)), [held_service("isvc-uid")]))
    assert [a.name for a in mine if isinstance(a, Delete)] == ["chat"]


def test_one_of_two_components_that_is_ready_lets_nothing_go():
    old = live(planned(service(router={})))
    new = planned(rbg(router={}), existing=old)
    found = plan_handover(new, old, {ENGINE: True, ComponentType.ROUTER: False})
    assert found.is_late
    assert found.waits_on.endswith("stays until router is ready")


def test_new_workloads_begin_with_as_many_replicas_as_the_old_ones_have():
    group = live(planned(rbg()))
    group[kinds.ROLE_BASED_GROUP]["chat"]["spec"]["roles"][0]["replicas"] = 3
    carried = carry_replicas(planned(service(), existing=group), group)
    assert carried.find(DEPLOYMENT, "chat-engine")["spec"]["replicas"] == 3
    single = live(planned(service()))
    single[DEPLOYMENT]["chat-engine"]["spec"]["replicas"] = 4
    carried = carry_replicas(planned(rbg(), existing=single), single)
    assert carried.find(kinds.ROLE_BASED_GROUP, "chat")["spec"]["roles"][0]["replicas"] == 4


def test_new_workloads_begin_with_no_fewer_replicas_than_their_service_asks_for():
    asked = {"engine": {"minReplicas": 3}}
    group, single = live(planned(rbg())), live(planned(service()))
    carried = carry_replicas(planned(service(**asked), existing=group), group)
    assert carried.find(DEPLOYMENT, "chat-engine")["spec"]["replicas"] == 3
    carried = carry_replicas(planned(rbg(**asked), existing=single), single)
    assert carried.find(kinds.ROLE_BASED_GROUP, "chat")["spec"]["roles"][0]["replicas"] == 3


AVAILABLE = [{"type": "Available", "status": "True"}]


def serves(replicas: int, ready: int) -> bool:
    """Whether an engine serves whose Deployment is Available, with so many pods."""
    plan = planned(service(), existing=OLD)
    (made,) = OLD[DEPLOYMENT].values()
    status = {"conditions": AVAILABLE, **({"readyReplicas": ready} if ready else {})}
    found = {**made, "spec": {**made["spec"], "replicas": replicas}, "status": status}
    return find_serving(plan, {DEPLOYMENT: {"chat-engine": found}}, ())[ENGINE]


def test_an_available_deployment_without_a_ready_pod_does_not_serve():
    """One that may lose all its pods in a rollout is Available with none."""
    assert (serves(1, 0), serves(2, 1), serves(0, 0)) == (False, True, True)


def test_pods_of_the_old_deployment_do_not_count_for_the_new_group():
    plan = planned(rbg(), existing=OLD)
    role = {"name": "engine", "replicas": 1, "readyReplicas": 1, "updatedReplicas": 1}
    group = live(plan)[kinds.ROLE_BASED_GROUP]["chat"]
    told = {**group, "status": {"observedGeneration": 1, "roleStatuses": [role]}}
    existing = {**OLD, kinds.ROLE_BASED_GROUP: {"chat": told}}
    assert find_serving(plan, existing, ())[ENGINE]


RAY = {"annotations": {"ome.io/deploymentMode": "MultiNodeRayVLLM"}}


def test_a_prober_stays_alone_however_many_replicas_the_old_engine_has():
    single = live(planned(service()))
    single[DEPLOYMENT]["chat-engine"]["spec"]["replicas"] = 4
    plan = planned(service(engine=RAY), model(), multi_node(), existing=single)
    carried = carry_replicas(plan, single)
    (prober,) = next(each.objects for each in carried.objects if each.kind == DEPLOYMENT)
    assert prober["spec"]["replicas"] == 1


MANY = {"annotations": {"ome.io/deploymentMode": "MultiNode"}}


@pytest.mark.parametrize("old", [service(), rbg()], ids=["apart", "group"])
@pytest.mark.parametrize("mode", [MANY, RAY], ids=["set", "ray"])
def test_held_services_select_no_pod_of_several_nodes_that_is_ready_before_its_engine(old, mode):
    """Workers without a probe are ready while the model loads; they have no label `app`."""
    before = live(planned(old))
    new = planned(service(engine=mode), model(), multi_node(), existing=before)
    kept = hold_services(new, plan_handover(new, before, {}))
    workload = kinds.LEADER_WORKER_SET if mode == MANY else kinds.RAY_CLUSTER
    assert live(new)[workload]
    for name in ("chat", "chat-engine"):
        selector = kept.find(SERVICE, name)["spec"]["selector"]
        assert selector["app"] == "chat-engine", name
        assert "ray.io/node-type" not in selector, name


def test_held_services_of_pods_without_the_label_stay_as_they_are():
    """A former controller may have made them."""
    before = live(planned(rbg()))
    (role,) = before[kinds.ROLE_BASED_GROUP]["chat"]["spec"]["roles"]
    del role["standalonePattern"]["template"]["metadata"]["labels"]["app"]
    new = planned(service(engine=MANY), model(), multi_node(), existing=before)
    kept = hold_services(new, plan_handover(new, before, {}))
    assert "app" not in kept.find(SERVICE, "chat")["spec"]["selector"]
