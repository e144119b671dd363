"""
Every name that belongs to a ModelServing, and the hashes made from names.

A group, a role instance and a pod are told by names that nest: ``sample-0`` is a group,
``decode-1`` an instance of a role, ``sample-0-decode-1-2`` its second worker. Role names may end
in digits themselves, so a name is read from its ends: the workload's name and the group at its
beginning, the member and the instance at its end, and what is left is the role.
"""

from hashlib import sha1

from kohort.apis.ordinals import find_ordinal

NAME_MAX = 63
NO_ORDINAL = -1


def group_name(serving: str, group: int) -> str:
    """A group, and its PodGroup."""
    return f"{serving}-{group}"


def role_id(role: str, instance: int) -> str:
    """An instance of a role, and the name of its task in Volcano."""
    return f"{role}-{instance}"


def entry_name(serving: str, group: int, role: str, instance: int) -> str:
    """The entry pod of a role instance, and its headless Service."""
    return pod_name(serving, group, role, instance, 0)


def pod_name(serving: str, group: int, role: str, instance: int, index: int) -> str:
    """A pod of a role instance; 0 is the entry, workers count from 1."""
    return f"{group_name(serving, group)}-{role_id(role, instance)}-{index}"


def revision_name(serving: str, revision: str) -> str:
    """The ControllerRevision that holds one template."""
    return f"{serving}-{revision}"


def entry_address(entry: str, namespace: str) -> str:
    """Where the pods of a role instance find their entry, through the Service of its name."""
    return f"{entry}.{namespace}"


def read_ordinal(name: str) -> int:
    """The ordinal that a name ends with; -1 if it does not."""
    found = find_ordinal(name)
    return NO_ORDINAL if found is None else found[1]


def group_hash(namespace: str, group: str) -> str:
    """What all pods of one group share and no other pod of the cluster has."""
    return hash_text(f"{namespace}/{group}")


def subgroup_hash(entry: str, subgroup: int) -> str:
    """What all pods of one subgroup share; LeaderWorkerSet leaves the namespace out, too."""
    return hash_text(f"{entry}/{subgroup}")


def longest_name(serving: str, replicas: int, role: str, instances: int, workers: int) -> str:
    """The name that upstream measures: with the counts in place of the highest ordinals."""
    return pod_name(serving, replicas, role, instances, workers)


def hash_text(text: str) -> str:
    """SHA-1 in hexadecimal: a name for a group, on which no secret depends."""
    return sha1(text.encode(), usedforsecurity=False).hexdigest()
