"""
ResourceQuotas and LimitRanges: as built-in kinds, and what they say about other objects.

A quota counts objects of a kind, and what pods that have not ended request and may use.
Amounts are in billionths of a unit, so that sums are exact.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from kohort.apiserver.resources.kind import BuiltinKind, reported
from kohort.apiserver.resources.printers import AGE, NAME, make_printer, shown
from kohort.apiserver.resources.resource import Behaviour
from kohort.apiserver.resources.validation.field_errors import invalid, required
from kohort.apiserver.resources.validation.metadata import check_metadata
from kohort.cluster import kinds
from kohort.cluster.fields import FieldError
from kohort.cluster.names import check_qualified
from kohort.cluster.objects import Object
from kohort.cluster.quantities import NANOS, parse_quantity, write_quantity

Amounts = dict[str, int]

_COUNTED = (
    *("pods", "services", "secrets", "configmaps", "persistentvolumeclaims"),
    *("replicationcontrollers", "resourcequotas"),
)
_BARE = ("cpu", "memory", "ephemeral-storage")  # names without a prefix mean requests
_ENDED = ("Succeeded", "Failed")
_BINARY = ("memory", "storage")


def use_of(bucket: str, obj: Object) -> Amounts:
    """The resources that one object uses, by their names in quotas."""
    used = {f"count/{bucket}": NANOS}
    if bucket in _COUNTED:
        used[bucket] = NANOS
    if bucket == "pods":
        if (obj.get("status") or {}).get("phase") in _ENDED:
            return {"count/pods": NANOS}
        used.update(_use_of_pod(obj.get("spec") or {}))
    elif bucket == "services":
        kind = (obj.get("spec") or {}).get("type")
        used["services.nodeports"] = NANOS * (kind in ("NodePort", "LoadBalancer"))
        used["services.loadbalancers"] = NANOS * (kind == "LoadBalancer")
    elif bucket == "persistentvolumeclaims":
        asked = ((obj.get("spec") or {}).get("resources") or {}).get("requests") or {}
        used["requests.storage"] = parse_quantity(asked.get("storage", "0"))
    return used


def _use_of_pod(spec: Object) -> Amounts:
    found: Amounts = {}
    for field in ("requests", "limits"):
        for name, amount in _sum(spec, field).items():
            found[f"{field}.{name}"] = amount
            if field == "requests" and name in _BARE:
                found[name] = amount
    return found


def _sum(spec: Object, field: str) -> Amounts:
    """The containers of a pod together, or its largest init container where that is more."""
    total: Amounts = {}
    for container in spec.get("containers") or ():
        for name, text in ((container.get("resources") or {}).get(field) or {}).items():
            total[name] = total.get(name, 0) + parse_quantity(text)
    for container in spec.get("initContainers") or ():
        for name, text in ((container.get("resources") or {}).get(field) or {}).items():
            total[name] = max(total.get(name, 0), parse_quantity(text))
    return total


def add_up(amounts: Iterable[Amounts], names: Iterable[str]) -> Amounts:
    """The sum of some uses, for the names of a quota."""
    total = dict.fromkeys(names, 0)
    for used in amounts:
        for name in total:
            total[name] += used.get(name, 0)
    return total


def show_amounts(amounts: Mapping[str, int]) -> dict[str, str]:
    """Amounts as quotas write them."""
    return {name: _show(name, amount) for name, amount in amounts.items()}


def _show(name: str, amount: int) -> str:
    return write_quantity(amount, is_binary=name.endswith(_BINARY))


def find_excess(quota: Object, used: Amounts, asked: Amounts) -> str:
    """Why a quota refuses an object that would exceed it; None if it does not."""
    hard: Mapping[str, Any] = (quota.get("spec") or {}).get("hard") or {}
    names = sorted(name for name in hard if asked.get(name))
    over = [name for name in names if used[name] + asked[name] > parse_quantity(hard[name])]
    if not over:
        return ""
    lists = (
        ", ".join(f"{name}={_show(name, amounts[name])}" for name in over).replace(", ", ",")
        for amounts in (asked, used)
    )
    limits = ",".join(f"{name}={hard[name]}" for name in over)
    requested, held = lists
    name = quota["metadata"]["name"]
    return f"exceeded quota: {name}, requested: {requested}, used: {held}, limited: {limits}"


def find_unsaid(quota: Object, pod: Object) -> str:
    """Why a quota refuses a pod without the requests that it limits; None if it does not."""
    hard = (quota.get("spec") or {}).get("hard") or {}
    missing: dict[str, list[str]] = {}
    for name in sorted(hard):
        field, _, resource = name.rpartition(".") if "." in name else ("requests", "", name)
        if resource not in ("cpu", "memory") or field not in ("requests", "limits"):
            continue
        for container in (pod.get("spec") or {}).get("containers") or ():
            if resource not in ((container.get("resources") or {}).get(field) or {}):
                missing.setdefault(name, []).append(container["name"])
    if not missing:
        return ""
    told = "; ".join(f"{name} for: {','.join(where)}" for name, where in missing.items())
    return f"failed quota: {quota['metadata']['name']}: must specify {told}"


def apply_limits(ranges: Iterable[Object], pod: Object) -> None:
    """Set the defaults of LimitRanges on containers of a new pod without requests or limits."""
    for entry in _entries(ranges, "Container"):
        for container in _containers(pod):
            resources = container.setdefault("resources", {})
            for field, source in (("limits", "default"), ("requests", "defaultRequest")):
                for name, amount in (entry.get(source) or {}).items():
                    resources.setdefault(field, {}).setdefault(name, amount)


def find_breaches(ranges: Iterable[Object], pod: Object) -> list[str]:
    """How a pod breaks limit ranges, in the words of the API server."""
    ranges = list(ranges)
    found: list[str] = []
    for entry in _entries(ranges, "Container"):
        for container in _containers(pod):
            resources = container.get("resources") or {}
            found += _check(entry, "Container", resources)
    for entry in _entries(ranges, "Pod"):
        spec = pod.get("spec") or {}
        sums = {field: show_amounts(_sum(spec, field)) for field in ("requests", "limits")}
        found += _check(entry, "Pod", sums)
    return found


def _check(entry: Object, kind: str, resources: Mapping[str, Any]) -> Iterator[str]:
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    for name, least in (entry.get("min") or {}).items():
        asked = requests.get(name)
        if asked is None:
            yield f"minimum {name} usage per {kind} is {least}.  No request is specified"
        elif parse_quantity(asked) < parse_quantity(least):
            yield f"minimum {name} usage per {kind} is {least}, but request is {asked}"
    for name, most in (entry.get("max") or {}).items():
        limit, asked = limits.get(name), requests.get(name)
        if limit is None:
            yield f"maximum {name} usage per {kind} is {most}.  No limit is specified"
        elif parse_quantity(limit) > parse_quantity(most):
            yield f"maximum {name} usage per {kind} is {most}, but limit is {limit}"
        elif asked is not None and parse_quantity(asked) > parse_quantity(most):
            yield f"maximum {name} usage per {kind} is {most}, but request is {asked}"


def _entries(ranges: Iterable[Object], kind: str) -> Iterator[Object]:
    for limits in ranges:
        for entry in (limits.get("spec") or {}).get("limits") or ():
            if entry.get("type") == kind:
                yield entry


def _containers(pod: Object) -> list[Object]:
    spec = pod.get("spec") or {}
    return [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]


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
