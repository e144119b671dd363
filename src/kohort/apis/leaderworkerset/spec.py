"""
The facts of a LeaderWorkerSet's spec that many modules read.

An object may be older than any default, so each fact has one. Nothing here raises:
admission reports what is wrong.
"""

from typing import Any

from kohort.apis.amounts import resolve_amount
from kohort.apis.leaderworkerset import labels
from kohort.cluster.objects import Object, annotations_of

SHARED, UNIQUE_PER_REPLICA = "Shared", "UniquePerReplica"
LEADER_WORKER, LEADER_EXCLUDED = "LeaderWorker", "LeaderExcluded"
LEADER_CREATED, LEADER_READY = "LeaderCreated", "LeaderReady"
RECREATE_GROUP, RECREATE_AFTER_START = "RecreateGroupOnPodRestart", "RecreateGroupAfterStart"
RESTART_NONE, RESTART_DEFAULT = "None", "Default"


def spec_of(lws: Object) -> Object:
    """The spec; an empty one if there is none."""
    found: Object = lws.get("spec") or {}
    return found


def template_of(lws: Object) -> Object:
    """The leaderWorkerTemplate: leader and worker templates, size and policies."""
    found: Object = spec_of(lws).get("leaderWorkerTemplate") or {}
    return found


def pod_specs_of(lws: Object) -> tuple[Object, ...]:
    """The pod specs of leader and workers; one if they are alike or there are no workers."""
    template = template_of(lws)
    worker: Object = (template.get("workerTemplate") or {}).get("spec") or {}
    leader = template.get("leaderTemplate")
    if leader is None:
        return (worker,)
    own: Object = leader.get("spec") or {}
    return (own,) if size_of(lws) == 1 else (own, worker)


def replicas_of(lws: Object) -> int:
    """The number of groups that the user wants."""
    return int(_given(spec_of(lws).get("replicas"), 1))


def size_of(lws: Object) -> int:
    """The number of pods in a group, including the leader."""
    return int(_given(template_of(lws).get("size"), 1))


def restart_policy_of(lws: Object) -> str:
    """What the operator does with a group when one of its pods fails."""
    policy = str(template_of(lws).get("restartPolicy") or RECREATE_GROUP)
    return RESTART_NONE if policy == RESTART_DEFAULT else policy


def startup_policy_of(lws: Object) -> str:
    """Whether workers wait until their leader is ready."""
    return str(spec_of(lws).get("startupPolicy") or LEADER_CREATED)


def subdomain_policy_of(lws: Object) -> str:
    """Whether all groups share one Service."""
    network = spec_of(lws).get("networkConfig") or {}
    return str(network.get("subdomainPolicy") or SHARED)


def find_subgroup_policy(lws: Object) -> Object | None:
    """The subgroup policy of the groups, if there is one."""
    found: Object | None = template_of(lws).get("subGroupPolicy")
    return found


def rollout_of(lws: Object) -> Object:
    """The rolling update configuration; an empty one if there is none."""
    strategy = spec_of(lws).get("rolloutStrategy") or {}
    found: Object = strategy.get("rollingUpdateConfiguration") or {}
    return found


def partition_of(lws: Object) -> int:
    """The lowest ordinal of a group that may roll."""
    return int(_given(rollout_of(lws).get("partition"), 0))


def max_unavailable_of(lws: Object) -> int:
    """How many groups may be missing during a rollout; percentages round down."""
    value = _given(rollout_of(lws).get("maxUnavailable"), 1)
    return resolve_amount(value, replicas_of(lws), round_up=False)


def max_surge_of(lws: Object) -> int:
    """How many groups may be added during a rollout: rounded up, at most the replicas."""
    value = _given(rollout_of(lws).get("maxSurge"), 0)
    return min(resolve_amount(value, replicas_of(lws), round_up=True), replicas_of(lws))


def find_exclusive_topology(lws: Object) -> str | None:
    """The topology domain that each group has to itself, if the user asks for that."""
    return annotations_of(lws).get(labels.EXCLUSIVE_TOPOLOGY)


def _given(value: Any, default: Any) -> Any:
    return default if value is None else value
