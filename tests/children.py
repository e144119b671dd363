"""
The processes that tests start: each is ended with its test, or at the latest with the run.

What a test started and forgot (a cluster in the background, say) carries the run's id in its
environment, and is found by that.
"""

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

RUN_VARIABLE = "KOHORT_TEST_RUN"


def end_children(run: str) -> list[int]:
    """End the processes that carry the word of a run; their ids."""
    word = f"{RUN_VARIABLE}={run}".encode()
    ended = []
    for folder in Path("/proc").glob("[0-9]*"):
        # A process of another user, or one that ended meanwhile, cannot be read.
        with suppress(OSError):
            if word in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)
                ended.append(int(folder.name))
    return ended


@contextmanager
def started(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A child that is killed at the end of the block, if it has not ended by then."""
    with subprocess.Popen(command, text=True, **options) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
