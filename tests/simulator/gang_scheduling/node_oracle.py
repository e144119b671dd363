"""Whether a node will do for a pod, read from the raw objects in the plainest way."""

from typing import Any

Raw = dict[str, Any]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def accepts(pod: Raw, node: Raw) -> bool:
    """Whether it is wanted and open; room is another matter."""
    return is_wanted(pod, node) and is_open(pod, node)


def is_wanted(pod: Raw, node: Raw) -> bool:
    """Selector and required affinity."""
    spec, labels = pod["spec"], node["metadata"]["labels"]
    if any(labels.get(key) != value for key, value in spec.get("nodeSelector", {}).items()):
        return False
    required = spec.get("affinity", {}).get("nodeAffinity", {}).get(REQUIRED)
    return not required or any(is_met(term, node) for term in required["nodeSelectorTerms"])


def is_open(pod: Raw, node: Raw) -> bool:
    """Taints and cordon."""
    taints = list(node["spec"].get("taints", []))
    if node["spec"].get("unschedulable"):
        taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    kept_off = [taint for taint in taints if taint["effect"] in ("NoSchedule", "NoExecute")]
    return all(is_tolerated(taint, pod["spec"].get("tolerations", [])) for taint in kept_off)


def is_met(term: Raw, node: Raw) -> bool:
    fields = {"metadata.name": node["metadata"]["name"]}
    named = [(each, fields) for each in term.get("matchFields", [])]
    said = [(each, node["metadata"]["labels"]) for each in term.get("matchExpressions", [])]
    return bool(named or said) and all(holds(each, values) for each, values in (*named, *said))


def holds(expression: Raw, values: Raw) -> bool:
    value, wanted = values.get(expression["key"]), expression.get("values", [])
    match expression["operator"]:
        case "In":
            return value in wanted
        case "NotIn":
            return value not in wanted
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt":
            return value is not None and value.isdigit() and int(value) > int(wanted[0])
        case "Lt":
            return value is not None and value.isdigit() and int(value) < int(wanted[0])
    raise AssertionError(expression)


def is_tolerated(taint: Raw, tolerations: list[Raw]) -> bool:
    for each in tolerations:
        is_effect = each.get("effect", "") in ("", taint["effect"])
        if each.get("operator") == "Exists":
            is_marked = each.get("key", "") in ("", taint["key"])
        else:
            is_marked = (each["key"], each.get("value", "")) == (
                taint["key"],
                taint.get("value", ""),
            )
        if is_effect and is_marked:
            return True
    return False
