"""The kinds that an InferenceService references, and the kinds that the operator creates for it."""

from kohort.cluster.kinds import DEPLOYMENT
from kohort.cluster.objects import Kind

GROUP, VERSION = "ome.io", "v1beta1"

INFERENCE_SERVICE = Kind(GROUP, VERSION, "InferenceService", "inferenceservices")
SERVING_RUNTIME = Kind(GROUP, VERSION, "ServingRuntime", "servingruntimes")
CLUSTER_SERVING_RUNTIME = Kind(
    GROUP, VERSION, "ClusterServingRuntime", "clusterservingruntimes", namespaced=False
)
BASE_MODEL = Kind(GROUP, VERSION, "BaseModel", "basemodels")
CLUSTER_BASE_MODEL = Kind(GROUP, VERSION, "ClusterBaseModel", "clusterbasemodels", namespaced=False)
FINE_TUNED_WEIGHT = Kind(GROUP, VERSION, "FineTunedWeight", "finetunedweights", namespaced=False)
ACCELERATOR_CLASS = Kind(GROUP, VERSION, "AcceleratorClass", "acceleratorclasses", namespaced=False)

ROLE = Kind("rbac.authorization.k8s.io", "v1", "Role", "roles")
ROLE_BINDING = Kind("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings")

SCALED_OBJECT = Kind("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects")
LEADER_WORKER_SET = Kind("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets")
ROLE_BASED_GROUP = Kind("workloads.x-k8s.io", "v1alpha2", "RoleBasedGroup", "rolebasedgroups")
SCALING_ADAPTER = Kind(
    "workloads.x-k8s.io",
    "v1alpha2",
    "RoleBasedGroupScalingAdapter",
    "rolebasedgroupscalingadapters",
)
COORDINATED_POLICY = Kind(
    "workloads.x-k8s.io", "v1alpha2", "CoordinatedPolicy", "coordinatedpolicies"
)
WARM_UP = Kind("workloads.x-k8s.io", "v1alpha2", "RoleBasedGroupWarmup", "rolebasedgroupwarmups")
RAY_CLUSTER = Kind("ray.io", "v1", "RayCluster", "rayclusters")
KNATIVE_SERVICE = Kind("serving.knative.dev", "v1", "Service", "services")
HTTP_ROUTE = Kind("gateway.networking.k8s.io", "v1", "HTTPRoute", "httproutes")
VIRTUAL_SERVICE = Kind("networking.istio.io", "v1beta1", "VirtualService", "virtualservices")
ISTIO_SIDECAR = Kind("networking.istio.io", "v1beta1", "Sidecar", "sidecars")

# Kinds that run pods.
WORKLOADS = (DEPLOYMENT, LEADER_WORKER_SET, RAY_CLUSTER, KNATIVE_SERVICE, ROLE_BASED_GROUP)

# Kinds that a cluster may lack, each with advice for the user.
OPTIONAL = {
    SCALED_OBJECT: "install KEDA, or remove the annotation ome.io/autoscalerClass: keda",
    LEADER_WORKER_SET: "install LeaderWorkerSet, or serve it here with --apis lws",
    ROLE_BASED_GROUP: "install RoleBasedGroup, or serve it here with --apis rbg",
    COORDINATED_POLICY: "install RoleBasedGroup, or remove kohort.dev/coordination-max-skew",
    WARM_UP: "install RoleBasedGroup, or remove kohort.dev/image-preload",
    RAY_CLUSTER: "install KubeRay, or use deployment mode MultiNode",
    KNATIVE_SERVICE: "install Knative Serving, or set minReplicas to 1 or more",
    HTTP_ROUTE: "install the Gateway API, or set enableGatewayAPI to false",
    VIRTUAL_SERVICE: "install Istio, or set disableIstioVirtualHost to true",
    ISTIO_SIDECAR: "install Istio, or remove the label sidecar.istio.io/inject",
}
