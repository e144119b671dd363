"""
The names of all objects of a RoleBasedGroup, and the hashes made from names.

Names of a workload and its Service are cut to 63 characters, without a trailing dash, as upstream
does. Two roles whose names become equal by that are the user's mistake: validation finds them with
`list_collisions`, since a function here sees one role only.
"""

from collections import Counter
from collections.abc import Iterable
from hashlib import sha1

from kohort.apis.ordinals import find_ordinal
from kohort.cluster.names import check_label

NAME_MAX = 63
ROLE_MAX = 49  # with what stands before it, the longest name of a label
LABELLED_MAX = 52  # characters of a set's name that fit a label with a hash of ten behind them
NO_ORDINAL = -1
_GROUP_REVISION_MAX = 220  # characters of the group's name in a revision's name
_REVISION_MAX = 223  # characters of an owner's name in a revision's name
STATELESS_MAX = 57  # characters of a set's name in a stateless instance's name
_ID_LENGTH = 5
_ID_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # that Kubernetes uses for random names
_ID_STRIDE = 9_999_991  # no multiple of 3, so all ordinals below ID_COUNT have other identities
ID_COUNT: int = len(_ID_ALPHABET) ** _ID_LENGTH


def workload_name(group: str, role: str) -> str:
    """The RoleInstanceSet of a role, or the Deployment, StatefulSet or LeaderWorkerSet."""
    return _cut(f"{group}-{role}")


def service_name(group: str, role: str) -> str:
    """The headless Service of a role."""
    return _cut(f"s-{group}-{role}")


def adapter_name(group: str, role: str) -> str:
    """The scaling adapter of a role; not cut, so the API server refuses a name that is too long."""
    return f"{group}-{role}"


def config_name(group: str) -> str:
    """The discovery ConfigMap of a group, and also its PodGroup and its CoordinatedPolicy."""
    return group


def group_revision_name(group: str, revision: str, number: int) -> str:
    """The ControllerRevision that holds all roles of a group."""
    return f"{group[:_GROUP_REVISION_MAX]}-{revision}-{number}"


def revision_name(owner: str, revision: str) -> str:
    """The ControllerRevision of a RoleInstanceSet or of a RoleInstance."""
    return f"{owner[:_REVISION_MAX]}-{revision}"


def short_revision(revision: str) -> str:
    """The hash at the end of a revision's name, which is the value of the pods' label."""
    return revision.rpartition("-")[2]


def child_name(group_set: str, ordinal: int) -> str:
    """A RoleBasedGroup of a set."""
    return f"{group_set}-{ordinal}"


def instance_name(instance_set: str, ordinal: int) -> str:
    """A RoleInstance with an ordinal."""
    return f"{instance_set}-{ordinal}"


def stateless_name(instance_set: str, identity: str) -> str:
    """A RoleInstance without an ordinal."""
    return f"{instance_set[:STATELESS_MAX]}-{identity}"


def instance_id(owner: str, ordinal: int) -> str:
    """
    Five characters that name a stateless instance, from the uid of its set and its ordinal.

    Each ordinal has one identity and each identity one ordinal, so that plans repeat names after a
    crash, and the random names that upstream gave are ordinals as well.
    """
    number = (ordinal * _ID_STRIDE + _find_offset(owner)) % ID_COUNT
    letters = []
    for _ in range(_ID_LENGTH):
        number, place = divmod(number, len(_ID_ALPHABET))
        letters.append(_ID_ALPHABET[place])
    return "".join(letters)


def read_instance_id(owner: str, identity: str) -> int:
    """The ordinal that an identity stands for; -1 if it is no identity."""
    if len(identity) != _ID_LENGTH or not set(identity) <= set(_ID_ALPHABET):
        return NO_ORDINAL
    number = 0
    for letter in reversed(identity):
        number = number * len(_ID_ALPHABET) + _ID_ALPHABET.index(letter)
    return (number - _find_offset(owner)) * pow(_ID_STRIDE, -1, ID_COUNT) % ID_COUNT


def _find_offset(owner: str) -> int:
    return int(hash_text(owner), 16) % ID_COUNT


def standalone_pod_name(instance: str) -> str:
    """The one pod of an instance."""
    return instance


def leader_worker_pod_name(instance: str, index: int) -> str:
    """A pod of a leader-worker instance; the leader has index 0."""
    return f"{instance}-{index}"


def component_pod_name(instance: str, component: str, index: int) -> str:
    """A pod of a custom component."""
    return f"{instance}-{component}-{index}"


def read_ordinal(name: str) -> int:
    """The ordinal at the end of a name; -1 if there is none."""
    found = find_ordinal(name)
    return NO_ORDINAL if found is None else found[1]


def group_hash(namespace: str, group: str) -> str:
    """A label value that is unique to a group in the cluster: a hash of namespace and name."""
    return hash_text(f"{namespace}/{group}")


def hash_text(text: str) -> str:
    """SHA-1 in hexadecimal, for names only, never for security."""
    return sha1(text.encode(), usedforsecurity=False).hexdigest()


def check_role_name(role: str, may_have_dots: bool) -> tuple[str, ...]:
    """Why objects cannot be named after a role: its workload, its Service, the revision's label."""
    found = check_label(role.replace(".", "-") if may_have_dots else role)
    if len(role) > ROLE_MAX:
        found = (f"must be no more than {ROLE_MAX} characters: a label key holds it",)
    return found


def list_collisions(group: str, roles: Iterable[str]) -> list[str]:
    """Names of workloads and Services that several roles of a group would share, sorted."""
    listed = tuple(roles)
    made = [workload_name(group, role) for role in listed]
    made += [service_name(group, role) for role in listed]
    return sorted(name for name, count in Counter(made).items() if count > 1)


def _cut(name: str) -> str:
    return name[:NAME_MAX].rstrip("-")
