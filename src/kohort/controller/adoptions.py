"""
Adoptions of objects without an owner: each that is undone is tried again later than the last.

The garbage collector releases the children of a workload that is deleted with
``--cascade=orphan``. An operator that learns of the deletion late would adopt them again each time,
at full speed, and the deletion would not end. The first adoption of an object waits for nothing.
"""

from collections.abc import Iterable

from kohort.apis.put_backs import PutBacks
from kohort.cluster.actions import Action, Patch
from kohort.cluster.port import Address

FORGOTTEN_SECONDS = 600.0

_Adoption = tuple[Address, str]  # the object, and the uid of the owner that it was given


class Adoptions:
    """The adoptions for one workload of late, and which of them have to wait."""

    def __init__(self) -> None:
        self._done: dict[_Adoption, tuple[int, float]] = {}
        self._wait: float | None = None

    def sift(self, actions: Iterable[Action], elapsed: float) -> tuple[Action, ...]:
        """The actions without adoptions whose pause after the last one has not passed."""
        self._done = {
            key: held for key, held in self._done.items() if elapsed - held[1] < FORGOTTEN_SECONDS
        }
        judged = [(action, self._find_pause(action, elapsed)) for action in actions]
        self._wait = min((pause for _, pause in judged if pause > 0), default=None)
        return tuple(action for action, pause in judged if pause <= 0)

    def note(self, action: Action, elapsed: float) -> None:
        """Note an action that was done, if it is an adoption."""
        key = _find_adoption(action)
        if key is not None:
            self._done[key] = self._done.get(key, (0, 0.0))[0] + 1, elapsed

    @property
    def wait(self) -> float | None:
        """Seconds until the first adoption that waits is due; None if none waits."""
        return self._wait

    def _find_pause(self, action: Action, elapsed: float) -> float:
        key = _find_adoption(action)
        if key is None or key not in self._done:
            return 0.0
        count, last = self._done[key]
        return PutBacks(count, elapsed - last).pause_seconds


def _find_adoption(action: Action) -> _Adoption | None:
    if isinstance(action, Patch) and action.adopter:
        return action.address, action.adopter
    return None
