"""
Processes: a server on a core of its own, and what processes cost.

The server is ``kohort up`` as a user starts it, pinned to the first core; the load
generator stays on the others, so that neither measures the other.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_PRIORITY = -15  # A user without that right is disturbed more by other processes.
CORES = sorted(os.sched_getaffinity(0))


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running ``kohort up``."""

    port: int
    token: str
    ca: str
    pid: int
    seconds: float  # from its start to the ready line

    def cpu_seconds(self) -> float:
        """The CPU time that it has used so far."""
        return cpu_seconds(self.pid)


def kohort() -> list[str]:
    """The command as it is installed beside this Python."""
    return [str(Path(sys.executable).with_name("kohort"))]


def environment() -> dict[str, str]:
    """What commands are started with: as a user has it, Python keeps what it compiled."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def cpu_seconds(pid: int) -> float:
    """User and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def memory_bytes() -> int:
    """What this process holds in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES


def pin(core: int, pid: int = 0) -> None:
    """Keep this process, or another, on one core, if there are two, and before others there."""
    if len(CORES) > 1:
        os.sched_setaffinity(pid, {CORES[core % len(CORES)]})
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, pid, _PRIORITY)


@contextmanager
def cluster(*arguments: str) -> Iterator[Cluster]:
    """A cluster in a process of its own, on the first core, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="kohort-bench-") as home:
        command = [*kohort(), "up", "--name", "bench", "--port", "0", "-o", "json", *arguments]
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            env={**environment(), "KOHORT_HOME": home},
            stdout=subprocess.PIPE,
        )
        pin(0, process.pid)
        assert process.stdout is not None
        try:
            ready = json.loads(process.stdout.readline())
            seconds = time.perf_counter() - began
            control = json.loads(next(Path(home).rglob("control.json")).read_text())
            port = int(ready["url"].rpartition(":")[2])
            yield Cluster(port, control["token"], control["ca"], process.pid, seconds)
        finally:
            process.terminate()
            process.wait()
