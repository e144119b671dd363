"""Validation of security contexts: the user and privileges of a container."""

from typing import Any

from kohort.apiserver.resources.validation.field_errors import invalid, ordered
from kohort.cluster.fields import FieldError
from kohort.cluster.objects import Object

_ID_MAX = 2**31 - 1
_BAD_ID = f"must be between 0 and {_ID_MAX}, inclusive"
# Messages show values of this type with the names of its Go fields.
_SHOWN = (
    *("Capabilities", "Privileged", "SELinuxOptions", "WindowsOptions", "RunAsUser"),
    *("RunAsGroup", "RunAsNonRoot", "ReadOnlyRootFilesystem", "AllowPrivilegeEscalation"),
    *("ProcMount", "SeccompProfile", "AppArmorProfile"),
)


def validate_pod_security(context: Object, path: str) -> list[FieldError]:
    """The errors in the security context of a pod."""
    faults: list[FieldError] = []
    for field in ("fsGroup", "runAsUser", "runAsGroup"):
        faults += _validate_id(context.get(field), f"{path}.{field}")
    for index, group in enumerate(context.get("supplementalGroups") or ()):
        faults += _validate_id(group, f"{path}.supplementalGroups[{index}]")
    return faults


def validate_container_security(context: Object, path: str) -> list[FieldError]:
    """The errors in the security context of a container."""
    faults: list[FieldError] = []
    for field in ("runAsUser", "runAsGroup"):
        faults += _validate_id(context.get(field), f"{path}.{field}")
    if context.get("allowPrivilegeEscalation") is False:
        if context.get("privileged"):
            why = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            faults.append(invalid(path, _show(context), why))
        if "CAP_SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or ()):
            why = (
                "cannot set `allowPrivilegeEscalation` to false and "
                "`capabilities.Add` CAP_SYS_ADMIN"
            )
            faults.append(invalid(path, _show(context), why))
    return faults


def _show(context: Object) -> Any:
    given = {name[0].upper() + name[1:]: value for name, value in context.items()}
    given["SELinuxOptions"] = given.pop("SeLinuxOptions", None)
    return ordered({name: given.get(name) for name in _SHOWN})


def _validate_id(value: Any, path: str) -> list[FieldError]:
    if value is None or 0 <= value <= _ID_MAX:
        return []
    return [invalid(path, value, _BAD_ID)]
