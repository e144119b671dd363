"""
What the operator may do on a cluster: what its code does, and no more.

An API says what it writes beside its code; what is watched it says anyway. The rest
is the operator's own: its lease, its certificate, its webhooks and its events.
"""

from collections.abc import Iterator, Sequence

from kohort.apis.api import DEFAULTS, Api, Settings
from kohort.apis.served import OPERATOR_HOME
from kohort.cluster.objects import Kind, name_of
from kohort.cluster.permissions import Grant, PageGrant
from kohort.controller.caches.definitions import DEFINITION_KIND, is_defined
from kohort.controller.events import EVENT
from kohort.controller.install.names import (
    LEASE,
    SECRET,
    SECRET_KIND,
)
from kohort.controller.install.webhooks import list_bundle_holders
from kohort.controller.lease import LEASE as LEASE_KIND
from kohort.controller.process.access import GRANTS

_SEE = ("list", "watch")
_KEEP = ("get", "list", "watch", "patch")


def cluster_grants(apis: Sequence[Api], settings: Settings = DEFAULTS) -> list[Grant]:
    """What is needed in every namespace, and of what is in none."""
    held = list_bundle_holders(apis)
    kinds = dict.fromkeys(kind for kind, _ in held)
    defined = [name_of(define()) for api in apis for define in api.definitions]
    defined += (kind.group_resource for api in apis for kind in _list_optional(api, settings))
    return [
        *(grant for api in apis for grant in _api_grants(api, settings)),
        # Warnings about sets tell why they lack pods.
        Grant(EVENT, ("create", "list")),
        *(Grant(k, _KEEP, names=tuple(n for kind, n in held if kind == k)) for k in kinds),
        # The caches of an API are filled while its definitions are there.
        Grant(DEFINITION_KIND, _SEE, names=tuple(dict.fromkeys(defined))),
    ]


def _list_optional(api: Api, settings: Settings) -> Iterator[Kind]:
    """The kinds that an API watches as soon as another party has defined them."""
    for watched in api.watched_with(settings):
        if watched.remedy and is_defined(watched.kind):
            yield watched.kind
    for reference in api.references:
        if reference.remedy and is_defined(reference.kind):
            yield reference.kind
    yield from (kind for kind in api.reads_with(settings) if is_defined(kind))


def list_leases(apis: Sequence[Api], namespace: str) -> dict[str, tuple[str, ...]]:
    """The names of the leases by the namespaces that they lie in; the operator's own is told."""
    found: dict[str, tuple[str, ...]] = {}
    for home in dict.fromkeys(api.home for api in apis):
        # The operator's own home is where it was told to live; all others stay where they are.
        place = namespace if home == OPERATOR_HOME else home.namespace
        found[place] = (*found.get(place, ()), home.lease)
    return found


def election_grants(leases: tuple[str, ...] = (LEASE,)) -> list[Grant]:
    """What holding leases needs, in the namespace that they lie in."""
    # A name cannot be asked for before it exists, so creating is granted without one.
    return [
        Grant(LEASE_KIND, ("create",)),
        Grant(LEASE_KIND, ("get", "update"), names=leases),
    ]


def certificate_grants() -> list[Grant]:
    """What keeping the certificate needs, in the operator's own namespace."""
    return [
        Grant(SECRET_KIND, ("create",)),
        Grant(SECRET_KIND, ("get", "list", "watch", "update"), names=(SECRET,)),
    ]


def review_grants() -> list[Grant]:
    """What asking who may read metrics needs."""
    return list(GRANTS)


def metrics_pages() -> list[PageGrant]:
    """What a scraper needs."""
    return [PageGrant("/metrics")]


def _api_grants(api: Api, settings: Settings) -> Iterator[Grant]:
    # Before a child that went is made again, its owner is asked for itself.
    yield Grant(api.kind, ("get", *_SEE))
    yield Grant(api.kind, ("patch",), "status")
    # Some clusters let only those block a deletion who may also finish it.
    yield Grant(api.kind, ("update",), "finalizers")
    for watched in api.watched_with(settings):
        yield Grant(watched.kind, _SEE)
    for reference in api.references:
        names = (reference.only,) if reference.only else ()
        yield Grant(reference.kind, _SEE, names=names)
    for kind in api.reads_with(settings):
        yield Grant(kind, _SEE)
    yield from api.writes_with(settings)
