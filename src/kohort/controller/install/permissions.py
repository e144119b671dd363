"""
The operator's permissions on a cluster: those that its code needs, and no more, and their roles.

Each API lists the kinds that it writes and the kinds that it watches. The rest is for the
operator itself: its lease, its certificate, its webhooks and its events.

The names of roles and bindings are upstream's. An account that may read metrics is bound to the
reader's role: the operator's own account is, and the user should bind the scraper's.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from kohort.apis.api import DEFAULTS, Api, Settings
from kohort.apis.definitions.definition import name_definition
from kohort.apis.served import OPERATOR_HOME
from kohort.cluster.kinds import DEFINITION, EVENT
from kohort.cluster.kinds import LEASE as LEASE_KIND
from kohort.cluster.kinds import SECRET as SECRET_KIND
from kohort.cluster.objects import Kind, Object
from kohort.cluster.permissions import Grant, PageGrant, write_page_rules, write_rules
from kohort.controller.caches.definitions import is_defined
from kohort.controller.install.names import (
    ACCOUNT,
    LABELS,
    LEASE,
    METRICS_BINDING,
    METRICS_ROLE,
    PROXY_BINDING,
    PROXY_ROLE,
    SECRET,
)
from kohort.controller.install.webhooks import list_bundle_holders
from kohort.controller.process.access import GRANTS

_SEE = ("list", "watch")
_KEEP = ("get", "list", "watch", "patch")


def cluster_grants(apis: Sequence[Api], settings: Settings = DEFAULTS) -> list[Grant]:
    """The grants for objects of all namespaces, and for cluster-scoped objects."""
    held = list_bundle_holders(apis)
    kinds = dict.fromkeys(kind for kind, _ in held)
    defined = [name_definition(define) for api in apis for define in api.definitions]
    defined += (kind.group_resource for api in apis for kind in _list_optional(api, settings))
    return [
        *(grant for api in apis for grant in _api_grants(api, settings)),
        # The operator lists Warning events about StatefulSets to learn why pods are missing.
        Grant(EVENT, ("create", "list")),
        *(Grant(k, _KEEP, names=tuple(n for kind, n in held if kind == k)) for k in kinds),
        # The operator runs an API only while its definitions are established.
        Grant(DEFINITION, _SEE, names=tuple(dict.fromkeys(defined))),
    ]


def _list_optional(api: Api, settings: Settings) -> Iterator[Kind]:
    """The optional kinds of an API, watched as soon as their definitions exist."""
    for watched in api.watched_with(settings):
        if watched.remedy and is_defined(watched.kind):
            yield watched.kind
    for reference in api.references:
        if reference.remedy and is_defined(reference.kind):
            yield reference.kind
    yield from (kind for kind in api.reads_with(settings) if is_defined(kind))


def list_leases(apis: Sequence[Api], namespace: str) -> dict[str, tuple[str, ...]]:
    """The names of all leases, by namespace; ``namespace`` is the operator's own."""
    found: dict[str, tuple[str, ...]] = {}
    for home in dict.fromkeys(api.home for api in apis):
        # The user may set the operator's own namespace; other homes have a fixed one.
        place = namespace if home == OPERATOR_HOME else home.namespace
        found[place] = (*found.get(place, ()), home.lease)
    return found


def election_grants(leases: tuple[str, ...] = (LEASE,)) -> list[Grant]:
    """The grants for leader election, in the namespace of the leases."""
    # RBAC cannot restrict a create by name, so the grant to create has none.
    return [
        Grant(LEASE_KIND, ("create",)),
        Grant(LEASE_KIND, ("get", "update"), names=leases),
    ]


def certificate_grants() -> list[Grant]:
    """The grants for the certificate's Secret, in the operator's own namespace."""
    return [
        Grant(SECRET_KIND, ("create",)),
        Grant(SECRET_KIND, ("get", "list", "watch", "update"), names=(SECRET,)),
    ]


def review_grants() -> list[Grant]:
    """The grants for the reviews that decide who may read metrics."""
    return list(GRANTS)


def metrics_pages() -> list[PageGrant]:
    """The pages that a metrics scraper needs to read."""
    return [PageGrant("/metrics")]


def _api_grants(api: Api, settings: Settings) -> Iterator[Grant]:
    # The operator reads the owner itself before it recreates a vanished child.
    yield Grant(api.kind, ("get", *_SEE))
    yield Grant(api.kind, ("patch",), "status")
    # OwnerReferencesPermissionEnforcement: blockOwnerDeletion needs update of finalizers.
    yield Grant(api.kind, ("update",), "finalizers")
    for watched in api.watched_with(settings):
        yield Grant(watched.kind, _SEE)
    for reference in api.references:
        names = (reference.only,) if reference.only else ()
        yield Grant(reference.kind, _SEE, names=names)
    for kind in api.reads_with(settings):
        yield Grant(kind, _SEE)
    yield from api.writes_with(settings)


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
