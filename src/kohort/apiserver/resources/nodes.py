"""Nodes, as a built-in kind: row, defaults, checks, columns."""

from collections.abc import Mapping
from ipaddress import ip_network

from kohort.apiserver.resources import prepare
from kohort.apiserver.resources.kind import BuiltinKind
from kohort.apiserver.resources.pods.placement import EFFECTS
from kohort.apiserver.resources.printers import (
    AGE,
    NAME,
    NONE,
    UNKNOWN,
    Printed,
    make_printer,
    shown,
    wide,
)
from kohort.apiserver.resources.resource import Behaviour
from kohort.apiserver.resources.validation.field_errors import (
    check_choice,
    duplicate,
    invalid,
    ordered,
    required,
)
from kohort.apiserver.resources.validation.metadata import (
    validate_metadata,
    validate_metadata_update,
    validate_plain_status,
)
from kohort.cluster import kinds
from kohort.cluster.fields import FieldError
from kohort.cluster.names import check_label_value, check_qualified
from kohort.cluster.objects import Object, find_condition, labels_of

_NODE_INFO = (
    *("machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion"),
    *("kubeletVersion", "kubeProxyVersion", "operatingSystem", "architecture"),
)
_BAD_RANGE = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
_ROLE_PREFIX = "node-role.kubernetes.io/"
_ROLE_LABEL = "kubernetes.io/role"


def default_node(node: Object) -> None:
    """Set the defaults of a node, without the not-ready taint, which nothing here would remove."""
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


def validate_node(node: Object, old: Object | None) -> list[FieldError]:
    """The errors in a node."""
    if old is None:
        faults = validate_metadata(node, kinds.NODE)
    else:
        faults = validate_metadata_update(node, old)
    spec = node.get("spec") or {}
    # The path says metadata although taints are in the spec; clients know it so.
    faults += _validate_taints(spec.get("taints") or [], "metadata.taints")
    for index, text in enumerate(spec.get("podCIDRs") or ()):
        if not _is_range(text):
            faults.append(invalid(f"spec.podCIDRs[{index}]", text, _BAD_RANGE))
    return faults


def _is_range(text: str) -> bool:
    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return "/" in text


def _validate_taints(taints: list[Object], path: str) -> list[FieldError]:
    faults: list[FieldError] = []
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        key, effect = taint.get("key") or "", taint.get("effect") or ""
        value = taint.get("value") or ""
        where = f"{path}[{index}]"
        faults += [invalid(f"{where}.key", key, why) for why in check_qualified(key)]
        faults += [invalid(f"{where}.value", value, why) for why in check_label_value(value)]
        if not effect:
            faults.append(required(f"{where}.effect"))
        else:
            faults += check_choice(f"{where}.effect", effect, EFFECTS)
        if (key, effect) in seen:
            shown = {"Key": key, "Value": value, "Effect": effect}
            shown["TimeAdded"] = taint.get("timeAdded")
            why = "taints must be unique by key and effect pair"
            faults.append(duplicate(where, ordered(shown), why))
        seen.add((key, effect))
    return faults


def _info(node: Object, field: str) -> str:
    return str(((node.get("status") or {}).get("nodeInfo") or {}).get(field, ""))


def _read_status(node: Object) -> str:
    ready = find_condition(node, "Ready")
    if ready is None:
        status = "Unknown"
    else:
        status = "Ready" if ready.get("status") == "True" else "NotReady"
    is_cordoned = (node.get("spec") or {}).get("unschedulable")
    return f"{status},SchedulingDisabled" if is_cordoned else status


def _read_roles(node: Object) -> str:
    labels = labels_of(node)
    roles = {key[len(_ROLE_PREFIX) :] for key in labels if key.startswith(_ROLE_PREFIX)}
    roles.add(labels.get(_ROLE_LABEL, ""))
    return ",".join(sorted(roles - {""})) or NONE


def _address(name: str, kind: str) -> Printed:
    def read(node: Object) -> str:
        addresses = (node.get("status") or {}).get("addresses") or []
        return next((a["address"] for a in addresses if a["type"] == kind), NONE)

    return wide(name, read)


def _read_kernel(node: Object) -> str:
    kernel, architecture = _info(node, "kernelVersion"), _info(node, "architecture")
    if not kernel:
        return UNKNOWN
    return f"{kernel} ({architecture})" if architecture else kernel


NODES = make_printer(
    NAME,
    shown("Status", _read_status, "Whether it is ready and takes pods."),
    shown("Roles", _read_roles),
    AGE,
    shown("Version", lambda node: _info(node, "kubeletVersion")),
    _address("Internal-IP", "InternalIP"),
    _address("External-IP", "ExternalIP"),
    wide("OS-Image", lambda node: _info(node, "osImage") or UNKNOWN),
    wide("Kernel-Version", _read_kernel),
    wide("Container-Runtime", lambda node: _info(node, "containerRuntimeVersion") or UNKNOWN),
)


def node_fields(node: Object) -> Mapping[str, str]:
    """The selectable fields of a node."""
    spec = node.get("spec") or {}
    return {"spec.unschedulable": "true" if spec.get("unschedulable") else "false"}


KINDS = (
    BuiltinKind(
        kinds.NODE,
        ("no",),
        (),
        # A kubelet registers its node with a status, so a create keeps it.
        Behaviour(
            validate=validate_node,
            validate_status=validate_plain_status,
            default=default_node,
            prepare_update=prepare.keep_status,
            prepare_status=prepare.keep_spec,
            fields=node_fields,
        ),
        NODES,
        subresources=("status",),
        fields=("spec.unschedulable",),
    ),
)
