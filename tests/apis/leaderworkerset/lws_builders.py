"""Small LeaderWorkerSets and pods: a test names what matters and leaves the rest."""

from typing import Any

from kohort.apis.leaderworkerset import labels
from kohort.cluster.objects import Object

POD_TEMPLATE: Object = {
    "metadata": {},
    "spec": {
        "containers": [
            {
                "name": "nginx",
                "image": "nginxinc/nginx-unprivileged:1.27",
                "resources": {"limits": {"cpu": "100m"}, "requests": {"cpu": "50m"}},
                "ports": [{"containerPort": 8080, "protocol": "TCP"}],
            }
        ]
    },
}


def lws(
    *,
    name: str = "leaderworkerset-sample",
    replicas: int = 3,
    size: int = 4,
    annotations: dict[str, str] | None = None,
    rollout: Object | None = None,
    subdomain: str = "Shared",
    **template: Any,
) -> Object:
    """An object as it is stored; further arguments go into ``leaderWorkerTemplate``."""
    rolling = rollout or {"partition": 0, "maxUnavailable": 1, "maxSurge": 0}
    policy = "RecreateGroupOnPodRestart"
    groups = {"size": size, "restartPolicy": policy, "workerTemplate": POD_TEMPLATE, **template}
    own = {"name": name, "namespace": "default", "uid": "lws-uid"}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {**own, "annotations": annotations or {}},
        "spec": {
            "replicas": replicas,
            "startupPolicy": "LeaderCreated",
            "networkConfig": {"subdomainPolicy": subdomain},
            "rolloutStrategy": {"type": "RollingUpdate", "rollingUpdateConfiguration": rolling},
            "leaderWorkerTemplate": groups,
        },
    }


def pod_from(template: Object, name: str, subdomain: str) -> Object:
    """The pod that a StatefulSet makes of a template."""
    return {
        "metadata": {**template["metadata"], "name": name, "namespace": "default", "uid": name},
        "spec": {**template["spec"], "hostname": name, "subdomain": subdomain},
    }


def bare_pod(name: str, *, is_leader: bool = False, **annotations: str) -> Object:
    """A pod of the set ``lw`` as it arrives; annotations are named without their prefix."""
    own = {labels.NAME: "lw", labels.REVISION: "abc"}
    own |= {labels.WORKER_INDEX: "0"} if is_leader else {labels.GROUP_INDEX: "0"}
    notes = {labels.PREFIX + key.replace("_", "-"): value for key, value in annotations.items()}
    return {
        "metadata": {
            "name": name,
            "namespace": "ns",
            "labels": own,
            "annotations": {labels.SIZE: "5", **notes},
        },
        "spec": {"subdomain": "lw", "containers": [{"name": "main"}]},
    }


def variables_of(pod: Object, container: int = 0) -> dict[str, str]:
    """The variables of a container."""
    return {v["name"]: v["value"] for v in pod["spec"]["containers"][container]["env"]}
