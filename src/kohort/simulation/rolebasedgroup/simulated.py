"""
RoleBasedGroup, as the value that simulations know it by.

The present operator is also the one before it, since its names of revisions are upstream's. Names
of revisions by another controller are tested elsewhere, with recorded objects of upstream.
"""

from dataclasses import replace

from kohort.apis.api import DEFAULTS
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.simulation.checkers.instances import Instances
from kohort.simulation.checkers.kept_pods import KeptPods
from kohort.simulation.checkers.lines import LineBudget
from kohort.simulation.checkers.ownership import Ownership
from kohort.simulation.checkers.roles import Roles
from kohort.simulation.checkers.runtime import Runtime
from kohort.simulation.checkers.stability import Stability
from kohort.simulation.checkers.status import Status
from kohort.simulation.rolebasedgroup import groups, scenarios, wishes
from kohort.simulation.rolebasedgroup.at_rest import find_trouble
from kohort.simulation.rolebasedgroup.carrier_writes import CarrierWrites
from kohort.simulation.rolebasedgroup.labels import (
    ADAPTER,
    CARRIERS,
    INSTANCE,
    LABELS,
    LEADERS,
    POLICY,
    SET,
    WORKLOAD,
)
from kohort.simulation.rolebasedgroup.scenarios import draw_scenario
from kohort.simulation.simulated_api import (
    OperatorVersion,
    OperatorVersions,
    SimulatedApi,
    StatusFields,
)
from kohort.simulator.builtins.deployments.controller import Deployments
from kohort.simulator.builtins.deployments.replicasets import ReplicaSets

_PRESENT = OperatorVersion(ROLE_BASED_GROUP, DEFAULTS)
VERSIONS = OperatorVersions(present=_PRESENT, before=_PRESENT, after=_PRESENT)


def _read_ready(status: Object) -> int:
    return sum(role["readyReplicas"] for role in status.get("roleStatuses") or ())


def _says_over(status: Object) -> bool:
    """A rollout is over when all instances of all roles are updated and ready."""
    roles = status.get("roleStatuses") or ()
    # Before instances are found again that an orphaning delete left, none of none is updated.
    return any(role["replicas"] for role in roles) and all(
        role["updatedReplicas"] == role["readyReplicas"] == role["replicas"] for role in roles
    )


_GROUPS = SimulatedApi(
    name="rbg",
    kind=WORKLOAD,
    labels=LABELS,
    status=StatusFields(_read_ready, groups.count_ready, "", _says_over, "Ready"),
    versions=VERSIONS,
    checkers=(LineBudget, Instances, Roles, KeptPods, Ownership, Runtime, Status, Stability),
    draw=draw_scenario,
    make_workload=scenarios.make_workload,
    edits=scenarios.EDITS,
    read_policy=groups.read_policy,
    list_groups=groups.list_groups,
    list_lines=groups.list_lines,
    is_old=groups.is_old,
    is_in_place=groups.is_in_place,
    find_image=groups.find_image,
    has_old_image=groups.has_old_image,
    find_min_ready=lambda workload: 0,
    count_gang=lambda group, scene: (group.size, group.size),
    list_services=groups.list_services,
    list_free_names=scenarios.list_free_names,
    find_trouble=find_trouble,
    is_sparse=False,
    read_step=lambda truth, carrier: None,
    has_gone_back=lambda truth, carrier: False,
    children=(SET, INSTANCE, ADAPTER, kinds.CONFIG_MAP),
    unit_kinds=(INSTANCE, ADAPTER),
    others=(POLICY,),
    make_others=scenarios.make_others,
    list_rules=wishes.list_rules,
    can_follow=groups.can_follow,
    is_kept_old=groups.is_kept_old,
    is_told=groups.is_told,
)

# Groups of a LeaderWorkerSet are made by the same operator.
_CARRYING = OperatorVersion(ROLE_BASED_GROUP, DEFAULTS, (LEADER_WORKER_SET,))
_CARRIERS = tuple(CARRIERS.values())
# Where other controllers make the pods of some roles.
CARRIED_GROUPS = replace(
    _GROUPS,
    name="rbg with carriers",
    checkers=(*_GROUPS.checkers, CarrierWrites),
    unit_kinds=(*_GROUPS.unit_kinds, *_CARRIERS),
    versions=OperatorVersions(present=_CARRYING, before=_CARRYING, after=_CARRYING),
    children=(*_GROUPS.children, kinds.DEPLOYMENT, kinds.REPLICA_SET, LEADERS),
    carriers=_CARRIERS,
    status=replace(_GROUPS.status, count_by_role=groups.count_by_role),
    parts=(Deployments, ReplicaSets),
)
ROLE_BASED_GROUPS = replace(_GROUPS, carrying=CARRIED_GROUPS)
