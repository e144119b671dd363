"""Checkers: what must hold at every committed write, whoever planned it."""

from collections.abc import Callable

from kohort.rehearsal.checkers.budget import Budget
from kohort.rehearsal.checkers.checker import Checker, Scene
from kohort.rehearsal.checkers.claims import Claims
from kohort.rehearsal.checkers.gangs import GangMembers, GangObjects, GangSeats
from kohort.rehearsal.checkers.groups import Groups
from kohort.rehearsal.checkers.lasting import Lasting
from kohort.rehearsal.checkers.ownership import Ownership
from kohort.rehearsal.checkers.runtime import Runtime
from kohort.rehearsal.checkers.scaling import Scaling
from kohort.rehearsal.checkers.stability import Stability
from kohort.rehearsal.checkers.status import Status

ALL: tuple[Callable[[Scene], Checker], ...] = (
    Budget,
    Groups,
    Lasting,
    Ownership,
    Runtime,
    Scaling,
    Claims,
    Status,
    GangMembers,
    GangObjects,
    GangSeats,
    Stability,
)

__all__ = ["ALL", "Checker", "Scene"]
