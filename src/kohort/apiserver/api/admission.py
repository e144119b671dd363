"""
The interface of admission, which may change or refuse a write.

The API hands over a review and gets the object back, changed or not. Webhooks
implement this over HTTPS; a simulation may implement it in the process.
"""

from dataclasses import dataclass, field
from typing import Protocol

from kohort.apiserver.api.requests import Target, User
from kohort.cluster.objects import Object


@dataclass(slots=True)
class Review:
    """One write, as admission sees it. ``warnings`` collects the warnings for the client."""

    operation: str  # CREATE, UPDATE, DELETE
    target: Target
    obj: Object | None
    old: Object | None
    user: User
    dry_run: bool
    warnings: list[str] = field(default_factory=list)


class Admission(Protocol):
    """Changes or refuses writes before they are stored."""

    def concerns(self, operation: str, target: Target) -> bool:
        """Whether a webhook matches such writes; must be fast, since every write calls it."""

    async def mutate(self, review: Review) -> Object:
        """The object after all changes; raises ClusterError if the write is refused."""

    async def validate(self, review: Review) -> None:
        """Raises ClusterError if the write is refused."""


class NoAdmission:
    """Admission without webhooks: it accepts every write."""

    def concerns(self, operation: str, target: Target) -> bool:
        """Return false: there are no webhooks."""
        return False

    async def mutate(self, review: Review) -> Object:
        """Return the object unchanged."""
        assert review.obj is not None
        return review.obj

    async def validate(self, review: Review) -> None:
        """Accept the write."""
