"""Faults: what can go wrong in a simulation, and how a seed draws some of it."""

from kohort.simulation.faults.catalogue import CATALOGUE, FaultKind, list_failures
from kohort.simulation.faults.scenarios import draw_scenario

__all__ = ["CATALOGUE", "FaultKind", "draw_scenario", "list_failures"]
