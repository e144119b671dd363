"""
The operator on a real control plane: its processes, and what stands for their Service.

Its user is the account that ``kohort manifests`` describes, with the roles printed there
and no others.
"""

import json
import os
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from control_plane import ControlPlane

NAMESPACE, ACCOUNT, LEASE = "lws-system", "lws-controller-manager", "b8b2488c.x-k8s.io"
READY_SECONDS_MAX = 180.0  # for a machine that has much else to do
PATIENT_LEASE = (
    "--leader-elect-lease-duration=90s",
    "--leader-elect-renew-deadline=60s",
    "--leader-elect-retry-period=1s",
)
QUICK_LEASE = (
    "--leader-elect-lease-duration=10s",
    "--leader-elect-renew-deadline=8s",
    "--leader-elect-retry-period=1s",
)


def free_port() -> int:
    """A port on which no process listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def install(plane: ControlPlane, webhook_url: str, *words: str) -> Path:
    """Apply the manifests as an administrator does; the kubeconfig of the account they name."""
    command = [sys.executable, "-m", "kohort", "manifests", "--webhook-url", webhook_url, *words]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    plane.kubectl("apply", "--server-side", "-f", "-", feed=printed)
    token = plane.kubectl("create", "token", ACCOUNT, "-n", NAMESPACE, "--duration=24h").strip()
    config = json.loads(plane.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    path = plane.folder / "operator.kubeconfig"
    path.write_text(json.dumps(config))
    return path


class Controller:
    """One process of the operator."""

    def __init__(self, kubeconfig: Path, url: str, log: Path, *words: str) -> None:
        self.port, self._health = free_port(), free_port()
        self.log = log
        self._command = [
            *(sys.executable, "-m", "kohort", "controller", "--kubeconfig", str(kubeconfig)),
            *("--webhook-url", url, "--webhook-port", str(self.port)),
            *("--metrics-bind-address", "0"),
            *("--health-probe-bind-address", f"127.0.0.1:{self._health}"),
            *words,
        ]
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as said:
            return subprocess.Popen(self._command, stdout=said, stderr=subprocess.STDOUT)

    def revive(self) -> None:
        """Start it again if it has ended, as a kubelet would."""
        if self._process.poll() is not None:
            self._process = self._start()

    def is_ready(self) -> bool:
        """Whether it says that it is ready."""
        assert self._process.poll() is None, f"the operator has ended:\n{self.log.read_text()}"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._health}/readyz", timeout=5) as a:
                return a.status == 200
        except (OSError, urllib.error.URLError):
            return False

    def wait_until_ready(self) -> None:
        """Return when it is ready."""
        eventually("the operator is ready", self.is_ready, self.log.read_text)

    def kill(self) -> None:
        """End it at once, as the kernel would."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> int:
        """End it politely; its exit code."""
        if self._process.poll() is None:
            self._process.terminate()
        try:
            return self._process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
            raise


def eventually(what: str, is_so: Callable[[], object], describe: Callable[[], str] = str) -> None:
    """Return when it is so."""
    end = time.monotonic() + READY_SECONDS_MAX
    while not is_so():
        late = f"{what}: not within {READY_SECONDS_MAX:.0f} s"
        assert time.monotonic() < end, f"{late}\n{describe()}"
        time.sleep(0.1)


def read_holder(plane: ControlPlane) -> str:
    """The holder of the lease; empty if there is no lease."""
    path = "jsonpath={.spec.holderIdentity}"
    return plane.kubectl("get", "lease", LEASE, "-n", NAMESPACE, "-o", path, "--ignore-not-found")


class Service:
    """What a Service does on a cluster: one address before several processes."""

    def __init__(self) -> None:
        self.backends: list[int] = []
        self._turn = 0
        service = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                service.forward(self.request)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"https://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def forward(self, client: socket.socket) -> None:
        """Join a client with one of the processes that listen, each in its turn."""
        self._turn += 1
        ports = [*self.backends]
        first = self._turn % max(1, len(ports))
        for port in ports[first:] + ports[:first]:
            with suppress(OSError):
                backend = socket.create_connection(("127.0.0.1", port), 5)
                back = threading.Thread(target=_pump, args=(backend, client), daemon=True)
                back.start()
                _pump(client, backend)
                back.join()
                backend.close()
                return

    def close(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        source.settimeout(None)
        while data := source.recv(65_536):
            sink.sendall(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


@contextmanager
def controllers(
    plane: ControlPlane,
    service: Service,
    kubeconfig: Path,
    count: int = 1,
    words: Sequence[str] = PATIENT_LEASE,
) -> Iterator[list[Controller]]:
    """Some replicas of the operator, which are ended with the block, and give their lease back."""
    logs = [plane.folder / "log" / f"controller-{os.urandom(4).hex()}" for _ in range(count)]
    started = [Controller(kubeconfig, service.url, log, *words) for log in logs]
    service.backends = [each.port for each in started]
    try:
        eventually("somebody leads", lambda: read_holder(plane), started[0].log.read_text)
        for each in started:
            each.wait_until_ready()
        yield started
    finally:
        for each in started:
            each.stop()
