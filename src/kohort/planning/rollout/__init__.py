"""Rollout strategies: which units may have the target revision now, and how many exist."""

from kohort.planning.rollout.registry import UnknownStrategy, find_strategy
from kohort.planning.rollout.units import Strategy

__all__ = ["Strategy", "UnknownStrategy", "find_strategy"]
