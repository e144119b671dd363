"""
Roles with the operator's grants as rules, and their bindings to the operator's account.

The names are upstream's. An account that may read metrics is bound to the reader's role: the
operator's own account is, and the user should bind the scraper's.
"""

from collections.abc import Sequence
from typing import Any

from kohort.cluster.objects import Object
from kohort.cluster.permissions import write_page_rules, write_rules
from kohort.controller.install.names import (
    ACCOUNT,
    LABELS,
    METRICS_BINDING,
    METRICS_ROLE,
    PROXY_BINDING,
    PROXY_ROLE,
)
from kohort.controller.install.permissions import metrics_pages, review_grants

_GROUP = "rbac.authorization.k8s.io"
_VERSION = f"{_GROUP}/v1"


def write_metrics_roles(home: str) -> list[Object]:
    """The roles to read metrics, and to review the tokens of clients that read them."""
    return [
        *write_role(METRICS_ROLE, "", write_page_rules(metrics_pages()), home, METRICS_BINDING),
        *write_role(PROXY_ROLE, "", write_rules(review_grants()), home, PROXY_BINDING),
    ]


def write_role(
    name: str, place: str, rules: Sequence[Object], home: str, binding: str = ""
) -> list[Object]:
    """A role and its binding to the operator, for one namespace or for all."""
    kind = "Role" if place else "ClusterRole"
    bound = write_object(
        _VERSION,
        f"{kind}Binding",
        binding or f"{name}binding",
        place,
        roleRef={"apiGroup": _GROUP, "kind": kind, "name": name},
        subjects=[{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": home}],
    )
    return [write_object(_VERSION, kind, name, place, rules=list(rules)), bound]


def write_object(version: str, kind: str, name: str, namespace: str = "", **content: Any) -> Object:
    """An object with the labels that all objects of an install have."""
    metadata: Object = {"name": name, "labels": dict(LABELS)}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **content}
