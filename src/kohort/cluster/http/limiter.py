"""
A token bucket: so many requests per second, and so many at once after a rest.

The bucket itself only does arithmetic on the time it is given. A request takes
its token at once and learns how long to wait, so waiting requests are sent in
the order in which they came, and no request needs a lock.
"""


class Bucket:
    """A bucket that fills with time; waiting requests may overdraw it."""

    def __init__(self, qps: float, burst: int) -> None:
        self.qps = qps
        self.burst = max(burst, 1)
        self._tokens = float(self.burst)
        self._filled_at: float | None = None

    def take(self, now: float) -> float:
        """Take a token; returns the seconds to wait before the request is sent."""
        if self.qps <= 0:
            return 0.0
        passed = now - self._filled_at if self._filled_at is not None else 0.0
        self._filled_at = now
        self._tokens = min(float(self.burst), self._tokens + max(passed, 0.0) * self.qps) - 1.0
        return max(0.0, -self._tokens / self.qps)
