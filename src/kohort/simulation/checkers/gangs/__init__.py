"""Checkers of gangs: their objects, their members, and where these are placed."""

from kohort.simulation.checkers.gangs.members import GangMembers
from kohort.simulation.checkers.gangs.objects import GangObjects
from kohort.simulation.checkers.gangs.placements import GangPlacements

__all__ = ["GangMembers", "GangObjects", "GangPlacements"]
