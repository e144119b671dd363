"""
Requests that the server has refused, by verb and address.

The same request is not sent again while the user asks for the same: its answer is known. A request
that asks for something else of the same object is another one. A name that another object holds,
and what a scheduler does not take now, may become free without any change that is watched:
those are tried again after a while.
"""

from dataclasses import dataclass
from typing import Any

from kohort.cluster.actions import Action, Create, Patch, address_of, verb_of
from kohort.cluster.port import Address

# A name that somebody else holds may become free without anybody telling us.
RETRY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class _Refusal:
    asked: Any  # the object, the patch, or the uid of what was to be deleted
    message: str
    tried_at: float | None  # None: it is not tried again


class Refusals:
    """What the server has refused for one workload."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, Address], _Refusal] = {}
        self._wish = b""

    def begin(self, wish: bytes, elapsed: float) -> None:
        """Forget what was refused for another wish of the user, and what is to be tried again."""
        if wish != self._wish:
            self._wish = wish
            self._held.clear()
        self._held = {
            key: refusal
            for key, refusal in self._held.items()
            if refusal.tried_at is None or elapsed - refusal.tried_at < RETRY_SECONDS
        }

    def note(self, action: Action, message: str, tried_at: float | None = None) -> None:
        """A request was refused; with a moment, it is tried again some time after that."""
        self._held[_find_key(action)] = _Refusal(_find_asked(action), message, tried_at)

    def knows(self, action: Action) -> bool:
        """Whether this very request was refused."""
        held = self._held.get(_find_key(action)) if self._held else None
        return held is not None and held.asked == _find_asked(action)

    @property
    def message(self) -> str:
        """What the server said to the first that still holds; empty if there is none."""
        return next((refusal.message for refusal in self._held.values()), "")

    def find_wait(self, elapsed: float) -> float | None:
        """Seconds until something is tried again."""
        moments = [r.tried_at for r in self._held.values() if r.tried_at is not None]
        return min(moments) + RETRY_SECONDS - elapsed if moments else None


def _find_key(action: Action) -> tuple[str, Address]:
    return verb_of(action), address_of(action)


def _find_asked(action: Action) -> Any:
    if isinstance(action, Create):
        return action.obj
    return action.patch if isinstance(action, Patch) else action.uid
