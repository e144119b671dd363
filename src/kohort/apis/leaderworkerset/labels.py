"""
Every label, annotation and variable of LeaderWorkerSet, each written once.

Schedulers, queues and other operators key on these texts. They never change.
"""

from kohort.cluster.objects import Kind

POD = Kind("", "v1", "Pod", "pods")
STATEFUL_SET = Kind("apps", "v1", "StatefulSet", "statefulsets")
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

# Names the gang of a pod, for the one provider that upstream has.
GROUP_NAME = "scheduling.k8s.io/group-name"
UPSTREAM_GANG = "volcano"

# Annotations of our own.
CARRIER = "kohort.dev/carrier"
STRATEGY = "kohort.dev/rollout-strategy"
GANG = "kohort.dev/gang"  # the dialect of its gangs, or none
NETWORK_TOPOLOGY = "kohort.dev/network-topology"  # as the field of that name, in JSON
MIN_READY_SECONDS = "kohort.dev/min-ready-seconds"
PROGRESS = "kohort.dev/progress"
RESTARTS = "kohort.dev/restarts"  # on the revision in force: the last failure of each group
# On the revision in force: the strategy that the operator was told, for those who only read.
STRATEGY_IN_USE = "kohort.dev/strategy-in-use"
# On a revision on which all groups were ready before another was wanted: undo goes there.
SERVED = "kohort.dev/served"

# Carriers.
STATEFULSETS, PODS = "statefulsets", "pods"

# Variables.
LEADER_ADDRESS_VARIABLE = "LWS_LEADER_ADDRESS"
GROUP_SIZE_VARIABLE = "LWS_GROUP_SIZE"
WORKER_INDEX_VARIABLE = "LWS_WORKER_INDEX"
TPU_WORKER_HOSTNAMES = "TPU_WORKER_HOSTNAMES"
TPU_WORKER_ID = "TPU_WORKER_ID"
TPU_NAME = "TPU_NAME"
TPU_PROCESS_ADDRESSES = "TPU_PROCESS_ADDRESSES"
TPU_PROCESS_PORT = "TPU_PROCESS_PORT"

TPU_RESOURCE = "google.com/tpu"

# The one field manager of upstream and of ours: an apply by us takes over what it wrote.
FIELD_MANAGER = "lws"
