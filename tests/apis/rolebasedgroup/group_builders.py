"""RoleBasedGroups for tests: what a test does not care about is filled in."""

from typing import Any

from kohort.cluster.objects import Object

UID = "0d8f7a52-6f0c-4b2b-9df0-3c1b6c1f2a77"


def template(image: str = "engine:1", **more: Any) -> Object:
    return {"spec": {"containers": [{"name": "engine", "image": image}], **more}}


def standalone(name: str, replicas: int = 1, image: str = "engine:1", **more: Any) -> Object:
    pattern = {"template": template(image)}
    return {"name": name, "replicas": replicas, "standalonePattern": pattern, **more}


def leader_worker(name: str, size: int = 2, replicas: int = 1, **pattern: Any) -> Object:
    given = {"size": size, "template": template(), **pattern}
    return {"name": name, "replicas": replicas, "leaderWorkerPattern": given}


def components(name: str, *listed: Object, replicas: int = 1, **pattern: Any) -> Object:
    given = {"components": list(listed), **pattern}
    return {"name": name, "replicas": replicas, "customComponentsPattern": given}


def component(name: str, size: int = 1, **more: Any) -> Object:
    return {"name": name, "size": size, "template": template(), **more}


def group(*roles: Object, name: str = "m1", notes: dict[str, str] | None = None, **spec: Any):
    return {
        "apiVersion": "workloads.x-k8s.io/v1alpha2",
        "kind": "RoleBasedGroup",
        "metadata": {
            "name": name,
            "namespace": "ns1",
            "uid": UID,
            "generation": 1,
            "annotations": notes or {},
        },
        "spec": {"roles": list(roles), **spec},
    }
