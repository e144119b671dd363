"""
This is where a case is carried out on a server, and its answers are gathered.

What a case made is removed afterwards, on any server, also when the case failed.
"""

import base64
import json
import re
import secrets
import time
from itertools import islice
from typing import Any

import yaml
from conformance_cases import Answer, Case, Step
from conformance_client import Client, Reply, Request
from conversion_webhook import start_webhook
from normalise import Normaliser

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD")
_MADE = {"body", "text", "query", "headers", "type", "anonymous", "base64", "padding", "pads"}
_READ = {"save", "only", "watch", "meanwhile", "until", "seconds"}
_PATCHES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
_BRACES = re.compile(r"\{(\w+)\}")
_DOT = re.compile(r"\.(?![^\[]*\])")
_FILTER = re.compile(r"^(.*?)\[([^=\]]+)(?:=([^\]]*))?\]$")
# Long enough for a busy machine: only what never happens takes so long.
_WAIT_SECONDS = 180.0
_POLL_SECONDS = 0.05
_WATCH_SECONDS = 60


def run_case(
    client: Client, case: Case, *, keeps_namespace: bool = False, patience: float = 0.0
) -> list[Answer]:
    """
    The normalised answers of a server to the steps of a case.

    To empty a namespace costs a real server more than most cases do, so one that will
    be thrown away may keep them. A server that is slow to follow what it shows gets so many
    seconds after each step that waits.
    """
    return Run(client, case, keeps_namespace, patience).answers()


def find_in(value: Any, path: str) -> Any:
    """What lies at a dotted path, None if nothing does.

    ``list[key=value]`` chooses an element, ``map[key]`` a value whose key has dots.
    """
    for part in _DOT.split(path):
        match = _FILTER.match(part)
        name = match[1] if match else part
        if isinstance(value, list) and name.isdigit():
            value = value[int(name)] if int(name) < len(value) else None
        elif name:
            value = value.get(name) if isinstance(value, dict) else None
        if match and match[3] is None:
            value = value.get(match[2]) if isinstance(value, dict) else None
        elif match:
            items = value if isinstance(value, list) else []
            value = next((i for i in items if str(i.get(match[2])) == match[3]), None)
    return value


class Run:
    """One case on one server."""

    def __init__(
        self, client: Client, case: Case, keeps_namespace: bool = False, patience: float = 0.0
    ) -> None:
        self._client = client
        self._case = case
        self._keeps_namespace = keeps_namespace
        self._patience = patience
        self._values = _places(f"conf-{secrets.token_hex(4)}")
        self._made: list[str] = []
        self._normaliser = Normaliser(
            self._values["ns"],
            managed=case.managed,
            versions=case.versions,
            unordered=case.unordered,
        )

    def answers(self) -> list[Answer]:
        """Set up, take all steps, and clean up."""
        try:
            self._open_namespace()
            if self._case.webhook:
                webhook = start_webhook()
                self._values.update(webhook=webhook.url, bundle=webhook.bundle)
            for step in self._case.setup:
                self._take_silently(step)
            return [self._take(step) for step in self._case.steps]
        finally:
            self._clean()

    def _open_namespace(self) -> None:
        name = self._values["ns"]
        body = json.dumps({"metadata": {"name": name}}).encode()
        headers = {"Content-Type": "application/json"}
        self._client.send(Request("POST", "/api/v1/namespaces", headers=headers, body=body))
        for path in ("serviceaccounts/default", "configmaps/kube-root-ca.crt"):
            self._wait({"WAIT": f"/api/v1/namespaces/{name}/{path}", "until": {"code": 200}})

    def _take_silently(self, step: Step) -> None:
        answer = self._take(step)
        assert answer.get("code", 200) < 300, f"{self._case.name}: setup failed: {answer}"

    def _take(self, step: Step) -> Answer:
        if "WAIT" in step:
            return self._wait(self._fill(step))
        if "watch" in step:
            return self._watch(
                self._fill({k: v for k, v in step.items() if k != "meanwhile"}), step
            )
        request = self._request(self._fill(step))
        reply = self._client.send(request)
        body = read_body(reply)
        if reply.code == 201 and isinstance(body, dict):
            self._note(request, body)
        for name, path in step.get("save", {}).items():
            self._values[name] = str(find_in(body, path))
        if "only" in step and reply.code < 300:
            body = {path: find_in(body, path) for path in self._fill(step["only"])}
        return self._answer(reply, reply.raw.decode() if self._case.bytes else body)

    def _answer(self, reply: Reply, body: Any) -> Answer:
        answer: Answer = {"code": reply.code, "type": reply.headers.get("Content-Type", "")}
        warnings = [self._normaliser.normalise(w) for w in reply.headers.get_all("Warning") or []]
        if warnings:
            answer["warnings"] = warnings
        if reply.headers.get("Retry-After"):
            answer["retry"] = reply.headers["Retry-After"]
        return {**answer, "body": self._normaliser.normalise(body)}

    def _fill(self, value: Any) -> Any:
        if isinstance(value, str):
            return _BRACES.sub(lambda m: self._values.get(m[1], m[0]), value)
        if isinstance(value, list):
            return [self._fill(item) for item in value]
        if isinstance(value, dict):
            return {self._fill(key): self._fill(item) for key, item in value.items()}
        return value

    def _request(self, step: Step) -> Request:
        method = next(name for name in METHODS if name in step)
        unknown = set(step) - _MADE - _READ - {method}
        assert not unknown, f"{self._case.name}: {unknown}"
        headers = dict(step.get("headers", {}))
        body = _body(step)
        if body is not None:
            headers.setdefault("Content-Type", _PATCHES.get(step.get("type"), "application/json"))
        anonymous = step.get("anonymous", False)
        return Request(method, step[method], step.get("query", {}), headers, body, anonymous)

    def _note(self, request: Request, body: dict[str, Any]) -> None:
        name = (body.get("metadata") or {}).get("name")
        parts = request.path.strip("/").split("/")
        if name and "dryRun" not in request.query and parts[-1] not in ("eviction", "binding"):
            is_new = request.method == "POST"
            self._made.append(f"{request.path}/{name}" if is_new else request.path)

    def _watch(self, step: Step, raw: Step) -> Answer:
        query = {"timeoutSeconds": _WATCH_SECONDS, "watch": "true", **step.get("query", {})}
        reply, events = self._client.watch(self._request({**step, "query": query}))
        if reply.code != 200:
            return self._answer(reply, read_body(reply))
        for inner in raw.get("meanwhile", []):
            self._take_silently(inner)
        lines = list(islice(events, step["watch"]))
        events.close()  # type: ignore[attr-defined]
        found = [line.decode() if self._case.bytes else json.loads(line) for line in lines]
        return {**self._answer(reply, None), "body": self._normaliser.normalise(found)}

    def _wait(self, step: Step) -> Answer:
        deadline = time.monotonic() + step.get("seconds", _WAIT_SECONDS)
        while True:
            reply = self._client.send(Request("GET", step["WAIT"]))
            body = {"code": reply.code, "body": read_body(reply)}
            until = {k if k == "code" else f"body.{k}": v for k, v in step["until"].items()}
            if all(find_in(body, path) == value for path, value in until.items()):
                time.sleep(self._patience)
                return {"reached": step["until"] and True}
            if time.monotonic() > deadline:
                return {"reached": False, **self._answer(reply, body["body"])}
            time.sleep(_POLL_SECONDS)

    def _clean(self) -> None:
        namespace = self._values["ns"]
        for path in reversed(self._made):
            body = b'{"metadata":{"finalizers":null}}'
            headers = {"Content-Type": _PATCHES["merge"]}
            if self._client.send(Request("DELETE", path)).code == 404:
                continue
            self._client.send(Request("PATCH", path, headers=headers, body=body))
        if not self._keeps_namespace:
            self._client.send(Request("DELETE", f"/api/v1/namespaces/{namespace}"))


def _places(namespace: str) -> dict[str, str]:
    """The names and paths that stand in braces in every case."""
    group = f"{namespace}.example.com"
    return {
        "ns": namespace,
        "group": group,
        "core": f"/api/v1/namespaces/{namespace}",
        "apps": f"/apis/apps/v1/namespaces/{namespace}",
        "custom": f"/apis/{group}/v1/namespaces/{namespace}",
        "crds": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    }


def _body(step: Step) -> bytes | None:
    if "text" in step:
        return str(step["text"]).encode()
    if "base64" in step:
        return base64.b64decode(step["base64"])
    if "body" not in step:
        return None
    body = step["body"]
    if "padding" in step:
        # Where a kind has no such field, the step says where: in a field of its spec.
        field = {step.get("pads", "padding"): "x" * step["padding"]}
        part = "spec" if "pads" in step else "data"
        body = {**body, part: {**body.get(part, {}), **field}}
    return json.dumps(body, separators=(",", ":")).encode()


def read_body(reply: Reply) -> Any:
    """The body as data if it says that it is, else as text."""
    media = reply.headers.get("Content-Type", "")
    text = reply.raw.decode("utf-8", "backslashreplace")
    if "json" in media:
        return json.loads(text)
    if "yaml" in media:
        return yaml.safe_load(text)
    return text
