"""Objects: what is created in measurements."""

from typing import Any

DEFAULT_SCHEDULER = "default-scheduler"


def make_pod(
    name: str, namespace: str = "default", kilobytes: float = 0, scheduler: str = "nobody"
) -> dict[str, Any]:
    """A pod; padded with environment variables until it has about that size.

    By default it names a scheduler that does not exist, so no component acts on it.
    """
    container: dict[str, Any] = {
        "name": "server",
        "image": "registry.example/server:1",
        "args": ["--model", "large", "--port", "8000"],
        "ports": [{"name": "http", "containerPort": 8000}],
        "resources": {
            "requests": {"cpu": "1", "memory": "4Gi"},
            "limits": {"memory": "4Gi"},
        },
        "readinessProbe": {"httpGet": {"path": "/health", "port": "http"}, "periodSeconds": 5},
    }
    variables = int(kilobytes * 1024 - 620) // 94
    if variables > 0:
        container["env"] = [
            {"name": f"SETTING_{number:03d}", "value": "value-of-a-setting-" * 3}
            for number in range(variables)
        ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"app": "bench", "group": name.rpartition("-")[0]},
        },
        "spec": {"schedulerName": scheduler, "containers": [container]},
    }


def make_deployment(name: str, replicas: int) -> dict[str, Any]:
    """A Deployment of small pods."""
    pod = make_pod("template", scheduler=DEFAULT_SCHEDULER)
    labels = {"app": name}
    container = pod["spec"]["containers"][0]
    container["resources"] = {"requests": {"cpu": "100m", "memory": "64Mi"}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default", "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod["spec"]},
        },
    }


def make_config(name: str) -> dict[str, Any]:
    """A small ConfigMap."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
        "data": {"step": "0"},
    }
