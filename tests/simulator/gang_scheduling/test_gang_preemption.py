"""A single pod that needs room takes what a gang can spare, or the gang whole, or nothing."""

from gang_builders import node, pod
from gang_world import GangWorld
from hypothesis import given, settings
from hypothesis import strategies as st
from test_volcano_meanings import put_parts, subgroups, three_tiers

from kohort.cluster.errors import Conflict
from kohort.cluster.kinds import POD, PRIORITY_CLASS
from kohort.simulator.component import DeleteRequest


def world(count: int = 4) -> GangWorld:
    return GangWorld(*(node(f"n{at}") for at in range(count)))


def leaving(made: GangWorld) -> set[str]:
    return {e.name for e in made.all(POD) if e.facts.is_leaving}


def come(made: GangWorld, name: str = "vip", gpus: int = 4, **spec) -> set[str]:
    """A single pod of high priority comes; the answer is who leaves for it."""
    made.put(POD, pod(name, gpus, schedulerName="default-scheduler", **{"priority": 9, **spec}))
    made.settle()
    gone = leaving(made)
    for victim in sorted(gone):
        made.remove(POD, "default", victim)
    made.settle()
    return gone


def test_members_beyond_the_minimum_go_one_by_one_and_then_all_do():
    made = world()
    made.gang("g", 4, gpus=4, minMember=2)
    assert len(come(made, "a")) == 1
    assert len(come(made, "b")) == 1
    assert len(come(made, "c")) == 2


def test_two_that_come_at_once_do_not_count_the_same_spare_member_twice():
    made = world()
    made.gang("g", 4, gpus=4, minMember=3)
    made.put(POD, pod("a", 4, schedulerName="default-scheduler", priority=8))
    assert len(come(made, "b")) == 4


def test_a_gang_goes_whole_wherever_its_members_stand():
    made = world()
    made.gang("g", 4, gpus=4)
    assert come(made) == {"g-0", "g-1", "g-2", "g-3"}
    assert made.placed().keys() == {"vip"}


def test_a_single_pod_of_the_same_priority_goes_rather_than_a_gang():
    made = world(1)
    made.put(POD, pod("alone", 2))
    made.settle()
    made.gang("g", 2, gpus=1)
    assert come(made, gpus=2) == {"alone"}


def test_a_gang_stays_if_one_member_of_it_is_too_important():
    made = world(2)
    made.group("g", 2)
    made.put(POD, pod("g-0", 4, group="g", priority=9))
    made.put(POD, pod("g-1", 4, group="g"))
    made.settle()
    assert come(made) == set()
    assert come(made, "higher", priority=10) == {"g-0", "g-1"}


def test_roles_keep_their_minima():
    made = world()
    made.group("g", 2, minTaskMember={"leader": 1, "worker": 1})
    for at, role in enumerate(("worker", "worker", "worker", "leader")):
        labels = {"volcano.sh/task-spec": role}
        made.put(POD, pod(f"g-{at}", 4, group="g", labels=labels))
    made.settle()
    gone = {name for at in range(2) for name in come(made, f"vip-{at}")}
    assert len(gone) == 2
    assert "g-3" not in gone


def test_subgroups_go_with_all_of_their_group():
    made = three_tiers()
    put_parts(made, [2, 2, 2, 2], subGroupPolicy=subgroups({"mode": "soft"}, 2, 3))
    made.group("g", 6, subGroupPolicy=subgroups({"mode": "soft"}, 2, 3))
    assert len(come(made)) == 8


def test_a_gang_whose_group_is_gone_has_no_minimum():
    made = world(1)
    made.put(POD, pod("g-0", 2, group="g", nodeName="n0"))
    made.put(POD, pod("g-1", 2, group="g", nodeName="n0"))
    assert len(come(made, gpus=2)) == 1


def test_those_who_could_be_spared_do_not_stay_behind_alone():
    made = world(1)
    made.group("g", 2)
    for at, gpus in enumerate((2, 1, 1)):
        made.put(POD, pod(f"g-{at}", gpus, group="g"))
    made.settle()
    assert come(made, gpus=3) == {"g-0", "g-1", "g-2"}


def refuse_delete(made: GangWorld) -> None:
    """A single pod comes, and the API does not let the first of its victims be deleted."""
    made.put(POD, pod("vip", 4, schedulerName="default-scheduler", priority=9))
    step = made.scheduler.step("queue", made, made.moment())
    refused = next(action for action in step.actions if isinstance(action, DeleteRequest))
    made.scheduler.refused("queue", refused, Conflict("no"))


def test_a_victim_that_could_not_be_sent_away_is_sent_away_once_more():
    made = world(2)
    made.gang("g", 2, gpus=4, minMember=1)
    refuse_delete(made)
    made.put(POD, pod("other", 0))
    made.settle()
    assert len(leaving(made)) == 1


def test_a_member_that_could_not_be_sent_away_counts_again():
    made = world(3)
    made.gang("g", 3, gpus=4, minMember=2)
    refuse_delete(made)
    made.remove(POD, "default", "vip")
    assert len(come(made, nodeSelector={"kubernetes.io/hostname": "n2"})) == 1


gangs = st.lists(
    st.tuples(st.integers(1, 4), st.integers(0, 2), st.integers(1, 4), st.integers(0, 3)),
    min_size=1,
    max_size=4,
)
vips = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 5)), min_size=1, max_size=4)


@settings(max_examples=80)
@given(gangs, st.lists(st.integers(1, 3), max_size=3), vips, st.booleans())
def test_a_gang_that_has_started_is_never_left_below_its_minimum(sizes, alone, comers, at_once):
    made = world()
    minima = {}
    for at, (size, fewer, gpus, priority) in enumerate(sizes):
        minima[f"g{at}"] = max(1, size - fewer)
        made.put(PRIORITY_CLASS, {"metadata": {"name": f"p{priority}"}, "value": priority})
        made.group(f"g{at}", minima[f"g{at}"], priorityClassName=f"p{priority}")
        for number in range(size):
            made.put(POD, pod(f"g{at}-{number}", gpus, group=f"g{at}", priority=priority))
        made.settle()
    for at, gpus in enumerate(alone):
        made.put(POD, pod(f"alone-{at}", gpus))
    made.settle()
    for at, (gpus, priority) in enumerate(comers):
        made.put(POD, pod(f"vip-{at}", gpus, priority=priority))
        if not at_once:
            made.settle()
            check_whole(made, minima)
    made.settle()
    check_whole(made, minima)


def check_whole(made: GangWorld, minima: dict[str, int]) -> None:
    gone = leaving(made)
    for name, minimum in minima.items():
        stay = [member for member in made.where(name) if member not in gone]
        assert not stay or len(stay) >= minimum, f"{name} was left with {stay}"
