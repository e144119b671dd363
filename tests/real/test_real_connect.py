"""
``kohort connect`` through a real API server to what stands for a kubelet, by both protocols.

A second kwok answers as the kubelet of a node: it takes the API server's upgrade and forwards the
port of any pod there to a small HTTP server. kubectl speaks WebSocket to the API server, or SPDY.
"""

import json
import os
import signal
import socket
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cluster_driver import make_lws
from operator_processes import Controller, Service, eventually, free_port, install, read_holder

from children import started
from control_plane import ControlPlane, real_plane

pytestmark = pytest.mark.real
PORT = 8000  # of the container
ANSWER = b"a model answers"
FORWARDS = """\
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: ClusterPortForward
metadata:
  name: all
spec:
  forwards:
  - ports: [{port}]
    target: {{address: 127.0.0.1, port: {target}}}
"""


class Answerer(BaseHTTPRequestHandler):
    """What runs in the container."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)

    def log_message(self, *words: object) -> None:
        """Say nothing."""


@contextmanager
def answering() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answerer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()


@contextmanager
def kubelet(plane: ControlPlane, target: int) -> Iterator[None]:
    """A kubelet for all nodes, which knows nothing but forwarding."""
    port, config = free_port(), plane.folder / "kubelet.yaml"
    stages = (plane.folder / "stages.yaml").read_text()
    opened = stages.replace("\noptions:\n", "\noptions:\n  enableDebuggingHandlers: true\n")
    config.write_text(opened + FORWARDS.format(port=PORT, target=target))
    keys = plane.folder / "pki"
    command = [
        str(plane.folder / "bin" / "kwok"),
        f"--kubeconfig={keys / 'kwok.kubeconfig'}",
        f"--config={config}",
        "--manage-all-nodes=false",
        "--manage-single-node=nobody",
        f"--server-address=127.0.0.1:{port}",
        f"--tls-cert-file={keys / 'apiserver.crt'}",
        f"--tls-private-key-file={keys / 'apiserver.key'}",
    ]
    with (plane.folder / "log" / "kubelet").open("w") as log, started(command, stderr=log):
        place = {
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        }
        patch = json.dumps({"status": place})
        for node in json.loads(plane.kubectl("get", "nodes", "-o", "json"))["items"]:
            name = node["metadata"]["name"]
            plane.kubectl("patch", "node", name, "--subresource=status", "-p", patch)
        eventually("the kubelet listens", lambda: is_open(port))
        yield


def is_open(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def connected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A plane with a ready workload, whose pods are on a node with such a kubelet."""
    folder, service = tmp_path_factory.mktemp("connect"), Service()
    words = ("--nodes", "1", "--ready-ms", "100", "--gone-ms", "100")
    with real_plane(folder / "plane", *words) as plane, answering() as target:
        account = install(plane, service.url)
        ours = Controller(account, service.url, plane.folder / "log" / "controller")
        service.backends = [ours.port]
        try:
            eventually("it leads", lambda: read_holder(plane), ours.log.read_text)
            ours.wait_until_ready()
            lws = {**make_lws(groups=1, size=1), "metadata": {"name": "chat"}}
            plane.kubectl("apply", "-f", "-", feed=json.dumps(lws))
            plane.kubectl("wait", "lws/chat", "--for=condition=Available", "--timeout=120s")
        finally:
            ours.stop()
        with kubelet(plane, target):
            yield plane
    service.close()


def count_posts(plane: ControlPlane) -> int:
    """How often a client has asked by POST to forward: that is SPDY; WebSocket begins with GET."""
    noted = map(json.loads, plane.audit.read_text().splitlines())
    begun = [each for each in noted if each["stage"] == "ResponseStarted"]
    return sum(1 for each in begun if each["objectRef"].get("subresource") == "portforward")


def ask(port: int) -> bytes:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as answer:
            return bytes(answer.read())
    except OSError:
        return b""


@pytest.mark.parametrize(("websockets", "posts"), [("true", 0), ("false", 1)], ids=["ws", "spdy"])
def test_a_local_port_leads_to_the_container(connected: ControlPlane, websockets: str, posts: int):
    local, before = free_port(), count_posts(connected)
    where = ("--kubeconfig", str(connected.kubeconfig))
    command = [sys.executable, "-m", "kohort", "connect", "lws/chat", f"{local}:{PORT}", *where]
    tools = f"{connected.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    chosen = {"PATH": tools, "KUBECTL_PORT_FORWARD_WEBSOCKETS": websockets}
    log: Path = connected.folder / "log" / f"connect-{websockets}"
    with log.open("w") as said, started(command, env={**os.environ, **chosen}, stderr=said) as work:
        eventually("it answers", lambda: ask(local) == ANSWER, log.read_text)
        assert "connected to chat-0" in log.read_text()
        work.send_signal(signal.SIGINT)
        work.wait(30)
    assert count_posts(connected) - before == posts
