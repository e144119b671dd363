"""Manifests for the tests of clients: a test shows what matters, and these hide the rest."""

import json
import time
from collections.abc import Callable
from typing import Any

SECONDS_MAX = 60.0


def write_yaml(*objects: dict[str, Any]) -> str:
    """Objects as one stream of documents (JSON is YAML)."""
    return "\n---\n".join(json.dumps(obj) for obj in objects)


def eventually(claim: Callable[[], Any]) -> Any:
    """What the claim answers as soon as that is true; a failure names the last answer."""
    end = time.monotonic() + SECONDS_MAX
    while not (found := claim()):
        assert time.monotonic() < end, f"never true; last answer: {found!r}"
        time.sleep(0.02)
    return found


def config_map(name: str = "settings", **data: str) -> dict[str, Any]:
    """A ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def pod(name: str = "one", **spec: Any) -> dict[str, Any]:
    """A pod with one container, and a label with its name."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"containers": [{"name": "main", "image": "img:1"}], **spec},
    }


def deployment(name: str = "web", replicas: int = 2, image: str = "img:1") -> dict[str, Any]:
    """A Deployment whose pods carry its name as a label."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": _template(name, image),
        },
    }


def stateful_set(name: str = "db", replicas: int = 2, image: str = "img:1") -> dict[str, Any]:
    """A StatefulSet whose pods carry its name as a label."""
    found = deployment(name, replicas, image)
    found["kind"] = "StatefulSet"
    found["spec"]["serviceName"] = name
    return found


def budget(name: str, app: str, **spec: Any) -> dict[str, Any]:
    """A PodDisruptionBudget for the pods of one app."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": app}}, **spec},
    }


def widget(name: str = "w", **spec: Any) -> dict[str, Any]:
    """An object of the custom kind."""
    return {
        "apiVersion": "clients.kohort.dev/v1",
        "kind": "Widget",
        "metadata": {"name": name},
        "spec": {"colour": "red", **spec},
    }


def _template(app: str, image: str) -> dict[str, Any]:
    return {
        "metadata": {"labels": {"app": app}},
        "spec": {"containers": [{"name": "main", "image": image}]},
    }


_PART = {
    "type": "object",
    "description": "One part of a widget.",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "description": "What the part is called."},
        "weight": {"type": "integer", "minimum": 0, "default": 1},
    },
}

_WIDGET = {
    "type": "object",
    "description": "A thing that exists to be tested with.",
    "properties": {
        "spec": {
            "type": "object",
            "description": "What is wanted.",
            "required": ["colour"],
            "properties": {
                "colour": {"type": "string", "enum": ["red", "green"]},
                "replicas": {"type": "integer", "default": 1, "minimum": 0},
                "parts": {
                    "type": "array",
                    "description": "What it is put together from.",
                    "items": _PART,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                },
            },
            "x-kubernetes-validations": [
                {"rule": "self.replicas < 100", "message": "too many replicas"}
            ],
        },
        "status": {
            "type": "object",
            "properties": {
                "replicas": {"type": "integer"},
                "selector": {"type": "string"},
                "conditions": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"type": {"type": "string"}, "status": {"type": "string"}},
                    },
                },
            },
        },
    },
}

WIDGETS: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.clients.kohort.dev"},
    "spec": {
        "group": "clients.kohort.dev",
        "scope": "Namespaced",
        "names": {
            "kind": "Widget",
            "plural": "widgets",
            "singular": "widget",
            "shortNames": ["wd"],
            "categories": ["all"],
        },
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": _WIDGET},
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.replicas",
                        "statusReplicasPath": ".status.replicas",
                        "labelSelectorPath": ".status.selector",
                    },
                },
                "additionalPrinterColumns": [
                    {"name": "Colour", "type": "string", "jsonPath": ".spec.colour"},
                    {"name": "Wanted", "type": "integer", "jsonPath": ".spec.replicas"},
                    {
                        "name": "Parts",
                        "type": "string",
                        "jsonPath": ".spec.parts[*].name",
                        "priority": 1,
                    },
                    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
                ],
            }
        ],
    },
}
