"""Where nodes become rows."""

from kohort.cluster.objects import Object, find_condition, labels_of
from kohort.simulator.resources.printers.tables import (
    AGE,
    NAME,
    NONE,
    UNKNOWN,
    Printed,
    make_printer,
    shown,
    wide,
)

_ROLE_PREFIX = "node-role.kubernetes.io/"
_ROLE_LABEL = "kubernetes.io/role"


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
