"""
A carrier, as a value: by which objects units exist, and what it can be asked for.

A carrier decides nothing. It reads what exists into the model, with whatever it has to
remember until it renders, and renders what a plan says. Which units are made, taken down or
changed is decided in planning, by the reach that the carrier has.
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
