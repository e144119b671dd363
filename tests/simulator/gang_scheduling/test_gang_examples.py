"""One rule of gang scheduling each, on a handful of nodes."""

import pytest
from gang_builders import hypernode, named, node, pod
from gang_world import SOFT, GangWorld, hard

from kohort.apis.gangs.dialects.volcano import HYPER_NODE, POD_GROUP, QUEUE
from kohort.cluster.errors import Conflict
from kohort.cluster.kinds import NODE, POD
from kohort.simulator.component import BindRequest


def world(count: int = 4, **more) -> GangWorld:
    return GangWorld(*(node(f"n{at}") for at in range(count)), **more)


def two_racks() -> GangWorld:
    return world().declare_racks(["n0", "n1"], ["n2", "n3"])


def test_a_gang_that_fits_is_bound_whole():
    made = world()
    assert len(made.gang("g", 4, gpus=4)) == 4
    assert made.status("g")["phase"] == "Running"


def test_a_gang_that_does_not_fit_is_not_started():
    made = world()
    assert made.gang("g", 5, gpus=4) == {}
    assert made.status("g")["phase"] == "Inqueue"
    assert made.reason("g-0").startswith("5/5 tasks in gang unschedulable: pod group is not ready")
    assert "the whole cluster: 4 of 5 fit into all 4 nodes" in made.reason("g-0")


def test_nothing_is_placed_before_all_members_exist():
    made = world()
    made.group("g", 3)
    for at in range(2):
        made.put(POD, pod(f"g-{at}", group="g"))
    made.settle()
    assert made.placed() == {}
    assert "valid: 2, min: 3" in made.reason("g-0")
    made.put(POD, pod("g-2", group="g"))
    made.settle()
    assert len(made.placed()) == 3


def test_a_gang_that_becomes_complete_at_once_is_not_told_that_it_was_not():
    made = world()
    made.put(POD, pod("g-0", group="g"))
    made.settle(0)
    made.group("g", 2)
    made.settle(0.5)
    made.put(POD, pod("g-1", group="g"))
    made.settle()
    assert {line.split(":")[0] for line in made.events()} == {"Scheduled"}


def test_a_gang_waits_for_its_group_and_says_so():
    made = world()
    made.put(POD, pod("g-0", group="g"))
    made.settle()
    assert made.reason("g-0") == 'podgroup "default/g" not found'
    made.group("g", 1)
    made.settle()
    assert len(made.placed()) == 1


def test_without_the_kinds_a_pod_waits_and_says_so():
    made = world(kinds=())
    made.put(POD, pod("g-0", group="g"))
    made.put(POD, pod("alone"))
    made.settle()
    assert "PodGroup of scheduling.volcano.sh is not served" in made.reason("g-0")
    assert made.reason("alone").startswith("no scheduler volcano is here")
    made.scheduler.watch_kinds([POD_GROUP])
    made.put(NODE, node("more"))
    made.settle()
    assert list(made.placed()) == ["alone"]


def test_a_pod_that_names_no_group_is_placed_like_any_other():
    made = world()
    made.put(POD, pod("alone"))
    made.settle()
    assert list(made.placed()) == ["alone"]


def test_single_pods_and_gangs_share_the_room():
    made = world(1)
    made.put(POD, pod("alone", 2, schedulerName="default-scheduler"))
    made.settle()
    assert made.gang("g", 1, gpus=3) == {}


def test_a_gang_takes_the_tightest_domain_that_has_room():
    made = two_racks()
    made.put(POD, pod("taken", 1, nodeName="n2"))
    made.settle()
    assert set(made.gang("g", 3, gpus=2, networkTopology=hard(1)).values()) == {"n2", "n3"}


def test_hard_stays_pending_when_no_domain_fits_and_soft_goes_wider():
    made = two_racks()
    assert made.gang("h", 3, gpus=4, networkTopology=hard(1)) == {}
    assert "tier 1 (rack): 2 of 3 fit into rack-0; 1 of 3 lacks 4 nvidia.com/gpu" in made.reason(
        "h-0"
    )
    assert len(made.gang("s", 3, gpus=4, networkTopology=SOFT)) == 3


def test_a_gang_that_waits_is_placed_when_room_is_given_back():
    made = two_racks()
    made.gang("first", 4, gpus=4)
    assert made.gang("g", 2, gpus=4, networkTopology=hard(1)) == {}
    for name in ("first-0", "first-1"):
        made.remove(POD, "default", name)
    made.settle()
    assert set(made.where("g").values()) in ({"n0", "n1"}, {"n2", "n3"})


def test_new_members_stay_in_the_domain_of_those_that_run():
    made = two_racks()
    assert set(made.gang("g", 2, networkTopology=hard(1), minMember=1).values()) == {"n0"}
    for at in range(2, 8):
        made.put(POD, pod(f"g-{at}", group="g"))
    made.settle()
    assert set(made.where("g").values()) == {"n0", "n1"}
    made.put(POD, pod("g-8", group="g"))
    made.settle()
    assert "g-8" not in made.placed()


def test_the_domain_in_use_is_written_on_the_group():
    made = two_racks()
    made.gang("g", 2, networkTopology=hard(1))
    entry = made.find(POD_GROUP, "default", "g")
    assert entry is not None
    annotations = entry.decode()["metadata"]["annotations"]
    assert annotations == {"volcano.sh/job-allocated-hypernode": "rack-0"}


def test_hypernodes_that_are_no_forest_stop_constrained_gangs_only():
    made = two_racks().declare(hypernode("other", 1, named("n0")))
    assert made.gang("free", 1) != {}
    assert made.gang("g", 1, networkTopology=hard(1)) == {}
    assert "HyperNodes are no forest: node n0 belongs to both other and rack-0" in made.reason(
        "g-0"
    )
    made.remove(HYPER_NODE, "", "other")
    made.settle()
    assert made.where("g") != {}


def test_pods_without_requests_take_places_and_keep_to_the_topology():
    small = [node(f"n{at}", room={"pods": "2"}) for at in range(4)]
    made = GangWorld(*small).declare_racks(["n0", "n1"], ["n2", "n3"])
    assert set(made.gang("g", 4, gpus=0, networkTopology=hard(1)).values()) == {"n0", "n1"}
    assert made.gang("h", 5, gpus=0, networkTopology=hard(1)) == {}
    assert "lacks 1 places for pods" in made.reason("h-0")


def test_gated_pods_are_not_bound_and_not_counted():
    made = world()
    made.group("g", 2)
    made.put(POD, pod("g-0", group="g"))
    made.put(POD, pod("g-1", group="g", schedulingGates=[{"name": "wait"}]))
    made.settle()
    assert made.placed() == {}
    assert "valid: 1, min: 2" in made.reason("g-0")


@pytest.mark.parametrize("state", ["Closed", ""])
def test_a_queue_that_is_not_open_or_not_there_admits_no_gang(state: str):
    made = world()
    if state:
        made.put(QUEUE, {"metadata": {"name": "q"}, "status": {"state": state}})
    assert made.gang("g", 1, queue="q") == {}
    assert made.status("g")["phase"] == "Pending"
    made.put(QUEUE, {"metadata": {"name": "q"}, "status": {"state": "Open"}})
    made.settle()
    assert made.where("g") != {}


def test_a_queue_gives_no_more_than_it_may():
    made = world()
    made.put(QUEUE, {"metadata": {"name": "q"}, "spec": {"capability": {"nvidia.com/gpu": 3}}})
    assert len(made.gang("g", 2, queue="q")) == 2
    assert made.gang("h", 2, queue="q") == {}
    assert "queue resource quota insufficient" in made.reason("h-0")


def test_a_cluster_is_not_promised_more_than_a_fifth_on_top():
    made = world()
    assert made.gang("g", 5, gpus=4, minResources={"nvidia.com/gpu": "20"}) == {}
    assert made.status("g")["phase"] == "Pending"
    assert "resource in cluster is overused" in made.reason("g-0")
    assert made.gang("h", 4, gpus=4, minResources={"nvidia.com/gpu": "16"}) != {}


def test_a_refused_bind_leaves_no_trace_and_is_tried_again():
    made = world(1)
    made.group("g", 2)
    for at in range(2):
        made.put(POD, pod(f"g-{at}", 2, group="g"))
    step = made.scheduler.step("gangs", made, made.moment())
    second = [action for action in step.actions if isinstance(action, BindRequest)][1]
    made.carry_out(step.actions[0])
    made.scheduler.refused("gangs", second, Conflict("no"))
    made.settle()
    made.put(NODE, node("other"))
    made.settle()
    assert made.placed() == {"g-0": "n0", "g-1": "n0"}


def test_at_rest_nothing_is_written():
    made = two_racks()
    made.gang("g", 2, networkTopology=hard(1))
    made.gang("h", 9, gpus=4)
    made.put(NODE, {**node("n0"), "status": {**node("n0")["status"], "conditions": []}})
    assert made.settle(3600) == []


def test_lost_binds_leave_half_a_gang_until_they_are_tried_again():
    made = two_racks()
    made.scheduler.faults.binds_lost = 2
    made.group("g", 3, networkTopology=hard(1))
    for at in range(3):
        made.put(POD, pod(f"g-{at}", group="g"))
    made.settle(0)
    assert len(made.where("g")) == 1
    made.settle(5)
    assert set(made.where("g").values()) == {"n0"}
    assert len(made.where("g")) == 3


def test_a_scheduler_that_is_away_decides_nothing_until_it_is_back():
    made = world()
    made.scheduler.faults.is_away = True
    assert made.gang("g", 2) == {}
    made.scheduler.faults.is_away = False
    made.settle(5)
    assert len(made.where("g")) == 2


def test_a_gang_that_has_started_is_promised_nothing_more():
    made = world()
    assert len(made.gang("g", 2, gpus=4, minResources={"nvidia.com/gpu": "8"})) == 2
    assert len(made.gang("h", 2, gpus=4, minResources={"nvidia.com/gpu": "8"})) == 2
