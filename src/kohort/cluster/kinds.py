"""The built-in kinds that our code names, as values; every package takes them from here."""

from kohort.cluster.objects import Kind

NAMESPACE = Kind("", "v1", "Namespace", "namespaces", namespaced=False)
NODE = Kind("", "v1", "Node", "nodes", namespaced=False)
POD = Kind("", "v1", "Pod", "pods")
SERVICE = Kind("", "v1", "Service", "services")
ENDPOINTS = Kind("", "v1", "Endpoints", "endpoints")
ENDPOINT_SLICE = Kind("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices")
CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps")
SECRET = Kind("", "v1", "Secret", "secrets")
SERVICE_ACCOUNT = Kind("", "v1", "ServiceAccount", "serviceaccounts")
CLAIM = Kind("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims")
VOLUME = Kind("", "v1", "PersistentVolume", "persistentvolumes", namespaced=False)
STORAGE_CLASS = Kind("storage.k8s.io", "v1", "StorageClass", "storageclasses", namespaced=False)
EVENT = Kind("", "v1", "Event", "events")
NEW_EVENT = Kind("events.k8s.io", "v1", "Event", "events")
CONTROLLER_REVISION = Kind("apps", "v1", "ControllerRevision", "controllerrevisions")
STATEFUL_SET = Kind("apps", "v1", "StatefulSet", "statefulsets")
DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments")
REPLICA_SET = Kind("apps", "v1", "ReplicaSet", "replicasets")
DAEMON_SET = Kind("apps", "v1", "DaemonSet", "daemonsets")
REPLICATION_CONTROLLER = Kind("", "v1", "ReplicationController", "replicationcontrollers")
JOB = Kind("batch", "v1", "Job", "jobs")
CRON_JOB = Kind("batch", "v1", "CronJob", "cronjobs")
AUTOSCALER = Kind("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers")
AUTOSCALER_V1 = Kind("autoscaling", "v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers")
QUOTA = Kind("", "v1", "ResourceQuota", "resourcequotas")
LIMIT_RANGE = Kind("", "v1", "LimitRange", "limitranges")
INGRESS = Kind("networking.k8s.io", "v1", "Ingress", "ingresses")
INGRESS_CLASS = Kind("networking.k8s.io", "v1", "IngressClass", "ingressclasses", namespaced=False)
NETWORK_POLICY = Kind("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies")
BUDGET = Kind("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets")
LEASE = Kind("coordination.k8s.io", "v1", "Lease", "leases")
PRIORITY_CLASS = Kind(
    "scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", namespaced=False
)
DEFINITION = Kind(
    "apiextensions.k8s.io",
    "v1",
    "CustomResourceDefinition",
    "customresourcedefinitions",
    namespaced=False,
)
