"""ResourceQuotas and LimitRanges, as built-in kinds; ``quotas`` counts what objects use."""

from collections.abc import Callable
from typing import Any

from kohort.apiserver.resources.kind import BuiltinKind, reported
from kohort.apiserver.resources.printers.tables import AGE, NAME, make_printer, shown
from kohort.apiserver.resources.resource import Behaviour
from kohort.apiserver.resources.validation.field_errors import invalid, required
from kohort.apiserver.resources.validation.metadata import check_metadata
from kohort.cluster import kinds
from kohort.cluster.fields import FieldError
from kohort.cluster.names import check_qualified
from kohort.cluster.objects import Object
from kohort.cluster.quantities import parse_quantity

_AMOUNTS = ("cpu", "memory", "ephemeral-storage")
_QUOTA_NAMES = frozenset(
    {
        *(f"{prefix}{name}" for prefix in ("", "requests.", "limits.") for name in _AMOUNTS),
        *("pods", "services", "secrets", "configmaps", "persistentvolumeclaims"),
        *("replicationcontrollers", "resourcequotas", "requests.storage"),
        *("services.nodeports", "services.loadbalancers"),
    }
)
_HUGE_PAGES = ("hugepages-", "requests.hugepages-")


def default_quota(quota: Object) -> None:
    """Set the defaults of a ResourceQuota: its status counts nothing yet."""
    quota.setdefault("spec", {})
    quota.setdefault("status", {})


def default_limit_range(limits: Object) -> None:
    """Set the defaults of a LimitRange: default requests and limits follow from min and max."""
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


def validate_quota(quota: Object, old: Object | None) -> list[FieldError]:
    """The errors in a ResourceQuota."""
    faults = check_metadata(quota, old, kinds.QUOTA)
    hard = (quota.get("spec") or {}).get("hard") or {}
    for name in hard:
        faults += _validate_quota_name(name, f"spec.hard[{name}]")
    return faults + _validate_amounts(hard, "spec.hard")


def _validate_quota_name(name: str, path: str) -> list[FieldError]:
    complaints = list(check_qualified(name))
    is_known = "/" in name or name in _QUOTA_NAMES or name.startswith(_HUGE_PAGES)
    if not is_known:
        if not complaints and name != "storage":
            complaints.append("must be a standard resource type or fully qualified")
        complaints.append("must be a standard resource for quota")
    return [invalid(path, name, why) for why in complaints]


def _validate_amounts(amounts: Any, path: str) -> list[FieldError]:
    faults: list[FieldError] = []
    for name, amount in (amounts or {}).items():
        if parse_quantity(str(amount)) < 0:
            why = "must be greater than or equal to 0"
            faults.append(invalid(f"{path}[{name}]", str(amount), why))
    return faults


def validate_limit_range(limits: Object, old: Object | None) -> list[FieldError]:
    """The errors in a LimitRange: such as a min above its max."""
    faults = check_metadata(limits, old, kinds.LIMIT_RANGE)
    for index, entry in enumerate((limits.get("spec") or {}).get("limits") or ()):
        path = f"spec.limits[{index}]"
        if not entry.get("type"):
            faults.append(required(f"{path}.type"))
        least, most = entry.get("min") or {}, entry.get("max") or {}
        for name in least.keys() & most.keys():
            if parse_quantity(str(least[name])) > parse_quantity(str(most[name])):
                why = f"min value {least[name]} is greater than max value {most[name]}"
                faults.append(invalid(f"{path}.min[{name}]", str(least[name]), why))
    return faults


def _read_quota(prefix: str) -> Callable[[Object], str]:
    """The limits of a quota, or its other amounts, each as used/hard."""

    def read(quota: Object) -> str:
        status = quota.get("status") or {}
        hard, used = status.get("hard") or {}, status.get("used") or {}
        names = sorted(name for name in hard if name.startswith("limits.") == bool(prefix))
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)

    return read


RESOURCE_QUOTAS = make_printer(
    NAME,
    shown("Request", _read_quota(""), "What is used, of what may be requested."),
    shown("Limit", _read_quota("limits."), "What is used, of what limits may add up to."),
    AGE,
)
KINDS = (
    BuiltinKind(
        kinds.LIMIT_RANGE,
        ("limits",),
        (),
        Behaviour(validate=validate_limit_range, default=default_limit_range),
    ),
    BuiltinKind(
        kinds.QUOTA,
        ("quota",),
        (),
        reported(validate_quota, default_quota),
        RESOURCE_QUOTAS,
        subresources=("status",),
    ),
)
