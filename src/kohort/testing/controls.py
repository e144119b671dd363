"""
Controls of a simulated cluster for tests: its clock and its nodes.

Every call is a request to the running cluster, and has taken effect when it returns. Nothing of
the simulator is imported before the first one.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kohort.apiserver.host.client import Client

_PATH = "/kohort/clock"
NODES_MAX, GPUS_MAX = 20_000, 1_000


@dataclass(frozen=True, slots=True)
class ClockState:
    """What the clock of a cluster shows."""

    elapsed: float  # simulated seconds since the start
    speed: float
    is_paused: bool


@dataclass(frozen=True, slots=True)
class Clock:
    """The simulated delays of a cluster: pulls, starts, grace periods. Timestamps are wall time."""

    _connect: "Callable[[], Client]"

    def read(self) -> ClockState:
        """The current state of the clock."""
        return self._ask(None)

    def pause(self) -> ClockState:
        """Stop simulated time until the clock is resumed or stepped."""
        return self._ask({"action": "pause"})

    def resume(self) -> ClockState:
        """Let simulated time pass again."""
        return self._ask({"action": "resume"})

    def step(self, time: float | str) -> ClockState:
        """Let so much simulated time pass at once: seconds, or a text such as ``5m``.

        Delays end in their order. When this returns, the cluster has done all that was due.
        """
        from kohort.cluster.durations import read_seconds

        return self._ask({"action": "step", "seconds": read_seconds(time)})

    def set_speed(self, times: float) -> ClockState:
        """Let simulated time pass so many times faster than wall time."""
        return self._ask({"action": "speed", "speed": times})

    @contextmanager
    def paused(self) -> Iterator["Clock"]:
        """Pause the clock for a block, and restore it after that."""
        before = self.read()
        self.pause()
        try:
            yield self
        finally:
            self.restore(before)

    def restore(self, state: ClockState) -> None:
        """Restore the speed or the pause of an earlier state; elapsed time stays."""
        now = self.read()
        if now.speed != state.speed:
            self.set_speed(state.speed)
        if now.is_paused != state.is_paused:
            self._ask({"action": "pause" if state.is_paused else "resume"})

    def _ask(self, change: dict[str, Any] | None) -> ClockState:
        client = self._connect()
        try:
            told = client.create(_PATH, change) if change else client.read(_PATH)
        finally:
            client.close()
        return ClockState(told["elapsedSeconds"], told["speed"], told["isPaused"])


@dataclass(frozen=True, slots=True)
class Nodes:
    """The simulated nodes of a cluster."""

    _connect: "Callable[[], Client]"
    _gpus: int

    def names(self) -> list[str]:
        """The names of all nodes."""
        from kohort.simulator.node_requests import list_nodes

        with self._client() as client:
            return list_nodes(client)

    def add(
        self, *names: str, count: int = 1, rack: int | None = None, gpus: int | None = None
    ) -> list[str]:
        """Add nodes of these names, or ``count`` with the next free ones; returns the names.

        They come into the rack that has the fewest nodes unless one is given by its number, and
        have as many GPUs as the cluster's first nodes.
        """
        from kohort.simulator.node_requests import add_nodes

        check_whole("count", count, 1, NODES_MAX)
        check_whole("rack", 0 if rack is None else rack, 0, NODES_MAX)
        check_whole("gpus", 0 if gpus is None else gpus, 0, GPUS_MAX)
        with self._client() as client:
            wanted = self._gpus if gpus is None else gpus
            return [added.name for added in add_nodes(client, names or count, wanted, rack)]

    def fail(self, *names: str) -> None:
        """Make nodes fail, as if they had lost power.

        They are not ready after 40 simulated seconds, and their pods are evicted when their
        tolerations run out: ``cluster.clock.step("6m")`` lets both happen at once.
        """
        from kohort.simulator.node_requests import fail_nodes

        with self._client() as client:
            list(fail_nodes(client, names))

    def recover(self, *names: str) -> None:
        """Make failed nodes recover, so that they run pods again."""
        from kohort.simulator.node_requests import recover_nodes

        with self._client() as client:
            list(recover_nodes(client, names))

    @contextmanager
    def _client(self) -> "Iterator[Client]":
        client = self._connect()
        try:
            yield client
        finally:
            client.close()


def check_whole(name: str, value: object, least: int, most: int, limit: str = "") -> None:
    """Refuse a value that is no whole number within limits; ``limit`` names the upper one."""
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return
    upper = f"{limit}, which is {most:,}" if limit else f"{most:,}"
    raise ValueError(f"{name} must be a whole number from {least} to {upper}, not {value!r}")
