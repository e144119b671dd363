"""
The rows: what discovery says of each built-in kind, in the order in which it says it.

Adding a kind is adding a row here. What is special about writing objects of it
goes into the table of behaviours, under the same group and plural; a kind that
is not there is stored as it comes.
"""

from dataclasses import dataclass

from kohort.cluster.objects import Kind
from kohort.simulator import kinds
from kohort.simulator.resources.resource import ALL_VERBS, Scale
from kohort.simulator.resources.selectable import REFERENCE_FIELDS

_CREATE_ONLY = ("create",)
_NO_DELETE_COLLECTION = tuple(verb for verb in ALL_VERBS if verb != "deletecollection")
_BY_SELECTOR = Scale(selector=("spec", "selector"))

_RBAC = "rbac.authorization.k8s.io"
_ADMISSION = "admissionregistration.k8s.io"
_AUTHORIZATION = "authorization.k8s.io"
_AUTHENTICATION = "authentication.k8s.io"
MUTATING_WEBHOOKS = Kind(
    _ADMISSION, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", False
)
VALIDATING_WEBHOOKS = Kind(
    _ADMISSION, "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", False
)
_EXTENSIONS = ("api-extensions",)

_POD_FIELDS = (
    "spec.hostNetwork",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "status.nominatedNodeName",
    "status.phase",
    "status.podIP",
    "status.podIPs",
)
_EVENT_FIELDS = (
    *(f"involvedObject.{name}" for name in REFERENCE_FIELDS),
    *("reason", "reportingComponent", "source", "type"),
)
_NEW_EVENT_FIELDS = (
    *(f"regarding.{name}" for name in REFERENCE_FIELDS),
    *("reason", "reportingController", "type"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One built-in kind."""

    kind: Kind
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    subresources: tuple[str, ...] = ()
    scale: Scale | None = None
    storage: str = ""
    has_generation: bool = False
    fields: tuple[str, ...] = ()
    may_appear: bool = False
    deprecation: str = ""


_OLD_ENDPOINTS = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
_STATUS = ("status",)
_SCALED = ("scale", "status")
_ALL = ("all",)

ROWS: tuple[Row, ...] = (
    Row(kinds.CONFIG_MAP, ("cm",)),
    Row(kinds.ENDPOINTS, ("ep",), may_appear=True, deprecation=_OLD_ENDPOINTS),
    Row(kinds.EVENT, ("ev",), fields=_EVENT_FIELDS, may_appear=True),
    Row(kinds.LIMIT_RANGE, ("limits",)),
    Row(
        kinds.NAMESPACE,
        ("ns",),
        verbs=_NO_DELETE_COLLECTION,
        subresources=("finalize", "status"),
        fields=("status.phase",),
    ),
    Row(kinds.NODE, ("no",), subresources=_STATUS, fields=("spec.unschedulable",)),
    Row(kinds.CLAIM, ("pvc",), subresources=_STATUS),
    Row(kinds.VOLUME, ("pv",), subresources=_STATUS),
    Row(
        kinds.POD,
        ("po",),
        _ALL,
        subresources=("binding", "ephemeralcontainers", "eviction", "log", "status"),
        has_generation=True,
        fields=_POD_FIELDS,
    ),
    Row(
        kinds.REPLICATION_CONTROLLER,
        ("rc",),
        _ALL,
        subresources=_SCALED,
        scale=Scale(selector=("spec", "selector"), has_plain_selector=True),
        has_generation=True,
        fields=("status.replicas",),
    ),
    Row(kinds.QUOTA, ("quota",), subresources=_STATUS),
    Row(kinds.SECRET, fields=("type",)),
    Row(kinds.SERVICE_ACCOUNT, ("sa",), subresources=("token",)),
    Row(
        kinds.SERVICE,
        ("svc",),
        _ALL,
        subresources=_STATUS,
        fields=("spec.clusterIP", "spec.type"),
        may_appear=True,
    ),
    Row(kinds.REVISION),
    Row(kinds.DAEMON_SET, ("ds",), _ALL, subresources=_STATUS, has_generation=True),
    Row(
        kinds.DEPLOYMENT,
        ("deploy",),
        _ALL,
        subresources=_SCALED,
        scale=_BY_SELECTOR,
        has_generation=True,
    ),
    Row(
        kinds.REPLICA_SET,
        ("rs",),
        _ALL,
        subresources=_SCALED,
        scale=_BY_SELECTOR,
        has_generation=True,
    ),
    Row(
        kinds.STATEFUL_SET,
        ("sts",),
        _ALL,
        subresources=_SCALED,
        scale=_BY_SELECTOR,
        has_generation=True,
    ),
    Row(
        kinds.NEW_EVENT,
        ("ev",),
        storage=kinds.EVENT.group_resource,
        fields=_NEW_EVENT_FIELDS,
        may_appear=True,
    ),
    Row(
        Kind(_AUTHENTICATION, "v1", "SelfSubjectReview", "selfsubjectreviews", False),
        verbs=_CREATE_ONLY,
    ),
    Row(
        Kind(_AUTHENTICATION, "v1", "TokenReview", "tokenreviews", False),
        verbs=_CREATE_ONLY,
    ),
    Row(
        Kind(_AUTHORIZATION, "v1", "LocalSubjectAccessReview", "localsubjectaccessreviews"),
        verbs=_CREATE_ONLY,
    ),
    Row(
        Kind(_AUTHORIZATION, "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", False),
        verbs=_CREATE_ONLY,
    ),
    Row(
        Kind(_AUTHORIZATION, "v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews", False),
        verbs=_CREATE_ONLY,
    ),
    Row(
        Kind(_AUTHORIZATION, "v1", "SubjectAccessReview", "subjectaccessreviews", False),
        verbs=_CREATE_ONLY,
    ),
    Row(kinds.AUTOSCALER, ("hpa",), _ALL, subresources=_STATUS),
    Row(
        kinds.AUTOSCALER_V1,
        ("hpa",),
        _ALL,
        subresources=_STATUS,
        storage=kinds.AUTOSCALER.group_resource,
    ),
    Row(kinds.CRON_JOB, ("cj",), _ALL, subresources=_STATUS, has_generation=True),
    Row(
        kinds.JOB,
        (),
        _ALL,
        subresources=_STATUS,
        fields=("status.successful",),
        has_generation=True,
    ),
    Row(kinds.INGRESS_CLASS, has_generation=True),
    Row(kinds.INGRESS, ("ing",), subresources=_STATUS, has_generation=True),
    Row(kinds.NETWORK_POLICY, ("netpol",), has_generation=True),
    Row(kinds.BUDGET, ("pdb",), subresources=_STATUS, has_generation=True),
    Row(Kind(_RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", False), may_appear=True),
    Row(Kind(_RBAC, "v1", "ClusterRole", "clusterroles", False), may_appear=True),
    Row(Kind(_RBAC, "v1", "RoleBinding", "rolebindings"), may_appear=True),
    Row(Kind(_RBAC, "v1", "Role", "roles"), may_appear=True),
    Row(kinds.STORAGE_CLASS, ("sc",)),
    Row(MUTATING_WEBHOOKS, categories=_EXTENSIONS, has_generation=True),
    Row(VALIDATING_WEBHOOKS, categories=_EXTENSIONS, has_generation=True),
    Row(kinds.DEFINITION, ("crd", "crds"), _EXTENSIONS, subresources=_STATUS, has_generation=True),
    Row(kinds.PRIORITY_CLASS, ("pc",)),
    Row(kinds.LEASE, may_appear=True),
    Row(kinds.ENDPOINT_SLICE, has_generation=True),
)
SCALED: dict[Kind, Scale] = {row.kind: row.scale for row in ROWS if row.scale is not None}
