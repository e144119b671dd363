"""F19 and R5: a watch that tells nothing for a long time, and one that tells far too much."""

import tracemalloc

import pytest

from kohort.simulation.faults.catalogue import OWNED_KINDS
from kohort.simulation.run import simulate
from kohort.simulation.scenario import PODS, STATEFULSETS, Fault, Scenario

FLOOD = 3000


@pytest.mark.slow
@pytest.mark.parametrize("carrier", [STATEFULSETS, PODS])
@pytest.mark.parametrize("kind", OWNED_KINDS)
def test_a_rollout_ends_when_a_watch_was_deaf_all_along(kind: str, carrier: str):
    faults = (
        Fault("deaf", at=5.0, seconds=60.0, kind=kind),
        Fault("roll", at=6.0, value="2"),
        Fault("scale", at=20.0, value="1"),
    )
    outcome = simulate(Scenario(carrier=carrier, faults=faults))
    assert outcome.is_good, outcome.breaches[:3]


def peak_of(scenario: Scenario) -> int:
    """The most memory that a run has at a time."""
    tracemalloc.start()
    try:
        assert simulate(scenario).is_good
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_a_hundred_thousand_events_take_no_more_memory_than_a_few():
    roll = Fault("roll", at=6.0, value="2")
    flood = Fault("repeat", at=0.0, seconds=30.0, kind="Pod", span=FLOOD)
    calm = Scenario(carrier=PODS, size=1, faults=(roll,))
    events = [line for line in simulate(calm).log if " Pod " in line]
    assert len(events) * FLOOD > 50_000
    flooded = Scenario(carrier=PODS, size=1, faults=(roll, flood))
    assert peak_of(flooded) < peak_of(calm) * 1.5
