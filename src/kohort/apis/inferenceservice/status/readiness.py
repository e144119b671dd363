"""
Whether a component serves, and whether it is ready, read from its workload and its pods.

A component serves when its workload says so; Services, addresses and a change of the form go by
that alone. It is ready when it serves and none of its pods crashes: a new pod that crashes beside
old ones that serve is for a person to see, and moves no traffic.

The reason is the workload's own, or that of a crashing pod; a general reason such as
"initializing" would hide the cause. While the workload's status is older than its spec, readiness
is Unknown.
"""

from collections.abc import Sequence

from kohort.apis.inferenceservice import kinds, labels, names
from kohort.apis.inferenceservice.components.components import ComponentConfig
from kohort.apis.inferenceservice.fields import find_number, read_object, read_objects, read_text
from kohort.apis.inferenceservice.objects import ray
from kohort.apis.inferenceservice.spec import DeploymentMode
from kohort.apis.inferenceservice.status.conditions import FALSE, TRUE, UNKNOWN, Claim
from kohort.apis.inferenceservice.status.crashes import PodFailure, find_crash
from kohort.apis.inferenceservice.status.pods import find_failure, newest_first
from kohort.apis.inferenceservice.strategies.role_based_group import NAME as RBG
from kohort.apis.inferenceservice.strategies.strategy import Existing, WorkloadObjects
from kohort.cluster.kinds import DEPLOYMENT
from kohort.cluster.objects import Kind, Object, find_condition, labels_of, metadata_of

# Conditions of workloads that say why pods are not made.
_STALLED = ("Stalled",)
_REFUSALS = ("ReplicaFailure", *_STALLED, "Blocked")


def read_readiness(
    config: ComponentConfig, serving: Claim, pods: Sequence[Object], now: float
) -> Claim:
    """The Ready condition of a component that serves so, with all its pods of all forms."""
    crash = find_crash(list_members(config, pods), now)
    if crash is None:
        return serving
    return Claim(FALSE, crash.reason, _describe(config, crash))


def list_members(config: ComponentConfig, pods: Sequence[Object]) -> list[Object]:
    """All pods of a component, newest first: leaders and workers, of any form and revision."""
    name = config.component_type.value
    return newest_first([pod for pod in pods if labels_of(pod).get(labels.COMPONENT) == name])


def read_serving(
    config: ComponentConfig,
    workload: WorkloadObjects,
    existing: Existing,
    pods: Sequence[Object],
    root: str,
) -> Claim:
    """Whether a component serves; ``root`` is the name of its service."""
    carrier = workload.find_carrier(config.component_type)
    if workload.strategy == RBG:
        group = _find(existing, kinds.ROLE_BASED_GROUP, root)
        claim = _read_role(config, group)
    elif carrier is not None:
        claim = _read_carrier(carrier, existing)
    else:
        claim = _read_workload(config, existing)
    failure = find_failure(pods, config.main_container)
    if failure is None or (claim.is_true and failure.is_spare):
        refusal = None if claim.is_true else _find_refusal(config, workload, existing, root)
        return refusal or claim
    return Claim(FALSE, failure.reason, _describe(config, failure))


def has_ready_pod(config: ComponentConfig, workload: WorkloadObjects, existing: Existing) -> bool:
    """Whether a pod is ready, if a Deployment carries the component and is to have pods.

    A Deployment that may lose all its pods in a rollout is Available with none that is ready.
    """
    kind, name = workload.find_carrier(config.component_type) or (DEPLOYMENT, config.name)
    found = _find(existing, kind, name)
    if kind != DEPLOYMENT or found is None or workload.find(kind, name) is None:
        return True
    wanted = find_number(read_object(found, "spec"), "replicas")
    return not wanted or bool(find_number(read_object(found, "status"), "readyReplicas"))


def _find_refusal(
    config: ComponentConfig, workload: WorkloadObjects, existing: Existing, root: str
) -> Claim | None:
    """Why a component gets no pods, in the words of its workload."""
    held: list[tuple[Object | None, tuple[str, ...]]]
    if workload.strategy == RBG:
        # Any role may block a group, so that condition says nothing of this component.
        held = [(_find(existing, kinds.ROLE_BASED_GROUP, root), _STALLED)]
    else:
        name = names.leader_worker_set_name(config.name)
        held = [
            (_find(existing, kinds.LEADER_WORKER_SET, name), _REFUSALS),
            (_find(existing, DEPLOYMENT, config.name), _REFUSALS),
        ]
    for obj, types in held:
        for found in (find_condition(obj, each) or {} for each in types if obj is not None):
            if found.get("status") == TRUE:
                return Claim(FALSE, read_text(found, "reason"), read_text(found, "message"))
    return None


def _describe(config: ComponentConfig, failure: PodFailure) -> str:
    return f"component {config.component_type} crashes: {failure.describe()}"


def _find(existing: Existing, kind: Kind, name: str) -> Object | None:
    return (existing.get(kind) or {}).get(name)


def _read_role(config: ComponentConfig, group: Object | None) -> Claim:
    if group is None:
        return Claim(UNKNOWN, "WorkloadNotFound", "the RoleBasedGroup is not there yet")
    status = read_object(group, "status")
    generation = int(metadata_of(group).get("generation") or 0)
    if (find_number(status, "observedGeneration") or 0) < max(generation, 1):
        return Claim(UNKNOWN, "WaitingForReport", "the RoleBasedGroup has not been looked at yet")
    roles = read_objects(status, "roleStatuses")
    role = next((r for r in roles if r.get("name") == config.component_type), None)
    if role is None:
        why = f"the RoleBasedGroup reports no role {config.component_type}"
        return Claim(FALSE, "RoleNotFound", why)
    wanted, ready, updated = (
        find_number(role, name) or 0 for name in ("replicas", "readyReplicas", "updatedReplicas")
    )
    if wanted > 0 and ready == wanted == updated:
        return Claim(TRUE)
    why = f"{ready} of {wanted} instances are ready, {updated} are up to date"
    return Claim(FALSE, "RoleNotReady", why)


def _read_carrier(carrier: tuple[Kind, str], existing: Existing) -> Claim:
    kind, name = carrier
    told = "Available" if kind in (DEPLOYMENT, kinds.LEADER_WORKER_SET) else "Ready"
    return read_condition(_find(existing, kind, name), told, kind.name)


def _read_workload(config: ComponentConfig, existing: Existing) -> Claim:
    match config.deployment_mode:
        case DeploymentMode.MULTI_NODE:
            name = names.leader_worker_set_name(config.name)
            found = _find(existing, kinds.LEADER_WORKER_SET, name)
            return read_condition(found, "Available", kinds.LEADER_WORKER_SET.name)
        case DeploymentMode.RAY:
            return _read_probers(config, existing)
        case DeploymentMode.SERVERLESS:
            found = _find(existing, kinds.KNATIVE_SERVICE, config.name)
            return read_condition(found, "Ready", "Knative Service")
    found = _find(existing, DEPLOYMENT, config.name)
    return read_condition(found, "Available", DEPLOYMENT.name)


def read_condition(obj: Object | None, name: str, kind: str) -> Claim:
    """A condition of a workload as a condition of its component."""
    if obj is None:
        return Claim(UNKNOWN, "WorkloadNotFound", f"the {kind} is not there yet")
    found = find_condition(obj, name)
    if found is None:
        return Claim(UNKNOWN, "WaitingForReport", f"the {kind} has not reported {name} yet")
    status = found.get("status") if found.get("status") in (TRUE, FALSE) else UNKNOWN
    if status == TRUE:
        return Claim(TRUE)
    return Claim(str(status), read_text(found, "reason"), read_text(found, "message"))


def _read_probers(config: ComponentConfig, existing: Existing) -> Claim:
    for index in range(ray.count_clusters(config)):
        name = names.ray_name(f"{config.name}-{index}-mnp")
        claim = read_condition(_find(existing, DEPLOYMENT, name), "Available", "prober")
        if not claim.is_true:
            return Claim(FALSE, claim.reason or "ProberNotAvailable", claim.message)
    return Claim(TRUE)
