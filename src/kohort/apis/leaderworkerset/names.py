"""
Every name that belongs to a LeaderWorkerSet, and the keys made from names.

A StatefulSet's name, with a hash behind it, becomes a label of its pods, and labels
hold 63 characters. So a StatefulSet's name may have 52, though the API server would
accept a longer one, and its controller would then fail to create the pods.
"""

from hashlib import sha1

SET_NAME_MAX = 52
_REVISION_PREFIX_MAX = 220


def leader_name(workload: str, group: int) -> str:
    """The leader pod of a group, which is also the name of its worker set."""
    return f"{workload}-{group}"


def worker_name(leader: str, worker: int) -> str:
    """A worker pod of a group."""
    return f"{leader}-{worker}"


def group_key(namespace: str, leader: str) -> str:
    """The key that all pods of one group share and no other pod has."""
    return _hash(f"{namespace}/{leader}")


def subgroup_key(leader: str, subgroup: str) -> str:
    """The key that all pods of one subgroup share; upstream leaves the namespace out."""
    return _hash(f"{leader}/{subgroup}")


def leader_address(workload: str, group: str, subdomain: str, namespace: str) -> str:
    """The host name by which members of a group reach their leader."""
    return f"{workload}-{group}.{subdomain}.{namespace}"


def revision_name(workload: str, key: str, number: int) -> str:
    """The name of the ControllerRevision that stores one revision."""
    return f"{workload[:_REVISION_PREFIX_MAX]}-{key}-{number}"


def pod_group_name(workload: str, group: str, key: str) -> str:
    """The name of the gang of one group at one revision."""
    return f"{workload}-{group}-{key}"


def longest_set_name(workload: str, groups: int, size: int) -> str:
    """The longest StatefulSet name with this many groups of this size."""
    return leader_name(workload, groups - 1) if groups > 0 and size > 1 else workload


def longest_pod_name(workload: str, groups: int, size: int) -> str:
    """The longest pod name with this many groups of this size."""
    leader = leader_name(workload, max(groups - 1, 0))
    return worker_name(leader, size - 1) if size > 1 else leader


def _hash(text: str) -> str:
    # The hash names a group; no secret depends on it.
    return sha1(text.encode(), usedforsecurity=False).hexdigest()
