"""
The names of the operator's own objects on a cluster.

They are those of the upstream operator, so that clients find the Service, the Secret and the
lease where they were, and two operators on one cluster compete for the same lease.
"""

from kohort.apis.served import OPERATOR_HOME
from kohort.cluster.objects import Kind

NAMESPACE = OPERATOR_HOME.namespace
LEASE = OPERATOR_HOME.lease
_PREFIX = OPERATOR_HOME.prefix
DEPLOYMENT = ACCOUNT = f"{_PREFIX}-controller-manager"
WEBHOOK_SERVICE = f"{_PREFIX}-webhook-service"
METRICS_SERVICE = f"{_PREFIX}-controller-manager-metrics-service"
SECRET = f"{_PREFIX}-webhook-server-cert"
CONFIG_MAP = f"{_PREFIX}-manager-config"
CONFIG_VERSION = OPERATOR_HOME.configuration
CONFIG_KEY = "controller_manager_config.yaml"
MANAGER_ROLE = f"{_PREFIX}-manager-role"
ELECTION_ROLE = f"{_PREFIX}-leader-election-role"
CERTIFICATE_ROLE = f"{_PREFIX}-webhook-certificate-role"
PROXY_ROLE = f"{_PREFIX}-proxy-role"
PROXY_BINDING = f"{_PREFIX}-proxy-rolebinding"
METRICS_ROLE = f"{_PREFIX}-metrics-reader"
METRICS_BINDING = f"{_PREFIX}-metrics-reader-rolebinding"

SELECTOR = {"control-plane": "controller-manager"}
LABELS = {
    "app.kubernetes.io/name": "kohort",
    "app.kubernetes.io/managed-by": "kohort",
    **SELECTOR,
}

_ADMISSION = "admissionregistration.k8s.io"
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
