"""
The place of a pod: its group, its role, the role's instance, and its index there.

Ordinals of groups and instances may have gaps, after bin-packing scale-down. The number of a pod
in its whole group must still be unique: instances within the role's count are numbered without
gaps, role after role, and those beyond the count come after all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kohort.apis.modelserving import labels, names
from kohort.apis.modelserving.spec import RoleSpec
from kohort.apis.ordinals import find_ordinal
from kohort.cluster.objects import Object, name_of, namespace_of


@dataclass(frozen=True, slots=True)
class InstancePlace:
    """One instance of a role in one group."""

    group: int
    role: RoleSpec
    instance: int

    def group_name(self, serving: Object) -> str:
        """The name of the group that the instance belongs to."""
        return names.group_name(name_of(serving), self.group)

    @property
    def role_id(self) -> str:
        """The name of the instance within its group."""
        return names.role_id(self.role.name, self.instance)

    def entry_name(self, serving: Object) -> str:
        """The name of the instance's entry pod, and of its Service."""
        return names.entry_name(name_of(serving), self.group, self.role.name, self.instance)

    def pod_name(self, serving: Object, index: int) -> str:
        """The name of the instance's pod with this index."""
        return names.pod_name(name_of(serving), self.group, self.role.name, self.instance, index)


@dataclass(frozen=True, slots=True)
class PodPlace:
    """The place of an existing pod, by ordinals and the role's name."""

    group: int
    role: str
    instance: int
    index: int  # 0 is the entry


def find_place(serving: str, pod: str) -> PodPlace | None:
    """The place that a pod's name tells; None if it is no name of a pod of the workload.

    The name decides: clients can change labels, and under another controller templates could
    override the label of the group.
    """
    group, _, identity = pod.removeprefix(f"{serving}-").partition("-")
    member = find_ordinal(identity)
    instance = find_ordinal(member[0]) if member else None
    if member is None or instance is None or not instance[0] or not group.isascii():
        return None
    ordinal = names.read_ordinal(f"{serving}-{group}")
    found = PodPlace(ordinal, instance[0], instance[1], member[1])
    wanted = names.pod_name(serving, ordinal, found.role, found.instance, found.index)
    return found if wanted == pod and ordinal != names.NO_ORDINAL else None


def place_marks(serving: str, place: PodPlace) -> dict[str, str]:
    """Upstream's labels for the place of a pod; an entry has one more."""
    marks = {
        labels.NAME: serving,
        labels.GROUP_NAME: names.group_name(serving, place.group),
        labels.ROLE: place.role,
        labels.ROLE_ID: names.role_id(place.role, place.instance),
    }
    return {**marks, labels.ENTRY: "true"} if place.index == 0 else marks


def own_marks(namespace: str, serving: str, group: int) -> dict[str, str]:
    """Our labels of a group, which upstream does not write."""
    name = names.group_name(serving, group)
    return {
        labels.GROUP_INDEX: str(group),
        labels.GROUP_HASH: names.group_hash(namespace, name),
    }


def group_marks(serving: Object, group: int) -> dict[str, str]:
    """The labels of all objects of one group."""
    return {
        labels.NAME: name_of(serving),
        labels.GROUP_NAME: names.group_name(name_of(serving), group),
        **own_marks(namespace_of(serving), name_of(serving), group),
    }


def instance_marks(serving: Object, place: InstancePlace) -> dict[str, str]:
    """The labels of all objects of one role instance."""
    marks = group_marks(serving, place.group)
    return {**marks, labels.ROLE: place.role.name, labels.ROLE_ID: place.role_id}


def count_pods(roles: Sequence[RoleSpec]) -> int:
    """The number of pods in a complete group."""
    return sum(role.replicas * role.size for role in roles)


def number_pod(roles: Sequence[RoleSpec], role: str, instance: int, index: int) -> int:
    """The number of a pod in its group; the entry of the first role's first instance is 0."""
    before = 0
    for position, found in enumerate(roles):
        if found.name != role:
            before += found.replicas * found.size
        elif instance < found.replicas:
            return before + instance * found.size + index
        else:
            # Beyond the count, the pod gets a number that no other place of the group has.
            widest = max(each.size for each in roles)
            return count_pods(roles) + (instance * widest + index) * len(roles) + position
    raise AssertionError(f"role {role} is none of the roles that are counted")
