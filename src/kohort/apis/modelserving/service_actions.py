"""
The Services of a ModelServing: each instance with workers has one, made before its pods.

They are looked for in the cache and never asked for blindly (kthena §13.2.6). One whose instance
neither exists nor is about to goes.
"""

from collections.abc import Iterator

from kohort.apis.api import Reading, Snapshot
from kohort.apis.facts import Whole
from kohort.apis.modelserving import labels
from kohort.apis.modelserving.instance_places import list_places
from kohort.apis.modelserving.objects.instances import InstancePlace
from kohort.apis.modelserving.objects.services import make_service
from kohort.apis.modelserving.read import Memory
from kohort.cluster.actions import Action, Create, Delete
from kohort.cluster.objects import namespace_of, uid_of
from kohort.model.plans import Plan
from kohort.model.units import Phase


def list_service_actions(
    snapshot: Snapshot, reading: Reading[Memory], plan: Plan
) -> Iterator[Action]:
    """Which Services are made, and which go."""
    serving = snapshot.root
    held: dict[str, Whole] = {s.metadata.name: s for s in snapshot.all(labels.SERVICE)}
    wanted: dict[str, InstancePlace] = {}
    for place in list_places(reading, plan):
        if place.role.has_service:
            wanted[place.entry_name(serving)] = place
    leaving = {g.ordinal for g in reading.observed.groups if g.phase is Phase.LEAVING}
    leaving |= {retired.ordinal for retired in plan.step.retire}
    for name, place in wanted.items():
        if name not in held and place.group not in leaving:
            body = make_service(serving, place)
            why = f"instance {place.role_id} of group {place.group} has no service"
            yield Create(labels.SERVICE, namespace_of(serving), body, why)
    for name, service in held.items():
        metadata = service.metadata
        is_ours = metadata.controller == uid_of(serving) and not metadata.is_leaving
        is_instance = labels.ROLE_ID in metadata.labels
        if is_ours and is_instance and name not in wanted:
            why = f"no instance needs service {name}"
            yield Delete(labels.SERVICE, metadata.namespace, name, metadata.uid, why=why)
