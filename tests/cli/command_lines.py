"""Commands for tests: run to their end, or in the foreground until they are interrupted."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from children import started

KOHORT = (sys.executable, "-m", "kohort")


@dataclass
class Told:
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str


@dataclass
class Cli:
    """The command line, with a home folder of its own."""

    home: Path

    def __call__(self, *words: str | Path) -> Told:
        """Run a command that ends by itself."""
        done = subprocess.run(
            [*KOHORT, *map(str, words)],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=180,  # for a machine that has much else to do
            check=False,
        )
        return Told(done.returncode, done.stdout, done.stderr)

    @property
    def environment(self) -> dict[str, str]:
        """The environment of every command."""
        return {**os.environ, "KOHORT_HOME": str(self.home)}

    @contextmanager
    def foreground(self, *words: str | Path) -> Iterator[subprocess.Popen[str]]:
        """A cluster in the foreground that has said it is ready; interrupted afterwards."""
        command = [*KOHORT, "up", "--port", "0", *map(str, words)]
        pipe = subprocess.PIPE
        with started(command, env=self.environment, stdout=pipe, stderr=pipe) as process:
            try:
                yield process
            finally:
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=30)
