"""No gang waits for ever: one is passed over so often and no more, whatever comes and goes."""

from typing import Any

from gang_builders import node, pod
from gang_world import GangWorld, hard
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.cluster.kinds import POD, PRIORITY_CLASS
from kohort.simulator.component import BindRequest, ComponentAction
from kohort.simulator.scheduling.gangs.fairness import PASSED_MAX

NODES = ["n0", "n1", "n2", "n3"]
LIFE_ROUNDS_MAX = 3
LATER = "2026-02-01T00:00:00Z"


class Stream(GangWorld):
    """Gangs come, live for some rounds, and go."""

    def __init__(self) -> None:
        super().__init__(*(node(name, 4) for name in NODES))
        self.declare_racks(NODES[:2], NODES[2:])
        self.put(PRIORITY_CLASS, {"metadata": {"name": "high"}, "value": 10})
        self.started: list[str] = []  # gangs, in the order in which they were placed

    def carry_out(self, action: ComponentAction) -> None:
        super().carry_out(action)
        if (
            isinstance(action, BindRequest)
            and (name := action.name.split("-")[0]) not in self.started
        ):
            self.started.append(name)

    def leave(self, name: str) -> None:
        for entry in list(self.all(POD)):
            if entry.name.startswith(f"{name}-"):
                self.remove(POD, "default", entry.name)
        self.settle()


smalls = st.tuples(st.integers(1, 2), st.integers(1, 4), st.integers(1, LIFE_ROUNDS_MAX))


@settings(max_examples=60)
@given(st.lists(st.one_of(smalls, st.integers(0, 9)), min_size=8, max_size=20))
def test_a_gang_that_needs_all_nodes_is_passed_over_no_more_than_a_set_number_of_times(moves):
    made = Stream()
    made.gang("s", 1, gpus=1)
    made.gang("large", 4, gpus=4)
    for at, move in enumerate(moves):
        if isinstance(move, int):
            running = [name for name in made.started if made.where(name)]
            made.leave(running[move % len(running)] if running else "s")
        else:
            made.gang(f"s{at}", move[0], gpus=move[1])
    passed = made.started.index("large") if "large" in made.started else len(made.started)
    assert passed - 1 <= PASSED_MAX + 1


larges = st.lists(
    st.tuples(st.integers(2, 4), st.sampled_from([None, hard(1), hard(2)])), min_size=1, max_size=3
)


comers = st.lists(
    st.tuples(smalls, st.booleans()).map(lambda drawn: (*drawn[0], drawn[1])),
    min_size=3,
    max_size=6,
)


def add_large(made: Stream, sizes) -> list[str]:
    names = []
    for at, (size, limit) in enumerate(sizes):
        topology = {"networkTopology": limit} if limit else {}
        made.gang(f"l{at}", min(size, 2) if limit == hard(1) else size, gpus=4, **topology)
        names.append(f"l{at}")
    return names


def flow(made: Stream, ends: dict[str, int], at: int, coming) -> None:
    """One round: a small gang comes, and those whose time is over go."""
    count, gpus, rounds, is_high = coming
    # Of those with a higher priority there are only so many.
    more = {"priorityClassName": "high"} if is_high and at < 6 else {}
    made.gang(f"s{at}", count, gpus=gpus, **more)
    for name in made.started:
        if ends.setdefault(name, at + rounds) <= at:
            made.leave(name)


@settings(max_examples=40)
@given(larges, comers)
def test_every_gang_is_placed_within_a_number_of_rounds_that_its_place_in_the_line_sets(
    sizes, pattern
):
    made = Stream()
    ends: dict[str, Any] = {}
    made.gang("s", 4, gpus=3)
    names = add_large(made, sizes)
    rounds_max = 6 + (PASSED_MAX + 2) * (LIFE_ROUNDS_MAX + 1) * len(names)
    for at in range(rounds_max):
        flow(made, ends, at, pattern[at % len(pattern)])
        if set(names) <= set(made.started):
            return
    raise AssertionError(f"{set(names) - set(made.started)} were not placed")


def test_single_pods_do_not_take_what_is_kept():
    made = Stream()
    made.gang("s", 1, gpus=1)
    made.gang("large", 4, gpus=4)
    for at in range(PASSED_MAX + 2):
        made.gang(f"s{at}", 1, gpus=1)
    for single in (
        pod("alone", 1),
        pod("first", 1, priority=1),
        pod("elsewhere", 1, schedulerName="default-scheduler"),
    ):
        made.put(POD, {**single, "metadata": {**single["metadata"], "creationTimestamp": LATER}})
    made.settle()
    assert {"first", "elsewhere"} <= made.placed().keys()
    assert "alone" not in made.placed()
    assert "kept for large" in made.reason("alone")
    made.leave("large")
    assert "alone" in made.placed()
