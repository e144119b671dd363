"""
Every label, annotation and variable of ModelServing, each written once.

Routers, autoscalers and schedulers key on these texts. They never change.
"""

from dataclasses import replace

from kohort.apis import min_ready, tpu
from kohort.apis.keys import ANNOTATION, LABEL, UPSTREAM, VARIABLE, Key
from kohort.cluster.objects import Kind

KIND = Kind("workload.serving.volcano.sh", "v1alpha1", "ModelServing", "modelservings")
# The group's former name, which documents still use; served beside the current one.
ALIAS_KIND = Kind("workload.volcano.sh", "v1alpha1", "ModelServing", "modelservings")
KINDS = (KIND, ALIAS_KIND)

PREFIX = "modelserving.volcano.sh/"

# Labels of upstream.
NAME = PREFIX + "name"
GROUP_NAME = PREFIX + "group-name"
ROLE = PREFIX + "role"
ROLE_ID = PREFIX + "role-id"
ENTRY = PREFIX + "entry"
REVISION = PREFIX + "revision"
ROLE_TEMPLATE_HASH = PREFIX + "role-template-hash"

# Labels that LeaderWorkerSet has twins of.
GROUP_INDEX = PREFIX + "group-index"
GROUP_HASH = PREFIX + "group-hash"
SUBGROUP_INDEX = PREFIX + "subgroup-index"
SUBGROUP_HASH = PREFIX + "subgroup-hash"

# Annotations that LeaderWorkerSet has twins of.
ENTRY_NAME = PREFIX + "entry-name"
GROUP_SIZE = PREFIX + "group-size"
REPLICAS = PREFIX + "replicas"
SUBGROUP_SIZE = PREFIX + "subgroup-size"
SUBGROUP_POLICY_TYPE = PREFIX + "subgroup-policy-type"
EXCLUSIVE_TOPOLOGY = PREFIX + "exclusive-topology"
SUBGROUP_EXCLUSIVE_TOPOLOGY = PREFIX + "subgroup-exclusive-topology"
SUBDOMAIN_POLICY = PREFIX + "subdomain-policy"
NETWORK_TOPOLOGY = PREFIX + "network-topology"

# They identify a workload's objects: no template and no plugin may change them.
RESERVED = (
    NAME,
    GROUP_NAME,
    ROLE,
    ROLE_ID,
    ENTRY,
    REVISION,
    ROLE_TEMPLATE_HASH,
    GROUP_INDEX,
    GROUP_HASH,
)
RESERVED_ANNOTATIONS = (ENTRY_NAME, GROUP_SIZE, REPLICAS, NETWORK_TOPOLOGY)

# Annotations of Kubernetes and Volcano.
GANG_NAME = "scheduling.k8s.io/group-name"
TASK_SPEC = "volcano.sh/task-spec"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
QUEUE_NAME = "scheduling.volcano.sh/queue-name"

# Annotations of our own.
GANG = "kohort.dev/gang"
MAX_SURGE = "kohort.dev/max-surge"
STRATEGY = "kohort.dev/rollout-strategy"
MIN_READY_SECONDS = min_ready.MIN_READY_SECONDS
READY_PLUGINS = "kohort.dev/ready-plugins"  # on a pod: when it became ready, as plugins know
ENTRY_UID = "kohort.dev/entry-uid"  # on a worker: the entry pod that it was made for
RESTARTS = "kohort.dev/restarts"  # on a revision: failures, so that waits outlive the operator
SERVED = "kohort.dev/served"  # on a revision: all groups were ready on it
TEMPLATE_HASH = "kohort.dev/template-hash"  # on a revision: our hash of its roles
ROLE_HASHES = "kohort.dev/role-hashes"  # on a revision: by role, the hashes that its pods may carry
# On a revision: by role, the instances that a group had when it was last in force, where that is
# not what it stores: a partition keeps groups as they were, and scaling makes no revision.
ROLE_REPLICAS = "kohort.dev/role-replicas"
# On the revision in force: by role, the revision of the instances that its partition keeps.
KEPT_REVISIONS = "kohort.dev/kept-revisions"

# Variables.
GROUP_SIZE_VARIABLE = "GROUP_SIZE"
ENTRY_ADDRESS_VARIABLE = "ENTRY_ADDRESS"
WORKER_INDEX_VARIABLE = "WORKER_INDEX"
VARIABLES = (GROUP_SIZE_VARIABLE, ENTRY_ADDRESS_VARIABLE, WORKER_INDEX_VARIABLE)

# Keys of LeaderWorkerSet, which the plugins `lws` and `lws-standard-labels` write.
LWS_KIND = "LeaderWorkerSet"
LWS_PREFIX = "leaderworkerset.sigs.k8s.io/"
LWS_NAME = LWS_PREFIX + "name"
LWS_WORKER_INDEX = LWS_PREFIX + "worker-index"
LWS_GROUP_INDEX = LWS_PREFIX + "group-index"
LWS_GROUP_KEY = LWS_PREFIX + "group-key"
LWS_REVISION = LWS_PREFIX + "template-revision-hash"
LWS_SUBGROUP_INDEX = LWS_PREFIX + "subgroup-index"
LWS_SUBGROUP_KEY = LWS_PREFIX + "subgroup-key"
LWS_SIZE = LWS_PREFIX + "size"
LWS_REPLICAS = LWS_PREFIX + "replicas"
LWS_LEADER_NAME = LWS_PREFIX + "leader-name"
LWS_SUBGROUP_SIZE = LWS_PREFIX + "subgroup-size"
LWS_SUBGROUP_POLICY_TYPE = LWS_PREFIX + "subgroup-policy-type"
LWS_EXCLUSIVE_TOPOLOGY = LWS_PREFIX + "exclusive-topology"
LWS_SUBGROUP_EXCLUSIVE_TOPOLOGY = LWS_PREFIX + "subgroup-exclusive-topology"
LWS_SUBDOMAIN_POLICY = LWS_PREFIX + "subdomainPolicy"
LWS_LEADER_REQUESTS_TPUS = LWS_PREFIX + "leader-requests-tpus"
LWS_LEADER_ADDRESS_VARIABLE = "LWS_LEADER_ADDRESS"
LWS_GROUP_SIZE_VARIABLE = "LWS_GROUP_SIZE"
LWS_WORKER_INDEX_VARIABLE = "LWS_WORKER_INDEX"

_NOW = "0.1"
_ALL = "pods, Services, PodGroups"
_PLUGIN = "pods, by plugin lws"
_BY_USERS = "ModelServings, by users"

KEYS = (
    Key(NAME, LABEL, f"{_ALL}, ControllerRevisions", "name of the ModelServing", UPSTREAM),
    Key(GROUP_NAME, LABEL, _ALL, "name of the group: sample-0", UPSTREAM),
    Key(ROLE, LABEL, "pods, Services", "name of the role", UPSTREAM),
    Key(ROLE_ID, LABEL, "pods, Services", "the role's instance: decode-1", UPSTREAM),
    Key(ENTRY, LABEL, "entry pods", "true", UPSTREAM),
    Key(REVISION, LABEL, "pods, ControllerRevisions", "hash of the template", UPSTREAM),
    Key(ROLE_TEMPLATE_HASH, LABEL, "pods", "hash of the role's template", UPSTREAM),
    Key(GROUP_INDEX, LABEL, _ALL, "ordinal of the group", _NOW),
    Key(GROUP_HASH, LABEL, _ALL, "SHA-1 of namespace/group name", _NOW),
    Key(SUBGROUP_INDEX, LABEL, _PLUGIN, "ordinal of the subgroup in its role instance", _NOW),
    Key(SUBGROUP_HASH, LABEL, _PLUGIN, "SHA-1 of entry pod/subgroup", _NOW),
    Key(ENTRY_NAME, ANNOTATION, "worker pods", "entry pod of the same role instance", _NOW),
    Key(GROUP_SIZE, ANNOTATION, "pods", "pods of the role instance: 1 + workerReplicas", _NOW),
    Key(REPLICAS, ANNOTATION, "pods", "spec.replicas, kept up to date", _NOW),
    Key(SUBGROUP_SIZE, ANNOTATION, _PLUGIN, "pods in a subgroup", _NOW),
    Key(SUBGROUP_POLICY_TYPE, ANNOTATION, _PLUGIN, "LeaderWorker or LeaderExcluded", _NOW),
    Key(EXCLUSIVE_TOPOLOGY, ANNOTATION, _PLUGIN, "node label a group has to itself", _NOW),
    Key(SUBGROUP_EXCLUSIVE_TOPOLOGY, ANNOTATION, _PLUGIN, "the same of a subgroup", _NOW),
    Key(SUBDOMAIN_POLICY, ANNOTATION, _PLUGIN, "Shared or UniquePerReplica", _NOW),
    Key(
        NETWORK_TOPOLOGY,
        ANNOTATION,
        "pods",
        "JSON of the topology policies in force when the pod was made",
        _NOW,
    ),
    Key(GANG_NAME, ANNOTATION, "pods, PodGroups", "the PodGroup, where gangs are made", UPSTREAM),
    Key(TASK_SPEC, ANNOTATION, "pods", "the role's instance, where gangs are made", UPSTREAM),
    Key(DELETION_COST, ANNOTATION, "pods, by users", "read when groups are removed", UPSTREAM),
    Key(QUEUE_NAME, ANNOTATION, _BY_USERS, "queue of its PodGroups", UPSTREAM),
    Key(GANG, ANNOTATION, _BY_USERS, "dialect of its gangs, or none", _NOW),
    Key(MAX_SURGE, ANNOTATION, _BY_USERS, "groups added in a rollout", _NOW),
    Key(STRATEGY, ANNOTATION, _BY_USERS, "rollout strategy", _NOW),
    Key(MIN_READY_SECONDS, ANNOTATION, _BY_USERS, "how long a group must be ready", _NOW),
    Key(
        READY_PLUGINS,
        ANNOTATION,
        "pods",
        "when it became ready, at the last call of plugins",
        _NOW,
    ),
    Key(ENTRY_UID, ANNOTATION, "worker pods", "uid of the entry they were made for", _NOW),
    Key(RESTARTS, ANNOTATION, "ControllerRevisions", "failures of groups and instances", _NOW),
    Key(SERVED, ANNOTATION, "ControllerRevisions", "true if all groups were ready on it", _NOW),
    Key(TEMPLATE_HASH, ANNOTATION, "ControllerRevisions", "Kohort's hash of its roles", _NOW),
    Key(ROLE_HASHES, ANNOTATION, "ControllerRevisions", "JSON: hashes by role", _NOW),
    Key(
        ROLE_REPLICAS,
        ANNOTATION,
        "ControllerRevisions",
        "JSON: by role, its instances in a group when the revision was last in force",
        _NOW,
    ),
    Key(
        KEPT_REVISIONS,
        ANNOTATION,
        "ControllerRevisions",
        "JSON: by role, the revision of the instances that its partition keeps",
        _NOW,
    ),
    Key(GROUP_SIZE_VARIABLE, VARIABLE, "containers", "pods of the role instance", UPSTREAM),
    Key(ENTRY_ADDRESS_VARIABLE, VARIABLE, "containers", "entry pod.namespace", UPSTREAM),
    Key(WORKER_INDEX_VARIABLE, VARIABLE, "containers", "0 for the entry, then workers", UPSTREAM),
    Key(LWS_NAME, LABEL, _PLUGIN, "name of the ModelServing, or of its LeaderWorkerSet", _NOW),
    Key(LWS_WORKER_INDEX, LABEL, _PLUGIN, "as WORKER_INDEX, or counted over the group", _NOW),
    Key(LWS_GROUP_INDEX, LABEL, _PLUGIN, "ordinal of the group", _NOW),
    Key(LWS_GROUP_KEY, LABEL, _PLUGIN, "SHA-1 of the group's name", _NOW),
    Key(LWS_REVISION, LABEL, _PLUGIN, "hash of the template", _NOW),
    Key(LWS_SUBGROUP_INDEX, LABEL, _PLUGIN, "ordinal of the subgroup", _NOW),
    Key(LWS_SUBGROUP_KEY, LABEL, _PLUGIN, "SHA-1 of entry pod/subgroup", _NOW),
    Key(LWS_SIZE, ANNOTATION, _PLUGIN, "as GROUP_SIZE, or pods of the group", _NOW),
    Key(LWS_REPLICAS, ANNOTATION, _PLUGIN, "spec.replicas, kept up to date", _NOW),
    Key(LWS_LEADER_NAME, ANNOTATION, "worker pods, by plugin lws", "entry pod", _NOW),
    Key(LWS_SUBGROUP_SIZE, ANNOTATION, _PLUGIN, "pods in a subgroup", _NOW),
    Key(LWS_SUBGROUP_POLICY_TYPE, ANNOTATION, _PLUGIN, "LeaderWorker or LeaderExcluded", _NOW),
    Key(LWS_EXCLUSIVE_TOPOLOGY, ANNOTATION, _PLUGIN, "node label a group has to itself", _NOW),
    Key(LWS_SUBGROUP_EXCLUSIVE_TOPOLOGY, ANNOTATION, _PLUGIN, "the same of a subgroup", _NOW),
    Key(LWS_LEADER_REQUESTS_TPUS, ANNOTATION, _PLUGIN, "true if the entry holds TPUs", _NOW),
    Key(LWS_SUBDOMAIN_POLICY, ANNOTATION, _PLUGIN, "Shared or UniquePerReplica", _NOW),
    Key(LWS_LEADER_ADDRESS_VARIABLE, VARIABLE, _PLUGIN, "as ENTRY_ADDRESS", _NOW),
    Key(LWS_GROUP_SIZE_VARIABLE, VARIABLE, _PLUGIN, "as GROUP_SIZE", _NOW),
    Key(LWS_WORKER_INDEX_VARIABLE, VARIABLE, _PLUGIN, "as WORKER_INDEX", _NOW),
    *(replace(key, objects=f"{_PLUGIN}, with TPUs", since=_NOW) for key in tpu.KEYS),
)
