"""
A door between one command and a real API server, at which single writes can fail.

Everything else passes as it is. The command is killed before a write or after it, or the write is
refused, as an admission policy would refuse it. Reads, watches and reviews always pass.
"""

import http.client
import json
import ssl
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from control_plane import ControlPlane

WRITES = ("POST", "PUT", "PATCH", "DELETE")
REVIEWS = ("accessreviews", "reviews", "dryRun=All")  # requests that store nothing
HOPS = ("connection", "host", "transfer-encoding", "content-length", "keep-alive", "date", "server")


class Fault(Enum):
    """What happens to a write."""

    KILL_BEFORE = "the command is killed before it"
    KILL_AFTER = "the command is killed after it, without an answer"
    REFUSE = "it is refused"


Plan = Callable[[str], Fault | None]  # what happens to a write, by its verb and path


@dataclass
class Gate:
    """What passes, and what is to fail."""

    plan: Plan = lambda write: None
    writes: list[str] = field(default_factory=list)  # those that the API server was asked for
    failed: list[tuple[str, Fault]] = field(default_factory=list)
    after: Callable[[str], None] = lambda write: None  # called before a write is answered
    watched: set[str] = field(default_factory=set)  # plurals of what is watched
    command: subprocess.Popen[str] | None = None

    def judge(self, write: str) -> Fault | None:
        """Note a write; what happens to it."""
        fault = self.plan(write)
        if fault is not None:
            self.failed.append((write, fault))
        if fault in (Fault.KILL_BEFORE, Fault.REFUSE):
            return fault
        self.writes.append(write)
        return fault

    def kill(self) -> None:
        """End the command at once."""
        assert self.command is not None
        self.command.kill()

    def run(self, command: Sequence[str]) -> tuple[int, str, str]:
        """Run a command to its end; code, output and errors."""
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as self.command:
            out, err = self.command.communicate(timeout=900)
            return self.command.returncode, out, err


def fail_each_once(faults: Sequence[Fault], every: int = 1) -> Plan:
    """
    Fail each write, or every so many, once with each of these; then it passes.

    The record of a takeover is written again and again: its first write, its second and so on
    count as writes of their own.
    """
    passed: Counter[str] = Counter()
    due: dict[tuple[str, int], list[Fault]] = {}

    def plan(write: str) -> Fault | None:
        known = due.get((write, passed[write]))
        if known is None:
            is_chosen = len(due) % every == every - 1
            # Each takes its turn; with one write out of some, each fails in one way.
            turn = len(due) // every % len(faults)
            chosen = list(faults) if every == 1 else [faults[turn]]
            known = due[write, passed[write]] = chosen if is_chosen else []
        fault = known.pop(0) if known else None
        if fault in (None, Fault.KILL_AFTER):
            passed[write] += 1
        return fault

    return plan


class _Door(ThreadingHTTPServer):
    """A server that is silent when a command was killed."""

    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Print no traceback."""


@contextmanager
def gated(plane: ControlPlane, path: Path) -> Iterator[Gate]:
    """A gate before this control plane, and a kubeconfig at a path that leads through it."""
    gate, config = Gate(), json.loads(plane.kubeconfig.read_text())
    server = config["clusters"][0]["cluster"]["server"].removeprefix("https://")
    context = ssl.create_default_context(cafile=str(plane.folder / "pki" / "ca.crt"))
    context.load_cert_chain(plane.folder / "pki" / "admin.crt", plane.folder / "pki" / "admin.key")

    def connect() -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(server, context=context, timeout=600)

    Handler = type("Handler", (_Handler,), {"gate": gate, "connect": staticmethod(connect)})
    door = _Door(("127.0.0.1", 0), Handler)
    threading.Thread(target=door.serve_forever, daemon=True).start()
    config["clusters"][0]["cluster"] = {"server": f"http://127.0.0.1:{door.server_address[1]}"}
    config["users"][0]["user"] = {}
    path.write_text(json.dumps(config))
    try:
        yield gate
    finally:
        door.shutdown()
        door.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # an answer is one packet
    gate: Gate
    connect: Callable[[], http.client.HTTPSConnection]  # to the API server behind the gate

    def setup(self) -> None:
        """Begin a connection, which has one of its own to the API server."""
        super().setup()
        self._behind = self.connect()

    def finish(self) -> None:
        """End both connections."""
        self._behind.close()
        with suppress(OSError):
            super().finish()

    def _try(self) -> None:
        try:
            self._pass()
        except (OSError, http.client.HTTPException):
            self.close_connection = True  # as a server that goes away

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, _, query = self.path.partition("?")
        write, fault = "", None
        if self.command in WRITES and not any(word in self.path for word in REVIEWS):
            write = f"{self.command} {path}"
            fault = self.gate.judge(write)
        if fault is Fault.KILL_BEFORE:
            self.gate.kill()
            self.close_connection = True
        elif fault is Fault.REFUSE:
            message = f"{path} is refused: the policy of this cluster forbids it"
            told = {"status": "Failure", "reason": "Forbidden", "code": 403, "message": message}
            self._answer(403, [], json.dumps({"apiVersion": "v1", "kind": "Status", **told}))
        elif "watch=" in query:
            self.gate.watched.add(path.rpartition("/")[2])
            self._stream(self._ask(body))
        else:
            answer = self._ask(body)
            text = answer.read()
            if fault is Fault.KILL_AFTER:
                self.gate.kill()
                self.close_connection = True
                return
            if write:
                self.gate.after(write)
            self._answer(answer.status, answer.getheaders(), text)

    def _ask(self, body: bytes) -> http.client.HTTPResponse:
        kept = {k: v for k, v in self.headers.items() if k.lower() not in HOPS}
        self._behind.request(self.command, self.path, body or None, kept)
        return self._behind.getresponse()

    def _answer(self, code: int, headers: Sequence[tuple[str, str]], body: bytes | str) -> None:
        text = body.encode() if isinstance(body, str) else body
        self.send_response(code)
        for name, value in headers or [("Content-Type", "application/json")]:
            if name.lower() not in HOPS:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _stream(self, answer: http.client.HTTPResponse) -> None:
        """Pass on what a watch tells, as it comes."""
        self.close_connection = True
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in HOPS:
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        with suppress(ConnectionError):
            while part := answer.read1(65_536):
                self.wfile.write(part)
                self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _try
