"""
Warnings about valid fields that are probably a mistake; kubectl prints them.

Each says what will happen and what the user should write instead.
"""

from collections.abc import Iterator

from kohort.apis.amounts import find_percent
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.spec import (
    RESTART_DEFAULT,
    max_surge_of,
    max_unavailable_of,
    partition_of,
    replicas_of,
    rollout_of,
    size_of,
    template_of,
)
from kohort.cluster.objects import Object, annotations_of

_VARIABLES = {
    labels.LEADER_ADDRESS_VARIABLE,
    labels.GROUP_SIZE_VARIABLE,
    labels.WORKER_INDEX_VARIABLE,
}


def warn_workload(lws: Object) -> list[str]:
    """The warnings for an object as the user wrote it."""
    return [*_warn_policy(lws), *_warn_rollout(lws), *_warn_variables(lws), *_warn_claims(lws)]


def _warn_policy(lws: Object) -> Iterator[str]:
    if template_of(lws).get("restartPolicy") == RESTART_DEFAULT:
        yield (
            "spec.leaderWorkerTemplate.restartPolicy: Default is deprecated and stored as None; "
            "write None"
        )


def _warn_claims(lws: Object) -> Iterator[str]:
    """Warn that workers lose their volumes with their StatefulSet, which lives as their leader."""
    template = template_of(lws)
    policy = template.get("persistentVolumeClaimRetentionPolicy") or {}
    carrier = annotations_of(lws).get(labels.CARRIER) or labels.STATEFULSETS
    has_claims = bool(template.get("volumeClaimTemplates")) and size_of(lws) > 1
    if has_claims and carrier == labels.STATEFULSETS and policy.get("whenDeleted") == "Delete":
        yield (
            "spec.leaderWorkerTemplate.persistentVolumeClaimRetentionPolicy.whenDeleted: Delete "
            "also deletes the claims of workers whenever their group is made anew, by a restart or "
            "a rollout, since their StatefulSet goes with their leader: write Retain to keep them, "
            f"or annotate a new object with {labels.CARRIER}: {labels.PODS}"
        )


def _warn_rollout(lws: Object) -> Iterator[str]:
    replicas, surge, rollout = replicas_of(lws), max_surge_of(lws), rollout_of(lws)
    unavailable = rollout.get("maxUnavailable")
    if find_percent(unavailable) and surge and replicas > 0 and not max_unavailable_of(lws):
        yield (
            f"maxUnavailable: {unavailable} of {replicas} groups is none, so a rollout goes on "
            "with its surge alone"
        )
    asked = rollout.get("maxSurge")
    if isinstance(asked, int) and asked > replicas > 0:
        yield f"maxSurge: {asked} is more than there are groups and counts as {replicas}"
    if partition_of(lws) >= replicas > 0:
        yield f"partition: {partition_of(lws)} keeps all {replicas} groups at their old revision"


def _warn_variables(lws: Object) -> Iterator[str]:
    for field in ("leaderTemplate", "workerTemplate"):
        spec = (template_of(lws).get(field) or {}).get("spec") or {}
        for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
            taken = {v.get("name") for v in container.get("env") or ()} & _VARIABLES
            for name in sorted(taken):
                yield (
                    f"spec.leaderWorkerTemplate.{field}: container {container.get('name')} sets "
                    f"{name}, which is overwritten with the group's own value"
                )
