"""What is wrong with the kinds that limit or steer others: quotas, network rules."""

from collections.abc import Callable
from typing import Any

from kohort.cluster.fields import FieldError
from kohort.cluster.names import check_qualified
from kohort.cluster.objects import Kind, Object
from kohort.cluster.quantities import parse_quantity
from kohort.simulator import kinds
from kohort.simulator.resources.validation.faults import (
    check_choice,
    check_not_negative,
    invalid,
    required,
)
from kohort.simulator.resources.validation.metadata import (
    validate_metadata,
    validate_metadata_update,
)
from kohort.simulator.resources.validation.selectors import validate_selector

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
_LIMITED = ("Pod", "Container", "PersistentVolumeClaim")
_PATHS = ("Exact", "ImplementationSpecific", "Prefix")


def validate_only_metadata(kind: Kind) -> Callable[[Object, Object | None], list[FieldError]]:
    """A check of a kind whose spec is not looked into."""

    def validate(obj: Object, old: Object | None) -> list[FieldError]:
        return _validate_metadata(obj, old, kind)

    return validate


def _validate_metadata(obj: Object, old: Object | None, kind: Kind) -> list[FieldError]:
    return validate_metadata(obj, kind) if old is None else validate_metadata_update(obj, old)


def validate_quota(quota: Object, old: Object | None) -> list[FieldError]:
    """What is wrong with a ResourceQuota."""
    faults = _validate_metadata(quota, old, kinds.QUOTA)
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
    """What is wrong with a LimitRange: a least amount may not be above the most."""
    faults = _validate_metadata(limits, old, kinds.LIMIT_RANGE)
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


def validate_network_policy(policy: Object, old: Object | None) -> list[FieldError]:
    """What is wrong with a NetworkPolicy."""
    spec = policy.get("spec") or {}
    faults = _validate_metadata(policy, old, kinds.NETWORK_POLICY)
    faults += validate_selector(spec.get("podSelector") or {}, "spec.podSelector")
    for index, kind in enumerate(spec.get("policyTypes") or ()):
        faults += check_choice(f"spec.policyTypes[{index}]", kind, ("Egress", "Ingress"))
    return faults


def validate_ingress(ingress: Object, old: Object | None) -> list[FieldError]:
    """What is wrong with an Ingress: it leads somewhere, and says how paths are compared."""
    spec = ingress.get("spec") or {}
    faults = _validate_metadata(ingress, old, kinds.INGRESS)
    if not spec.get("rules") and not spec.get("defaultBackend"):
        why = "either `defaultBackend` or `rules` must be specified"
        faults.append(invalid("spec", None, why))
    for index, rule in enumerate(spec.get("rules") or ()):
        paths = (rule.get("http") or {}).get("paths")
        where = f"spec.rules[{index}].http.paths"
        if rule.get("http") is not None and not paths:
            faults.append(required(where))
        for at, path in enumerate(paths or ()):
            faults += _validate_path(path, f"{where}[{at}]")
    return faults


def _validate_path(path: Object, where: str) -> list[FieldError]:
    if path.get("pathType") is None:
        return [required(f"{where}.pathType", "pathType must be specified")]
    return check_choice(f"{where}.pathType", path["pathType"], _PATHS)


def validate_replicas(kind: Kind) -> Callable[[Object, Object | None], list[FieldError]]:
    """A check of a kind that has replicas and is stored as it comes."""

    def validate(obj: Object, old: Object | None) -> list[FieldError]:
        replicas = (obj.get("spec") or {}).get("replicas")
        return _validate_metadata(obj, old, kind) + check_not_negative("spec.replicas", replicas)

    return validate
