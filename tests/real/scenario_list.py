"""All scenarios, found in their modules: every public coroutine that takes a driver and no more."""

import inspect
from collections.abc import Awaitable, Callable

import accelerator_scenarios
import drift_scenarios
import own_scenarios
import upstream_scenarios
from cluster_driver import Driver

Scenario = Callable[[Driver], Awaitable[None]]
MODULES = (upstream_scenarios, accelerator_scenarios, own_scenarios, drift_scenarios)


def _find_scenarios() -> list[Scenario]:
    found = [
        member
        for module in MODULES
        for name, member in inspect.getmembers(module, inspect.iscoroutinefunction)
        if not name.startswith("_")
        and member.__module__ == module.__name__
        and list(inspect.signature(member).parameters) == ["driver"]
    ]
    return sorted(found, key=lambda scenario: scenario.__name__)


SCENARIOS = _find_scenarios()


def name_scenario(scenario: Scenario) -> str:
    """How a test of it is called."""
    return scenario.__name__
