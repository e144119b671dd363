"""
Patches of pod templates: a strategic merge by the merge keys of Kubernetes' pod types.

The keys are a short table here, since API packages do not know the API server's schemas; a test
compares the table with those schemas.
"""

from collections.abc import Mapping
from typing import Any

from kohort.cluster.objects import Object
from kohort.cluster.strategic_merge import MergeType, apply_strategic_patch


def _keyed(key: str, fields: Mapping[str, MergeType] | None = None) -> MergeType:
    return MergeType(merge=True, merge_key=key, items=MergeType(fields=fields or {}))


_METADATA = MergeType(
    fields={"finalizers": MergeType(merge=True), "ownerReferences": _keyed("uid")}
)
CONTAINER = MergeType(
    fields={
        "env": _keyed("name"),
        "ports": _keyed("containerPort"),
        "volumeDevices": _keyed("devicePath"),
        "volumeMounts": _keyed("mountPath"),
    }
)
_CONTAINERS = _keyed("name", CONTAINER.fields)
_CLAIM = MergeType(fields={"volumeClaimTemplate": MergeType(fields={"metadata": _METADATA})})
POD = MergeType(
    fields={
        "containers": _CONTAINERS,
        "ephemeralContainers": _CONTAINERS,
        "hostAliases": _keyed("ip"),
        "imagePullSecrets": _keyed("name"),
        "initContainers": _CONTAINERS,
        "resourceClaims": _keyed("name"),
        "schedulingGates": _keyed("name"),
        "topologySpreadConstraints": _keyed("topologyKey"),
        "volumes": _keyed("name", {"ephemeral": _CLAIM}),
    }
)
TEMPLATE = MergeType(fields={"metadata": _METADATA, "spec": POD})


def merge_template(base: Object, patch: Any) -> Object:
    """The template with a patch merged in; raises ClusterError if the patch does not apply."""
    return apply_strategic_patch(base, patch, TEMPLATE)
