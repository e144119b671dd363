"""A RoleInstance by hand, as the value that simulations know it by."""

from kohort.apis.api import DEFAULTS
from kohort.apis.rolebasedgroup.single_role.api import ROLE_INSTANCE
from kohort.simulation.checkers.instances import Instances
from kohort.simulation.checkers.kept_pods import KeptPods
from kohort.simulation.checkers.ownership import Ownership
from kohort.simulation.checkers.runtime import Runtime
from kohort.simulation.checkers.stability import Stability
from kohort.simulation.checkers.status import Status, says_true
from kohort.simulation.instanceset.labels import LABELS
from kohort.simulation.rolebasedgroup import groups
from kohort.simulation.rolebasedgroup.labels import INSTANCE
from kohort.simulation.roleinstance import scenarios, units
from kohort.simulation.roleinstance.scenarios import draw_scenario
from kohort.simulation.simulated_api import (
    OperatorVersion,
    OperatorVersions,
    SimulatedApi,
    StatusFields,
)

_PRESENT = OperatorVersion(ROLE_INSTANCE, DEFAULTS)

ROLE_INSTANCES = SimulatedApi(
    name="rins",
    kind=INSTANCE,
    labels=LABELS,
    status=StatusFields(
        lambda status: int(says_true(status, units.READY)),
        units.count_ready,
        "",
        units.says_over,
        units.READY,
    ),
    versions=OperatorVersions(present=_PRESENT, before=_PRESENT, after=_PRESENT),
    # One instance may be down whenever it changes, so there is no budget to be kept.
    checkers=(Instances, KeptPods, Ownership, Runtime, Status, Stability),
    draw=draw_scenario,
    make_workload=scenarios.make_workload,
    edits=scenarios.EDITS,
    read_policy=lambda workload: units.ONE,
    list_groups=units.list_groups,
    list_lines=units.list_lines,
    is_old=units.is_old,
    is_in_place=units.is_in_place,
    find_image=lambda spec: groups.find_image(units.as_group(spec)),
    has_old_image=lambda group, spec: groups.has_old_image(group, units.as_group(spec)),
    find_min_ready=lambda workload: 0,
    count_gang=lambda group, scene: (group.size, group.size),
    list_services=lambda pod: (),
    list_free_names=scenarios.list_free_names,
    find_trouble=units.find_trouble,
    is_sparse=False,
    read_step=lambda truth, carrier: None,
    has_gone_back=lambda truth, carrier: False,
    can_follow=units.can_follow,
)
