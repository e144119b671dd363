"""
Every label, annotation and variable of LeaderWorkerSet, each written once.

Schedulers, queues and other operators key on these texts. They never change.
"""

from kohort.apis import min_ready, tpu
from kohort.apis.keys import ANNOTATION, LABEL, UPSTREAM, VARIABLE, Key
from kohort.cluster.objects import Kind

KIND = Kind("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets")

PREFIX = "leaderworkerset.sigs.k8s.io/"

# Labels.
NAME = PREFIX + "name"
REVISION = PREFIX + "template-revision-hash"
GROUP_INDEX = PREFIX + "group-index"
GROUP_KEY = PREFIX + "group-key"
WORKER_INDEX = PREFIX + "worker-index"
SUBGROUP_INDEX = PREFIX + "subgroup-index"
SUBGROUP_KEY = PREFIX + "subgroup-key"

# Annotations.
SIZE = PREFIX + "size"
REPLICAS = PREFIX + "replicas"
LEADER_NAME = PREFIX + "leader-name"
EXCLUSIVE_TOPOLOGY = PREFIX + "exclusive-topology"
SUBGROUP_EXCLUSIVE_TOPOLOGY = PREFIX + "subgroup-exclusive-topology"
SUBGROUP_SIZE = PREFIX + "subgroup-size"
SUBGROUP_POLICY_TYPE = PREFIX + "subgroup-policy-type"
SUBDOMAIN_POLICY = PREFIX + "subdomainPolicy"
LEADER_REQUESTS_TPUS = PREFIX + "leader-requests-tpus"
RECREATE_AFTER_START = PREFIX + "experimental-recreate-group-after-start"

# Names the gang of a pod, for the one gang scheduler that upstream supports.
GROUP_NAME = "scheduling.k8s.io/group-name"
UPSTREAM_GANG = "volcano"

# Annotations of our own.
CARRIER = "kohort.dev/carrier"
FORCE = "kohort.dev/force"
STRATEGY = "kohort.dev/rollout-strategy"
GANG = "kohort.dev/gang"  # the dialect of its gangs, or none
NETWORK_TOPOLOGY = "kohort.dev/network-topology"  # as the field of that name, in JSON
PROGRESS = "kohort.dev/progress"
RESTARTS = "kohort.dev/restarts"  # on the revision in force: the last failure of each group
# On the revision in force: the strategy from the operator's flag, for commands that only read.
STRATEGY_IN_USE = "kohort.dev/strategy-in-use"
# On a revision on which all groups were ready before the next one: undo goes there.
SERVED = "kohort.dev/served"

# Carriers.
STATEFULSETS, PODS = "statefulsets", "pods"

# Variables.
LEADER_ADDRESS_VARIABLE = "LWS_LEADER_ADDRESS"
GROUP_SIZE_VARIABLE = "LWS_GROUP_SIZE"
WORKER_INDEX_VARIABLE = "LWS_WORKER_INDEX"

# Upstream and we share one field manager: our apply takes over the fields that upstream wrote.
FIELD_MANAGER = "lws"

MIN_READY_SECONDS = min_ready.MIN_READY_SECONDS

_NOW = "0.1"
_SETS = "StatefulSets"
_OWN = "LeaderWorkerSets, by users"

KEYS = (
    Key(NAME, LABEL, f"pods, {_SETS}, Services, PodGroups, ControllerRevisions", "name", UPSTREAM),
    Key(REVISION, LABEL, f"pods, {_SETS}, PodGroups, ControllerRevisions", "template", UPSTREAM),
    Key(GROUP_INDEX, LABEL, f"pods, {_SETS}, PodGroups", "ordinal of the group", UPSTREAM),
    Key(GROUP_KEY, LABEL, f"pods, {_SETS}", "SHA-1 of namespace/leader pod", UPSTREAM),
    Key(WORKER_INDEX, LABEL, "pods", "0 for the leader, then workers", UPSTREAM),
    Key(SUBGROUP_INDEX, LABEL, "pods", "ordinal of the subgroup", UPSTREAM),
    Key(SUBGROUP_KEY, LABEL, "pods", "SHA-1 of leader pod/subgroup", UPSTREAM),
    Key(SIZE, ANNOTATION, "pods", "pods of the group", UPSTREAM),
    Key(REPLICAS, ANNOTATION, f"{_SETS} of leaders", "spec.replicas", UPSTREAM),
    Key(LEADER_NAME, ANNOTATION, "worker pods", "leader pod of the group", UPSTREAM),
    Key(EXCLUSIVE_TOPOLOGY, ANNOTATION, f"{_OWN}; pods", "node label of a group alone", UPSTREAM),
    Key(SUBGROUP_EXCLUSIVE_TOPOLOGY, ANNOTATION, f"{_OWN}; pods", "of a subgroup", UPSTREAM),
    Key(SUBGROUP_SIZE, ANNOTATION, "pods", "pods in a subgroup", UPSTREAM),
    Key(SUBGROUP_POLICY_TYPE, ANNOTATION, "pods", "LeaderWorker or LeaderExcluded", UPSTREAM),
    Key(SUBDOMAIN_POLICY, ANNOTATION, "leader pods", "UniquePerReplica", UPSTREAM),
    Key(LEADER_REQUESTS_TPUS, ANNOTATION, "worker pods", "true if the leader has TPUs", UPSTREAM),
    Key(RECREATE_AFTER_START, ANNOTATION, _OWN, "restart groups once they have started", UPSTREAM),
    Key(GROUP_NAME, ANNOTATION, "pods", "the PodGroup, where gangs are made", UPSTREAM),
    Key(CARRIER, ANNOTATION, f"{_OWN}; pods", "statefulsets, pods or modelserving", _NOW),
    Key(FORCE, ANNOTATION, _OWN, "true: pods of another carrier may go", _NOW),
    Key(STRATEGY, ANNOTATION, _OWN, "rollout strategy of the planner", _NOW),
    Key(GANG, ANNOTATION, f"{_OWN}; pods", "dialect of its gangs, or none", _NOW),
    Key(NETWORK_TOPOLOGY, ANNOTATION, _OWN, "spec.networkTopology as JSON", _NOW),
    Key(MIN_READY_SECONDS, ANNOTATION, _OWN, "how long a group must be ready", _NOW),
    Key(PROGRESS, ANNOTATION, "ControllerRevisions", "how far a rollout has come", _NOW),
    Key(RESTARTS, ANNOTATION, "ControllerRevisions", "last failure of each group", _NOW),
    Key(STRATEGY_IN_USE, ANNOTATION, "ControllerRevisions", "strategy of the operator", _NOW),
    Key(SERVED, ANNOTATION, "ControllerRevisions", "all groups were ready on it", _NOW),
    Key(LEADER_ADDRESS_VARIABLE, VARIABLE, "containers", "host name of the leader", UPSTREAM),
    Key(GROUP_SIZE_VARIABLE, VARIABLE, "containers", "pods of the group", UPSTREAM),
    Key(WORKER_INDEX_VARIABLE, VARIABLE, "containers", "0 for the leader", UPSTREAM),
    *tpu.KEYS,
)
