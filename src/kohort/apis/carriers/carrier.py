"""
A carrier, as a value: which objects it makes for units, and what it is able to do.

A carrier decides nothing. It reads the existing objects into the model, with all that it has
to remember until it renders, and turns a plan into actions. Planning decides which units to
make, delete or change, within the reach of the carrier.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from kohort.apis.api import Reading, Snapshot
from kohort.cluster.actions import Action
from kohort.model.plans import Plan
from kohort.model.units import Reach

M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class Carrier(Generic[M]):
    """One carrier of an API; ``M`` is what it remembers between reading and rendering."""

    name: str
    reach: Reach
    read: Callable[[Snapshot], Reading[M]]
    render: Callable[[Snapshot, Reading[M], Plan], tuple[Action, ...]]
