"""What may not matter does not: scales, labels, names, one rack more, a wider limit."""

from collections import Counter
from dataclasses import dataclass, replace

from gang_builders import GPU, hypernode, named, node, pod
from gang_world import SOFT, GangWorld, hard
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kohort.cluster.kinds import NODE, POD

TOP = 3


@dataclass(frozen=True)
class Case:
    """
    Racks of nodes with so many GPUs each, and gangs that come one after the other.

    The last of several racks stands outside the spine, so that the root is wider than it.
    """

    racks: tuple[tuple[int, ...], ...]
    gangs: tuple[tuple[int, int, int], ...]  # members, GPUs of each, the highest tier; 0: none
    scale: int = 1
    names: tuple[int, ...] = ()  # how racks and nodes are called; else by number
    labels: tuple[tuple[str, str], ...] = ()

    def name(self, rack: int) -> str:
        return f"r{self.names[rack] if self.names else rack}"

    def run_steps(self, **more) -> "Outcome":
        made = GangWorld()
        for at, rack in enumerate(self.racks):
            nodes = [f"{self.name(at)}-n{number}" for number in range(len(rack))]
            for name, gpus in zip(nodes, rack, strict=True):
                made.put(NODE, node(name, gpus * self.scale, dict(self.labels)))
            made.declare(hypernode(self.name(at), 1, *map(named, nodes)))
        inner = len(self.racks) - 1 or 1
        spine = (named(self.name(at), "HyperNode") for at in range(inner))
        made.declare(hypernode("spine", 2, *spine))
        for at, (size, gpus, tier) in enumerate(self.gangs):
            limit = {"networkTopology": hard(tier)} if tier else {}
            self.add(made, f"g{at}", size, gpus * self.scale, {**limit, **more})
        return Outcome(self, made)

    def add(self, made: GangWorld, name: str, size: int, gpus: int, spec: dict) -> None:
        made.group(name, size, **spec)
        for number in range(size):
            member = pod(f"{name}-{number}", gpus, group=name, labels=dict(self.labels))
            made.put(POD, member)
        made.settle()


@dataclass(frozen=True)
class Outcome:
    """The node of each pod."""

    case: Case
    made: GangWorld

    def nodes(self, gang: int = 0) -> dict[str, str]:
        return self.made.where(f"g{gang}")

    def tier(self, gang: int = 0) -> int | None:
        racks = {at.split("-")[0] for at in self.nodes(gang).values()}
        if len(racks) < 2:
            return len(racks) or None
        return TOP if self.case.name(len(self.case.racks) - 1) in racks else 2

    def is_allowed(self) -> bool:
        """Whether gangs are whole and near enough, and no node holds more than it has."""
        used: Counter[str] = Counter()
        for at, (size, gpus, tier) in enumerate(self.case.gangs):
            nodes = self.nodes(at)
            used.update({name: gpus * n for name, n in Counter(nodes.values()).items()})
            if len(nodes) not in (0, size) or (nodes and tier and (self.tier(at) or 0) > tier):
                return False
        rooms = {name: int(self.made.node(name)["status"]["allocatable"][GPU]) for name in used}
        return all(used[name] <= rooms[name] for name in used)


racks = st.lists(
    st.lists(st.integers(0, 4), min_size=1, max_size=3).map(tuple), min_size=1, max_size=4
).map(tuple)
gangs = st.tuples(st.integers(1, 6), st.integers(1, 3), st.integers(0, TOP))
many = st.builds(Case, racks, st.lists(gangs, min_size=1, max_size=4).map(tuple))
single = st.builds(Case, racks, gangs.map(lambda gang: (gang,)))


@settings(max_examples=40)
@given(many, st.integers(2, 7))
def test_scaling_what_nodes_have_and_pods_want_changes_nothing(case, factor):
    assert replace(case, scale=factor).run_steps().made.placed() == case.run_steps().made.placed()


@settings(max_examples=40)
@given(many)
def test_a_node_label_that_no_gang_names_changes_nothing(case):
    marked = replace(case, labels=(("colour", "red"),))
    assert marked.run_steps().made.placed() == case.run_steps().made.placed()


@settings(max_examples=60)
@given(single, st.data())
def test_what_racks_and_nodes_are_called_decides_nothing_but_ties(case, data):
    names = data.draw(st.permutations(range(len(case.racks))))
    first, second = case.run_steps(), replace(case, names=tuple(names)).run_steps()
    assert (len(first.nodes()), first.tier()) == (len(second.nodes()), second.tier())
    gpus = case.gangs[0][1]
    rooms = [sum(free // gpus for free in rack) for rack in case.racks]
    if len(set(rooms)) == len(rooms) and first.tier() == 1:
        back = {f"r{called}": f"r{at}" for at, called in enumerate(names)}
        renamed = [(back[at.split("-")[0]], at.split("-")[1]) for at in second.nodes().values()]
        assert Counter(renamed) == Counter(tuple(a.split("-")) for a in first.nodes().values())


twinned = single.flatmap(
    lambda case: st.tuples(st.just(case), st.sampled_from(case.racks[:-1] or case.racks))
)


@settings(max_examples=60)
@given(twinned)
@example((Case(((1,), (3,)), ((2, 1, 0),)), (1,)))
def test_the_same_rack_twice_keeps_no_gang_from_starting(drawn):
    """Only a gang that asks for a topology is promised the narrowest tier; others may move."""
    case, twin = drawn
    first, second = case.run_steps(), replace(case, racks=(twin, *case.racks)).run_steps()
    assert second.is_allowed()
    if first.nodes():
        assert second.nodes()
        asks_for_topology = case.gangs[0][2] > 0
        assert not asks_for_topology or second.tier() <= first.tier()


@settings(max_examples=40)
@given(many)
def test_all_that_is_placed_is_allowed(case):
    assert case.run_steps().is_allowed()


@settings(max_examples=40)
@given(many)
def test_soft_is_hard_with_the_whole_cluster_allowed(case):
    soft = case.run_steps(networkTopology=SOFT)
    assert soft.made.placed() == case.run_steps(networkTopology=hard(TOP)).made.placed()
    ignored = {**SOFT, "highestTierAllowed": 1}
    assert soft.made.placed() == case.run_steps(networkTopology=ignored).made.placed()


@settings(max_examples=60)
@given(single, st.integers(0, TOP))
def test_what_starts_under_a_limit_starts_under_a_wider_one(case, tier):
    near = case.run_steps(networkTopology=hard(tier))
    wide = case.run_steps(networkTopology=hard(tier + 1))
    assert not near.nodes() or wide.tier() == near.tier()
