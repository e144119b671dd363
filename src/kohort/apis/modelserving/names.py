"""
Every name that belongs to a ModelServing, and the hashes made from names.

Names of groups, role instances and pods nest: ``sample-0`` is a group, ``decode-1`` an instance
of a role, ``sample-0-decode-1-2`` its second worker. Role names may end in digits themselves, so
a name is read from its ends: the workload's name and the group at its beginning, the member and
the instance at its end, and the rest is the role.
"""

from hashlib import sha1

from kohort.apis.ordinals import find_ordinal

NO_ORDINAL = -1


def group_name(serving: str, group: int) -> str:
    """The name of a group, and of its PodGroup."""
    return f"{serving}-{group}"


def role_id(role: str, instance: int) -> str:
    """The name of a role's instance, and of its task in Volcano."""
    return f"{role}-{instance}"


def entry_name(serving: str, group: int, role: str, instance: int) -> str:
    """The name of a role instance's entry pod, and of its headless Service."""
    return pod_name(serving, group, role, instance, 0)


def pod_name(serving: str, group: int, role: str, instance: int, index: int) -> str:
    """The name of a pod of a role instance; index 0 is the entry, workers count from 1."""
    return f"{group_name(serving, group)}-{role_id(role, instance)}-{index}"


def is_worker_of(entry: str, pod: str) -> bool:
    """Whether a pod has the name of a worker in the instance of an entry."""
    return pod != entry and pod.rpartition("-")[0] == entry.rpartition("-")[0]


def revision_name(serving: str, revision: str) -> str:
    """The name of the ControllerRevision that stores one template."""
    return f"{serving}-{revision}"


def entry_address(entry: str, namespace: str) -> str:
    """The host name of an entry for the pods of its instance: the Service of its name."""
    return f"{entry}.{namespace}"


def read_ordinal(name: str) -> int:
    """The ordinal at the end of a name; -1 if there is none."""
    found = find_ordinal(name)
    return NO_ORDINAL if found is None else found[1]


def group_hash(namespace: str, group: str) -> str:
    """The hash that all pods of one group share and no other pod of the cluster has."""
    return hash_text(f"{namespace}/{group}")


def subgroup_hash(entry: str, subgroup: int) -> str:
    """The hash that all pods of one subgroup share; like LeaderWorkerSet's, without namespace."""
    return hash_text(f"{entry}/{subgroup}")


def longest_name(serving: str, replicas: int, role: str, instances: int, workers: int) -> str:
    """The name whose length upstream checks: with counts in place of the highest ordinals."""
    return pod_name(serving, replicas, role, instances, workers)


def hash_text(text: str) -> str:
    """SHA-1 in hexadecimal: a name for a group, on which no secret depends."""
    return sha1(text.encode(), usedforsecurity=False).hexdigest()
