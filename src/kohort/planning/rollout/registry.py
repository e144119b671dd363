"""
Rollout strategies by name: the built-in ones, and those of installed packages.

A package adds one by an entry point of the group ``kohort.rollout_strategies`` that names a
function with the signature of ``Strategy``. A package cannot replace a built-in strategy. The
operator loads a package's strategy when a workload first names it.
"""

from functools import cache
from importlib.metadata import entry_points

from kohort.model.policies import STRATEGY_ENTRY_POINTS
from kohort.planning.rollout.budgeted import plan_budgeted
from kohort.planning.rollout.compatible import plan_compatible
from kohort.planning.rollout.units import Strategy

_BUILT_IN: dict[str, Strategy] = {"budgeted": plan_budgeted, "compatible": plan_compatible}


class UnknownStrategy(KeyError):
    """No strategy has that name."""


@cache
def find_strategy(name: str) -> Strategy:
    """The strategy of that name; raises UnknownStrategy."""
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    for point in entry_points(group=STRATEGY_ENTRY_POINTS, name=name):
        loaded: Strategy = point.load()
        return loaded
    raise UnknownStrategy(f"no rollout strategy is called {name}")
