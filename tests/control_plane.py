"""
A real control plane for tests: an instance of its own, on free ports, gone with the block.

It is brought up by the same command that people use. Binaries are built if they are
not there, which takes minutes; ``make real`` does that with progress, beforehand.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """A running instance."""

    folder: Path

    @property
    def kubeconfig(self) -> Path:
        """That of its administrator."""
        return self.folder / "kubeconfig"

    @property
    def audit(self) -> Path:
        """What its API server noted."""
        return self.folder / "audit.log"

    def kubectl(self, *words: str, feed: str = "") -> str:
        """What kubectl says to the administrator."""
        command = [str(self.folder / "bin" / "kubectl"), "--kubeconfig", str(self.kubeconfig)]
        done = subprocess.run(
            [*command, *words], input=feed, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"kubectl {' '.join(words)}: {done.stderr}"
        return done.stdout

    def restart(self, name: str) -> None:
        """Kill one of its processes and start it again."""
        run_tool("restart", name, "--dir", str(self.folder))


@contextmanager
def real_plane(folder: Path, *words: str) -> Iterator[ControlPlane]:
    """An instance in a folder of its own."""
    run_tool("start", "--dir", str(folder), *words)
    try:
        yield ControlPlane(folder)
    finally:
        run_tool("stop", "--dir", str(folder))


def run_tool(*words: str) -> None:
    """Run a command of ``tools.controlplane``."""
    command = [sys.executable, "-m", "tools.controlplane", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
