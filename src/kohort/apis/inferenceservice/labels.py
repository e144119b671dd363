"""
Every label, annotation and variable of InferenceService, each written once.

Routers, model agents, autoscalers and dashboards key on these texts. They never change.
"""

from kohort.apis.inferenceservice import kinds
from kohort.apis.keys import ANNOTATION, LABEL, UPSTREAM, VARIABLE, Key

KIND = kinds.INFERENCE_SERVICE  # the page of keys is made from KIND and KEYS of each API
PREFIX = "ome.io/"

# Labels of the objects that the operator creates for a service.
SERVICE_NAME = PREFIX + "inferenceservice"
COMPONENT = "component"
APP = "app"
RUNTIME_LABEL = "serving-runtime"
FINE_TUNED = "fine-tuned-serving"
MODEL_NAME_LABEL = "base-model-name"
MODEL_SIZE_LABEL = "base-model-size"
MODEL_TYPE_LABEL = "base-model-type"
MODEL_VENDOR_LABEL = "base-model-vendor"
STRATEGY_LABEL = "fine-tuned-weight-ft-strategy"
MERGED_LABEL = "fine-tuned-serving-with-merged-weights"
NODE_TYPE = "ray.io/node-type"
WORKER_INDEX = "leaderworkerset.sigs.k8s.io/worker-index"
VOLCANO_QUEUE_LABEL = "volcano.sh/queue-name"
KUEUE_QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
KUEUE_PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
RAY_PRIORITY_LABEL = "ray.io/priority-class-name"
RAY_SCHEDULER_LABEL = "ray.io/scheduler-name"
VISIBILITY = "networking.knative.dev/visibility"
SIDECAR_INJECT = "sidecar.istio.io/inject"
# What an in-place update of a RoleBasedGroup leaves on a pod.
IN_PLACE_STATE = "rbg.workloads.x-k8s.io/inplace-update-state"
MODEL_STATUS_LABEL = "models.ome/basemodel-status"  # on the ConfigMaps of the model agent
EXTERNAL_COMPONENT = "external-service"
CLUSTER_LOCAL = "cluster-local"

# Annotations that users write.
DEPLOYMENT_MODE = PREFIX + "deploymentMode"
AUTOSCALER_CLASS = PREFIX + "autoscalerClass"
METRICS = PREFIX + "metrics"
TARGET_UTILIZATION = PREFIX + "targetUtilizationPercentage"
ACCELERATOR = PREFIX + "accelerator-class"
SERVICE_TYPE = PREFIX + "service-type"
LOAD_BALANCER_IP = PREFIX + "load-balancer-ip"
TAG_ROUTING = PREFIX + "enable-tag-routing"
INJECT_MODEL_INIT = PREFIX + "inject-model-init"
INJECT_ADAPTER = PREFIX + "inject-fine-tuned-adapter"
INJECT_SIDECAR = PREFIX + "inject-serving-sidecar"
MERGED_WEIGHTS = PREFIX + "fine-tuned-serving-with-merged-weights"
FINE_TUNING_STRATEGY = PREFIX + "fine-tuned-weight-ft-strategy"
MODEL_NAME = PREFIX + "base-model-name"
MODEL_VENDOR = PREFIX + "base-model-vendor"
MODEL_FORMAT = PREFIX + "base-model-format"
MODEL_FORMAT_VERSION = PREFIX + "base-model-format-version"
RUNTIME = PREFIX + "serving-runtime"
DECRYPTION_KEY = PREFIX + "base-model-decryption-key-name"
DECRYPTION_SECRET = PREFIX + "base-model-decryption-secret-name"
DISABLE_DECRYPTION = PREFIX + "disable-model-decryption"
VOLCANO_QUEUE = PREFIX + "volcano-queue"
DEDICATED_CLUSTER = PREFIX + "dedicated-ai-cluster"
KUEUE_ENABLED = "kueue-enabled"
VOLCANO = "volcano"
METRIC_AGGREGATION = PREFIX + "enable-metric-aggregation"
PROMETHEUS_SCRAPE = PREFIX + "enable-prometheus-scraping"
PROMETHEUS_PORT = "prometheus.ome.io/port"
PROMETHEUS_PATH = "prometheus.ome.io/path"
RDMA_INJECT = "rdma.ome.io/auto-inject"
RDMA_PROFILE = "rdma.ome.io/profile"
RDMA_CONTAINER = "rdma.ome.io/container-name"
KEDA_THRESHOLD = "autoscaling.keda.sh/threshold"
KEDA_OPERATOR = "autoscaling.keda.sh/operator"
KEDA_SERVER = "autoscaling.keda.sh/prometheus.serverAddress"
KEDA_QUERY = "autoscaling.keda.sh/prometheus.query"
INGRESS_DOMAIN_TEMPLATE = PREFIX + "ingress-domain-template"
INGRESS_DOMAIN = PREFIX + "ingress-domain"
INGRESS_ADDITIONAL_DOMAINS = PREFIX + "ingress-additional-domains"
INGRESS_URL_SCHEME = PREFIX + "ingress-url-scheme"
INGRESS_PATH_TEMPLATE = PREFIX + "ingress-path-template"
INGRESS_DISABLE_VIRTUAL_HOST = PREFIX + "ingress-disable-istio-virtualhost"
INGRESS_DISABLE_CREATION = PREFIX + "ingress-disable-creation"
DEPRECATION_WARNING = PREFIX + "deprecation-warning"
MODEL_CATEGORY = "models.ome.io/category"
MODEL_READY_PREFIX = "models.ome.io/"
RAY_UNAVAILABLE = "raycluster/unavailable-since"

# Kohort's own annotations, which users write on a service.
SKIP_MODEL_READY = PREFIX + "skip-model-ready-node-selector"  # proposed upstream as ome#555
COORDINATION_SKEW = "kohort.dev/coordination-max-skew"
COORDINATION_RATIO = "kohort.dev/coordination-ratio"
UPDATE_TYPE = "kohort.dev/rolling-update-type"
IMAGE_PRELOAD = "kohort.dev/image-preload"
AUTO_UPDATE = "kohort.dev/auto-update"

# Kohort's own annotation on workloads: hashes of the service and of the rendered spec.
RENDERED_FROM = "kohort.dev/rendered-from"
# The finalizer that upstream's controller puts on every service, for no cleanup.
FINALIZER = "inferenceservice.finalizers"

# Annotations of other projects that the operator writes.
GROUP_PREFIX = "rbg.workloads.x-k8s.io/"
POLICY_RATIO = "kohort.dev/ratio"
ROLE_WORKLOAD_TYPE = "rbg.workloads.x-k8s.io/role-workload-type"
KNATIVE_MIN_SCALE = "autoscaling.knative.dev/min-scale"
KNATIVE_MAX_SCALE = "autoscaling.knative.dev/max-scale"
KNATIVE_CLASS = "autoscaling.knative.dev/class"
KNATIVE_TARGET = "autoscaling.knative.dev/target"
KNATIVE_METRIC = "autoscaling.knative.dev/metric"
ROLLOUT_DURATION = "serving.knative.dev/rollout-duration"
PASSTHROUGH = "serving.knative.openshift.io/enablePassthrough"
SCRAPE_KEYS = ("prometheus.io/path", "prometheus.io/port", "prometheus.io/scrape")

# Annotations of a service that the operator copies to no object.
NOT_PROPAGATED = (
    KNATIVE_MIN_SCALE,
    KNATIVE_MAX_SCALE,
    "internal.ome.io/storage-initializer-sourceuri",
    "kubectl.kubernetes.io/last-applied-configuration",
)
# Annotations that tools and autoscaling write on a service: on pods they would cause restarts.
NOT_ON_PODS_PREFIXES = (
    PREFIX + "ingress-",
    "autoscaling.keda.sh/",
    "kubectl.kubernetes.io/",
    "argocd.argoproj.io/",
    "meta.helm.sh/",
    "kohort.dev/",
)
NOT_ON_PODS = (
    AUTOSCALER_CLASS,
    METRICS,
    TARGET_UTILIZATION,
    SERVICE_TYPE,
    LOAD_BALANCER_IP,
    DEPRECATION_WARNING,
)
# Annotations that only pods need: not copied to Services.
POD_ONLY_PREFIXES = (
    "k8s.grafana.com/",
    "loki.grafana.com/",
    "prometheus.io/",
    "networking.gke.io/",
    "rdma.ome.io/",
)
POD_ONLY = (INJECT_MODEL_INIT, INJECT_ADAPTER, INJECT_SIDECAR)
# Annotations that cloud providers read from the external Service.
EXTERNAL_PREFIXES = (
    "service.beta.kubernetes.io/",
    "cloud.google.com/",
    "service.kubernetes.io/",
)

# Variables of runner containers.
MODEL_PATH_VARIABLE = "MODEL_PATH"
SERVED_MODEL_NAME_VARIABLE = "SERVED_MODEL_NAME"
PARALLELISM_VARIABLE = "PARALLELISM_SIZE"
TFEW_PATH_VARIABLE = "TFEW_PATH"
ADAPTER_PATH_VARIABLE = "ADAPTER_PATH"
# Variables that images for LeaderWorkerSet read, and RoleBasedGroup's variables of equal value.
VARIABLE_ALIASES = {
    "LWS_LEADER_ADDRESS": "RBG_LWP_LEADER_ADDRESS",
    "LWS_GROUP_SIZE": "RBG_LWP_GROUP_SIZE",
    "LWS_WORKER_INDEX": "RBG_LWP_WORKER_INDEX",
}

_NOW = "0.1"
_MADE = "all objects made for a service"
_USERS = "InferenceServices, by users"
_PODS = "pods and workloads"


def _user(text: str, value: str, since: str = UPSTREAM) -> Key:
    return Key(text, ANNOTATION, _USERS, value, since)


def _made(text: str, value: str) -> Key:
    return Key(text, ANNOTATION, _PODS, value, UPSTREAM)


KEYS = (
    Key(SERVICE_NAME, LABEL, _MADE, "name of the InferenceService", UPSTREAM),
    Key(COMPONENT, LABEL, _MADE, "engine, decoder, router or external-service", UPSTREAM),
    Key(APP, LABEL, _PODS, "name of the component", UPSTREAM),
    Key(RUNTIME_LABEL, LABEL, _PODS, "name of the runtime", UPSTREAM),
    Key(FINE_TUNED, LABEL, _PODS, "true with fine-tuned weights", UPSTREAM),
    Key(MODEL_NAME_LABEL, LABEL, _PODS, "name of the model", UPSTREAM),
    Key(MODEL_SIZE_LABEL, LABEL, _PODS, "category of the model, or SMALL", UPSTREAM),
    Key(MODEL_TYPE_LABEL, LABEL, _PODS, "Serving", UPSTREAM),
    Key(MODEL_VENDOR_LABEL, LABEL, _PODS, "vendor of the model", UPSTREAM),
    Key(STRATEGY_LABEL, LABEL, _PODS, "how weights were tuned", UPSTREAM),
    Key(MERGED_LABEL, LABEL, _PODS, "true with merged weights", UPSTREAM),
    Key(NODE_TYPE, LABEL, "leader pods", "head", UPSTREAM),
    Key(WORKER_INDEX, LABEL, "leader pods of a RoleBasedGroup", "0", _NOW),
    Key(VOLCANO_QUEUE_LABEL, LABEL, _PODS, "queue of Volcano", UPSTREAM),
    Key(KUEUE_QUEUE_LABEL, LABEL, _PODS, "queue of Kueue", UPSTREAM),
    Key(KUEUE_PRIORITY_LABEL, LABEL, _PODS, "priority in Kueue", UPSTREAM),
    Key(RAY_PRIORITY_LABEL, LABEL, _PODS, "priority of a Ray cluster", UPSTREAM),
    Key(RAY_SCHEDULER_LABEL, LABEL, _PODS, "volcano, where the service asks for it", UPSTREAM),
    Key(VISIBILITY, LABEL, _USERS, "cluster-local: no external Service", UPSTREAM),
    Key(
        SIDECAR_INJECT,
        LABEL,
        _USERS,
        "true: a Sidecar of Istio for a multi-node component",
        UPSTREAM,
    ),
    Key(MODEL_STATUS_LABEL, LABEL, "ConfigMaps of the model agent", "true", UPSTREAM),
    Key(IN_PLACE_STATE, ANNOTATION, "pods of a RoleBasedGroup", "read: JSON of an update", _NOW),
    _user(DEPLOYMENT_MODE, "RawDeployment, Serverless, MultiNode, RoleBasedGroup, …"),
    _user(AUTOSCALER_CLASS, "hpa, keda or external"),
    _user(METRICS, "cpu or memory, where scaleMetric is not set"),
    _user(TARGET_UTILIZATION, "1 to 100; wins over scaleTarget"),
    _user(ACCELERATOR, "the runtime must support this accelerator"),
    _user(SERVICE_TYPE, "LoadBalancer, NodePort or ClusterIP"),
    _user(LOAD_BALANCER_IP, "address for a LoadBalancer"),
    _user(TAG_ROUTING, "true: tag latest on Knative's traffic"),
    _user(INJECT_MODEL_INIT, "true: a container that decrypts the model first"),
    _user(INJECT_SIDECAR, "true: a container that swaps weights"),
    _user(DISABLE_DECRYPTION, "true: the model is not encrypted"),
    _user(VOLCANO_QUEUE, "queue of Volcano"),
    _user(DEDICATED_CLUSTER, "queue of Kueue or Volcano"),
    _user(METRIC_AGGREGATION, "true: metrics of all containers at one port"),
    _user(PROMETHEUS_SCRAPE, "true: annotations for Prometheus on pods"),
    _user(PROMETHEUS_PORT, "port of the container's metrics"),
    _user(PROMETHEUS_PATH, "path of the container's metrics"),
    _user(RDMA_INJECT, "true: what RDMA needs in the container"),
    _user(RDMA_PROFILE, "oci-roce"),
    _user(RDMA_CONTAINER, "the container; ome-container without it"),
    _user(KEDA_THRESHOLD, "threshold of the query"),
    _user(KEDA_OPERATOR, "how the query is compared"),
    _user(KEDA_SERVER, "address of Prometheus"),
    _user(KEDA_QUERY, "query of Prometheus"),
    _user(INGRESS_DOMAIN_TEMPLATE, "template of host names"),
    _user(INGRESS_DOMAIN, "domain of host names"),
    _user(INGRESS_ADDITIONAL_DOMAINS, "further domains, with commas"),
    _user(INGRESS_URL_SCHEME, "http or https"),
    _user(INGRESS_PATH_TEMPLATE, "template of a path on the domain"),
    _user(INGRESS_DISABLE_VIRTUAL_HOST, "true: no VirtualService"),
    _user(INGRESS_DISABLE_CREATION, "true: a Service instead of an Ingress"),
    _user(SKIP_MODEL_READY, "true: pods do not wait for a node that has the model", _NOW),
    Key(
        POLICY_RATIO,
        ANNOTATION,
        "CoordinatedPolicies made for a service",
        "JSON: units by role, by policy",
        _NOW,
    ),
    _user(COORDINATION_SKEW, "how far roles may be apart in a rollout, such as 10%", _NOW),
    _user(COORDINATION_RATIO, "units that grow together, such as engine=1,decoder=2", _NOW),
    _user(UPDATE_TYPE, "InPlaceIfPossible, InPlaceOnly or RecreatePod", _NOW),
    _user(IMAGE_PRELOAD, "true: images are pulled before pods of a RoleBasedGroup roll", _NOW),
    _user(AUTO_UPDATE, "true: an edit of the runtime or the model restarts pods at once", _NOW),
    Key(RENDERED_FROM, ANNOTATION, "workloads", "hashes of the service and of the spec", _NOW),
    Key(
        DEPRECATION_WARNING,
        ANNOTATION,
        "InferenceServices",
        "written with spec.predictor",
        UPSTREAM,
    ),
    _made(INJECT_ADAPTER, "name of the FineTunedWeight"),
    _made(MERGED_WEIGHTS, "true with merged weights"),
    _made(FINE_TUNING_STRATEGY, "how weights were tuned"),
    _made(MODEL_NAME, "name of the model"),
    _made(MODEL_VENDOR, "vendor of the model"),
    _made(MODEL_FORMAT, "format of the model"),
    _made(MODEL_FORMAT_VERSION, "version of the format"),
    _made(RUNTIME, "name of the runtime"),
    _made(DECRYPTION_KEY, "from the model"),
    _made(DECRYPTION_SECRET, "from the model"),
    Key(MODEL_CATEGORY, ANNOTATION, "models, by users", "LARGE, SMALL, …", UPSTREAM),
    Key(RAY_UNAVAILABLE, ANNOTATION, "RayClusters", "since when the prober fails", UPSTREAM),
    Key(
        ROLE_WORKLOAD_TYPE,
        ANNOTATION,
        "component annotations, by users",
        "the role's workload",
        UPSTREAM,
    ),
    Key(KNATIVE_MIN_SCALE, ANNOTATION, "Knative Services", "minReplicas", UPSTREAM),
    Key(KNATIVE_MAX_SCALE, ANNOTATION, "Knative Services", "maxReplicas", UPSTREAM),
    Key(KNATIVE_CLASS, ANNOTATION, "Knative Services", "Knative's autoscaler", UPSTREAM),
    Key(KNATIVE_TARGET, ANNOTATION, "Knative Services", "scaleTarget", UPSTREAM),
    Key(KNATIVE_METRIC, ANNOTATION, "Knative Services", "scaleMetric", UPSTREAM),
    Key(ROLLOUT_DURATION, ANNOTATION, "Knative Services, by users", "kept", UPSTREAM),
    Key(PASSTHROUGH, ANNOTATION, "Knative Services, by users", "kept", UPSTREAM),
    Key(MODEL_PATH_VARIABLE, VARIABLE, "runners", "path of the model in the container", UPSTREAM),
    Key(SERVED_MODEL_NAME_VARIABLE, VARIABLE, "runners", "path of fine-tuned weights", UPSTREAM),
    Key(PARALLELISM_VARIABLE, VARIABLE, "runners", "GPUs of all pods of an instance", UPSTREAM),
    Key(TFEW_PATH_VARIABLE, VARIABLE, "runners", "path of T-Few weights", UPSTREAM),
    Key(ADAPTER_PATH_VARIABLE, VARIABLE, "runners", "path of an adapter", _NOW),
    *(
        Key(
            alias,
            VARIABLE,
            "runners of leaders and workers in a RoleBasedGroup",
            f"$({name})",
            _NOW,
        )
        for alias, name in VARIABLE_ALIASES.items()
    ),
)
