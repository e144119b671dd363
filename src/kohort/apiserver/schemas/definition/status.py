"""
The status of a definition: accepted names, stored versions, and its conditions.

Names are accepted one by one: those that another definition of the group holds
are refused, the others are taken all the same. A definition is established once
all its names were accepted, and stays so.
"""

from collections.abc import Iterable

from kohort.apiserver.schemas.definition.names import is_protected, read_approval
from kohort.cluster.conditions import stamp
from kohort.cluster.objects import Object, find_condition

_APPROVALS = {
    "Missing": ("False", "MissingAnnotation"),
    "Invalid": ("False", "InvalidAnnotation"),
    "Unapproved": ("False", "UnapprovedAnnotation"),
    "Approved": ("True", "ApprovedAnnotation"),
}


def status_of(crd: Object, others: Iterable[Object], now: str) -> Object:
    """The status of a definition, given all others, whose names may conflict with it."""
    spec: Object = crd.get("spec") or {}
    old: Object = crd.get("status") or {}
    group = [
        (other.get("status") or {}).get("acceptedNames") or {}
        for other in others
        if other is not crd and (other.get("spec") or {}).get("group") == spec.get("group")
    ]
    accepted, conflict = _accept_names(spec.get("names") or {}, old.get("acceptedNames"), group)
    conditions = [
        _names_condition(conflict),
        _established_condition(crd, accepted=conflict is None),
    ]
    if is_protected(spec.get("group") or ""):
        conditions.append(_approval_condition(crd))
    return {
        "conditions": [_date(condition, crd, now) for condition in conditions],
        "acceptedNames": accepted,
        "storedVersions": _stored_versions(spec, old),
    }


def _accept_names(
    wanted: Object, held: Object | None, others: list[Object]
) -> tuple[Object, tuple[str, str] | None]:
    held = held or {}
    resources = {other.get(field) for other in others for field in ("plural", "singular")}
    resources |= {name for other in others for name in other.get("shortNames") or ()}
    kinds = {other.get(field) for other in others for field in ("kind", "listKind")}
    accepted: Object = {key: value for key, value in held.items() if key != "categories"}
    conflict: tuple[str, str] | None = None
    for field, used, reason in (
        ("plural", resources, "PluralConflict"),
        ("singular", resources, "SingularConflict"),
        ("shortNames", resources, "ShortNamesConflict"),
        ("kind", kinds, "KindConflict"),
        ("listKind", kinds, "ListKindConflict"),
    ):
        taken = _find_taken(wanted.get(field), held.get(field), used)
        if taken:
            conflict = (reason, taken)
            if field in ("plural", "kind"):
                accepted.setdefault(field, "")
        elif wanted.get(field):
            accepted[field] = wanted[field]
        else:
            accepted.pop(field, None)
    if wanted.get("categories"):
        accepted["categories"] = wanted["categories"]
    return accepted, conflict


def _find_taken(wanted: str | list[str] | None, held: object, used: set[str | None]) -> str:
    if isinstance(wanted, list):
        mine = held if isinstance(held, list) else []
        faults = [f'"{name}" is already in use' for name in wanted if name in used - {*mine}]
        return faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]" if faults else ""
    return f'"{wanted}" is already in use' if wanted != held and wanted in used else ""


def _names_condition(conflict: tuple[str, str] | None) -> Object:
    if conflict is None:
        return _condition("NamesAccepted", "True", "NoConflicts", "no conflicts found")
    return _condition("NamesAccepted", "False", *conflict)


def _established_condition(crd: Object, *, accepted: bool) -> Object:
    before = find_condition(crd, "Established")
    if accepted or (before is not None and before.get("status") == "True"):
        words = "the initial names have been accepted"
        return _condition("Established", "True", "InitialNamesAccepted", words)
    return _condition("Established", "False", "NotAccepted", "not all names are accepted")


def _approval_condition(crd: Object) -> Object:
    state, words = read_approval(crd)
    return _condition("KubernetesAPIApprovalPolicyConformant", *_APPROVALS[state], words)


def _condition(type_: str, status: str, reason: str, message: str) -> Object:
    return {"type": type_, "status": status, "reason": reason, "message": message}


def _date(condition: Object, crd: Object, now: str) -> Object:
    """The condition with its lastTransitionTime."""
    return stamp(condition, find_condition(crd, condition["type"]), now)


def _stored_versions(spec: Object, old: Object) -> list[str]:
    stored = list(old.get("storedVersions") or ())
    for version in spec.get("versions") or ():
        if version.get("storage") and version["name"] not in stored:
            stored.append(version["name"])
    return stored
