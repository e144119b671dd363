"""Faults: what can go wrong in a rehearsal, and how a seed draws some of it."""

from kohort.rehearsal.faults.catalogue import CATALOGUE, Entry
from kohort.rehearsal.faults.plays import draw_play

__all__ = ["CATALOGUE", "Entry", "draw_play"]
