"""For any marks on nodes and any wishes of members: no member stands where it may not."""

from typing import Any

from gang_builders import GPU, node, pod
from gang_world import GangWorld
from hypothesis import given, settings
from hypothesis import strategies as st
from node_oracle import REQUIRED, accepts, is_open, is_wanted

from kohort.cluster.kinds import NODE, POD
from kohort.placement.raw_objects import read_index, read_rule
from kohort.simulator.component import BindRequest, ComponentAction

NODES = ("n0", "n1", "n2", "n3")
SLOTS, GPUS = 3, 4
Raw = dict[str, Any]


class Strict(GangWorld):
    """Every bind is held against the objects as they are at that moment."""

    def carry_out(self, action: ComponentAction) -> None:
        if isinstance(action, BindRequest):
            found, at = self.pod(action.name), self.node(action.node)
            assert accepts(found, at), f"{action.name} may not stand on {action.node}"
            assert not found["spec"].get("schedulingGates"), f"{action.name} is gated"
            assert self.free(action.node)["pods"] >= 1
            assert self.free(action.node)[GPU] >= gpus_of(found)
        super().carry_out(action)

    def free(self, name: str) -> dict[str, int]:
        """What is left of a node: a pod without requests takes a place and nothing else."""
        here = [self.pod(each) for each, at in self.placed().items() if at == name]
        return {"pods": SLOTS - len(here), GPU: GPUS - sum(map(gpus_of, here))}


def gpus_of(raw: Raw) -> int:
    return int(raw["spec"]["containers"][0]["resources"]["requests"].get(GPU, 0))


zones = st.sampled_from(["a", "b"])
marks = st.fixed_dictionaries(
    {}, optional={"zone": zones, "size": st.sampled_from(["1", "2", "x"])}
)
taints = st.lists(
    st.fixed_dictionaries(
        {
            "key": st.sampled_from(["hot", "old"]),
            "effect": st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule"]),
        },
        optional={"value": st.sampled_from(["1", "2"])},
    ),
    max_size=2,
    unique_by=lambda taint: (taint["key"], taint["effect"]),
)
expressions = st.one_of(
    st.builds(
        lambda operator, values: {"key": "zone", "operator": operator, "values": values},
        st.sampled_from(["In", "NotIn"]),
        st.lists(zones, min_size=1, max_size=2),
    ),
    st.builds(
        lambda key, operator: {"key": key, "operator": operator},
        st.sampled_from(["zone", "size"]),
        st.sampled_from(["Exists", "DoesNotExist"]),
    ),
    st.builds(
        lambda operator, value: {"key": "size", "operator": operator, "values": [value]},
        st.sampled_from(["Gt", "Lt"]),
        st.sampled_from(["0", "1", "2"]),
    ),
)
fields = st.builds(
    lambda operator, name: {"key": "metadata.name", "operator": operator, "values": [name]},
    st.sampled_from(["In", "NotIn"]),
    st.sampled_from(NODES),
)
terms = st.fixed_dictionaries(
    {},
    optional={
        "matchExpressions": st.lists(expressions, min_size=1, max_size=2),
        "matchFields": st.lists(fields, min_size=1, max_size=1),
    },
)
tolerations = st.one_of(
    st.just({"operator": "Exists"}),
    st.builds(
        lambda key, effect: {"key": key, "operator": "Exists", "effect": effect},
        st.sampled_from(["hot", "old", "node.kubernetes.io/unschedulable"]),
        st.sampled_from(["", "NoSchedule", "NoExecute"]),
    ),
    st.builds(
        lambda key, value: {"key": key, "value": value},
        st.sampled_from(["hot", "old"]),
        st.sampled_from(["", "1", "2"]),
    ),
)
affinities = st.lists(terms, min_size=1, max_size=2).map(
    lambda found: {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": found}}}
)
wishes = st.fixed_dictionaries(
    {},
    optional={
        "nodeSelector": st.fixed_dictionaries({"zone": zones}),
        "affinity": affinities,
        "tolerations": st.lists(tolerations, min_size=1, max_size=2),
    },
)
gangs = st.tuples(st.integers(1, 4), st.sampled_from([0, 0, 1, 2, 4]), st.integers(0, 2), wishes)
states = st.tuples(st.sampled_from(NODES), marks, taints, st.booleans())
changes = st.one_of(
    st.tuples(st.just("mark"), states),
    st.tuples(st.just("open"), st.integers(0, 20)),
    st.tuples(st.just("remove"), st.integers(0, 20)),
)
histories = st.tuples(
    st.lists(states, max_size=4),
    st.lists(st.one_of(gangs.map(lambda gang: ("add", gang)), changes), min_size=2, max_size=8),
)


def put_node(made: Strict, name: str, labels: Raw, marked: list[Raw], is_cordoned: bool) -> None:
    room = {"pods": str(SLOTS)}
    raw = node(name, GPUS, dict(labels), taints=marked, unschedulable=is_cordoned, room=room)
    made.put(NODE, raw)


def run_steps(history) -> tuple[Strict, dict[str, int]]:
    made, minima = Strict(), {}
    for name in NODES:
        put_node(made, name, {}, [], False)
    for state in history[0]:
        put_node(made, *state)
    for at, (what, how) in enumerate(history[1]):
        if what == "add":
            size, gpus, gated, wish = how
            made.group(f"g{at}", size)
            minima[f"g{at}"] = size
            for number in range(size + 1):
                gates = {"schedulingGates": [{"name": "wait"}]} if number < gated else {}
                made.put(POD, pod(f"g{at}-{number}", gpus, group=f"g{at}", **wish, **gates))
        elif what == "mark":
            put_node(made, *how)
        else:
            change_pod(made, what, how)
        made.settle()
    return made, minima


def change_pod(made: Strict, what: str, which: int) -> None:
    """A gate is lifted, or a pod goes."""
    names = sorted(entry.name for entry in made.all(POD))
    if names:
        chosen = made.pod(names[which % len(names)])
        made.remove(POD, "default", chosen["metadata"]["name"])
        if what == "open":
            chosen["spec"].pop("schedulingGates", None)
            made.put(POD, chosen)


@settings(max_examples=500)
@given(st.lists(st.tuples(marks, taints, st.booleans()), min_size=1, max_size=4), wishes)
def test_the_nodes_that_a_pod_accepts_are_those_that_its_words_name(states, wish):
    nodes = [
        node(f"n{at}", GPUS, labels, taints=marked, unschedulable=is_cordoned)
        for at, (labels, marked, is_cordoned) in enumerate(states)
    ]
    member, index = pod("p", **wish), read_index(nodes, [])
    rule = read_rule(member)
    for raw in nodes:
        bit = 1 << index.slots[name_of(raw)]
        assert bool(rule.affine(index) & bit) == is_wanted(member, raw)
        opened = rule.untainted(index) & rule.uncordoned(index)
        assert bool(opened & bit) == is_open(member, raw)
        assert bool(rule.allowed(index) & bit) == accepts(member, raw)


@settings(max_examples=120)
@given(histories)
def test_no_member_stands_where_it_may_not_and_each_that_could_start_does(history):
    made, minima = run_steps(history)
    for name, minimum in minima.items():
        members = [e.decode() for e in made.all(POD) if e.name.startswith(f"{name}-")]
        waiting = [m for m in members if not m["spec"].get("nodeName")]
        ready = [m for m in waiting if not m["spec"].get("schedulingGates")]
        has_started = len(waiting) < len(members)
        if has_started or len(ready) < minimum or "kept for" in made.reason(name_of(ready[0])):
            continue
        assert sum(count_room(made, ready[0], at) for at in NODES) < minimum, f"{name} waits"


def name_of(raw: Raw) -> str:
    return raw["metadata"]["name"]


def count_room(made: Strict, member: Raw, at: str) -> int:
    free, gpus = made.free(at), gpus_of(member)
    if not accepts(member, made.node(at)):
        return 0
    return max(0, min(free["pods"], free[GPU] // gpus) if gpus else free["pods"])


@settings(max_examples=60)
@given(histories)
def test_pods_without_requests_take_a_place_and_nothing_else(history):
    made, _ = run_steps(history)
    index = made.scheduler.ledger.index
    full = node("n", GPUS, room={"pods": str(SLOTS)})["status"]["allocatable"]
    for name in NODES:
        left = index.free[index.slots[name]]
        assert {key: left[key] for key in ("pods", GPU)} == made.free(name)
        assert left["cpu"] == 1000 * int(full["cpu"])
