"""A cluster in a process of its own that keeps its objects, to be killed and started again."""

import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from client_manifests import eventually

from kohort.apiserver.host.client import Client

NAME = "kept"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@dataclass
class KeptCluster:
    """What ``kohort up --detach --data-dir`` starts, again and again on one folder."""

    folder: Path
    port: int = field(default_factory=_free_port)

    @property
    def kubeconfig(self) -> Path:
        """Where the kubeconfig lies."""
        return self.folder / "home" / NAME / "kubeconfig"

    def up(self) -> None:
        """Start it; it is ready afterwards."""
        data = ("--data-dir", str(self.folder / "data"))
        self._run("up", "--detach", "--port", str(self.port), "--speed", "100", *data)

    def down(self) -> None:
        """End it."""
        self._run("down")

    def kill(self) -> None:
        """End it at once, as the kernel would; it is gone afterwards."""
        pid = self._control["pid"]
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: not _runs(pid))

    def connect(self) -> Client:
        """A connection of its own for one thread."""
        control = self._control
        return Client(control["url"], control["token"], control["ca"])

    @property
    def _control(self) -> dict:
        return json.loads((self.folder / "home" / NAME / "control.json").read_text())

    def _run(self, *words: str) -> None:
        command = [sys.executable, "-m", "kohort", *words, "--name", NAME]
        environment = {**os.environ, "KOHORT_HOME": str(self.folder / "home")}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr


def _runs(pid: int) -> bool:
    """Whether a process is there and not only waited for by its parent."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")
