"""Services of a LeaderWorkerSet: created where missing, restored where clients edited them."""

from collections.abc import Iterator

from kohort.apis.api import Snapshot
from kohort.apis.drift.restores import adopt, put_service_back
from kohort.apis.facts import Whole
from kohort.cluster.actions import Action, Create
from kohort.cluster.kinds import SERVICE
from kohort.cluster.objects import Object, find_controller, name_of, namespace_of


def bring_service(snapshot: Snapshot, wanted: Object, why: str) -> Iterator[Action]:
    """Create, adopt or restore this Service."""
    name = name_of(wanted)
    held: tuple[Whole, ...] = snapshot.all(SERVICE)
    found = next((service for service in held if service.metadata.name == name), None)
    if found is None:
        yield Create(SERVICE, namespace_of(wanted), wanted, why)
        return
    if not found.metadata.controller and name == name_of(snapshot.root):
        yield from adopt(snapshot.root, SERVICE, found.metadata)
        return
    owner = (find_controller(wanted) or {}).get("uid", "")
    yield from put_service_back(snapshot, SERVICE, found, wanted["spec"], owner)
