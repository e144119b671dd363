"""Rollout strategies: which units may have the target revision now, and how many exist."""

from kohort.planning.rollout.budgeted import plan_budgeted
from kohort.planning.rollout.compatible import plan_compatible
from kohort.planning.rollout.units import Strategy

STRATEGIES: dict[str, Strategy] = {"budgeted": plan_budgeted, "compatible": plan_compatible}
DEFAULT_STRATEGY = "budgeted"

__all__ = ["DEFAULT_STRATEGY", "STRATEGIES", "Strategy"]
