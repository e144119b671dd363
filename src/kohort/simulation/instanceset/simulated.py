"""A RoleInstanceSet by hand, as the value that simulations know it by."""

from kohort.apis.api import DEFAULTS
from kohort.apis.rolebasedgroup.single_role.api import ROLE_INSTANCE_SET
from kohort.cluster.objects import Object
from kohort.simulation.checkers.instances import Instances
from kohort.simulation.checkers.kept_pods import KeptPods
from kohort.simulation.checkers.lines import LineBudget
from kohort.simulation.checkers.ownership import Ownership
from kohort.simulation.checkers.runtime import Runtime
from kohort.simulation.checkers.stability import Stability
from kohort.simulation.checkers.status import Status
from kohort.simulation.instanceset import scenarios, units
from kohort.simulation.instanceset.labels import LABELS
from kohort.simulation.instanceset.scenarios import draw_scenario
from kohort.simulation.rolebasedgroup import groups
from kohort.simulation.rolebasedgroup.labels import INSTANCE, SET
from kohort.simulation.simulated_api import (
    OperatorVersion,
    OperatorVersions,
    SimulatedApi,
    StatusFields,
)

_PRESENT = OperatorVersion(ROLE_INSTANCE_SET, DEFAULTS)


def _says_over(status: Object) -> bool:
    """A rollout is over when all instances are updated and ready."""
    counts = [int(status.get(key, 0)) for key in ("updatedReadyReplicas", "replicas")]
    return counts[0] == counts[1] > 0


ROLE_INSTANCE_SETS = SimulatedApi(
    name="ris",
    kind=SET,
    labels=LABELS,
    status=StatusFields(
        lambda status: int(status.get("readyReplicas", 0)),
        units.count_ready,
        "labelSelector",
        _says_over,
        "",
    ),
    versions=OperatorVersions(present=_PRESENT, before=_PRESENT, after=_PRESENT),
    checkers=(LineBudget, Instances, KeptPods, Ownership, Runtime, Status, Stability),
    draw=draw_scenario,
    make_workload=scenarios.make_workload,
    edits=scenarios.EDITS,
    read_policy=groups.read_policy,
    list_groups=units.list_groups,
    list_lines=units.list_lines,
    is_old=units.on_group(groups.is_old),
    is_in_place=units.is_in_place,
    find_image=lambda spec: groups.find_image(units.as_group(spec)),
    has_old_image=units.on_group(groups.has_old_image),
    find_min_ready=lambda workload: 0,
    count_gang=lambda group, scene: (group.size, group.size),
    list_services=lambda pod: (),
    list_free_names=scenarios.list_free_names,
    find_trouble=units.find_trouble,
    is_sparse=False,
    read_step=lambda truth, carrier: None,
    has_gone_back=lambda truth, carrier: False,
    children=(INSTANCE,),
    unit_kinds=(INSTANCE,),
    can_follow=units.on_group(groups.can_follow),
    is_kept_old=units.on_group(groups.is_kept_old),
    is_told=units.on_group(groups.is_told),
)
