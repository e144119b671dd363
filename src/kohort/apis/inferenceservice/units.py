"""
A service in the planner's model: one group, a role for each component, a member for each pod.

Other controllers run the components, so the planner sees only counts of each role.
"""

from collections.abc import Mapping, Sequence

from kohort.apis.api import Snapshot
from kohort.apis.carriers.delegated import DELEGATES, read_tally
from kohort.apis.carriers.members import Reader, read_member
from kohort.apis.facts import PodFacts
from kohort.apis.inferenceservice import kinds, names
from kohort.apis.inferenceservice.assembly import ServicePlan
from kohort.apis.inferenceservice.components.components import ComponentConfig
from kohort.apis.inferenceservice.fields import find_number, read_object, read_objects
from kohort.apis.inferenceservice.kinds import WORKLOADS
from kohort.apis.inferenceservice.spec import ComponentType, DeploymentMode
from kohort.apis.inferenceservice.strategies.role_based_group import NAME as RBG
from kohort.apis.inferenceservice.strategies.strategy import Existing
from kohort.apis.inferenceservice.updates import hash_service
from kohort.cluster.kinds import DEPLOYMENT
from kohort.cluster.objects import Object, is_leaving, metadata_of, uid_of
from kohort.model.observed import Group, Observed, Progress, RoleInstances, Tally
from kohort.model.policies import RecoveryPolicy, RolloutPolicy
from kohort.model.units import Level, Phase, Reach
from kohort.model.workload import Role, Workload

_NOTHING = Tally(0, 0, 0, 0, 0, is_seen=False)
_ALONE = RecoveryPolicy(level=Level.MEMBER)
_READER = Reader(
    group_of=lambda metadata: 0,
    index_of=lambda metadata: 0,
    revision_of=lambda metadata: "",
    size_of=lambda metadata: 1,
)


def read_workload(snapshot: Snapshot, plan: ServicePlan, existing: Existing) -> Workload:
    """The service as the planner's workload."""
    service, configs = plan.service, plan.workload.configs if plan.workload else {}
    groups = 1 if configs else 0
    return Workload(
        namespace=service.namespace,
        name=service.name,
        uid=service.uid,
        generation=service.generation,
        groups=groups,
        roles=tuple(_ask(plan, config, existing) for config in configs.values()) or (Role(),),
        revision=hash_service(snapshot.root),
        rollout=RolloutPolicy(wanted=groups),
        recovery=_ALONE,
        is_leaving=is_leaving(snapshot.root),
        reach=Reach.ANY,
        has_rollout=False,
        is_one_group=True,
    )


def _ask(plan: ServicePlan, config: ComponentConfig, existing: Existing) -> Role:
    wanted = count_wanted(plan, config, existing)
    return Role(
        instances=wanted,
        size=config.worker_size + 1 if config.worker_pod_spec is not None else 1,
        name=config.component_type.value,
        rollout=RolloutPolicy(wanted=wanted, level=Level.INSTANCE),
        recovery=_ALONE,
        reach=Reach.COUNT,
    )


def count_wanted(plan: ServicePlan, config: ComponentConfig, existing: Existing) -> int:
    """The wanted replicas of a component: its workload's, or ``minReplicas`` without one."""
    tally = _find_tally(plan, config, existing)
    return tally.wanted if tally is not None else config.component_extension.min_replicas or 1


def read_observed(
    workload: Workload,
    plan: ServicePlan,
    existing: Existing,
    pods: Sequence[PodFacts],
    is_ready: Mapping[ComponentType, bool],
) -> Observed:
    """The existing workloads and pods of a service as the planner's observed state."""
    if plan.workload is None:
        return Observed(progress=Progress(0, 0, 0, workload.revision))
    roles = []
    for config in plan.workload.configs.values():
        tally = _find_tally(plan, config, existing) or _NOTHING
        wanted = count_wanted(plan, config, existing)
        role = config.component_type.value
        roles.append(RoleInstances(role, wanted, "", tally=tally, grown=tally.wanted))
    if not any(existing.get(kind) for kind in WORKLOADS):
        return Observed()
    is_whole = all(is_ready.get(each) for each in plan.workload.configs)
    is_broken = any(_phase(pod) is Phase.BROKEN for pod in pods)
    group = Group(
        ordinal=0,
        revision=workload.revision if all(role.is_updated for role in roles) else "",
        phase=Phase.READY if is_whole else Phase.BROKEN if is_broken else Phase.STARTING,
        incarnation=uid_of(plan.service.obj),
        size=workload.group_size,
        members=tuple(read_member(_READER, i, pod, True) for i, pod in enumerate(pods)),
        roles=tuple(roles),
    )
    return Observed((group,), Progress(0, 1, 1, workload.revision), exist=1)


def _phase(pod: PodFacts) -> Phase:
    return read_member(_READER, 0, pod, True).phase


def _find_tally(plan: ServicePlan, config: ComponentConfig, existing: Existing) -> Tally | None:
    """The counts in the status of a component's workload; None if it does not exist."""
    assert plan.workload is not None
    if plan.workload.strategy == RBG:
        group = (existing.get(kinds.ROLE_BASED_GROUP) or {}).get(plan.service.name)
        return None if group is None else _read_role(config, group)
    kind, name = plan.workload.find_carrier(config.component_type) or {
        DeploymentMode.MULTI_NODE: (
            kinds.LEADER_WORKER_SET,
            names.leader_worker_set_name(config.name),
        ),
    }.get(config.deployment_mode, (DEPLOYMENT, config.name))
    found = (existing.get(kind) or {}).get(name)
    return None if found is None or kind not in DELEGATES else read_tally(found)


def _read_role(config: ComponentConfig, group: Object) -> Tally:
    name, status = config.component_type.value, read_object(group, "status")
    asked = _find_role(read_objects(read_object(group, "spec"), "roles"), name)
    told = _find_role(read_objects(status, "roleStatuses"), name)
    seen = find_number(status, "observedGeneration") or 0
    is_seen = seen >= int(metadata_of(group).get("generation") or 0)
    exist, ready, updated = (
        find_number(told, field) or 0 for field in ("replicas", "readyReplicas", "updatedReplicas")
    )
    wanted = find_number(asked, "replicas")
    updated = updated if is_seen else 0
    return Tally(
        wanted=1 if wanted is None else wanted,
        exist=exist,
        ready=ready,
        updated=updated,
        updated_ready=max(0, updated + ready - exist),
        is_seen=is_seen,
    )


def _find_role(roles: Sequence[Object], name: str) -> Object:
    return next((role for role in roles if role.get("name") == name), {})
