"""Checkers of gangs: their objects, their members, and where these are placed."""

from kohort.rehearsal.checkers.gangs.members import GangMembers
from kohort.rehearsal.checkers.gangs.objects import GangObjects
from kohort.rehearsal.checkers.gangs.seats import GangSeats

__all__ = ["GangMembers", "GangObjects", "GangSeats"]
