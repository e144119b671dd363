"""For any small cluster: what is placed is allowed, and what can be placed is placed."""

import copy
from typing import Any

import oracle
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.cluster.kinds import NODE, POD
from kohort.placement.amounts import read_amounts
from kohort.simulator.component import BindRequest
from kohort.simulator.scheduling.counts.tallies import PodTally
from kohort.simulator.scheduling.scheduler import Scheduler
from scheduling_views import TinyWorld, node, pod

GROUPS = st.sampled_from(["a", "b", "c"])
TOPOLOGY = st.sampled_from(["kubernetes.io/hostname", "rack", "zone"])


@st.composite
def selectors(draw: st.DrawFn) -> dict[str, Any]:
    group = draw(GROUPS)
    return draw(
        st.sampled_from(
            [
                {"matchLabels": {"g": group}},
                {
                    "matchExpressions": [
                        {"key": "g", "operator": "Exists"},
                        {"key": "g", "operator": "NotIn", "values": [group]},
                    ]
                },
                {"matchExpressions": [{"key": "g", "operator": "NotIn", "values": [group]}]},
                {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]},
                {"matchLabels": {"g": group, "x": "1"}},
                {},
            ]
        )
    )


TERMS = st.builds(lambda s, k: {"labelSelector": s, "topologyKey": k}, selectors(), TOPOLOGY)
SPREADS = st.builds(
    lambda s, k, skew, least: {
        "labelSelector": s,
        "topologyKey": k,
        "maxSkew": skew,
        "minDomains": least,
        "whenUnsatisfiable": "DoNotSchedule",
    },
    selectors(),
    TOPOLOGY,
    st.integers(1, 2),
    st.integers(1, 3),
)


@st.composite
def nodes(draw: st.DrawFn) -> list[dict[str, Any]]:
    made = []
    for number in range(draw(st.integers(1, 5))):
        labels = draw(
            st.fixed_dictionaries(
                {}, optional={"rack": st.sampled_from("12"), "zone": st.sampled_from("12")}
            )
        )
        more: dict[str, Any] = {
            "room": {"cpu": "2", "pods": "3", "gpu": draw(st.sampled_from("04"))}
        }
        if draw(st.integers(0, 4)) == 0:
            more["taints"] = [{"key": "t", "effect": "NoSchedule"}]
        if draw(st.integers(0, 6)) == 0:
            more["unschedulable"] = True
        made.append(node(f"n{number}", labels, **more))
    return made


@st.composite
def pods(draw: st.DrawFn) -> list[dict[str, Any]]:
    return [draw(one_pod(number)) for number in range(draw(st.integers(1, 8)))]


@st.composite
def one_pod(draw: st.DrawFn, number: int) -> dict[str, Any]:
    spec: dict[str, Any] = {"priority": draw(st.integers(0, 1)), "preemptionPolicy": "Never"}
    labels = draw(st.fixed_dictionaries({}, optional={"g": GROUPS, "x": st.just("1")}))
    spec["requests"] = draw(
        st.sampled_from([{}, {"cpu": "1"}, {"cpu": "500m", "gpu": "2"}, {"gpu": "4"}])
    )
    if draw(st.integers(0, 3)) == 0:
        spec["tolerations"] = [{"key": "t", "operator": "Exists"}]
    if draw(st.integers(0, 4)) == 0:
        spec["nodeSelector"] = {"rack": draw(st.sampled_from("12"))}
    affinity = {
        kind: {"requiredDuringSchedulingIgnoredDuringExecution": draw(st.lists(TERMS, max_size=2))}
        for kind in ("podAffinity", "podAntiAffinity")
        if draw(st.integers(0, 2)) == 0
    }
    if affinity:
        spec["affinity"] = affinity
    if draw(st.integers(0, 3)) == 0:
        spec["topologySpreadConstraints"] = draw(st.lists(SPREADS, min_size=1, max_size=1))
    return pod(f"p{number}", labels, **spec)


def check_counts(scheduler: Scheduler, cluster: oracle.Cluster) -> None:
    """Free room and every tally equal what counting from nothing gives."""
    index, book = scheduler.ledger.index, scheduler.ledger.book
    for name, raw in cluster.nodes.items():
        free = read_amounts(raw["status"]["allocatable"])
        for other in cluster.placed:
            if other["spec"]["nodeName"] == name:
                for resource, amount in {**oracle.requests_of(other), "pods": 1}.items():
                    free[resource] = free.get(resource, 0) - amount
        assert index.free[index.slots[name]] == free
        assert min(free.values()) >= 0
    for tally in book.all():
        if tally.version == index.version:
            kept = (tally.counts, tally.at_level, tally.present, tally.total)
            again = PodTally(
                tally.matcher, tally.key, tally.eligibility, counts_leaving=tally.counts_leaving
            )
            book.fresh(again)
            assert kept == (again.counts, again.at_level, again.present, again.total)


def cluster_of(world: TinyWorld) -> oracle.Cluster:
    everyone = [entry.decode() for entry in world.all(POD)]
    standing = [p for p in everyone if p["spec"].get("nodeName")]
    return oracle.Cluster([entry.decode() for entry in world.all(NODE)], standing)


def run_checked(world: TinyWorld, scheduler: Scheduler) -> None:
    """One step at a time, each bind held against the slow rules."""
    before = cluster_of(world)
    start = len(world.log)
    world.settle()
    for action in world.log[start:]:
        if isinstance(action, BindRequest):
            incoming = world.pod(action.name)
            assert action.node in before.feasible(incoming), (action, before.feasible(incoming))
            before.placed.append(incoming)
    after = cluster_of(world)
    check_counts(scheduler, after)
    for entry in world.all(POD):
        waiting = entry.decode()
        if not waiting["spec"].get("nodeName"):
            assert after.feasible(waiting) == [], entry.name


@settings(max_examples=300, deadline=None)
@given(nodes(), pods(), st.data())
def test_binds_are_allowed_and_nothing_that_fits_waits(made_nodes, made_pods, data):
    scheduler = Scheduler()
    world = TinyWorld(scheduler)
    for item in made_nodes:
        world.put(NODE, item)
    for item in made_pods:
        world.put(POD, item)
    run_checked(world, scheduler)
    for _ in range(data.draw(st.integers(0, 3))):
        standing = sorted(world.placed())
        change = data.draw(st.sampled_from(["remove", "node", "uncordon"]))
        if change == "remove" and standing:
            world.remove(POD, "default", data.draw(st.sampled_from(standing)))
        elif change == "node":
            world.put(NODE, node("extra", {"rack": "2"}, room={"cpu": "2", "pods": "3"}))
        else:
            eased = world.node(
                data.draw(st.sampled_from([n["metadata"]["name"] for n in made_nodes]))
            )
            eased["spec"] = {}
            world.put(NODE, eased)
        run_checked(world, scheduler)


@settings(max_examples=100, deadline=None)
@given(nodes(), pods(), st.randoms())
def test_the_order_in_which_nodes_were_seen_does_not_matter(made_nodes, made_pods, random):
    def run(order: list[dict[str, Any]]) -> list[str]:
        world = TinyWorld(Scheduler())
        for item in copy.deepcopy(order):
            world.put(NODE, item)
        for item in copy.deepcopy(made_pods):
            item["metadata"]["uid"] = item["metadata"]["name"]
            world.put(POD, item)
        world.settle()
        assert world.settle(3600) == []
        return [f"{a.name}->{a.node}" for a in world.log if isinstance(a, BindRequest)]

    shuffled = list(made_nodes)
    random.shuffle(shuffled)
    assert run(made_nodes) == run(shuffled)


@settings(max_examples=50, deadline=None)
@given(nodes(), pods())
def test_gated_pods_are_never_bound(made_nodes, made_pods):
    world = TinyWorld(Scheduler())
    for item in made_nodes:
        world.put(NODE, item)
    for item in made_pods:
        item["spec"]["schedulingGates"] = [{"name": "g"}]
        world.put(POD, item)
    assert not any(isinstance(action, BindRequest) for action in world.settle())
