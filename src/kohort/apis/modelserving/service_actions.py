"""
The Services of a ModelServing: each instance with workers has one, created before its pods.

The operator looks for them in its cache before it creates one. It deletes a Service whose instance
neither exists nor is planned; not while its group is leaving, since the next group of that ordinal
mostly has the same instances.
"""

from collections.abc import Iterable, Iterator, Mapping

from kohort.apis.api import Reading, Snapshot
from kohort.apis.facts import Whole
from kohort.apis.modelserving import labels
from kohort.apis.modelserving.instance_places import list_places
from kohort.apis.modelserving.objects.instances import InstancePlace, PodPlace, find_place
from kohort.apis.modelserving.objects.services import (
    SHARED,
    UNIQUE_PER_REPLICA,
    make_group_service,
    make_service,
    make_shared_service,
)
from kohort.apis.modelserving.plugins.lws import find_subdomain
from kohort.apis.modelserving.put_back import put_entry_service_back, put_subdomain_back
from kohort.apis.modelserving.read import Memory
from kohort.cluster.actions import Action, Create, Delete
from kohort.cluster.kinds import SERVICE
from kohort.cluster.objects import Object, name_of, namespace_of, uid_of
from kohort.model.plans import Plan
from kohort.model.units import Phase


def list_service_actions(
    snapshot: Snapshot, reading: Reading[Memory], plan: Plan
) -> Iterator[Action]:
    """Create missing Services, restore edited ones, and delete those that no instance needs."""
    serving = snapshot.root
    held: dict[str, Whole] = {s.metadata.name: s for s in snapshot.all(SERVICE)}
    wanted: dict[str, InstancePlace] = {}
    for place in list_places(reading, plan):
        if place.role.has_service:
            wanted[place.entry_name(serving)] = place
    subdomains = _list_subdomains(serving, reading, plan)
    yield from _keep_subdomains(snapshot, subdomains, held)
    leaving = {g.ordinal for g in reading.observed.groups if g.phase is Phase.LEAVING}
    leaving |= {retired.ordinal for retired in plan.step.retire}
    for name, place in wanted.items():
        if name in held:
            pod = PodPlace(place.group, place.role.name, place.instance, 0)
            yield from put_entry_service_back(snapshot, held[name], pod)
        elif place.group not in leaving:
            body = make_service(serving, place)
            why = f"instance {place.role_id} of group {place.group} has no service"
            yield Create(SERVICE, namespace_of(serving), body, why)
    names = {name_of(service) for service in subdomains}
    for name, service in held.items():
        metadata = service.metadata
        is_ours = metadata.controller == uid_of(serving) and not metadata.is_leaving
        if is_ours and name not in wanted and name not in names:
            where = find_place(name_of(serving), name)
            if where is None or where.group not in leaving:
                yield _delete(service, is_of_instance=where is not None)


def _delete(service: Whole, *, is_of_instance: bool) -> Delete:
    metadata = service.metadata
    name = metadata.name
    why = f"no instance needs service {name}"
    why = why if is_of_instance else f"no pod is in subdomain {name}"
    return Delete(SERVICE, metadata.namespace, name, metadata.uid, why=why)


def _list_subdomains(serving: Object, reading: Reading[Memory], plan: Plan) -> list[Object]:
    """
    The Services for all pods of the workload, or of each group, if a plugin asks for them.

    Pods that exist keep what plugins gave them: so their subdomain stays as long as one is in it.
    """
    policy = find_subdomain(reading.memory.context.spec)
    notes = [(pod.metadata.annotations, pod.place) for pod in reading.memory.pods]
    held = [(found.get(labels.SUBDOMAIN_POLICY, ""), place) for found, place in notes]
    ordinals = {place.group for own, place in held if own == UNIQUE_PER_REPLICA and place}
    if policy == UNIQUE_PER_REPLICA:
        ordinals |= {group.ordinal for group in reading.observed.groups}
        ordinals |= {make.ordinal for make in plan.step.make}
    is_shared = policy == SHARED or any(own == SHARED for own, _ in held)
    shared = [make_shared_service(serving)] if is_shared else []
    return [*shared, *(make_group_service(serving, ordinal) for ordinal in sorted(ordinals))]


def _keep_subdomains(
    snapshot: Snapshot, wanted: Iterable[Object], held: Mapping[str, Whole]
) -> Iterator[Action]:
    for service in wanted:
        if name_of(service) in held:
            yield from put_subdomain_back(snapshot, held[name_of(service)], service)
        else:
            why = f"the pods of subdomain {name_of(service)} have no service"
            yield Create(SERVICE, namespace_of(snapshot.root), service, why)
