"""
How the children of a RoleBasedGroup are labelled, for the checkers.

Nothing of how the operator labels them is used here.
"""

from kohort.cluster import kinds
from kohort.cluster.objects import Kind
from kohort.simulation.simulated_api import WorkloadLabels

GROUP, VERSION = "workloads.x-k8s.io", "v1alpha2"
PREFIX = "rbg.workloads.x-k8s.io/"
OWNER, ROLE = f"{PREFIX}group-name", f"{PREFIX}role-name"
INSTANCE_NAME = f"{PREFIX}role-instance-name"
COMPONENT, COMPONENT_ID = f"{PREFIX}component-name", f"{PREFIX}component-id"
HASH, STORED = "controller-revision-hash", "controller.kubernetes.io/hash"
ORDER, RATIO = "kohort.dev/update-order", "kohort.dev/ratio"
DRAIN = f"{PREFIX}inplace-update-grace-period-seconds"
PATTERN, STATELESS = f"{PREFIX}role-instance-pattern", "Stateless"
WORKLOAD_TYPE = f"{PREFIX}role-workload-type"
GATES = ("InPlaceUpdateReady", "InstancePodReady")
WORKLOAD = Kind(GROUP, VERSION, "RoleBasedGroup", "rolebasedgroups")
SET = Kind(GROUP, VERSION, "RoleInstanceSet", "roleinstancesets")
INSTANCE = Kind(GROUP, VERSION, "RoleInstance", "roleinstances")
ADAPTER = Kind(GROUP, VERSION, "RoleBasedGroupScalingAdapter", "rolebasedgroupscalingadapters")
POLICY = Kind(GROUP, VERSION, "CoordinatedPolicy", "coordinatedpolicies")
LEADERS = Kind("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets")
# The kinds that can carry a role, by name.
CARRIERS = {kind.name: kind for kind in (kinds.STATEFUL_SET, kinds.DEPLOYMENT, LEADERS)}
LABELS = WorkloadLabels(
    OWNER,
    HASH,
    (INSTANCE_NAME, COMPONENT, COMPONENT_ID),
    {INSTANCE_NAME: "x-z-7", COMPONENT: "other", COMPONENT_ID: "5"},
    stored=STORED,
)
IN_PLACE, IN_PLACE_ONLY, RECREATE_POD = "InPlaceIfPossible", "InPlaceOnly", "RecreatePod"
RECREATE, RECOVER_NONE = "RecreateRoleInstanceOnPodRestart", "None"
MODE = "MODE"  # a variable; a running pod cannot follow when it changes
