"""Checkers: what must hold at every committed write, by whichever planner."""

from collections.abc import Callable

from kohort.simulation.checkers.budget import Budget
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.claims import Claims
from kohort.simulation.checkers.gangs import GangMembers, GangObjects, GangPlacements
from kohort.simulation.checkers.groups import Groups
from kohort.simulation.checkers.ordinals import Partition, Scaling
from kohort.simulation.checkers.ownership import Ownership
from kohort.simulation.checkers.runtime import Runtime
from kohort.simulation.checkers.stability import Stability
from kohort.simulation.checkers.status import Status
from kohort.simulation.checkers.trust import Lasting

ALL: tuple[Callable[[Scene], Checker], ...] = (
    Budget,
    Partition,
    Groups,
    Lasting,
    Ownership,
    Runtime,
    Scaling,
    Claims,
    Status,
    GangMembers,
    GangObjects,
    GangPlacements,
    Stability,
)

__all__ = ["ALL", "Checker", "Scene"]
