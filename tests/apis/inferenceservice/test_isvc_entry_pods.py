"""Which pods the Services of a component select while it leaves several nodes."""

import pytest
from isvc_builders import model, multi_node, planned, rbg, runtime, service

from kohort.apis.inferenceservice import kinds, labels
from kohort.apis.inferenceservice.assembly import ServicePlan
from kohort.apis.inferenceservice.entry_pods import leave_out_workers
from kohort.apis.inferenceservice.handover import hold_services, plan_handover
from kohort.apis.inferenceservice.spec import ComponentType
from kohort.cluster.kinds import SERVICE
from kohort.cluster.objects import Object

ENGINE = ComponentType.ENGINE
ALL = {labels.SERVICE_NAME: "chat", labels.COMPONENT: "engine"}
HEADS = {**ALL, labels.NODE_TYPE: "head"}
ENTRIES = {**ALL, labels.APP: "chat-engine"}
GANG = {"annotations": {"ome.io/deploymentMode": "MultiNode"}}
RAY = {"annotations": {"ome.io/deploymentMode": "MultiNodeRayVLLM"}}
MANY = (model(), multi_node())


def live(plan: ServicePlan) -> dict:
    return {d.kind: {obj["metadata"]["name"]: obj for obj in d.objects} for d in plan.objects}


def selector_of(plan: ServicePlan, name: str = "chat") -> Object:
    return plan.find(SERVICE, name)["spec"]["selector"]


def pod(**marks: str) -> Object:
    return {"metadata": {"name": "p", "labels": {**ALL, **marks}}}


WORKER, ENTRY = pod(), pod(app="chat-engine")


@pytest.mark.parametrize("wanted", [service(), rbg()], ids=["apart", "group"])
@pytest.mark.parametrize(
    "left", [service(engine=GANG), service(engine=RAY), rbg()], ids=["set", "ray", "role"]
)
def test_services_select_no_workers_while_a_workload_of_several_nodes_is_left(wanted, left):
    existing = live(planned(left, *MANY))
    plan = leave_out_workers(planned(wanted, model(), runtime(), existing=existing), existing, ())
    assert selector_of(plan) == ENTRIES


def test_services_select_no_workers_until_these_have_gone_too():
    plan = planned(service(), model(), runtime())
    narrow = live(plan)
    chat = narrow[SERVICE]["chat"]
    narrow[SERVICE]["chat"] = {**chat, "spec": {**chat["spec"], "selector": ENTRIES}}
    assert selector_of(leave_out_workers(plan, narrow, (ENTRY, WORKER))) == ENTRIES
    gone = {"metadata": {**WORKER["metadata"], "deletionTimestamp": "now"}}
    assert selector_of(leave_out_workers(plan, narrow, (ENTRY, gone))) == ALL


def test_a_service_that_never_had_workers_selects_as_upstream_writes_it():
    """Pods without the label ``app`` may be all that serves: a former controller made them."""
    plan = planned(service(), model(), runtime())
    assert selector_of(leave_out_workers(plan, live(plan), (WORKER,))) == ALL


def test_a_service_on_several_nodes_selects_leaders_alone():
    plan = planned(service(engine=GANG), *MANY)
    assert selector_of(leave_out_workers(plan, live(plan), (WORKER,))) == HEADS


def test_a_role_that_gets_single_pods_serves_from_these_and_from_the_leaders_that_are_left():
    existing = live(planned(rbg(), *MANY))
    plan = planned(rbg(), model(), runtime(), existing=existing)
    plan = leave_out_workers(plan, existing, ())
    kept = hold_services(plan, plan_handover(plan, existing, {ENGINE: False}))
    assert {name: selector_of(kept, name) for name in ("chat", "chat-engine")} == {
        "chat": ENTRIES,
        "chat-engine": ENTRIES,
    }


def test_a_role_that_gets_workers_serves_from_entry_pods_until_it_is_ready():
    existing = live(planned(rbg(), model(), runtime()))
    plan = planned(rbg(), *MANY, existing=existing)
    assert list(existing[kinds.ROLE_BASED_GROUP]) == ["chat"]
    kept = hold_services(plan, plan_handover(plan, existing, {ENGINE: False}))
    assert selector_of(kept) == ENTRIES
    ready = plan_handover(plan, existing, {ENGINE: True})
    assert selector_of(hold_services(plan, ready)) == HEADS
