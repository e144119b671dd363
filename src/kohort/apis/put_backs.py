"""
Put-backs: objects that the operator restores after another client has edited them.

Two clients that undo each other's edits must not do so at full speed, so each restore of the same
object waits longer than the last, and a rollout releases no unit meanwhile.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PutBacks:
    """How often, and when last, we restored an object that another client keeps editing."""

    count: int = 0
    seconds_ago: float = 0.0
    why: str = ""  # what the last restore was about

    @property
    def is_recent(self) -> bool:
        """Whether the other client may edit again soon: a rollout releases no group meanwhile."""
        return self.quiet_seconds > 0

    @property
    def quiet_seconds(self) -> float:
        """How long a rollout releases no group yet: ten seconds, doubling up to five minutes."""
        return self._left(10.0 * 2 ** min(self.count - 1, 10))

    @property
    def pause_seconds(self) -> float:
        """How long to wait before the next restore: none the first time, then doubling."""
        return self._left(2.0 ** min(self.count - 1, 10))

    @property
    def may_repeat(self) -> bool:
        """Whether we may restore the object now, without a further pause."""
        return self.pause_seconds <= 0

    def _left(self, seconds: float) -> float:
        return max(0.0, min(seconds, 300.0) - self.seconds_ago) if self.count else 0.0
