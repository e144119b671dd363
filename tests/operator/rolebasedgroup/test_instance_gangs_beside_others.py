"""What becomes of gangs of instances when other clients or former instances had a hand in them."""

from decided_writes import (
    both,
    decide,
    deleted,
    forget,
    give_away,
    leave,
    made,
    note,
    of,
    on,
    patched,
    unplace,
)
from group_gang_lab import GangLab
from group_lab import KIND, begin, leader_worker

from kohort.apis.gangs.dialects.kai import KAI
from kohort.apis.gangs.dialects.volcano import GROUP_NAME, POD_GROUP
from kohort.apis.rolebasedgroup import labels
from kohort.cluster.kinds import POD
from kohort.cluster.objects import annotations_of, name_of

GANG = {labels.INSTANCE_GANG: "true"}
FIRST, SECOND = "x-engine-0", "x-engine-1"
FIRST_PODS = (f"{FIRST}-0", f"{FIRST}-1")
ON, OFF = of(KIND, note(**GANG)), of(KIND, forget(labels.INSTANCE_GANG))


async def test_a_group_that_is_a_gang_has_none_for_its_instances(volcano: GangLab):
    role = volcano.placed(leader_worker(annotations=GANG))
    await begin(volcano, role, **{labels.GANG: "true"})
    assert {name_of(gang) for gang in volcano.all(POD_GROUP)} == {"x"}


async def test_a_lost_pod_comes_back_outside_of_a_gang_where_the_others_are(volcano: GangLab):
    await begin(volcano, volcano.placed(leader_worker()))
    pods = made(decide(volcano, ON, without={POD: FIRST_PODS[1:]}), POD)
    assert {name: annotations_of(pod).get(GROUP_NAME) for name, pod in pods.items()} == {
        FIRST_PODS[1]: None
    }


async def test_no_pod_joins_the_gang_of_a_former_instance_or_one_that_leaves(volcano: GangLab):
    await begin(volcano, volcano.placed(leader_worker()), **GANG)
    assert set(made(decide(volcano, without={POD: FIRST_PODS}), POD)) == set(FIRST_PODS)
    for other in (give_away, leave):
        decided = decide(volcano, of(POD_GROUP, other, FIRST), without={POD: FIRST_PODS})
        assert not made(decided, POD) and not on(decided, POD_GROUP)


async def test_the_gang_of_an_instance_keeps_its_queue_while_one_pod_has_a_node(volcano: GangLab):
    await begin(volcano, volcano.placed(leader_worker()), **GANG, **{labels.GANG_QUEUE: "default"})
    assert {gang["spec"]["queue"] for gang in volcano.all(POD_GROUP)} == {"default"}
    other = of(KIND, note(**{labels.GANG_QUEUE: "other"}))
    free = [of(POD, unplace, name) for name in (FIRST_PODS[0], f"{SECOND}-0", f"{SECOND}-1")]
    change = patched(decide(volcano, both(other, *free)), POD_GROUP)
    assert {name: body["spec"] for name, body in change.items()} == {SECOND: {"queue": "other"}}


async def test_the_gangs_of_a_scheduler_that_is_used_no_more_go(volcano: GangLab):
    await begin(volcano, volcano.placed(leader_worker()), **GANG)
    assert set(deleted(decide(volcano, gangs=(KAI,)), POD_GROUP)) == {FIRST, SECOND}


async def test_gangs_that_leave_or_are_not_ours_are_not_deleted(volcano: GangLab):
    await begin(volcano, volcano.placed(leader_worker()), **GANG)
    assert set(deleted(decide(volcano, OFF), POD_GROUP)) == {FIRST, SECOND}
    for other in (give_away, leave):
        decided = decide(volcano, both(OFF, of(POD_GROUP, other, FIRST)))
        assert set(deleted(decided, POD_GROUP)) == {SECOND}


async def test_an_instance_that_leaves_gets_no_gang(volcano: GangLab):
    await begin(volcano, volcano.placed(leader_worker()), **GANG)
    await volcano.stop_operator()
    await volcano.delete(POD_GROUP, FIRST)
    assert set(made(decide(volcano), POD_GROUP)) == {FIRST}
    assert not made(decide(volcano, of(labels.INSTANCE, leave, FIRST)), POD_GROUP)


async def test_an_instance_gets_its_gang_when_the_last_pod_outside_of_it_leaves(volcano: GangLab):
    await begin(volcano, volcano.placed(leader_worker()))
    first, last = (of(POD, leave, name) for name in FIRST_PODS)
    assert not made(decide(volcano, both(ON, first)), POD_GROUP)
    assert set(made(decide(volcano, both(ON, first, last)), POD_GROUP)) == {FIRST}
