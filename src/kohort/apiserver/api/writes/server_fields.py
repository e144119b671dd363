"""
Fields that the server sets from other stored objects: allocated addresses, priorities.

Each rule is for one kind, and looks at other objects of the store. What needs
no look at the store belongs to the kind's behaviour: ``default``, ``prepare_create``.
"""

from collections.abc import Callable
from ipaddress import IPv4Address

from kohort.apiserver.api.context import Context
from kohort.apiserver.api.requests import Target
from kohort.apiserver.api.writes.limits import apply_limit_ranges
from kohort.cluster.errors import forbidden, invalid
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.kinds import PRIORITY_CLASS, SERVICE_ACCOUNT
from kohort.cluster.objects import Object, name_of

_SERVICE_RANGE_START = int(IPv4Address("10.96.0.10"))
_SERVICE_RANGE_END = int(IPv4Address("10.111.255.254"))
_NODE_PORTS = range(30000, 32768)
_PRIORITY_CLASSES = PRIORITY_CLASS.group_resource
_ACCOUNT_DEFAULT = "default"
_PLACE_LABELS = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")


def fill_create(context: Context, target: Target, obj: Object) -> None:
    """Set these fields on a new object."""
    rule = _ON_CREATE.get(target.resource.bucket)
    if rule is not None:
        rule(context, target, obj)


def fill_update(context: Context, target: Target, obj: Object, old: Object) -> None:
    """Set these fields on an updated object."""
    if target.resource.bucket == _PRIORITY_CLASSES:
        _guard_priority_class(context, target, obj)
    if target.resource.bucket == "services" and not target.subresource:
        _keep_addresses(obj["spec"], old["spec"])
        _fill_service(context, target, obj)


def _fill_service(context: Context, target: Target, obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    if spec.get("type") == "ExternalName":
        return
    if not spec.get("clusterIP"):
        spec["clusterIP"] = _free_address(context)
    spec["clusterIPs"] = spec.get("clusterIPs") or [spec["clusterIP"]]
    _check_families(target, spec)
    if spec.get("type") in ("NodePort", "LoadBalancer"):
        _check_node_ports(target, spec)
        _fill_node_ports(context, spec)


def _check_families(target: Target, spec: Object) -> None:
    """Refuse a second IP family, as the server has one; only a headless Service may name two."""
    if spec["clusterIP"] == "None" or spec.get("ipFamilyPolicy") != "RequireDualStack":
        return
    policy = "this cluster is not configured for dual-stack services"
    errors = [FieldError(FieldErrorType.INVALID, "spec.ipFamilyPolicy", policy, "RequireDualStack")]
    for index, family in enumerate(spec.get("ipFamilies") or ()):
        if family != "IPv4":
            where = f"spec.ipFamilies[{index}]"
            detail = "not configured on this cluster"
            errors.append(FieldError(FieldErrorType.INVALID, where, detail, family))
    raise invalid("Service", "", target.name, errors)


def _check_node_ports(target: Target, spec: Object) -> None:
    detail = (
        "provided port is not in the valid range. "
        f"The range of valid ports is {_NODE_PORTS.start}-{_NODE_PORTS.stop - 1}"
    )
    errors = [
        FieldError(
            FieldErrorType.INVALID, f"spec.ports[{index}].nodePort", detail, port["nodePort"]
        )
        for index, port in enumerate(spec.get("ports") or ())
        if port.get("nodePort") and port["nodePort"] not in _NODE_PORTS
    ]
    if errors:
        raise invalid("Service", "", target.name, errors)


def _keep_addresses(spec: Object, old: Object) -> None:
    if spec.get("type") == "ExternalName":
        return
    for field in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if not spec.get(field) and old.get(field):
            spec[field] = old[field]


def _free_address(context: Context) -> str:
    services = context.store.bucket("services").entries.values()
    taken = {service.fields["spec.clusterIP"] for service in services}
    size = _SERVICE_RANGE_END - _SERVICE_RANGE_START
    while True:
        address = str(IPv4Address(_SERVICE_RANGE_START + context.chance.randrange(size)))
        if address not in taken:
            return address


def _fill_node_ports(context: Context, spec: Object) -> None:
    services = [entry.decode() for entry in context.store.bucket("services").entries.values()]
    taken = {p.get("nodePort") for s in services for p in s["spec"].get("ports") or ()}
    for port in spec.get("ports") or ():
        if not port.get("nodePort"):
            port["nodePort"] = next(n for n in _NODE_PORTS if n not in taken)
            taken.add(port["nodePort"])


def place_labels(context: Context, node: str) -> dict[str, str]:
    """The topology labels that a pod takes from its node."""
    found = context.store.find("nodes", ("", node))
    if found is None:
        return {}
    return {key: found.labels[key] for key in _PLACE_LABELS if key in found.labels}


def _fill_pod(context: Context, target: Target, obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    apply_limit_ranges(context, target, obj)
    _expect_account(context, target, spec.get("serviceAccountName") or _ACCOUNT_DEFAULT)
    places = place_labels(context, spec["nodeName"]) if spec.get("nodeName") else None
    if places:
        metadata = obj["metadata"]
        metadata["labels"] = {**(metadata.get("labels") or {}), **places}
    chosen = _find_priority_class(context, obj["metadata"]["name"], spec)
    if chosen is not None:
        spec["priorityClassName"] = name_of(chosen)
        spec["priority"] = chosen.get("value", 0)
        spec["preemptionPolicy"] = chosen.get("preemptionPolicy", "PreemptLowerPriority")


def _expect_account(context: Context, target: Target, name: str) -> None:
    """Refuse a pod whose service account does not exist; the default one is created later."""
    if name == _ACCOUNT_DEFAULT:
        return
    if context.store.find(SERVICE_ACCOUNT.plural, (target.namespace, name)) is None:
        why = (
            f"error looking up service account {target.namespace}/{name}: "
            f'serviceaccount "{name}" not found'
        )
        raise forbidden("pods", "", target.name, why)


def _find_priority_class(context: Context, pod: str, spec: Object) -> Object | None:
    """The PriorityClass that a pod names, or the global default."""
    name = spec.get("priorityClassName", "")
    if not name:
        return _find_default_class(context)
    found = context.store.find(_PRIORITY_CLASSES, ("", name))
    if found is None:
        raise forbidden("pods", "", pod, f"no PriorityClass with name {name} was found")
    return found.decode()


def _find_default_class(context: Context) -> Object | None:
    classes = context.store.bucket(_PRIORITY_CLASSES).entries.values()
    defaults = (obj for entry in classes if (obj := entry.decode()).get("globalDefault"))
    return next(defaults, None)


def _guard_priority_class(context: Context, target: Target, obj: Object) -> None:
    default = _find_default_class(context) if obj.get("globalDefault") else None
    if default is not None and name_of(default) != target.name:
        why = f"PriorityClass {name_of(default)} is already marked as default"
        kind = target.resource.kind
        raise forbidden(kind.plural, kind.group, target.name, f"{why}. Only one default can exist")


def _protect(finalizer: str) -> Callable[[Context, Target, Object], None]:
    def rule(context: Context, target: Target, obj: Object) -> None:
        finalizers = obj["metadata"].setdefault("finalizers", [])
        if finalizer not in finalizers:
            finalizers.append(finalizer)

    return rule


def _fill_claim(context: Context, target: Target, obj: Object) -> None:
    _protect("kubernetes.io/pvc-protection")(context, target, obj)
    if "storageClassName" in obj.get("spec", {}):
        return
    for entry in context.store.bucket("storageclasses.storage.k8s.io").entries.values():
        annotations = entry.decode()["metadata"].get("annotations") or {}
        if annotations.get("storageclass.kubernetes.io/is-default-class") == "true":
            obj["spec"]["storageClassName"] = entry.name
            return


_ON_CREATE: dict[str, Callable[[Context, Target, Object], None]] = {
    "services": _fill_service,
    "pods": _fill_pod,
    "persistentvolumeclaims": _fill_claim,
    "persistentvolumes": _protect("kubernetes.io/pv-protection"),
    _PRIORITY_CLASSES: _guard_priority_class,
}
