"""
The columns of workloads: StatefulSets, Deployments, ReplicaSets,
their revisions, and disruption budgets.
"""

from collections.abc import Mapping
from typing import Any

from kohort.apiserver.resources.printers import (
    AGE,
    NAME,
    NONE,
    Printed,
    make_printer,
    shown,
    wide,
)
from kohort.cluster.objects import Object, find_controller


def show_labels(labels: Mapping[str, str] | None) -> str:
    """Labels in the order of their keys."""
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or NONE


def show_selector(selector: Object | None) -> str:
    """A label selector in the short form that ``kubectl -l`` takes."""
    labels = (selector or {}).get("matchLabels") or {}
    terms = [(key, f"{key}={value}") for key, value in labels.items()]
    for term in (selector or {}).get("matchExpressions") or []:
        terms.append((term["key"], _show_requirement(term)))
    return ",".join(text for _, text in sorted(terms, key=lambda term: term[0])) or NONE


def _show_requirement(term: Object) -> str:
    key: str = term["key"]
    values = ",".join(sorted(term.get("values") or []))
    texts = {
        "In": f"{key} in ({values})",
        "NotIn": f"{key} notin ({values})",
        "Exists": key,
        "DoesNotExist": f"!{key}",
    }
    return texts.get(term.get("operator", ""), key)


def _spec(obj: Object, field: str, default: Any) -> Any:
    return (obj.get("spec") or {}).get(field, default)


def _count(field: str, name: str, *, type: str = "integer") -> Printed:
    return shown(name, lambda obj: (obj.get("status") or {}).get(field, 0), type=type)


def _pod_spec(obj: Object) -> Object:
    return _spec(obj, "template", {}).get("spec") or {}


def _of_containers(obj: Object, field: str) -> str:
    return list_containers(_pod_spec(obj), field)


def list_containers(pod_spec: Object, field: str) -> str:
    """The names or images of the containers of a pod."""
    return ",".join(container.get(field, "") for container in pod_spec.get("containers") or [])


def _read_ready(obj: Object) -> str:
    ready = (obj.get("status") or {}).get("readyReplicas", 0)
    return f"{ready}/{_spec(obj, 'replicas', 1)}"


def _read_controller(revision: Object) -> str:
    owner = find_controller(revision)
    if owner is None:
        return NONE
    group = owner["apiVersion"].rpartition("/")[0]
    kind = owner["kind"].lower()
    return f"{kind}.{group}/{owner['name']}" if group else f"{kind}/{owner['name']}"


def _limit(field: str, name: str) -> Printed:
    return shown(name, lambda budget: str(_spec(budget, field, "N/A")))


_READY = shown("Ready", _read_ready, "How many pods are ready, of how many.")
_CONTAINERS = wide("Containers", lambda obj: _of_containers(obj, "name"))
_IMAGES = wide("Images", lambda obj: _of_containers(obj, "image"))
_SELECTOR = wide("Selector", lambda obj: show_selector(_spec(obj, "selector", None)))

STATEFUL_SETS = make_printer(NAME, _READY, AGE, _CONTAINERS, _IMAGES)
DEPLOYMENTS = make_printer(
    NAME,
    _READY,
    _count("updatedReplicas", "Up-to-date", type="string"),
    _count("availableReplicas", "Available", type="string"),
    AGE,
    _CONTAINERS,
    _IMAGES,
    _SELECTOR,
)
_COUNTED = (
    NAME,
    shown("Desired", lambda obj: _spec(obj, "replicas", 1), type="integer"),
    _count("replicas", "Current"),
    _count("readyReplicas", "Ready"),
    AGE,
    _CONTAINERS,
    _IMAGES,
)
REPLICA_SETS = make_printer(*_COUNTED, _SELECTOR)
REPLICATION_CONTROLLERS = make_printer(
    *_COUNTED, wide("Selector", lambda obj: show_labels(_spec(obj, "selector", None)))
)
DAEMON_SETS = make_printer(
    NAME,
    _count("desiredNumberScheduled", "Desired"),
    _count("currentNumberScheduled", "Current"),
    _count("numberReady", "Ready"),
    _count("updatedNumberScheduled", "Up-to-date"),
    _count("numberAvailable", "Available"),
    shown("Node Selector", lambda obj: show_labels(_pod_spec(obj).get("nodeSelector"))),
    AGE,
    _CONTAINERS,
    _IMAGES,
    _SELECTOR,
)
CONTROLLER_REVISIONS = make_printer(
    NAME,
    shown("Controller", _read_controller, "The object that the revision belongs to."),
    shown("Revision", lambda revision: revision.get("revision", 0)),
    AGE,
)
POD_DISRUPTION_BUDGETS = make_printer(
    NAME,
    _limit("minAvailable", "Min Available"),
    _limit("maxUnavailable", "Max Unavailable"),
    _count("disruptionsAllowed", "Allowed Disruptions"),
    AGE,
)
