"""For any subgroups: all that must start do or none does, each in its own domain."""

from itertools import product

from gang_builders import pod
from gang_world import hard
from hypothesis import given, settings
from hypothesis import strategies as st
from test_volcano_meanings import subgroups, three_tiers

from kohort.cluster.kinds import POD

sizes = st.lists(st.integers(1, 4), min_size=1, max_size=4)


def rack_of(node: str) -> int:
    return int(node[1:]) // 2


def run_steps(parts: list[int], gpus: int, taken: list[int], limit: int | None) -> list[set[str]]:
    """The nodes of each subgroup."""
    made = three_tiers()
    for at, count in enumerate(taken):
        made.put(POD, pod(f"taken-{at}", count, nodeName=f"n{at}"))
    policies = [
        {**subgroups(hard(1), size, 1)[0], "name": f"part-{at}"} for at, size in enumerate(parts)
    ]
    for at, policy in enumerate(policies):
        policy["labelSelector"] = {"matchLabels": {"part": str(at)}}
    topology = {} if limit is None else {"networkTopology": hard(limit)}
    made.group("g", sum(parts), subGroupPolicy=policies, **topology)
    for at, size in enumerate(parts):
        for member in range(size):
            made.put(POD, pod(f"g-{at}-{member}", gpus, group="g", labels={"part": str(at)}))
    made.settle()
    assert len(made.where("g")) in (0, sum(parts))
    return [set(made.where(f"g-{at}").values()) for at in range(len(parts))]


def can_be_placed(parts: list[int], gpus: int, taken: list[int], limit: int | None) -> bool:
    """Whether some rack for each subgroup does, by trying all."""
    free = [4 - taken[at] if at < len(taken) else 4 for at in range(8)]
    rooms = [free[2 * rack] // gpus + free[2 * rack + 1] // gpus for rack in range(4)]
    for racks in product(range(4), repeat=len(parts)):
        left = list(rooms)
        for rack, size in zip(racks, parts, strict=True):
            left[rack] -= size
        is_near = limit is None or len({rack // 2 for rack in racks}) == 1
        if is_near and min(left) >= 0:
            return True
    return False


taken = st.lists(st.integers(0, 4), max_size=8)


@settings(max_examples=80)
@given(sizes, st.integers(1, 4), taken, st.sampled_from([None, 2]))
def test_subgroups_stand_in_one_rack_each_and_the_group_under_one_spine(parts, gpus, busy, limit):
    for nodes in (found := run_steps(parts, gpus, busy, limit)):
        assert len({rack_of(node) for node in nodes}) <= 1
    spines = {rack_of(node) // 2 for nodes in found for node in nodes}
    assert limit is None or len(spines) <= 1
    if any(found):
        assert can_be_placed(parts, gpus, busy, limit)


@settings(max_examples=80)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), taken, st.sampled_from([None, 2]))
def test_equal_subgroups_that_could_be_placed_are_placed(count, size, gpus, busy, limit):
    parts = [size] * count
    assert any(run_steps(parts, gpus, busy, limit)) == can_be_placed(parts, gpus, busy, limit)
