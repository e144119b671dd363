"""
How the objects of an InferenceService are named and labelled, for the checkers.

Nothing of how the operator names or labels them is used here.
"""

from kohort.cluster import kinds
from kohort.cluster.objects import Kind
from kohort.simulation.simulated_api import WorkloadLabels

_OME = ("ome.io", "v1beta1")
WORKLOAD = Kind(*_OME, "InferenceService", "inferenceservices")
RUNTIME = Kind(*_OME, "ClusterServingRuntime", "clusterservingruntimes", namespaced=False)
MODEL = Kind(*_OME, "ClusterBaseModel", "clusterbasemodels", namespaced=False)

_ROLES = ("workloads.x-k8s.io", "v1alpha2")
GROUP = Kind(*_ROLES, "RoleBasedGroup", "rolebasedgroups")
ROLE_SET = Kind(*_ROLES, "RoleInstanceSet", "roleinstancesets")
INSTANCE = Kind(*_ROLES, "RoleInstance", "roleinstances")
ADAPTER = Kind(*_ROLES, "RoleBasedGroupScalingAdapter", "rolebasedgroupscalingadapters")
LEADERS = Kind("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets")
ACCESS_ROLE = Kind("rbac.authorization.k8s.io", "v1", "Role", "roles")
ACCESS_BINDING = Kind("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings")

OWNER, COMPONENT = "ome.io/inferenceservice", "component"
MODE, ONE_GROUP = "ome.io/deploymentMode", "RoleBasedGroup"
FOLLOWS = "kohort.dev/auto-update"
HEAD = "ray.io/node-type"
ENGINE, DECODER, ROUTER = "engine", "decoder", "router"
COMPONENTS = (ENGINE, DECODER, ROUTER)
MAIN, ROUTER_MAIN = "ome-container", "router"

# What runs the pods of a service, in one form or the other.
FORMS = (kinds.DEPLOYMENT, LEADERS, GROUP)
LABELS = WorkloadLabels(OWNER, COMPONENT, (COMPONENT,), {COMPONENT: "other"})
