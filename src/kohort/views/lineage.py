"""
The place of each pod in its workload: group, role, instance, and index there.

Places are read from labels, as each API does it. Owner references mislead: the StatefulSet
of a group's workers belongs to a pod. A workload that cannot be read has pods without a place.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kohort.cluster.objects import Object, find_controller, labels_of, name_of, uid_of
from kohort.model.observed import Group, Member
from kohort.model.units import Phase
from kohort.views.health import Health, judge
from kohort.views.picture import Picture, find_revision

_LAST = 1 << 31


@dataclass(frozen=True, slots=True)
class MemberPlace:
    """One pod of a workload, and where it stands."""

    name: str
    uid: str
    group: int | None  # None: the workload cannot be read
    role: str
    instance: int | None  # None: its group is the instance
    index: int  # 0 leads
    phase: Phase | None
    is_current: bool
    revision: str
    pod: Object

    @property
    def is_ready(self) -> bool:
        """Whether it serves."""
        return self.phase is Phase.READY and self.is_current


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A workload that a pod belongs to."""

    reference: str
    kind: str
    name: str
    health: Health


@dataclass(frozen=True, slots=True)
class Lineage:
    """A pod with all that it belongs to, from the nearest on."""

    pod: str
    namespace: str
    node: str
    place: MemberPlace
    workloads: tuple[Ancestor, ...]  # the innermost first
    owners: tuple[str, ...]  # KIND/NAME by owner references, the nearest first
    is_one_group: bool = False  # the nearest workload is the only group, which has no number


def list_places(picture: Picture) -> tuple[MemberPlace, ...]:
    """All pods of a workload, by group, role and instance; leaders come first."""
    groups = picture.reading.observed.groups if picture.reading else ()
    found = {p.name: p for group in groups for p in _list_group(picture, group)}
    for name in picture.sample.members:
        pod = picture.sample.find_member(name)
        if name not in found and pod is not None:
            found[name] = MemberPlace(
                name, uid_of(pod), None, _find_role(picture, pod), None, 0, None, True, "", pod
            )
    return tuple(sorted(found.values(), key=lambda place: _order(picture, place)))


def _order(picture: Picture, place: MemberPlace) -> tuple[object, ...]:
    roles = _list_roles(picture)
    rank = roles.index(place.role) if place.role in roles else len(roles)
    group = _LAST if place.group is None else place.group
    instance = -1 if place.instance is None else place.instance
    return group, rank, instance, place.index, place.name


def _list_roles(picture: Picture) -> list[str]:
    return list(picture.plan.report.roles) if picture.plan else []


def _list_group(picture: Picture, group: Group) -> Iterable[MemberPlace]:
    placed = {
        member.name: (held.role, instance.ordinal)
        for held in group.roles
        for instance in held.instances
        for member in instance.members
    }
    for member in group.members:
        pod = picture.sample.find_member(member.name)
        if pod is None:
            continue
        role, instance = placed.get(member.name, ("", None))
        role = role or _find_role(picture, pod) or _name_member(picture, member)
        yield MemberPlace(
            name=member.name,
            uid=member.uid,
            group=group.ordinal,
            role=role,
            instance=instance,
            index=member.index,
            phase=member.phase,
            is_current=member.is_current,
            revision=picture.name_revision(find_revision(group)),
            pod=pod,
        )


def _find_role(picture: Picture, pod: Object) -> str:
    """The role that a label of the pod names, for pods that are in no known instance."""
    values = set(labels_of(pod).values())
    return next((role for role in _list_roles(picture) if role and role in values), "")


def _name_member(picture: Picture, member: Member) -> str:
    return picture.api.verbs.role_of(member.index) if picture.api.verbs else ""


def trace_pod(pod: Object, pictures: Sequence[Picture], owners: Sequence[Object]) -> Lineage | None:
    """The workloads and the place of a pod; None if it is of none. The nearest owner is first."""
    name = name_of(pod)
    holding = [picture for picture in pictures if name in picture.sample.members]
    if not holding:
        return None
    inner_first = _sort_by_owner(holding)
    places = [p for p in list_places(inner_first[0]) if p.name == name]
    return Lineage(
        pod=name,
        namespace=inner_first[0].namespace,
        node=(pod.get("spec") or {}).get("nodeName", ""),
        place=places[0],
        workloads=tuple(
            Ancestor(p.reference, p.api.kind.name, p.name, judge(p)) for p in inner_first
        ),
        owners=tuple(f"{owner.get('kind')}/{name_of(owner)}" for owner in owners),
        is_one_group=inner_first[0].is_one_group,
    )


def _sort_by_owner(pictures: Sequence[Picture]) -> list[Picture]:
    """The workloads so that one comes before the workload that owns it."""
    owned_by = {uid_of(p.root): (find_controller(p.root) or {}).get("uid", "") for p in pictures}

    def depth(uid: str) -> int:
        owner = owned_by.get(uid, "")
        return 1 + depth(owner) if owner in owned_by and owner != uid else 0

    return sorted(pictures, key=lambda picture: -depth(uid_of(picture.root)))
