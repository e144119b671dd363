"""
When faults happen: in many scenarios within some seconds of the first rollout.

A rollout lasts for a few seconds of a scenario, and most promises are about it. Spread over the
whole scenario, faults and edits seldom meet it, and more seldom each other.
"""

from dataclasses import replace

from kohort.simulation.choices import Choices
from kohort.simulation.scenario import Fault, Scenario

FOCUSED_PERCENT = 50
BEFORE_SECONDS, AFTER_SECONDS = 1.0, 9.0


def focus(scenario: Scenario, around: str = "roll") -> Scenario:
    """The same scenario, with its faults around the first rollout if the seed says so."""
    choices = Choices(scenario.seed).fork("focus")
    rolls = [fault.at for fault in scenario.faults if fault.name == around]
    if not rolls or not choices.happens(FOCUSED_PERCENT):
        return scenario
    start = min(rolls)

    def move(fault: Fault) -> Fault:
        if not fault.at or fault.at == start:
            return fault
        at = start + choices.between(-BEFORE_SECONDS, AFTER_SECONDS)
        return replace(fault, at=round(max(0.0, at), 2))

    moved = sorted(map(move, scenario.faults), key=lambda fault: (fault.at, fault.n))
    return replace(scenario, faults=tuple(moved))
