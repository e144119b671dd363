"""Where requests are made up, and where those that once broke something are kept."""

import json
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import yaml

CORPUS = Path(__file__).with_name("corpus.yaml")
GROUP = "fuzz.example.com"
JSON, YAML = "application/json", "application/yaml"
PATCHES = (
    "application/merge-patch+json",
    "application/json-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
)

ODD: list[Any] = [
    None,
    "",
    "x",
    "²",
    "\r\n",
    "\x7f",
    "a" * 300,
    0,
    -1,
    1,
    1.5,
    2**31,
    2**63 - 1,
    2**63,
    1e300,
    True,
    [],
    {},
    [1],
    ["x"],
    [None],
    {"a": 1},
    {"a": {"b": []}},
    "9" * 5_000,
    "2026-01-01T00:00:00Z",
    "1e9999999",
    "50%",
    "²%",
    "-",
    "/",
    "a/b/c",
    "system:x",
]
COUNTS: list[Any] = [None, 0, 1, 2, -1, "1", "x", 1.5, []]

_META = {"name": "a0", "labels": {"app": "a"}, "annotations": {"sim.kohort.dev/run-for": "1s"}}
_POD = {"containers": [{"name": "a", "image": "a", "ports": [{"containerPort": 80}]}]}
_TEMPLATE = {"metadata": {"labels": {"app": "a"}}, "spec": _POD}
_SELECTOR = {"matchLabels": {"app": "a"}}
_SET = {"replicas": 1, "selector": _SELECTOR, "template": _TEMPLATE}
_CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}

# Path of the collection, apiVersion, kind, and the rest of a valid object.
KINDS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("/api/v1/namespaces/default/configmaps", "v1", "ConfigMap", {"data": {"a": "b"}}),
    ("/api/v1/namespaces/default/secrets", "v1", "Secret", {"stringData": {"a": "b"}}),
    ("/api/v1/namespaces/default/pods", "v1", "Pod", {"spec": _POD}),
    ("/api/v1/namespaces/default/serviceaccounts", "v1", "ServiceAccount", {}),
    (
        "/api/v1/namespaces/default/persistentvolumeclaims",
        "v1",
        "PersistentVolumeClaim",
        {"spec": _CLAIM},
    ),
    (
        "/api/v1/namespaces/default/services",
        "v1",
        "Service",
        {"spec": {"ports": [{"port": 80}], "selector": {"app": "a"}}},
    ),
    (
        "/api/v1/namespaces/default/events",
        "v1",
        "Event",
        {"involvedObject": {"namespace": "default"}},
    ),
    ("/apis/apps/v1/namespaces/default/deployments", "apps/v1", "Deployment", {"spec": _SET}),
    ("/apis/apps/v1/namespaces/default/replicasets", "apps/v1", "ReplicaSet", {"spec": _SET}),
    (
        "/apis/apps/v1/namespaces/default/statefulsets",
        "apps/v1",
        "StatefulSet",
        {
            "spec": {
                **_SET,
                "serviceName": "a",
                "volumeClaimTemplates": [{"metadata": {"name": "c"}, "spec": _CLAIM}],
            }
        },
    ),
    (
        "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
        "policy/v1",
        "PodDisruptionBudget",
        {"spec": {"minAvailable": 1, "selector": _SELECTOR}},
    ),
    (
        "/apis/coordination.k8s.io/v1/namespaces/default/leases",
        "coordination.k8s.io/v1",
        "Lease",
        {"spec": {"leaseDurationSeconds": 1}},
    ),
    ("/api/v1/nodes", "v1", "Node", {"spec": {}}),
    (
        f"/apis/{GROUP}/v1/namespaces/default/things",
        f"{GROUP}/v1",
        "Thing",
        {"spec": {"a": 1}, "status": {"phase": "x"}},
    ),
    (
        f"/apis/{GROUP}/v1/namespaces/default/gears",
        f"{GROUP}/v1",
        "Gear",
        {"spec": {"size": 1, "tags": ["a"], "text": "a"}},
    ),
]
PARTS = ("", "", "", "/status", "/scale", "/binding", "/eviction", "/token", "/log", "/x")
QUERIES = (
    "",
    "",
    "",
    "?limit=1",
    "?limit=²",
    "?watch=true&resourceVersion=²",
    "?labelSelector=a%3E1",
    "?labelSelector=app%20in%20(",
    "?fieldSelector=metadata.name%3Da",
    "?dryRun=All",
    "?dryRun=x",
    "?fieldManager=f&force=true",
    "?fieldValidation=Strict",
    "?continue=e30",
    "?resourceVersion=1",
    "?resourceVersionMatch=Exact",
    "?pretty=true",
    "?gracePeriodSeconds=-1",
    "?propagationPolicy=Foreground",
    "?tailLines=-1",
    "?sinceTime=x",
)
ACCEPTS = ("*/*", JSON, YAML, "application/json;as=Table;v=v1;g=meta.k8s.io", "text/html", "")
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


@dataclass(frozen=True, slots=True)
class Request:
    """One request, as it is sent."""

    method: str
    path: str
    body: bytes | None = None
    media: str = JSON
    accept: str = "*/*"

    def __str__(self) -> str:
        shown = "" if self.body is None else f" {self.media} {self.body[:400]!r}"
        return f"{self.method} {self.path}{shown}"


class Inventor:
    """Makes requests up, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)

    def next(self) -> Request:
        """A request that no client would send."""
        chance = self._chance
        path, version, kind, rest = chance.choice(KINDS)
        name = f"a{chance.randrange(12)}"
        obj = {"apiVersion": version, "kind": kind, "metadata": {**_META, "name": name}, **rest}
        obj = json.loads(json.dumps(obj))
        part, query = chance.choice(PARTS), chance.choice(QUERIES)
        accept = chance.choice(ACCEPTS)
        roll = chance.random()
        if roll < 0.35:
            place = path if chance.random() < 0.9 else f"{path}/{name}{part}"
            return Request("POST", place + query, *self._body(obj), accept)
        if roll < 0.65:
            return self._patch(f"{path}/{name}{part}", obj, query, accept)
        if roll < 0.75:
            return Request("PUT", f"{path}/{name}{part}{query}", *self._body(obj), accept)
        if roll < 0.92:
            place = path if chance.random() < 0.4 else f"{path}/{name}{part}"
            return Request("GET", place + query, accept=accept)
        if roll < 0.94:
            return Request(
                "POST", REVIEWS, *self._body({"spec": deepcopy(chance.choice(ODD))}), accept
            )
        options = {
            "gracePeriodSeconds": deepcopy(chance.choice(ODD)),
            "propagationPolicy": "Background",
        }
        return Request("DELETE", f"{path}/{name}{query}", *self._body(options), accept)

    def _patch(self, place: str, obj: dict[str, Any], query: str, accept: str) -> Request:
        chance = self._chance
        media = chance.choice(PATCHES)
        body: Any = {k: v for k, v in obj.items() if k not in ("apiVersion", "kind")}
        if "json-patch" in media:
            paths = (
                "/spec",
                "/metadata/labels",
                "/metadata",
                "/data/a",
                "/spec/a/0",
                "",
                "/status",
            )
            ops = ("add", "remove", "replace", "copy", "move", "test", "x")
            body = [
                {
                    "op": chance.choice(ops),
                    "path": chance.choice(paths),
                    "from": chance.choice(paths),
                    "value": deepcopy(chance.choice(ODD)),
                }
                for _ in range(chance.randrange(1, 4))
            ]
        elif "apply" in media:
            body, query = obj, "?fieldManager=f&force=true"
        raw, _ = self._body(body)
        return Request("PATCH", place + query, raw, media, accept)

    def _body(self, obj: Any) -> tuple[bytes, str]:
        chance = self._chance
        for _ in range(chance.choice((0, 1, 1, 2, 4))):
            self._spoil(obj)
        raw = json.dumps(obj).encode()
        roll = chance.random()
        if roll < 0.08:
            at = chance.randrange(len(raw))
            return raw[:at] + bytes([chance.randrange(256)]) + raw[at + 1 :], JSON
        if roll < 0.2:
            return raw, YAML
        if roll < 0.24:
            return b"k8s\x00" + chance.randbytes(40), "application/vnd.kubernetes.protobuf"
        return raw, JSON

    def _spoil(self, obj: Any) -> None:
        """Put something odd somewhere into a value."""
        chance, node = self._chance, obj
        while True:
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            if not keys:
                return
            key = chance.choice(keys)
            inner = node[key]
            if isinstance(inner, dict | list) and inner and chance.random() < 0.75:
                node = inner
                continue
            if isinstance(node, dict) and chance.random() < 0.1:
                node[chance.choice(("unknown", "²", "\r", "spec", "status"))] = deepcopy(
                    chance.choice(ODD)
                )
            elif isinstance(node, dict) and chance.random() < 0.15:
                del node[key]
            else:
                node[key] = deepcopy(chance.choice(COUNTS if key == "replicas" else ODD))
            return


def read_corpus() -> list[Request]:
    """The requests that once broke something."""
    found = []
    for entry in yaml.safe_load(CORPUS.read_text()):
        parts = entry.get("parts") or [[entry.get("text", ""), 1]]
        body = "".join(text * times for text, times in parts).encode()
        has_body = "parts" in entry or "text" in entry
        media = entry.get("media", JSON)
        found.append(Request(entry["method"], entry["path"], body if has_body else None, media))
    return found
