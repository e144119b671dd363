"""
Whether another controller of LeaderWorkerSets runs on the cluster.

Two objects with upstream's names show it: the lease, in whichever namespace upstream was installed,
by its holder, and the webhook configuration by its manager. Their names alone prove nothing, since
Kohort uses them too. But Kohort's process names itself in its lease, and labels its configuration.
"""

from collections.abc import Iterator

from kohort.apis.api import Snapshot
from kohort.apis.definitions.definition import MANAGED_BY
from kohort.apis.facts import Whole
from kohort.apis.home import Home, is_own_holder
from kohort.apis.leaderworkerset import labels
from kohort.apis.references import Key, Reference
from kohort.cluster.kinds import LEASE
from kohort.cluster.objects import Kind, Object

CONFIGURATION = Kind(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    namespaced=False,
)
CARRIER = "modelserving"
OURS = "kohort"
_ANOTHER: tuple[Key, ...] = (("", "another-controller"),)
_REMEDY = "let the operator see it ('kohort manifests' prints the roles)"


def refer_to_others(home: Home) -> tuple[Reference, ...]:
    """The leases and webhook configurations to watch for sets that a ModelServing carries."""
    return (
        Reference(
            LEASE, _ask, remedy=_REMEDY, names_of=_name_lease, only=home.lease, is_shown=False
        ),
        Reference(
            CONFIGURATION,
            _ask,
            remedy=_REMEDY,
            names_of=_name_configuration,
            only=home.validating_name,
            is_shown=False,
        ),
    )


def find_another(snapshot: Snapshot) -> str:
    """A sentence that names another controller on the cluster; empty if there is none."""
    return next(_list_others(snapshot), "")


def _list_others(snapshot: Snapshot) -> Iterator[str]:
    for lease in snapshot.references.get(LEASE, ()):
        place = f"{lease.metadata.namespace}/{lease.metadata.name}"
        yield (
            f"{_find_holder(lease)} holds the lease {place}, and is no process of Kohort: stop it, "
            "or delete the lease if it has gone"
        )
    for found in snapshot.references.get(CONFIGURATION, ()):
        whose = found.metadata.labels.get(MANAGED_BY) or "an unnamed controller"
        yield (
            f"{CONFIGURATION.name} {found.metadata.name} is managed by {whose}, not by Kohort: "
            "remove that controller, or install the webhooks of Kohort in its place"
        )


def _ask(lws: Object) -> tuple[Key, ...]:
    """The reference of a set to other controllers; only sets carried by a ModelServing have it."""
    metadata = lws.get("metadata") or {}
    notes = metadata.get("annotations") or {}
    return _ANOTHER if notes.get(labels.CARRIER) == CARRIER else ()


def _find_holder(lease: Whole) -> str:
    return str((lease.decode().get("spec") or {}).get("holderIdentity") or "")


def _name_lease(lease: Whole) -> tuple[Key, ...]:
    holder = _find_holder(lease)
    return _ANOTHER if holder and not is_own_holder(holder) else ()


def _name_configuration(found: Whole) -> tuple[Key, ...]:
    return () if found.metadata.labels.get(MANAGED_BY) == OURS else _ANOTHER
