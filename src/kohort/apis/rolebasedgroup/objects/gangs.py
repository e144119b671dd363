"""
The gang of a group, in terms of no particular scheduler: pods that are scheduled all or none.

All pods of all roles count; upstream counts an instance of custom components as one pod. A role
that may not start yet does not count until it starts, else the scheduler would never place the
pods that it depends on. Each role is a kind of subgroup, each instance a subgroup: its pods are
scheduled together.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kohort.apis.api import Snapshot
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.dialects.coscheduling import COSCHEDULING
from kohort.apis.gangs.dialects.volcano import VOLCANO
from kohort.apis.gangs.intent import Intent, SubgroupKind, Tiers
from kohort.apis.requests import sum_requests
from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.objects import templates
from kohort.apis.rolebasedgroup.objects.pods import list_places
from kohort.apis.rolebasedgroup.roles import as_map, as_objects
from kohort.apis.rolebasedgroup.spec import GroupSpec, roles_of
from kohort.cluster.objects import (
    Object,
    annotations_of,
    name_of,
    namespace_of,
    owner_reference,
)
from kohort.model.placement import Gang

# The schedulers that upstream knows, its default first. For these we mark the pod templates.
UPSTREAM = (COSCHEDULING, VOLCANO)
TEMPLATE_MARKS: Mapping[str, str] = {
    COSCHEDULING.name: templates.SCHEDULER_PLUGINS,
    VOLCANO.name: templates.VOLCANO,
}
_COPIED = {COSCHEDULING.name: "scheduling.x-k8s.io/", VOLCANO.name: "scheduling.volcano.sh/"}


@dataclass(frozen=True, slots=True)
class RoleMembers:
    """How many instances of a role are in the gang, and how many pods each has."""

    instances: int
    size: int
    held: int = 0  # pods of these instances that may not start yet
    # How many pods of each instance are in the gang now, by its ordinal.
    needs: Mapping[int, int] = field(default_factory=dict)
    # How many instances have pods of a component that may not start yet, by its name.
    waiting: Mapping[str, int] = field(default_factory=dict)

    @property
    def pods(self) -> int:
        """The role's pods that are in the gang now."""
        return max(0, self.instances * self.size - self.held)


def find_dialect(snapshot: Snapshot) -> Dialect | None:
    """The scheduler for a group's gang; None if gangs are off or the cluster lacks its kinds."""
    if annotations_of(snapshot.root).get(labels.GANG) != "true":
        return None
    return find_instance_dialect(snapshot)


def find_instance_dialect(snapshot: Snapshot) -> Dialect | None:
    """The scheduler for gangs of instances or groups; None if the cluster lacks its kinds."""
    group, settings = snapshot.root, snapshot.settings
    named = annotations_of(group).get(labels.GANG_DIALECT, "")
    known = settings.gangs or UPSTREAM
    found = choose_dialect(group, [d for d in known if d.name == named] if named else known)
    if found is None or any(k in snapshot.unserved or k in snapshot.absent for k in found.kinds):
        return None
    return found


def choose_dialect(group: Object, dialects: Iterable[Dialect]) -> Dialect | None:
    """The dialect of the ``schedulerName`` in the pod templates, else the first; None if empty."""
    known = list(dialects)
    named = {spec.get("schedulerName") for spec in _list_specs(group)} - {None, ""}
    answering = [dialect for dialect in known if dialect.scheduler in named]
    return next(iter(answering or known), None)


def _list_specs(value: Any) -> Iterator[Object]:
    """The pod specs of all roles: of shared templates, patterns and components."""
    listed: list[Any] = [
        *roles_of(value),
        *as_objects(as_map(value.get("spec")).get("roleTemplates")),
    ]
    while listed:
        found = listed.pop()
        for key, held in found.items():
            if key == "spec" and isinstance(held, dict):
                yield held
            elif isinstance(held, dict):
                listed.append(held)
            elif key == "components":
                listed += as_objects(held)


def count_members(members: Mapping[str, RoleMembers]) -> int:
    """The number of pods in the gang of a group."""
    return sum(role.pods for role in members.values())


def make_gang(
    group: Object, spec: GroupSpec, dialect: Dialect, members: Mapping[str, RoleMembers]
) -> Intent:
    """The gang of a group, for any scheduler's dialect to render."""
    count = count_members(members)
    return Intent(
        namespace=namespace_of(group),
        name=names.config_name(name_of(group)),
        gang=Gang(0, "", "", count, count),
        owner=owner_reference(group),
        labels={labels.GROUP_NAME: name_of(group)},
        requests=sum_requests(_list_requests(spec, members)),
        queue=spec.gang.queue or dialect.find_queue({}, annotations_of(group)),
        priorities=(spec.gang.priority_class,),
        parts=tuple(_list_parts(group, spec, members)),
        exclusive=spec.exclusive_topology,
        notes=_copy_notes(group, dialect),
    )


def make_instance_gang(
    group: Object, instance: Object, waiting: Collection[str], dialect: Dialect
) -> Intent:
    """The gang of one instance, of its own size, without components that may not start yet."""
    places = [p for p in list_places(instance) if p.component_name not in waiting]
    requests = [
        (1, as_map(as_map(container.get("resources")).get("requests")))
        for place in places
        for container in as_objects(
            as_map(as_map(place.component.get("template")).get("spec")).get("containers")
        )
    ]
    count = len(places)
    return Intent(
        namespace=namespace_of(group),
        name=name_of(instance),
        gang=Gang(0, "", "", count, count),
        owner=owner_reference(instance),
        labels={labels.GROUP_NAME: name_of(group), labels.INSTANCE_NAME: name_of(instance)},
        requests=sum_requests(requests),
        queue=annotations_of(group).get(labels.GANG_QUEUE)
        or dialect.find_queue({}, annotations_of(group)),
        priorities=(annotations_of(group).get(labels.GANG_PRIORITY, ""),),
        notes=_copy_notes(group, dialect),
    )


def render_gang(intent: Intent, spec: GroupSpec, dialect: Dialect, tiers: Tiers) -> list[Object]:
    """The objects of a gang for one scheduler."""
    made = [dict(obj) for obj in dialect.render(intent, tiers)]
    if dialect.name == COSCHEDULING.name:
        for obj in made:
            obj["spec"] = {**obj["spec"], "scheduleTimeoutSeconds": spec.gang.timeout_seconds}
            if intent.notes:
                obj["metadata"] = {**obj["metadata"], "annotations": dict(intent.notes)}
    return made


def _copy_notes(group: Object, dialect: Dialect) -> dict[str, str]:
    prefix = _COPIED.get(dialect.name)
    notes = annotations_of(group)
    return {k: v for k, v in notes.items() if prefix and k.startswith(prefix)}


def _list_parts(
    group: Object, spec: GroupSpec, members: Mapping[str, RoleMembers]
) -> Iterator[SubgroupKind]:
    for role in spec.roles:
        own = members.get(role.name)
        if own is None or role.workload != labels.INSTANCE_SET or not (own.pods or own.needs):
            continue
        yield SubgroupKind(
            name=role.name,
            key=labels.INSTANCE_NAME,
            size=own.size,
            count=own.instances,
            selector={labels.GROUP_NAME: name_of(group), labels.ROLE_NAME: role.name},
            is_everywhere=True,
            # The pods of an instance that starts step by step do not exist at once.
            is_whole=bool(own.pods) and not own.held,
            needs=own.needs,
        )


def _list_requests(
    spec: GroupSpec, members: Mapping[str, RoleMembers]
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for role in spec.roles:
        own = members.get(role.name)
        for component in role.components if own is not None else ():
            assert own is not None
            instances = own.instances - own.waiting.get(component.name, 0)
            for container in as_objects(as_map(component.template.get("spec")).get("containers")):
                requests = as_map(as_map(container.get("resources")).get("requests"))
                yield instances * component.size, requests
