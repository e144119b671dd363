"""
Injected faults of the scheduler, which only a simulation sets.

A scheduler that is away decides nothing and tries again later. Lost binds leave a gang
partly started, as a real scheduler may that binds pod by pod: the ledger takes them back,
and the scheduler tries them again a second later.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kohort.simulator.component import BindRequest, ComponentAction, EventRequest

LOOK_AGAIN_SECONDS = 1.0


@dataclass(slots=True)
class SchedulerFaults:
    """The active faults of a scheduler."""

    is_away: bool = False
    binds_lost: int = 0  # of the gangs that are placed next; the first of a step is never lost
    resumes_at: float = 0.0  # after a loss: when gangs are looked at again

    def lose_binds(
        self, actions: Sequence[ComponentAction], undo: Callable[[BindRequest], None]
    ) -> tuple[ComponentAction, ...]:
        """The actions without lost binds, each of which is undone in the ledger."""
        binds = [action for action in actions if isinstance(action, BindRequest)]
        count = min(self.binds_lost, max(0, len(binds) - 1))
        if not count:
            return tuple(actions)
        self.binds_lost -= count
        lost = {bind.uid: bind for bind in binds[-count:]}
        for bind in lost.values():
            undo(bind)
        return tuple(action for action in actions if not _is_about(action, lost))


def _is_about(action: ComponentAction, lost: dict[str, BindRequest]) -> bool:
    if isinstance(action, EventRequest):
        return action.reason == "Scheduled" and action.about["metadata"].get("uid") in lost
    return isinstance(action, BindRequest) and action.uid in lost
