"""
The operator as a Deployment of the cluster that it works on.

Its pods meet the strictest pod security level (restricted). Two replicas run, of which one
holds the lease; both answer webhooks.
"""

from kohort.cluster.objects import Object
from kohort.controller.install.names import (
    ACCOUNT,
    CONFIG_KEY,
    CONFIG_MAP,
    DEPLOYMENT,
    LABELS,
    SELECTOR,
)

REPLICAS = 2
USER = 65532
_CONFIG_PATH = f"/{CONFIG_KEY}"
_PORTS = {"webhook-server": 9443, "health": 8081, "metrics": 8443}


def write_deployment(namespace: str, image: str, flags: tuple[str, ...] = ()) -> Object:
    """The Deployment of the operator."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": DEPLOYMENT, "namespace": namespace, "labels": dict(LABELS)},
        "spec": {
            "replicas": REPLICAS,
            "selector": {"matchLabels": dict(SELECTOR)},
            "template": {"metadata": {"labels": dict(LABELS)}, "spec": _write_pod(image, flags)},
        },
    }


def _write_pod(image: str, flags: tuple[str, ...]) -> Object:
    return {
        "serviceAccountName": ACCOUNT,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "terminationGracePeriodSeconds": 10,
        "containers": [_write_container(image, flags)],
        "volumes": [
            {"name": "config", "configMap": {"name": CONFIG_MAP}},
            {"name": "tmp", "emptyDir": {}},
        ],
    }


def _write_container(image: str, flags: tuple[str, ...]) -> Object:
    return {
        "name": "manager",
        "image": image,
        "command": ["kohort"],
        "args": ["controller", f"--config={_CONFIG_PATH}", *flags],
        "ports": [{"name": name, "containerPort": port} for name, port in _PORTS.items()],
        "livenessProbe": _write_probe("/healthz", 15, 20),
        "readinessProbe": _write_probe("/readyz", 5, 10),
        "resources": {"requests": {"cpu": "1", "memory": "1Gi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [
            {
                "name": "config",
                "mountPath": _CONFIG_PATH,
                "subPath": CONFIG_KEY,
                "readOnly": True,
            },
            {"name": "tmp", "mountPath": "/tmp"},
        ],
    }


def _write_probe(path: str, delay: int, period: int) -> Object:
    return {
        "httpGet": {"path": path, "port": "health"},
        "initialDelaySeconds": delay,
        "periodSeconds": period,
    }
