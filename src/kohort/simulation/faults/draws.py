"""
How one fault is drawn: at a request or at a time, of a kind, for a while, with a value.

In many scenarios faults happen within some seconds of the first rollout. A rollout lasts for a
few seconds of a scenario, and most promises are about it. Spread over the whole scenario, faults
and edits seldom meet it, and more seldom each other.
"""

from collections.abc import Callable
from dataclasses import replace

from kohort.simulation.choices import Choices
from kohort.simulation.scenario import Fault, Scenario

TIME_SECONDS_MAX = 40.0
REQUESTS_MAX = 45

Draw = Callable[[Choices], Fault]


def request(name: str, span: int = 3, seconds: float = 0.0) -> Draw:
    """A fault of the n-th request, and of some that follow."""

    def draw(choices: Choices) -> Fault:
        n = 1 + choices.below(REQUESTS_MAX)
        length = choices.between(0.1, seconds) if seconds else 0.0
        return Fault(name, n=n, span=1 + choices.below(span), seconds=length)

    return draw


def timed(name: str, low: float = 0.0, high: float = 0.0) -> Draw:
    """A fault at a time, for a while."""

    def draw(choices: Choices) -> Fault:
        at = choices.between(0.0, TIME_SECONDS_MAX)
        seconds = choices.between(low, high) if high else 0.0
        return Fault(name, at=at, seconds=seconds, pick=choices.below(12))

    return draw


def of_kind(name: str, kinds: tuple[str, ...], high: float = 0.0, low: float = 0.1) -> Draw:
    """A fault of one kind of objects, for a while."""
    drawn = timed(name, low, high)

    def draw(choices: Choices) -> Fault:
        fault = drawn(choices)
        kind = choices.pick(kinds)
        return Fault(name, at=fault.at, seconds=fault.seconds, kind=kind, pick=fault.pick)

    return draw


def of_watches(kinds: tuple[str, ...]) -> dict[str, Draw]:
    """The faults of the operator's watches, for an API that watches these kinds."""
    return {
        "lag": of_kind("lag", kinds, 8.0),
        "relist": of_kind("relist", kinds, 8.0),
        "break": of_kind("break", kinds, 2.0),
        "deaf": of_kind("deaf", kinds, 90.0, 30.0),
        "repeat": of_kind("repeat", kinds, 8.0),
        "between": of_kind("between", kinds, 40.0, 5.0),
    }


def valued(name: str, values: tuple[str, ...], low: float = 0.0, high: float = 0.0) -> Draw:
    """A fault with one of several values."""
    drawn = timed(name, low, high)

    def draw(choices: Choices) -> Fault:
        fault = drawn(choices)
        value = choices.pick(values)
        return Fault(name, at=fault.at, seconds=fault.seconds, pick=fault.pick, value=value)

    return draw


def of_part(name: str, kinds: tuple[str, ...], parts: tuple[str, ...], high: float) -> Draw:
    """A fault of what one part of the cluster sees of a kind."""
    drawn = of_kind(name, kinds, high)

    def draw(choices: Choices) -> Fault:
        fault = drawn(choices)
        part = choices.pick(parts)
        return Fault(name, at=fault.at, seconds=fault.seconds, kind=fault.kind, value=part)

    return draw


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
