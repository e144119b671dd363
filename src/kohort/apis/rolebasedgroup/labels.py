"""
Every label, annotation and variable of RoleBasedGroup, each written once.

Routers, autoscalers, images and upstream's own command key on these texts. They never change.
"""

from kohort.apis.keys import ANNOTATION, LABEL, UPSTREAM, VARIABLE, Key
from kohort.cluster.objects import Kind

GROUP = "workloads.x-k8s.io"
VERSION, OLD_VERSION = "v1alpha2", "v1alpha1"

LEADER_WORKER_SET = Kind("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets")
KIND = Kind(GROUP, VERSION, "RoleBasedGroup", "rolebasedgroups")
SET_KIND = Kind(GROUP, VERSION, "RoleBasedGroupSet", "rolebasedgroupsets")
INSTANCE_SET = Kind(GROUP, VERSION, "RoleInstanceSet", "roleinstancesets")
INSTANCE = Kind(GROUP, VERSION, "RoleInstance", "roleinstances")
ADAPTER = Kind(GROUP, VERSION, "RoleBasedGroupScalingAdapter", "rolebasedgroupscalingadapters")
POLICY = Kind(GROUP, VERSION, "CoordinatedPolicy", "coordinatedpolicies")
WARMUP = Kind(GROUP, VERSION, "RoleBasedGroupWarmup", "rolebasedgroupwarmups")
PROFILE = Kind(
    GROUP,
    VERSION,
    "ClusterEngineRuntimeProfile",
    "clusterengineruntimeprofiles",
    namespaced=False,
)

PREFIX = "rbg.workloads.x-k8s.io/"
OLD_PREFIX = "rolebasedgroup.workloads.x-k8s.io/"
CONVERSION_PREFIX = "conversion.workloads.x-k8s.io/"

# Labels. The first three together select every object of a role.
GROUP_NAME = PREFIX + "group-name"
ROLE_NAME = PREFIX + "role-name"
GROUP_UID = PREFIX + "group-uid"  # SHA-1 of namespace/name; not the object's uid
ROLE_TYPE = PREFIX + "role-type"
OWNER_UID = PREFIX + "rbg-owner-uid"
GROUP_REVISION = PREFIX + "group-revision"
GROUP_HASH = PREFIX + "group-unique-hash"
SET_NAME = PREFIX + "groupset-name"
SET_INDEX = PREFIX + "groupset-index"
INSTANCE_NAME = PREFIX + "role-instance-name"
INSTANCE_INDEX = PREFIX + "role-instance-index"
INSTANCE_OWNER = PREFIX + "role-instance-owner"
INSTANCE_ID = PREFIX + "role-instance-id"
INSTANCE_DELETE = PREFIX + "role-instance-delete"
LIFECYCLE_STATE = PREFIX + "role-instance-lifecycle-state"
COMPONENT_NAME = PREFIX + "component-name"
COMPONENT_ID = PREFIX + "component-id"
COMPONENT_SIZE = PREFIX + "component-size"
COMPONENT_INDEX = PREFIX + "component-index"
SET_POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"
REVISION = "controller-revision-hash"
HASH = "controller.kubernetes.io/hash"
GANG_LABEL = "pod-group.scheduling.sigs.k8s.io/name"
WARMUP_NAME = "workloads.x-k8s.io/warmup-name"
WARMUP_UID = "workloads.x-k8s.io/warmup-uid"
WARMUP_NODE = "workloads.x-k8s.io/node-name"

# Annotations.
EXCLUSIVE_TOPOLOGY = PREFIX + "group-exclusive-topology"
DISABLE_EXCLUSIVE = PREFIX + "role-disable-exclusive"
GANG = PREFIX + "group-gang-scheduling"
GANG_TIMEOUT = PREFIX + "group-gang-scheduling-timeout"
GANG_QUEUE = PREFIX + "group-gang-scheduling-volcano-queue"
GANG_PRIORITY = PREFIX + "group-gang-scheduling-volcano-priority"
INSTANCE_GANG = PREFIX + "role-instance-gang-scheduling"
WORKLOAD_TYPE = PREFIX + "role-workload-type"
ROLE_SIZE = PREFIX + "role-size"
INSTANCE_PATTERN = PREFIX + "role-instance-pattern"
DISCOVERY_MODE = PREFIX + "discovery-config-mode"
GRACE_PERIOD = PREFIX + "inplace-update-grace-period-seconds"
IN_PLACE_STATE = PREFIX + "inplace-update-state"
IN_PLACE_GRACE = PREFIX + "inplace-update-grace"
LIFECYCLE_TIMESTAMP = PREFIX + "role-instance-lifecycle-timestamp"
RESTART_TRIGGER = PREFIX + "restart-trigger-policy"
IN_PLACE_SCHEDULING = PREFIX + "role-inplace-scheduling"
IN_PLACE_GRANULARITY = PREFIX + "role-inplace-scheduling-granularity"
IN_PLACE_AVOID = PREFIX + "role-inplace-scheduling-avoid"
DEPENDS_ON = OLD_PREFIX + "component-depends-on"
DISCOVERY = OLD_PREFIX + "component-discovery"
PORT_ALLOCATOR = OLD_PREFIX + "port-allocator"
CONTAINERS_META = "workloads.x-k8s.io/runtime-containers-meta"
DELETION_COST = "controller.kubernetes.io/instance-deletion-cost"
GANG_NAME = "scheduling.k8s.io/group-name"
OLD_GANG_POLICY = CONVERSION_PREFIX + "v1alpha1-pod-group-policy"
OLD_COORDINATION = CONVERSION_PREFIX + "v1alpha1-coordination"
KEPT_FIELDS = CONVERSION_PREFIX + "v1alpha2-fields"
OLD_KEPT_FIELDS = CONVERSION_PREFIX + "v1alpha1-fields"

# Keys of former versions, which users' images and manifests still read or set.
OLD_NAME = OLD_PREFIX + "name"
OLD_ROLE = OLD_PREFIX + "role"
OLD_EXCLUSIVE_TOPOLOGY = OLD_PREFIX + "exclusive-topology"
OLD_DISABLE_EXCLUSIVE = OLD_PREFIX + "disable-exclusive-topology"

# Annotations of our own.
STRATEGY = "kohort.dev/rollout-strategy"
RESTARTS = "kohort.dev/restarts"  # on the group's revision: last failure of each instance
SERVED = "kohort.dev/served"  # on a group's revision: all roles were ready on it
RATIO = "kohort.dev/ratio"
UPDATE_ORDER = "kohort.dev/update-order"
VERSIONS_TOGETHER = "kohort.dev/versions-together"
ROLLED_BACK = "kohort.dev/rolled-back"  # on a group: why its roles went back together
GANG_DIALECT = "kohort.dev/gang"
FORMER_NODES = "kohort.dev/former-nodes"
MAX_UNAVAILABLE = "kohort.dev/max-unavailable"  # on a RoleBasedGroupSet
SET_TEMPLATE = "kohort.dev/set-template"  # on a group of a set: the template it was made from

# Variables, in the order in which upstream writes them.
VARIABLE_PREFIX, PATTERN_PREFIX = "RBG_", "RBG_LWP_"
GROUP_NAME_VARIABLE = "RBG_GROUP_NAME"
ROLE_NAME_VARIABLE = "RBG_ROLE_NAME"
ROLE_INDEX_VARIABLE = "RBG_ROLE_INDEX"
INSTANCE_NAME_VARIABLE = "RBG_ROLE_INSTANCE_NAME"
COMPONENT_NAME_VARIABLE = "RBG_COMPONENT_NAME"
COMPONENT_INDEX_VARIABLE = "RBG_COMPONENT_INDEX"
LEADER_ADDRESS_VARIABLE = "RBG_LWP_LEADER_ADDRESS"
WORKER_INDEX_VARIABLE = "RBG_LWP_WORKER_INDEX"
GROUP_SIZE_VARIABLE = "RBG_LWP_GROUP_SIZE"

# Variables of former versions, each with the variable of today that has the same value.
OLD_VARIABLES = {
    "GROUP_NAME": GROUP_NAME_VARIABLE,
    "ROLE_NAME": ROLE_NAME_VARIABLE,
    "ROLE_INDEX": ROLE_INDEX_VARIABLE,
    "INSTANCE_NAME": INSTANCE_NAME_VARIABLE,
    "COMPONENT_NAME": COMPONENT_NAME_VARIABLE,
    "COMPONENT_INDEX": COMPONENT_INDEX_VARIABLE,
    "LWS_LEADER_ADDRESS": LEADER_ADDRESS_VARIABLE,
    "LWS_WORKER_INDEX": WORKER_INDEX_VARIABLE,
    "LWS_GROUP_SIZE": GROUP_SIZE_VARIABLE,
}

# Annotations that a RoleInstance copies from its RoleInstanceSet; it copies all labels.
INHERITED = (
    INSTANCE_GANG,
    IN_PLACE_SCHEDULING,
    IN_PLACE_GRANULARITY,
    IN_PLACE_AVOID,
    GRACE_PERIOD,
)


def role_revision(role: str) -> str:
    """The label that says which revision of a role an object is made for."""
    return f"{PREFIX}role-revision-{role}"


_NOW = "0.1"
_ALL = "RoleInstanceSets, RoleInstances, Services, pods"
_SETS = "RoleInstanceSets, RoleInstances"
_USER = "RoleBasedGroups, by users"
_ROLE = "roles, by users"
_STATELESS = "stateless RoleInstances"
_WARMUP = "warm-up pods"
_OLD = "containers, for images of former versions"

KEYS = (
    Key(GROUP_NAME, LABEL, f"{_ALL}, ControllerRevisions", "name of the group", UPSTREAM),
    Key(ROLE_NAME, LABEL, _ALL, "name of the role", UPSTREAM),
    Key(GROUP_UID, LABEL, _ALL, "SHA-1 of namespace/name", UPSTREAM),
    Key(role_revision("<role>"), LABEL, _SETS, "hash of the role", UPSTREAM),
    Key(ROLE_TYPE, LABEL, _SETS, "PodTemplate, LeaderWorkerSet or Components", UPSTREAM),
    Key(OWNER_UID, LABEL, _SETS, "uid of the group, with in-place scheduling", UPSTREAM),
    Key(GROUP_REVISION, LABEL, "ControllerRevisions", "hash of all roles", UPSTREAM),
    Key(GROUP_HASH, LABEL, "pods of exclusive groups", "SHA-1 of namespace/name", UPSTREAM),
    Key(SET_NAME, LABEL, "RoleBasedGroups of a set", "name of the set", UPSTREAM),
    Key(SET_INDEX, LABEL, "RoleBasedGroups of a set", "ordinal in the set", UPSTREAM),
    Key(INSTANCE_NAME, LABEL, "pods", "name of the RoleInstance", UPSTREAM),
    Key(INSTANCE_INDEX, LABEL, "RoleInstances, pods", "ordinal of the instance", UPSTREAM),
    Key(INSTANCE_OWNER, LABEL, _STATELESS, "uid of the RoleInstanceSet", UPSTREAM),
    Key(INSTANCE_ID, LABEL, _STATELESS, "five characters", UPSTREAM),
    Key(INSTANCE_DELETE, LABEL, f"{_STATELESS}, by users", "asks for deletion", UPSTREAM),
    Key(LIFECYCLE_STATE, LABEL, _STATELESS, "state between hooks", UPSTREAM),
    Key(COMPONENT_NAME, LABEL, "pods", "component; the role where there is one", UPSTREAM),
    Key(COMPONENT_ID, LABEL, "pods", "ordinal in the component", UPSTREAM),
    Key(COMPONENT_SIZE, LABEL, "pods", "pods of the component, or of leader and workers", UPSTREAM),
    Key(COMPONENT_INDEX, LABEL, "pods", "leader 0, then workers", UPSTREAM),
    Key(SET_POD_NAME, LABEL, "RoleInstances, pods", "name of the RoleInstance", UPSTREAM),
    Key(POD_INDEX, LABEL, "pods of StatefulSets", "ordinal", UPSTREAM),
    Key(REVISION, LABEL, "RoleInstances, pods", "revision: name, or its hash on pods", UPSTREAM),
    Key(HASH, LABEL, "ControllerRevisions", "hash of the template", UPSTREAM),
    Key(GANG_LABEL, LABEL, "pods", "the PodGroup of scheduler-plugins", UPSTREAM),
    Key(WARMUP_NAME, LABEL, _WARMUP, "name of the warm-up", UPSTREAM),
    Key(WARMUP_UID, LABEL, _WARMUP, "uid of the warm-up", UPSTREAM),
    Key(WARMUP_NODE, LABEL, _WARMUP, "the node", UPSTREAM),
    Key(OLD_NAME, LABEL, "pods", "name of the group, for clients of former versions", _NOW),
    Key(OLD_ROLE, LABEL, "pods", "name of the role, for clients of former versions", _NOW),
    Key(EXCLUSIVE_TOPOLOGY, ANNOTATION, f"{_USER}; pods", "node label key", UPSTREAM),
    Key(DISABLE_EXCLUSIVE, ANNOTATION, "templates, by users", "the role is left out", UPSTREAM),
    Key(GANG, ANNOTATION, _USER, "true: one PodGroup for the group", UPSTREAM),
    Key(GANG_TIMEOUT, ANNOTATION, _USER, "seconds, 60 if not set", UPSTREAM),
    Key(GANG_QUEUE, ANNOTATION, _USER, "queue of Volcano", UPSTREAM),
    Key(GANG_PRIORITY, ANNOTATION, _USER, "priority class of Volcano", UPSTREAM),
    Key(INSTANCE_GANG, ANNOTATION, f"{_USER}; roles", "true: instances are gangs", UPSTREAM),
    Key(WORKLOAD_TYPE, ANNOTATION, _ROLE, "apiVersion/kind that carries the role", UPSTREAM),
    Key(ROLE_SIZE, ANNOTATION, "RoleInstanceSets, Services", "replicas of the role", UPSTREAM),
    Key(
        INSTANCE_PATTERN, ANNOTATION, f"{_ROLE}; RoleInstanceSets", "Stateful, Stateless", UPSTREAM
    ),
    Key(DISCOVERY_MODE, ANNOTATION, "RoleBasedGroups", "refine, or legacy", UPSTREAM),
    Key(GRACE_PERIOD, ANNOTATION, _SETS, "seconds before a container restarts", UPSTREAM),
    Key(IN_PLACE_STATE, ANNOTATION, "RoleInstances, pods", "JSON: update in place", UPSTREAM),
    Key(IN_PLACE_GRACE, ANNOTATION, "pods", "JSON: what is applied after the grace", UPSTREAM),
    Key(LIFECYCLE_TIMESTAMP, ANNOTATION, _STATELESS, "since when in its state", UPSTREAM),
    Key(RESTART_TRIGGER, ANNOTATION, "templates, by users", "Inherit or Ignore", UPSTREAM),
    Key(IN_PLACE_SCHEDULING, ANNOTATION, f"{_ROLE}; {_SETS}", "Preferred or Required", UPSTREAM),
    Key(IN_PLACE_GRANULARITY, ANNOTATION, f"{_ROLE}; {_SETS}", "Pod or Component", UPSTREAM),
    Key(IN_PLACE_AVOID, ANNOTATION, f"{_ROLE}; {_SETS}", "node label keys", UPSTREAM),
    Key(DEPENDS_ON, ANNOTATION, "components, by users", "JSON: startAfter, deleteAfter", UPSTREAM),
    Key(DISCOVERY, ANNOTATION, "components, by users", "JSON: addressRefs, portRefs", UPSTREAM),
    Key(PORT_ALLOCATOR, ANNOTATION, "templates, by users", "JSON: allocations", UPSTREAM),
    Key(CONTAINERS_META, ANNOTATION, "pods, by runtimes", "what containers run", UPSTREAM),
    Key(DELETION_COST, ANNOTATION, f"{_STATELESS}, by users", "rank at scale-down", UPSTREAM),
    Key(GANG_NAME, ANNOTATION, "pods", "the PodGroup of Volcano", UPSTREAM),
    Key(OLD_GANG_POLICY, ANNOTATION, "RoleBasedGroups", "podGroupPolicy of v1alpha1", UPSTREAM),
    Key(OLD_COORDINATION, ANNOTATION, "RoleBasedGroups", "coordination of v1alpha1", UPSTREAM),
    Key(KEPT_FIELDS, ANNOTATION, "RoleBasedGroups in v1alpha1", "what v1alpha1 lacks", _NOW),
    Key(OLD_KEPT_FIELDS, ANNOTATION, "RoleBasedGroups", "what v1alpha2 lacks", _NOW),
    Key(OLD_EXCLUSIVE_TOPOLOGY, ANNOTATION, _USER, "as group-exclusive-topology", UPSTREAM),
    Key(
        OLD_DISABLE_EXCLUSIVE,
        ANNOTATION,
        "templates, by users",
        "as role-disable-exclusive",
        UPSTREAM,
    ),
    Key(STRATEGY, ANNOTATION, _USER, "rollout strategy of the planner", _NOW),
    Key(RESTARTS, ANNOTATION, "ControllerRevisions", "last failure of each instance", _NOW),
    Key(SERVED, ANNOTATION, "ControllerRevisions", "all roles were ready on it", _NOW),
    Key(RATIO, ANNOTATION, "CoordinatedPolicies, by users", "JSON: units by role, by policy", _NOW),
    Key(
        UPDATE_ORDER,
        ANNOTATION,
        "CoordinatedPolicies, by users",
        "policies in order of roles",
        _NOW,
    ),
    Key(
        VERSIONS_TOGETHER,
        ANNOTATION,
        "CoordinatedPolicies, by users",
        "JSON by policy: its roles end an update together; rollBackAfterSeconds if they may not",
        _NOW,
    ),
    Key(ROLLED_BACK, ANNOTATION, "RoleBasedGroups", "why roles went back together", _NOW),
    Key(
        FORMER_NODES,
        ANNOTATION,
        "RoleInstanceSets",
        "JSON: nodes by pod or component, which recreated pods prefer",
        _NOW,
    ),
    Key(GANG_DIALECT, ANNOTATION, f"{_USER}; pods", "scheduler whose gangs are made", _NOW),
    Key(
        MAX_UNAVAILABLE,
        ANNOTATION,
        "RoleBasedGroupSets, by users",
        "groups that may be missing in a rollout, or a percentage; 1 if not set",
        _NOW,
    ),
    Key(
        SET_TEMPLATE,
        ANNOTATION,
        "RoleBasedGroups of a set",
        "JSON: hash of the template, keys that came from it, when it was last applied",
        _NOW,
    ),
    Key(GROUP_NAME_VARIABLE, VARIABLE, "containers", "name of the group", UPSTREAM),
    Key(ROLE_NAME_VARIABLE, VARIABLE, "containers", "name of the role", UPSTREAM),
    Key(ROLE_INDEX_VARIABLE, VARIABLE, "containers", "ordinal of the instance", UPSTREAM),
    Key(INSTANCE_NAME_VARIABLE, VARIABLE, "containers", "name of the instance", UPSTREAM),
    Key(COMPONENT_NAME_VARIABLE, VARIABLE, "containers", "component", UPSTREAM),
    Key(COMPONENT_INDEX_VARIABLE, VARIABLE, "containers", "ordinal in the component", UPSTREAM),
    Key(LEADER_ADDRESS_VARIABLE, VARIABLE, "containers", "leader.service.namespace", UPSTREAM),
    Key(WORKER_INDEX_VARIABLE, VARIABLE, "containers", "leader 0, then workers", UPSTREAM),
    Key(GROUP_SIZE_VARIABLE, VARIABLE, "containers", "leader and workers", UPSTREAM),
    *(Key(old, VARIABLE, _OLD, f"as {now}", _NOW) for old, now in OLD_VARIABLES.items()),
)
