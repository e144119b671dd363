"""This is where an instance's own API is asked, as its administrator: is it ready, make a node."""

import http.client
import json
import ssl
import time
from pathlib import Path
from typing import Any

READY_SECONDS_MAX = 300.0  # for a machine that has much else to do
_POLL_SECONDS = 0.1
_TIMEOUT_SECONDS = 20.0


class NotReady(Exception):
    """What was waited for did not happen."""


def ask(folder: Path, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
    """The code and the body of an answer; code 0 if no server answers."""
    keys = folder / "pki"
    context = ssl.create_default_context(cafile=str(keys / "ca.crt"))
    context.load_cert_chain(keys / "admin.crt", keys / "admin.key")
    config = json.loads((folder / "kubeconfig").read_text())
    address = config["clusters"][0]["cluster"]["server"].removeprefix("https://")
    connection = http.client.HTTPSConnection(address, context=context, timeout=_TIMEOUT_SECONDS)
    try:
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()


def wait_for(folder: Path, what: str, path: str, is_so: Any = lambda body: True) -> None:
    """Ask until the answer is 200 and as it should be."""
    end = time.monotonic() + READY_SECONDS_MAX
    while True:
        code, body = ask(folder, "GET", path)
        if code == 200 and is_so(body):
            return
        if time.monotonic() > end:
            raise NotReady(
                f"{what} within {READY_SECONDS_MAX:.0f} s did not happen; see {folder / 'log'}"
            )
        time.sleep(_POLL_SECONDS)
