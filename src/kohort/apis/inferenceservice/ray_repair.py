"""
Ray clusters that run but do not serve: the operator deletes such a cluster, and makes it anew.

KubeRay reports such a cluster as ready and with workers, but its prober is not available. The
operator notes the time on the cluster, so that the wait outlives the operator, and deletes the
cluster after the seconds that the configuration allows. The next plan makes it again. A prober that
is available, or a cluster that is not ready, ends the wait.
"""

from collections.abc import Iterator

from kohort.apis.carriers.members import read_moment
from kohort.apis.inferenceservice import kinds, labels, names
from kohort.apis.inferenceservice.assembly import ServicePlan
from kohort.apis.inferenceservice.fields import find_number, read_object, read_text
from kohort.apis.inferenceservice.objects import ray
from kohort.apis.inferenceservice.spec import DeploymentMode
from kohort.apis.inferenceservice.strategies.strategy import Existing
from kohort.cluster.actions import Action, Delete, Patch
from kohort.cluster.kinds import DEPLOYMENT
from kohort.cluster.objects import (
    Object,
    annotations_of,
    find_condition,
    is_leaving,
    name_of,
    namespace_of,
    uid_of,
)
from kohort.cluster.port import Address
from kohort.cluster.timestamps import write_moment

_READY = "ready"


def repair_clusters(
    plan: ServicePlan, existing: Existing, seconds: float, now: float
) -> Iterator[Action]:
    """Note Ray clusters that do not serve, and delete those that have not for so many seconds."""
    for cluster, is_silent in _list_clusters(plan, existing):
        noted = annotations_of(cluster).get(labels.RAY_UNAVAILABLE)
        since = read_moment(noted)
        if not is_silent:
            if noted is not None:
                yield _note(cluster, None, "it serves, or is not ready")
        elif not 0.0 < since <= now:
            # Not noted yet, or at a moment that cannot be: the wait begins now.
            stamp = write_moment(now)
            yield _note(cluster, stamp, "it is ready, but its prober is not available")
        elif since + seconds <= now:
            name, place = name_of(cluster), namespace_of(cluster)
            why = f"RayCluster {name} is ready, but its prober was not available for {seconds:g} s"
            yield Delete(kinds.RAY_CLUSTER, place, name, uid_of(cluster), why=why)


def find_deadline(plan: ServicePlan, existing: Existing, seconds: float) -> float | None:
    """When the first wait of a Ray cluster ends, in epoch seconds."""
    noted = [
        read_moment(annotations_of(cluster).get(labels.RAY_UNAVAILABLE)) + seconds
        for cluster, is_silent in _list_clusters(plan, existing)
        if is_silent and labels.RAY_UNAVAILABLE in annotations_of(cluster)
    ]
    return min(noted, default=None)


def _list_clusters(plan: ServicePlan, existing: Existing) -> Iterator[tuple[Object, bool]]:
    """The Ray clusters of a service that have a prober, each with whether it does not serve."""
    clusters = existing.get(kinds.RAY_CLUSTER) or {}
    probers = existing.get(DEPLOYMENT) or {}
    for config in plan.workload.configs.values() if plan.workload else ():
        if config.deployment_mode is not DeploymentMode.RAY:
            continue
        for index in range(ray.count_clusters(config)):
            cluster = clusters.get(f"{config.name}-{index}")
            prober = probers.get(names.ray_name(f"{config.name}-{index}-mnp"))
            if cluster is not None and prober is not None and not is_leaving(cluster):
                yield cluster, _runs(cluster) and not _is_available(prober)


def _runs(cluster: Object) -> bool:
    status = read_object(cluster, "status")
    has_workers = (find_number(status, "availableWorkerReplicas") or 0) > 0
    return read_text(status, "state") == _READY and has_workers


def _is_available(prober: Object) -> bool:
    return (find_condition(prober, "Available") or {}).get("status") == "True"


def _note(cluster: Object, since: str | None, why: str) -> Patch:
    name = name_of(cluster)
    address = Address(kinds.RAY_CLUSTER, namespace_of(cluster), name)
    notes = {labels.RAY_UNAVAILABLE: since}
    body = {"metadata": {"uid": uid_of(cluster), "annotations": notes}}
    return Patch(address, body, why=f"RayCluster {name}: {why}")
