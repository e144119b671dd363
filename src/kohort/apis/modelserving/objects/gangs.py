"""
The intent of a group's gang, before a dialect renders it.

All pods of a group are placed together, unless its gang policy asks for fewer instances of a
role; all instances of a role that it does not name count. Each role is a kind of subgroup, and each
of its instances a subgroup: all pods of an instance are placed together, and near each other if
the user sets a rolePolicy. Only requests of containers count, as upstream counts them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count as count_up
from itertools import islice
from types import MappingProxyType
from typing import Any

from kohort.apis.gangs.dialect import NONE, Dialect
from kohort.apis.gangs.intent import Intent, SubgroupKind
from kohort.apis.modelserving import labels, names
from kohort.apis.modelserving.objects.instances import group_marks
from kohort.apis.modelserving.spec import RoleSpec, ServingSpec, read_spec
from kohort.apis.requests import sum_requests
from kohort.apis.topology import read_pack
from kohort.cluster.objects import (
    Object,
    annotations_of,
    labels_of,
    name_of,
    namespace_of,
    owner_reference,
)
from kohort.model.placement import Gang


def choose_dialect(serving: Object, dialects: Iterable[Dialect]) -> Dialect | None:
    """The dialect of an object's gangs: the one it names, or that of its scheduler; or None."""
    named = annotations_of(serving).get(labels.GANG, "")
    if named == NONE:
        return None
    scheduler = read_spec(serving).scheduler
    for dialect in dialects:
        if dialect.name == named or (not named and dialect.scheduler == scheduler):
            return dialect
    return None


def count_instances(spec: ServingSpec, role: RoleSpec) -> int:
    """The minimum of a role's instances in a gang."""
    return min(spec.min_role_replicas.get(role.name, role.replicas), role.replicas)


def count_minimum(spec: ServingSpec) -> int:
    """The minimum of a group's pods in a gang."""
    return sum(role.size * count_instances(spec, role) for role in spec.roles)


def make_intent(
    serving: Object,
    group: int,
    gang: Gang,
    dialect: Dialect,
    instances: Mapping[str, Collection[int]] = MappingProxyType({}),
) -> Intent:
    """The gang of one group, from the object with the roles of the group's revision.

    ``instances``: the ordinals of those that exist or are planned, by role.
    """
    spec, name = read_spec(serving), names.group_name(name_of(serving), group)
    templates = [template for role in spec.roles for template in _templates_of(role)]
    return Intent(
        namespace=namespace_of(serving),
        name=name,
        gang=gang,
        owner=_make_owner(serving),
        labels=group_marks(serving, group),
        notes={labels.GANG_NAME: name},
        requests=sum_requests(_list_requests(spec)),
        queue=dialect.find_queue(labels_of(serving), annotations_of(serving)),
        schedulers=(spec.scheduler,),
        parts=tuple(_list_subgroups(serving, spec, instances)),
        shapes=len({str(template) for template in templates}),
    )


def _make_owner(serving: Object) -> Object:
    reference = owner_reference(serving)
    # Upstream's reference lacks this field; ours must equal it.
    del reference["blockOwnerDeletion"]
    return reference


def _list_subgroups(
    serving: Object, spec: ServingSpec, instances: Mapping[str, Collection[int]]
) -> Iterator[SubgroupKind]:
    for role in spec.roles:
        ordinals = _list_ordinals(role, instances.get(role.name, ()))
        needed = count_instances(spec, role)
        yield SubgroupKind(
            name=role.name,
            key=labels.ROLE_ID,
            size=role.size,
            count=needed,
            selector={labels.NAME: name_of(serving), labels.ROLE: role.name},
            pack=read_pack(spec.role_topology),
            is_everywhere=True,
            needs={o: role.size if at < needed else 0 for at, o in enumerate(ordinals)},
        )


def _list_ordinals(role: RoleSpec, known: Collection[int]) -> list[int]:
    """The ordinals of a role's instances: those known first, then the lowest that are to come."""
    free = (ordinal for ordinal in count_up() if ordinal not in known)
    return [*sorted(known), *islice(free, max(0, role.replicas - len(known)))]


def _list_requests(spec: ServingSpec) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for role in spec.roles:
        instances = count_instances(spec, role)
        counts = (instances, instances * role.workers)
        for count, template in zip(counts, _templates_of(role), strict=False):
            for container in (template.get("spec") or {}).get("containers") or ():
                yield count, (container.get("resources") or {}).get("requests") or {}


def _templates_of(role: RoleSpec) -> list[Object]:
    return [role.entry_template, *([role.worker_template] if role.worker_template else [])]
