"""Defaults of what is neither pod, workload, network nor storage."""

from base64 import b64encode

from kohort.cluster.objects import Object

_RBAC = "rbac.authorization.k8s.io"
_NODE_INFO = (
    *("machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion"),
    *("kubeletVersion", "kubeProxyVersion", "operatingSystem", "architecture"),
)


def default_namespace(namespace: Object) -> None:
    """Fill in a namespace; its name is a label too, so that selectors can name it."""
    metadata = namespace.setdefault("metadata", {})
    if metadata.get("name"):
        labels = metadata.get("labels") or {}
        labels.setdefault("kubernetes.io/metadata.name", metadata["name"])
        metadata["labels"] = labels
    namespace.setdefault("spec", {})
    namespace.setdefault("status", {}).setdefault("phase", "Active")


def default_node(node: Object) -> None:
    """Fill in a node. It may be scheduled to at once: nobody here lifts the usual first taint."""
    spec = node.setdefault("spec", {})
    if spec.get("podCIDR") and not spec.get("podCIDRs"):
        spec["podCIDRs"] = [spec["podCIDR"]]
    elif spec.get("podCIDRs") and not spec.get("podCIDR"):
        spec["podCIDR"] = spec["podCIDRs"][0]
    status = node.setdefault("status", {})
    if status.get("capacity") and not status.get("allocatable"):
        status["allocatable"] = dict(status["capacity"])
    daemons = status.setdefault("daemonEndpoints", {})
    daemons.setdefault("kubeletEndpoint", {"Port": 0})
    info = status.setdefault("nodeInfo", {})
    for field in _NODE_INFO:
        info.setdefault(field, "")


def default_secret(secret: Object) -> None:
    """Fill in a secret, with plain strings moved to where they are kept."""
    secret.setdefault("type", "Opaque")
    plain = secret.pop("stringData", None)
    if plain:
        data = secret.get("data") or {}
        data.update({key: b64encode(text.encode()).decode() for key, text in plain.items()})
        secret["data"] = data


def default_priority_class(priority_class: Object) -> None:
    """Fill in a priority class."""
    priority_class.setdefault("value", 0)
    priority_class.setdefault("preemptionPolicy", "PreemptLowerPriority")


def default_lease(lease: Object) -> None:
    """Fill in a lease."""
    lease.setdefault("spec", {})


def default_role(role: Object) -> None:
    """Fill in a role."""
    role.setdefault("rules", None)


def default_binding(binding: Object) -> None:
    """Fill in a role binding."""
    reference = binding.setdefault("roleRef", {})
    reference["apiGroup"] = reference.get("apiGroup") or _RBAC
    for subject in binding.get("subjects") or ():
        if subject.get("kind") in ("User", "Group"):
            subject["apiGroup"] = subject.get("apiGroup") or _RBAC


def default_validating_webhooks(configuration: Object) -> None:
    """Fill in validating webhooks."""
    for webhook in configuration.get("webhooks") or ():
        _default_webhook(webhook)


def default_mutating_webhooks(configuration: Object) -> None:
    """Fill in mutating webhooks."""
    for webhook in configuration.get("webhooks") or ():
        _default_webhook(webhook)
        webhook.setdefault("reinvocationPolicy", "Never")


def _default_webhook(webhook: Object) -> None:
    webhook.setdefault("failurePolicy", "Fail")
    webhook.setdefault("matchPolicy", "Equivalent")
    webhook.setdefault("namespaceSelector", {})
    webhook.setdefault("objectSelector", {})
    webhook.setdefault("timeoutSeconds", 10)
    client = webhook.setdefault("clientConfig", {})
    if client.get("service") is not None:
        client["service"].setdefault("port", 443)
    for rule in webhook.get("rules") or ():
        rule.setdefault("scope", "*")


def default_quota(quota: Object) -> None:
    """Fill in a ResourceQuota: its status counts nothing yet."""
    quota.setdefault("spec", {})
    quota.setdefault("status", {})


def default_limit_range(limits: Object) -> None:
    """Fill in a LimitRange: what containers get by default follows from least and most."""
    for entry in limits.setdefault("spec", {}).setdefault("limits", None) or ():
        if entry.get("type") != "Container":
            continue
        default = entry.setdefault("default", {})
        for name, amount in (entry.get("max") or {}).items():
            default.setdefault(name, amount)
        request = entry.setdefault("defaultRequest", {})
        for name, amount in default.items():
            request.setdefault(name, amount)
        for name, amount in (entry.get("min") or {}).items():
            request.setdefault(name, amount)
        for key in ("default", "defaultRequest"):
            if not entry[key]:
                del entry[key]
