"""
The processes that tests start: each is ended with its test, or at the latest with the run.

What a test started and forgot (a cluster in the background, say) carries the run's id in its
environment, and is found by that.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

RUN_VARIABLE = "KOHORT_TEST_RUN"
STARTED_SECONDS_MAX = 5.0


def end_children(run: str) -> list[int]:
    """End the processes that carry the word of a run; their ids."""
    word = f"{RUN_VARIABLE}={run}".encode()
    ended = []
    for folder in Path("/proc").glob("[0-9]*"):
        # A process of another user, or one that ended meanwhile, cannot be read.
        with suppress(OSError):
            if word in _read_environment(folder).split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)
                ended.append(int(folder.name))
    return ended


def _read_environment(folder: Path) -> bytes:
    """The variables of a process; one that was started just now has none for a moment."""
    end = time.monotonic() + STARTED_SECONDS_MAX
    while True:
        found = (folder / "environ").read_bytes()
        if found or time.monotonic() > end:
            return found
        # Only a process that runs a program has one: threads of the kernel and zombies have not.
        (folder / "exe").readlink()


@contextmanager
def started(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A child that is killed at the end of the block, if it has not ended by then."""
    with subprocess.Popen(command, text=True, **options) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
