"""Validation of a pod's scheduling: affinity, tolerations, topology spread and gates."""

from kohort.apiserver.resources.validation.field_errors import (
    check_choice,
    duplicate,
    invalid,
    required,
    unsupported,
)
from kohort.apiserver.resources.validation.selectors import validate_requirement, validate_selector
from kohort.cluster.fields import FieldError
from kohort.cluster.names import (
    check_label_value,
    check_qualified,
    check_undotted,
)
from kohort.cluster.objects import Object

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")
_POLICIES = ("Honor", "Ignore")
_MATCH_ALL = (
    'operator must be Exists when `key` is empty, which means "match all values and all keys"'
)


def validate_affinity(affinity: Object, path: str) -> list[FieldError]:
    """The errors in the affinity of a pod."""
    faults: list[FieldError] = []
    if affinity.get("nodeAffinity"):
        faults += _validate_node_affinity(affinity["nodeAffinity"], f"{path}.nodeAffinity")
    for field in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(field)
        if not terms:
            continue
        for index, term in enumerate(terms.get(_REQUIRED) or ()):
            faults += _validate_term(term, f"{path}.{field}.{_REQUIRED}[{index}]")
        for index, weighted in enumerate(terms.get(_PREFERRED) or ()):
            where = f"{path}.{field}.{_PREFERRED}[{index}]"
            faults += _validate_weight(weighted, where)
            term = weighted.get("podAffinityTerm") or {}
            faults += _validate_term(term, f"{where}.podAffinityTerm")
    return faults


def _validate_node_affinity(affinity: Object, path: str) -> list[FieldError]:
    faults: list[FieldError] = []
    needed = affinity.get(_REQUIRED)
    if needed is not None:
        terms = needed.get("nodeSelectorTerms") or ()
        where = f"{path}.{_REQUIRED}.nodeSelectorTerms"
        if not terms:
            faults.append(required(where, "must have at least one node selector term"))
        for index, term in enumerate(terms):
            faults += _validate_node_term(term, f"{where}[{index}]")
    for index, weighted in enumerate(affinity.get(_PREFERRED) or ()):
        where = f"{path}.{_PREFERRED}[{index}]"
        faults += _validate_weight(weighted, where)
        faults += _validate_node_term(weighted.get("preference") or {}, f"{where}.preference")
    return faults


def _validate_weight(weighted: Object, path: str) -> list[FieldError]:
    weight = weighted.get("weight") or 0
    return (
        []
        if 1 <= weight <= 100
        else [invalid(f"{path}.weight", weight, "must be in the range 1-100")]
    )


def _validate_node_term(term: Object, path: str) -> list[FieldError]:
    faults: list[FieldError] = []
    for index, line in enumerate(term.get("matchExpressions") or ()):
        faults += validate_requirement(line, f"{path}.matchExpressions[{index}]", compares=True)
    for index, line in enumerate(term.get("matchFields") or ()):
        where = f"{path}.matchFields[{index}]"
        if line.get("operator") not in ("In", "NotIn"):
            why = "not a valid selector operator"
            faults.append(invalid(f"{where}.operator", line.get("operator") or "", why))
        if line.get("key") != "metadata.name":
            why = "not a valid field selector key"
            faults.append(invalid(f"{where}.key", line.get("key") or "", why))
    return faults


def _validate_term(term: Object, path: str) -> list[FieldError]:
    faults = validate_selector(term.get("labelSelector"), f"{path}.labelSelector")
    faults += validate_selector(term.get("namespaceSelector"), f"{path}.namespaceSelector")
    for index, name in enumerate(term.get("namespaces") or ()):
        where = f"{path}.namespaces[{index}]"
        faults += [invalid(where, name, why) for why in check_undotted(name)]
    key = term.get("topologyKey") or ""
    if not key:
        faults.append(required(f"{path}.topologyKey", "can not be empty"))
    return faults + [invalid(f"{path}.topologyKey", key, why) for why in check_qualified(key)]


def validate_tolerations(tolerations: list[Object], path: str) -> list[FieldError]:
    """The errors in the tolerations of a pod."""
    faults: list[FieldError] = []
    for index, toleration in enumerate(tolerations):
        key, operator = toleration.get("key") or "", toleration.get("operator") or ""
        where = f"{path}[{index}]"
        if key:
            faults += [invalid(f"{where}.key", key, why) for why in check_qualified(key)]
        elif operator != "Exists":
            faults.append(invalid(f"{where}.operator", operator, _MATCH_ALL))
        effect = toleration.get("effect") or ""
        if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
            why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            faults.append(invalid(f"{where}.effect", effect, why))
        faults += _validate_operator(toleration, operator, where)
        if effect:
            faults += check_choice(f"{where}.effect", effect, EFFECTS)
    return faults


def _validate_operator(toleration: Object, operator: str, path: str) -> list[FieldError]:
    value = toleration.get("value") or ""
    if operator in ("Equal", ""):
        complaints = check_label_value(value)
        return [invalid(f"{path}.operator", value, complaints[0])] if complaints else []
    if operator == "Exists":
        why = "value must be empty when `operator` is 'Exists'"
        return [invalid(f"{path}.operator", value, why)] if value else []
    return [unsupported(f"{path}.operator", operator, ("Equal", "Exists"))]


def validate_spread(constraints: list[Object], path: str) -> list[FieldError]:
    """The errors in the topology spread constraints of a pod."""
    faults: list[FieldError] = []
    pairs = [(c.get("topologyKey") or "", c.get("whenUnsatisfiable") or "") for c in constraints]
    for index, constraint in enumerate(constraints):
        where = f"{path}[{index}]"
        faults += _validate_constraint(constraint, where)
        # Of two equal constraints, the error names the first.
        if pairs[index] in pairs[index + 1 :]:
            shown = f"{{{pairs[index][0]}, {pairs[index][1]}}}"
            faults.append(duplicate(f"{where}.{{topologyKey, whenUnsatisfiable}}", shown))
        faults += _validate_domains(constraint, where)
        faults += validate_selector(constraint.get("labelSelector"), f"{where}.labelSelector")
    return faults


def _validate_constraint(constraint: Object, path: str) -> list[FieldError]:
    faults: list[FieldError] = []
    skew, key = constraint.get("maxSkew") or 0, constraint.get("topologyKey")
    if skew <= 0:
        faults.append(invalid(f"{path}.maxSkew", skew, "must be greater than zero"))
    if not key:
        faults.append(required(f"{path}.topologyKey", "can not be empty"))
    else:
        faults += [invalid(f"{path}.topologyKey", key, why) for why in check_qualified(key)]
    policy = constraint.get("whenUnsatisfiable")
    return faults + check_choice(f"{path}.whenUnsatisfiable", policy, _UNSATISFIABLE)


def _validate_domains(constraint: Object, path: str) -> list[FieldError]:
    faults: list[FieldError] = []
    domains, policy = constraint.get("minDomains"), constraint.get("whenUnsatisfiable")
    if domains is not None and domains <= 0:
        faults.append(invalid(f"{path}.minDomains", domains, "must be greater than zero"))
    if domains is not None and policy != "DoNotSchedule":
        why = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {policy}"
        faults.append(invalid(f"{path}.minDomains", domains, why))
    for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if constraint.get(field) is not None:
            faults += check_choice(f"{path}.{field}", constraint[field], _POLICIES)
    return faults


def validate_gates(gates: list[Object], path: str) -> list[FieldError]:
    """The errors in the scheduling gates of a pod."""
    faults: list[FieldError] = []
    seen: set[str] = set()
    for index, gate in enumerate(gates):
        name = gate.get("name") or ""
        faults += [invalid(f"{path}[{index}]", name, why) for why in check_qualified(name)]
        if name in seen:
            faults.append(duplicate(f"{path}[{index}]", name))
        seen.add(name)
    return faults
