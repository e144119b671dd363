"""
The names under which a cluster knows the operator.

They are upstream's, so that its service, its secret and its lease are found where
they were, and two operators on one cluster meet each other instead of passing by.
"""

from kohort.cluster.objects import Kind

NAMESPACE = "lws-system"
LEASE = "b8b2488c.x-k8s.io"
DEPLOYMENT = ACCOUNT = "lws-controller-manager"
WEBHOOK_SERVICE = "lws-webhook-service"
METRICS_SERVICE = "lws-controller-manager-metrics-service"
SECRET = "lws-webhook-server-cert"
CONFIG_MAP = "lws-manager-config"
CONFIG_KEY = "controller_manager_config.yaml"
MANAGER_ROLE = "lws-manager-role"
ELECTION_ROLE = "lws-leader-election-role"
CERTIFICATE_ROLE = "lws-webhook-certificate-role"
PROXY_ROLE = "lws-proxy-role"
PROXY_BINDING = "lws-proxy-rolebinding"
METRICS_ROLE = "lws-metrics-reader"
METRICS_BINDING = "lws-metrics-reader-rolebinding"

SELECTOR = {"control-plane": "controller-manager"}
LABELS = {
    "app.kubernetes.io/name": "kohort",
    "app.kubernetes.io/managed-by": "kohort",
    **SELECTOR,
}

_ADMISSION = "admissionregistration.k8s.io"
DEFINITION_KIND = Kind(
    "apiextensions.k8s.io",
    "v1",
    "CustomResourceDefinition",
    "customresourcedefinitions",
    namespaced=False,
)
NAMESPACE_KIND = Kind("", "v1", "Namespace", "namespaces", namespaced=False)
SECRET_KIND = Kind("", "v1", "Secret", "secrets")
_RBAC = "rbac.authorization.k8s.io"
ROLE_KIND = Kind(_RBAC, "v1", "ClusterRole", "clusterroles", namespaced=False)
BINDING_KIND = Kind(_RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False)
MUTATING_KIND = Kind(
    _ADMISSION,
    "v1",
    "MutatingWebhookConfiguration",
    "mutatingwebhookconfigurations",
    namespaced=False,
)
VALIDATING_KIND = Kind(
    _ADMISSION,
    "v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    namespaced=False,
)
