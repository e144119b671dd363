"""Which ordinals a line has, and who goes first."""

import pytest
from line_search import NEW, make_instance

from kohort.model.policies import Victims
from kohort.model.units import Phase
from kohort.planning.scale import Choice, choose_ordinals, find_missing

READY, STARTING, LEAVING = Phase.READY, Phase.STARTING, Phase.LEAVING


@pytest.mark.parametrize(
    ("wanted", "held", "limit", "made"),
    [
        (0, [0], 1, ()),
        (3, [], 0, ()),
        (3, [], 3, (0, 1, 2)),
        (5, [0, 2, 4], 5, (1, 3)),
        (5, [0, 2, 4], 1, (1,)),
        (4, [2, 0, 2], 4, (1, 3)),
        (3, [-1, 1, 10], 3, (0, 2)),
        (2**31 - 1, [0, 1], 2, (2, 3)),
    ],
)
def test_missing_ordinals_are_the_lowest(wanted, held, limit, made):
    """What ModelServings of kthena keep."""
    assert find_missing(held, wanted, limit) == made


@pytest.mark.parametrize(
    ("count", "wanted", "protected", "costs", "unready", "left"),
    [
        (4, 2, 0, [], [], (0, 1)),
        (4, 2, 0, [100, 50, 0, 75], [], (0, 3)),
        (5, 3, 3, [0, 0, 0, 100, 50], [], (0, 1, 2)),
        (5, 3, 3, [], [1], (0, 1, 2)),
        (4, 2, 5, [100, 50, 0, 200], [], (0, 3)),
        (5, 2, 3, [100, 50, 0, 200, 150], [], (0, 1)),
        (4, 2, 0, [], [2], (0, 1)),
        (4, 2, 0, [10, 1000, 20, 30], [1], (2, 3)),
        (3, 2, 0, [0, -5, 0], [], (0, 2)),
    ],
)
def test_who_goes_is_chosen_by_readiness_then_cost_then_ordinal(
    count, wanted, protected, costs, unready, left
):
    """As kthena chooses; units below the partition are spared first of all."""
    units = [
        make_instance(
            ordinal,
            (NEW, STARTING if ordinal in unready else READY),
            cost=costs[ordinal] if costs else 0,
        )
        for ordinal in range(count)
    ]
    assert choose_ordinals(units, wanted, Victims.CHEAPEST, protected).wanted == left


def test_the_highest_go_first_by_default():
    units = [make_instance(o, (NEW, READY), cost=-o) for o in (0, 3, 5)]
    found = choose_ordinals(units, 1, Victims.HIGHEST)
    assert (found.wanted, found.surplus) == ((0,), (3, 5))


def test_units_beyond_the_count_stay_while_they_are_not_too_many():
    units = [make_instance(o, (NEW, READY)) for o in (0, 5)]
    assert choose_ordinals(units, 4, Victims.HIGHEST).wanted == (0, 1, 2, 5)


def test_one_that_leaves_is_not_counted_again():
    """[0, 1, 2] of which 2 leaves, and two are wanted: nothing happens."""
    states = {0: READY, 1: READY, 2: LEAVING}
    units = [make_instance(o, (NEW, phase)) for o, phase in states.items()]
    found = choose_ordinals(units, 2, Victims.CHEAPEST)
    assert (found.wanted, found.surplus) == ((0, 1), ())


def test_where_ordinals_are_addresses_exactly_those_below_the_count_exist():
    units = [make_instance(o, (NEW, READY)) for o in (0, 2, 3, 5)]
    assert choose_ordinals(units, 3, Victims.BEYOND) == Choice((0, 1, 2), (3, 5))
