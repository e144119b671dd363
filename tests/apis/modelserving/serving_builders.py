"""Small ModelServings: a test names what matters and leaves the rest."""

from copy import deepcopy
from typing import Any

from kohort.cluster.objects import Object


def template(image: str = "engine:1", **metadata: Any) -> Object:
    """A pod template of one container; further arguments are its metadata."""
    found: Object = {"spec": {"containers": [{"name": "engine", "image": image}]}}
    return {"metadata": metadata, **found} if metadata else found


def role(name: str = "serve", *, replicas: int = 1, workers: int = 1, **fields: Any) -> Object:
    """A role as it is stored; further arguments are its other fields."""
    found: Object = {
        "name": name,
        "replicas": replicas,
        "workerReplicas": workers,
        "maxUnavailable": 1,
        "entryTemplate": template(),
    }
    if workers:
        found["workerTemplate"] = template()
    return {**found, **fields}


def serving(
    *roles: Object,
    name: str = "llama",
    namespace: str = "ml",
    annotations: dict[str, str] | None = None,
    group: Object | None = None,
    **spec: Any,
) -> Object:
    """The ModelServing `llama` as it is stored; `group` goes into its template."""
    own = {"name": name, "namespace": namespace, "uid": "ms-uid", "generation": 1}
    inner = {"restartGracePeriodSeconds": 0, "roles": list(roles or (role(),)), **(group or {})}
    defaults = {"replicas": 2, "schedulerName": "volcano", "recoveryPolicy": "RoleRecreate"}
    return deepcopy(
        {
            "apiVersion": "workload.serving.volcano.sh/v1alpha1",
            "kind": "ModelServing",
            "metadata": {**own, "annotations": annotations or {}},
            "spec": {**defaults, "template": inner, **spec},
        }
    )


def rolling(kind: str = "ServingGroupRollingUpdate", **configuration: Any) -> Object:
    """A rollout strategy."""
    strategy: Object = {"type": kind}
    return {**strategy, "rollingUpdateConfiguration": configuration} if configuration else strategy
