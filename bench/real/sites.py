"""
Sites: a real control plane that is new, and the operator on it as a process of its own.

The operator is installed as an administrator would: from what ``kohort manifests``
prints, as the account named there and with its roles. The API server calls its
webhooks directly.
"""

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path

from tools.controlplane.build import build
from tools.controlplane.instance import ORDER, Options, start, stop
from tools.controlplane.processes import find_process

from bench.processes import environment, kohort
from bench.real.server import Server, reach

NAMESPACE, ACCOUNT = "lws-system", "lws-controller-manager"
USER = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
READY_SECONDS_MAX = 60.0
READINESS = {
    "instant": (0, 0),
    "slow": (2000, 1000),
}  # ms from bound to ready, from deleted to gone
_PRIORITY = -15
_AUDIT = Path(__file__).with_name("audit.yaml")


@dataclass(frozen=True, slots=True)
class Site:
    """A control plane that runs."""

    folder: Path
    server: Server

    @property
    def audit(self) -> Path:
        """What its API server noted."""
        return self.folder / "audit.log"

    def processes(self) -> dict[str, int]:
        """The ids of its processes, by their names."""
        found = {name: find_process(self.folder, name) for name in ORDER}
        return {name: pid for name, pid in found.items() if pid is not None}

    def kubectl(self, *words: str, feed: str = "") -> str:
        """What kubectl says to the administrator."""
        config = str(self.folder / "kubeconfig")
        command = [str(self.folder / "bin" / "kubectl"), "--kubeconfig", config, *words]
        done = subprocess.run(command, input=feed, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"kubectl {' '.join(words)}: {done.stderr}")
        return done.stdout


def go_first(pid: int) -> None:
    """Let a process run before others, where that is allowed; sessions are ranked as a whole."""
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, pid, _PRIORITY)
        Path(f"/proc/{pid}/autogroup").write_text(str(_PRIORITY))


@contextmanager
def before_others() -> Iterator[None]:
    """Rank the session of the caller before others; a shell that started it gets its rank back."""
    own = Path("/proc/self/autogroup")
    rank = own.read_text().split()[-1] if own.exists() else ""
    go_first(os.getpid())
    try:
        yield
    finally:
        with suppress(OSError):
            own.write_text(rank)


@asynccontextmanager
async def site(folder: Path, readiness: str) -> AsyncIterator[Site]:
    """A control plane with nothing in it, until the block ends."""
    ready_ms, gone_ms = READINESS[readiness]
    options = Options(ready_ms=ready_ms, gone_ms=gone_ms, audit=_AUDIT)
    shutil.rmtree(folder, ignore_errors=True)
    with redirect_stdout(sys.stderr):
        start(folder, build().resolve(), options)
    try:
        async with reach(folder / "kubeconfig") as server:
            place = Site(folder, server)
            for pid in place.processes().values():
                go_first(pid)
            yield place
    finally:
        stop(folder)


@contextmanager
def _process(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("ab") as said:
        process = subprocess.Popen(
            command,
            env=environment(),
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    go_first(process.pid)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@asynccontextmanager
async def operator(
    place: Site, profile: Path | None = None, apis: str = "lws"
) -> AsyncIterator[int]:
    """The operator at work, until the block ends; the id of its process."""
    webhook, health = _free_port(), _free_port()
    url = f"https://127.0.0.1:{webhook}"
    config = _install(place, url, apis)
    first = kohort()
    if profile is not None:
        first = [sys.executable, "-m", "cProfile", "-o", str(profile), "-m", "kohort"]
    command = [
        *(*first, "controller", "--kubeconfig", str(config)),
        *("--webhook-url", url, "--webhook-port", str(webhook)),
        *("--metrics-bind-address", "0"),
        *("--health-probe-bind-address", f"127.0.0.1:{health}"),
        *("--apis", apis),
    ]
    log = place.folder / "log" / "controller"
    with _process(command, log) as process:
        for _ in range(int(READY_SECONDS_MAX * 10)):
            if process.poll() is not None:
                raise RuntimeError(f"the operator has ended:\n{log.read_text()}")
            if await asyncio.to_thread(_is_ready, health) and await _holds_lease(place):
                break
            await asyncio.sleep(0.1)
        else:
            raise TimeoutError(f"the operator does not get ready:\n{log.read_text()}")
        yield process.pid


def _install(place: Site, url: str, apis: str) -> Path:
    command = [*kohort(), "manifests", "--webhook-url", url, "--apis", apis]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    place.kubectl("apply", "--server-side", "-f", "-", feed=printed)
    token = place.kubectl("create", "token", ACCOUNT, "-n", NAMESPACE, "--duration=24h").strip()
    config = json.loads((place.folder / "kubeconfig").read_text())
    config["users"][0]["user"] = {"token": token}
    path = place.folder / "operator.kubeconfig"
    path.write_text(json.dumps(config))
    return path


def _is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False


async def _holds_lease(place: Site) -> bool:
    """Whether there is a lease beside those of Kubernetes: each API has its namespace for it."""
    found = (await place.server.read("/apis/coordination.k8s.io/v1/leases"))["items"]
    return any(not lease["metadata"]["namespace"].startswith("kube-") for lease in found)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])
