"""
The seam to admission: who may look at a write, change it or refuse it.

The API hands over a review and gets the object back, changed or not. Webhooks
implement this over HTTPS; a simulation may implement it in the process.
"""

from dataclasses import dataclass, field
from typing import Protocol

from kohort.cluster.objects import Object
from kohort.simulator.api.requests import Target, User


@dataclass(slots=True)
class Review:
    """One write, as admission sees it. ``warnings`` gathers what clients are told."""

    operation: str  # CREATE, UPDATE, DELETE
    target: Target
    obj: Object | None
    old: Object | None
    user: User
    dry_run: bool
    warnings: list[str] = field(default_factory=list)


class Admission(Protocol):
    """Looks at writes before they are stored."""

    def concerns(self, operation: str, target: Target) -> bool:
        """Whether anybody wants to see such writes; asked on every write, so it is quick."""

    async def mutate(self, review: Review) -> Object:
        """The object after all changes, or a ClusterError."""

    async def validate(self, review: Review) -> None:
        """Nothing, or a ClusterError."""


class NoAdmission:
    """Lets everything pass."""

    def concerns(self, operation: str, target: Target) -> bool:
        """Nobody wants to see anything."""
        return False

    async def mutate(self, review: Review) -> Object:
        """Change nothing."""
        assert review.obj is not None
        return review.obj

    async def validate(self, review: Review) -> None:
        """Refuse nothing."""
