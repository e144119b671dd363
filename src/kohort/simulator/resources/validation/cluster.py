"""
What is wrong with namespaces, nodes, service accounts and events.

Events of the two groups are the same objects, but only the newer group asks who reports
and why; what comes through the older one is let in, as clients have always sent it.
"""

from ipaddress import ip_network

from kohort.cluster.fields import FieldError
from kohort.cluster.names import (
    check_label_value,
    check_qualified,
    check_undotted,
)
from kohort.cluster.objects import Object, namespace_of
from kohort.simulator import kinds
from kohort.simulator.resources.validation.faults import (
    check_choice,
    duplicate,
    invalid,
    ordered,
    required,
)
from kohort.simulator.resources.validation.metadata import (
    validate_metadata,
    validate_metadata_update,
)
from kohort.simulator.resources.validation.pods.placement import EFFECTS

_BAD_RANGE = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"


def validate_namespace(namespace: Object, old: Object | None) -> list[FieldError]:
    """What is wrong with a namespace."""
    if old is not None:
        return validate_metadata_update(namespace, old)
    return validate_metadata(namespace, kinds.NAMESPACE, check_undotted)


def validate_account(account: Object, old: Object | None) -> list[FieldError]:
    """What is wrong with a service account."""
    if old is not None:
        return validate_metadata_update(account, old)
    return validate_metadata(account, kinds.SERVICE_ACCOUNT)


def validate_node(node: Object, old: Object | None) -> list[FieldError]:
    """What is wrong with a node."""
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


def validate_event(event: Object, old: Object | None) -> list[FieldError]:
    """What is wrong with an event of the core group."""
    if old is not None:
        return validate_metadata_update(event, old)
    faults = _validate_place(event, event.get("involvedObject") or {})
    return faults + validate_metadata(event, kinds.EVENT)


def validate_new_event(event: Object, old: Object | None) -> list[FieldError]:
    """What is wrong with an event of the newer group, which asks for more."""
    if old is not None:
        return validate_metadata_update(event, old)
    faults = _validate_place(event, event.get("regarding") or {})
    if not event.get("eventTime"):
        faults.append(required("eventTime"))
    else:
        faults += _validate_reporter(event)
    kind = event.get("type") or ""
    if kind not in ("Normal", "Warning"):
        faults.append(invalid("type", "", f"has invalid value: {kind}"))
    return faults + validate_metadata(event, kinds.EVENT)


def _validate_reporter(event: Object) -> list[FieldError]:
    reporter = event.get("reportingController") or ""
    if not reporter:
        faults = [required("reportingController")]
    else:
        complaints = check_qualified(reporter)
        faults = [invalid("reportingController", reporter, why) for why in complaints]
    fields = ("reportingInstance", "action", "reason")
    return faults + [required(field) for field in fields if not event.get(field)]


def _validate_place(event: Object, about: Object) -> list[FieldError]:
    """An event lies where its object does; those of objects without a namespace in default."""
    namespace, place = about.get("namespace") or "", namespace_of(event)
    if namespace == place or (not namespace and place in ("default", "kube-system")):
        return []
    why = "does not match event.namespace"
    return [invalid("involvedObject.namespace", namespace, why)]
