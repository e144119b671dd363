"""
Every name that belongs to a RoleBasedGroup, and the hashes made from names.

A workload and its Service are cut to 63 characters, and a dash that the cut leaves at the end goes,
as upstream does. Two names that the cut makes equal are a mistake that is said loudly; nothing here
can know, so whoever names several objects asks `list_collisions`.
"""

from collections import Counter
from collections.abc import Iterable
from hashlib import sha1

from kohort.apis.ordinals import find_ordinal

NAME_MAX = 63
NO_ORDINAL = -1
_GROUP_REVISION_MAX = 220  # of the group's name in a revision
_REVISION_MAX = 223  # of an owner's name in a revision
_STATELESS_MAX = 57  # of a set's name in that of a stateless instance
_ID_LENGTH = 5
_ID_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # of random names in Kubernetes


def workload_name(group: str, role: str) -> str:
    """The RoleInstanceSet of a role, or whichever workload carries it."""
    return _cut(f"{group}-{role}")


def service_name(group: str, role: str) -> str:
    """The headless Service of a role."""
    return _cut(f"s-{group}-{role}")


def adapter_name(group: str, role: str) -> str:
    """The scaling adapter of a role, which is not cut: the API server refuses what is too long."""
    return f"{group}-{role}"


def config_name(group: str) -> str:
    """The ConfigMap with addresses; the PodGroup and the CoordinatedPolicy are named so, too."""
    return group


def group_revision_name(group: str, revision: str, number: int) -> str:
    """The ControllerRevision that holds all roles of a group."""
    return f"{group[:_GROUP_REVISION_MAX]}-{revision}-{number}"


def revision_name(owner: str, revision: str) -> str:
    """The ControllerRevision of a RoleInstanceSet or of a RoleInstance."""
    return f"{owner[:_REVISION_MAX]}-{revision}"


def short_revision(revision: str) -> str:
    """The hash that the name of a revision ends with; pods carry no more of it."""
    return revision.rpartition("-")[2]


def child_name(group_set: str, ordinal: int) -> str:
    """A RoleBasedGroup of a set."""
    return f"{group_set}-{ordinal}"


def instance_name(instance_set: str, ordinal: int) -> str:
    """A RoleInstance with an ordinal."""
    return f"{instance_set}-{ordinal}"


def stateless_name(instance_set: str, identity: str) -> str:
    """A RoleInstance without an ordinal."""
    return f"{instance_set[:_STATELESS_MAX]}-{identity}"


def instance_id(text: str) -> str:
    """Five characters for a stateless instance, by what it was made for: no chance is involved."""
    number = int(hash_text(text), 16)
    letters = []
    for _ in range(_ID_LENGTH):
        number, place = divmod(number, len(_ID_ALPHABET))
        letters.append(_ID_ALPHABET[place])
    return "".join(letters)


def standalone_pod_name(instance: str) -> str:
    """The one pod of an instance."""
    return instance


def leader_worker_pod_name(instance: str, index: int) -> str:
    """A pod of leader and workers; the leader has index 0."""
    return f"{instance}-{index}"


def component_pod_name(instance: str, component: str, index: int) -> str:
    """A pod of a custom component."""
    return f"{instance}-{component}-{index}"


def read_ordinal(name: str) -> int:
    """The ordinal that a name ends with; -1 if it does not."""
    found = find_ordinal(name)
    return NO_ORDINAL if found is None else found[1]


def group_hash(namespace: str, group: str) -> str:
    """What all objects of one group share and no other group of the cluster has."""
    return hash_text(f"{namespace}/{group}")


def hash_text(text: str) -> str:
    """SHA-1 in hexadecimal: a name for a group, on which no secret depends."""
    return sha1(text.encode(), usedforsecurity=False).hexdigest()


def list_collisions(group: str, roles: Iterable[str]) -> list[str]:
    """The names of workloads and Services that more than one role would have, sorted."""
    listed = tuple(roles)
    made = [workload_name(group, role) for role in listed]
    made += [service_name(group, role) for role in listed]
    return sorted(name for name, count in Counter(made).items() if count > 1)


def _cut(name: str) -> str:
    return name[:NAME_MAX].rstrip("-")
