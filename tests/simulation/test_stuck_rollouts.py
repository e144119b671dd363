"""A5: a template that never serves costs no more than the budget, however long it stays."""

import pytest

from kohort.simulation.run import simulate
from kohort.simulation.scenario import PODS, STATEFULSETS, Fault, Scenario

BUDGETS = ((1, 0), (0, 1), (1, 1), (2, 0))


@pytest.mark.slow
@pytest.mark.parametrize("carrier", [STATEFULSETS, PODS])
@pytest.mark.parametrize(("unavailable", "surge"), BUDGETS)
def test_what_served_goes_on_serving_and_going_back_costs_nothing(
    carrier: str, unavailable: int, surge: int
):
    stuck = Fault("bad-roll", at=6.0, seconds=300.0)
    scenario = Scenario(
        groups=3, size=1, unavailable=unavailable, surge=surge, carrier=carrier, faults=(stuck,)
    )
    outcome = simulate(scenario)
    assert outcome.is_good, outcome.breaches[:3]
    # Only as many groups as may be missing were ever given up: each was made twice, and once more.
    made = [line.split(" ")[4] for line in outcome.log if " ADDED Pod " in line]
    again = {name for name in made if made.count(name) > 1}
    assert len([name for name in again if int(name.removeprefix("x-")) < 3]) <= unavailable
