"""Checkers: what must hold at every committed write, whoever planned it."""

from collections.abc import Callable

from kohort.rehearsal.checkers.budget import Budget
from kohort.rehearsal.checkers.checker import Checker, Scene
from kohort.rehearsal.checkers.stability import Stability

ALL: tuple[Callable[[Scene], Checker], ...] = (Budget, Stability)

__all__ = ["ALL", "Checker", "Scene"]
