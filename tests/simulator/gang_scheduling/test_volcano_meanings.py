"""What a topology request effectively means to Volcano from 1.15 on, case by case."""

import pytest
from gang_builders import hypernode, labelled, matching, named, node, pod
from gang_world import SOFT, GangWorld, hard

from kohort.cluster.kinds import POD


def three_tiers() -> GangWorld:
    """Eight nodes of four GPUs: four racks of two, two spines of two racks."""
    nodes = [f"n{at}" for at in range(8)]
    made = GangWorld(*(node(name) for name in nodes))
    for at in range(4):
        made.declare(hypernode(f"rack-{at}", 1, *map(named, nodes[2 * at : 2 * at + 2])))
    for at in range(2):
        inner = [named(f"rack-{each}", "HyperNode") for each in (2 * at, 2 * at + 1)]
        made.declare(hypernode(f"spine-{at}", 2, *inner, tier_name="spine"))
    return made


def flat() -> GangWorld:
    return GangWorld(*(node(f"n{at}") for at in range(2)))


def tier_of(made: GangWorld, name: str) -> int | None:
    """The tier of the smallest domain that holds a gang; none if it waits."""
    numbers = sorted({int(at.removeprefix("n")) for at in made.where(name).values()})
    if not numbers:
        return None
    for tier, width in ((1, 2), (2, 4)):
        if numbers[0] // width == numbers[-1] // width:
            return tier
    return 3


@pytest.mark.parametrize(
    ("size", "topology", "tier"),
    [
        (2, hard(1), 1),
        (2, hard(2), 1),
        (4, hard(1), None),
        (4, hard(2), 2),
        (8, hard(2), None),
        (8, hard(3), 3),  # the root is allowed: as soft
        (8, hard(99), 3),
        (1, hard(0), None),  # below the lowest tier: never
        (2, SOFT, 1),
        (4, SOFT, 2),
        (8, SOFT, 3),
        (9, SOFT, None),
        (8, {"mode": "hard"}, 3),  # no tier: not enforced
        (8, {"mode": "hard", "highestTierName": "nobody"}, 3),  # unknown: not enforced
        (4, {"mode": "hard", "highestTierName": "spine"}, 2),
        (8, {"mode": "hard", "highestTierName": "spine"}, None),
        (4, {**SOFT, "highestTierAllowed": 1}, 2),  # the tier of soft is ignored
        (8, {**SOFT, "highestTierName": "spine"}, 3),  # and so is its name
        (8, {}, 3),  # no mode is hard, and no tier is not enforced
        (4, {"highestTierAllowed": 1}, None),  # no mode is hard
    ],
)
def test_each_request_has_its_effect(size: int, topology: dict, tier: int | None):
    made = three_tiers()
    made.gang("g", size, gpus=4, networkTopology=topology)
    assert tier_of(made, "g") == tier


@pytest.mark.parametrize(("tier", "fits"), [(0, False), (1, True), (7, True)])
def test_without_hypernodes_the_root_is_tier_one(tier: int, fits: bool):
    assert bool(flat().gang("g", 2, gpus=4, networkTopology=hard(tier))) is fits


def test_nodes_in_no_domain_are_reached_through_the_root_only():
    made = GangWorld(node("n0"), node("n1")).declare(hypernode("rack", 1, named("n0")))
    assert made.gang("g", 2, gpus=4, networkTopology=hard(1)) == {}
    assert made.gang("s", 2, gpus=4, networkTopology=SOFT) != {}


@pytest.mark.parametrize("member", [matching("^n[01]$"), labelled(rack="a")])
def test_domains_by_pattern_or_label_hold_a_gang_as_well(member: dict):
    nodes = [node(f"n{at}", labels={"rack": "ab"[at // 2]}) for at in range(4)]
    made = GangWorld(*nodes).declare(hypernode("here", 1, member))
    assert set(made.gang("g", 2, gpus=4, networkTopology=hard(1)).values()) == {"n0", "n1"}


def test_one_node_is_a_domain_where_hypernodes_say_so():
    made = flat().declare(*(hypernode(f"host-{at}", 0, named(f"n{at}")) for at in range(2)))
    assert made.gang("g", 2, gpus=4, networkTopology=hard(0)) == {}
    assert set(made.gang("h", 4, gpus=1, networkTopology=hard(0)).values()) == {"n0"}


def subgroups(limit: dict, size: int = 2, count: int = 2) -> list[dict]:
    return [
        {
            "name": "part",
            "matchLabelKeys": ["part"],
            "subGroupSize": size,
            "minSubGroups": count,
            "networkTopology": limit,
        }
    ]


def put_parts(made: GangWorld, sizes: list[int], **spec) -> None:
    made.group("g", sum(sizes), **spec)
    for part, size in enumerate(sizes):
        for at in range(size):
            made.put(POD, pod(f"g-{part}-{at}", 4, group="g", labels={"part": str(part)}))
    made.settle()


def racks_of(made: GangWorld, part: int) -> set[int]:
    return {int(at[1:]) // 2 for at in made.where(f"g-{part}").values()}


def test_subgroups_stay_in_their_own_domains_inside_that_of_the_group():
    made = three_tiers()
    put_parts(made, [2, 2], networkTopology=hard(2), subGroupPolicy=subgroups(hard(1)))
    first, second = racks_of(made, 0), racks_of(made, 1)
    assert len(first) == len(second) == 1
    assert first | second in ({0, 1}, {2, 3})


def test_a_soft_subgroup_prefers_near_domains_but_never_leaves_the_group():
    made = three_tiers()
    put_parts(made, [3], networkTopology=hard(2), subGroupPolicy=subgroups(SOFT, 3, 1))
    assert racks_of(made, 0) in ({0, 1}, {2, 3})


def test_soft_subgroups_take_a_rack_each_where_they_fit_into_one():
    made = three_tiers()
    put_parts(made, [2, 2], networkTopology=hard(2), subGroupPolicy=subgroups(SOFT))
    assert len(racks_of(made, 0)) == len(racks_of(made, 1)) == 1


def test_a_soft_subgroup_that_needs_more_than_the_group_may_have_waits():
    made = three_tiers()
    put_parts(made, [5], networkTopology=hard(2), subGroupPolicy=subgroups(SOFT, 5, 1))
    assert made.placed() == {}
    alone = three_tiers()
    put_parts(alone, [5], subGroupPolicy=subgroups(SOFT, 5, 1))
    assert len(alone.placed()) == 5


def test_a_group_waits_when_one_of_its_subgroups_finds_no_domain():
    made = three_tiers()
    put_parts(made, [3, 2], subGroupPolicy=subgroups(hard(1), 2, 2))
    assert made.placed() == {}


def test_a_group_waits_for_subgroups_that_are_not_complete():
    made = three_tiers()
    put_parts(made, [2, 1], subGroupPolicy=subgroups(hard(1)))
    assert made.placed() == {}
    assert "Not enough valid subgroups of part, valid: 1, min: 2" in made.reason("g-0-0")


def test_a_policy_without_labels_to_tell_subgroups_apart_is_ignored():
    made = three_tiers()
    put_parts(made, [4], subGroupPolicy=[{"subGroupSize": 9, "minSubGroups": 9}])
    assert len(made.placed()) == 4


def test_role_minima_count_unless_they_ask_for_more_than_the_group():
    made = three_tiers()
    made.group("g", 2, minTaskMember={"worker": 2})
    made.group("h", 1, minTaskMember={"worker": 2})
    for name in ("g", "h"):
        made.put(POD, pod(f"{name}-0", group=name, labels={"volcano.sh/task-spec": "worker"}))
        made.put(POD, pod(f"{name}-1", group=name))
    made.settle()
    assert "Not enough valid pods of task worker, valid: 1, min: 2" in made.reason("g-0")
    assert len(made.where("h")) == 2


def test_phases_follow_the_pods():
    made = flat()
    made.gang("g", 2)
    assert made.status("g")["phase"] == "Running"
    for at, phase in enumerate(("Running", "Succeeded")):
        made.put(POD, {**made.pod(f"g-{at}"), "status": {"phase": phase}})
    made.settle()
    assert made.status("g") | {"conditions": []} == {
        "phase": "Running",
        "running": 1,
        "succeeded": 1,
        "conditions": [],
    }
    made.put(POD, {**made.pod("g-0"), "status": {"phase": "Succeeded"}})
    made.settle()
    assert made.status("g")["phase"] == "Completed"


def test_a_gang_that_lost_a_member_and_finds_no_room_for_it_is_unknown():
    made = GangWorld(node("n0"))
    made.gang("g", 2, gpus=2)
    made.put(POD, {**made.pod("g-0"), "status": {"phase": "Running"}})
    made.remove(POD, "default", "g-1")
    made.put(POD, pod("other", 2, nodeName="n0"))
    made.put(POD, pod("g-1", 2, group="g"))
    made.settle()
    assert made.status("g")["phase"] == "Unknown"


def put_singles(made: GangWorld, *ids: str, gpus: int = 1, size: int = 1) -> None:
    """One group whose subgroups are told apart by an id; one of them is enough to start."""
    chosen = {"labelSelector": {"matchLabels": {"role": "s"}}, "matchLabelKeys": ["id"]}
    policy = {"name": "s", "subGroupSize": size, "minSubGroups": 1, **chosen}
    made.group("g", 1, subGroupPolicy=[policy])
    for each in ids:
        made.put(POD, pod(f"g-{each}", gpus, group="g", labels={"role": "s", "id": each[0]}))
    made.settle()


def test_subgroups_beyond_those_that_must_be_are_placed_too():
    made = flat()
    put_singles(made, "a", "b", "c")
    assert set(made.where("g")) == {"g-a", "g-b", "g-c"}


def test_a_subgroup_that_comes_later_is_placed_as_a_whole():
    made = three_tiers()
    put_singles(made, "a0", "a1", gpus=4, size=2)
    for name in ("b0", "b1"):
        made.put(POD, pod(f"g-{name}", 4, group="g", labels={"role": "s", "id": "b"}))
    made.settle()
    assert set(made.where("g")) == {"g-a0", "g-a1", "g-b0", "g-b1"}


def test_a_subgroup_that_finds_no_room_is_told_so_and_the_others_stay():
    made = flat()
    put_singles(made, "a", "b", "c", gpus=4)
    assert len(made.where("g")) == 2
    (waiting,) = {"g-a", "g-b", "g-c"} - set(made.where("g"))
    assert "unschedulable" in made.reason(waiting)


def test_a_subgroup_that_is_not_complete_is_told_what_it_lacks():
    made = flat()
    put_singles(made, "a0", "a1", "b0", size=2)
    assert set(made.where("g")) == {"g-a0", "g-a1"}
    lacks = "Not enough valid pods of a subgroup of s, valid: 1, min: 2"
    assert lacks in made.reason("g-b0")
