"""
What the operator may do on a cluster: what its code does, and no more.

An API says what it writes beside its code; what is watched it says anyway. The rest
is the operator's own: its lease, its certificate, its webhooks and its events.
"""

from collections.abc import Iterator, Sequence

from kohort.apis.api import DEFAULTS, Api, Settings
from kohort.cluster.permissions import Grant, PageGrant
from kohort.controller.events import EVENT
from kohort.controller.install.names import (
    LEASE,
    MUTATING_KIND,
    SECRET,
    SECRET_KIND,
    VALIDATING_KIND,
)
from kohort.controller.install.webhooks import configuration_names
from kohort.controller.lease import LEASE as LEASE_KIND
from kohort.controller.process.access import GRANTS

_SEE = ("list", "watch")
_KEEP = ("get", "list", "watch", "patch")


def cluster_grants(apis: Sequence[Api], settings: Settings = DEFAULTS) -> list[Grant]:
    """What is needed in every namespace, and of what is in none."""
    mutating, validating = configuration_names(apis)
    return [
        *(grant for api in apis for grant in _api_grants(api, settings)),
        # Warnings about sets tell why they lack pods.
        Grant(EVENT, ("create", "list")),
        Grant(MUTATING_KIND, _KEEP, names=mutating),
        Grant(VALIDATING_KIND, _KEEP, names=validating),
    ]


def election_grants() -> list[Grant]:
    """What holding the lease needs, in the operator's own namespace."""
    # A name cannot be asked for before it exists, so creating is granted without one.
    return [
        Grant(LEASE_KIND, ("create",)),
        Grant(LEASE_KIND, ("get", "update"), names=(LEASE,)),
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
    for kind in api.reads_with(settings):
        yield Grant(kind, _SEE)
    yield from api.writes_with(settings)
