"""
Subgroups, exclusive placement and subdomains of a role instance, from the config of plugin `lws`.

They are LeaderWorkerSet's, and written under both names: LeaderWorkerSet's own and ModelServing's.
A subgroup is a slice of one role instance. Affinity alone tells the scheduler of it: a
PodGroup has one policy for each role already, and its subgroups are instances.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from kohort.apis.affinity import add_exclusive_terms
from kohort.apis.modelserving import labels, names
from kohort.apis.modelserving.objects.services import SHARED, UNIQUE_PER_REPLICA
from kohort.apis.modelserving.plugins.configs import read_choice, read_config
from kohort.apis.subgroups import subgroup_index
from kohort.cluster.names import check_qualified
from kohort.cluster.objects import Object, annotations_of, labels_of, name_of

LEADER_WORKER, LEADER_EXCLUDED = "LeaderWorker", "LeaderExcluded"
SUBGROUP_KEYS = {
    "subGroupPolicy": dict,
    "exclusiveTopology": str,
    "subGroupExclusiveTopology": str,
    "subdomainPolicy": str,
}
_POLICY_KEYS = {"subGroupSize": int, "subGroupPolicyType": str}


@dataclass(frozen=True, slots=True)
class Placement:
    """The subgroups, exclusive topologies and subdomain that a configuration sets."""

    subgroup_size: int = 0  # 0: no subgroups
    policy_type: str = LEADER_WORKER
    exclusive: str = ""  # the node label whose value no other group may share
    subgroup_exclusive: str = ""
    subdomain: str = ""  # Shared, UniquePerReplica, or empty: no subdomain


def read_placement(config: Object) -> Placement:
    """The placement in a configuration; raises ValueError."""
    policy = read_config(config.get("subGroupPolicy"), _POLICY_KEYS)
    size = policy.get("subGroupSize", 0)
    if "subGroupPolicy" in config and size < 1:
        raise ValueError("subGroupPolicy.subGroupSize must be 1 or more")
    topologies = {
        key: config.get(key, "") for key in ("exclusiveTopology", "subGroupExclusiveTopology")
    }
    for key, topology in topologies.items():
        problems = check_qualified(topology) if topology else ()
        if problems:
            raise ValueError(f"{key} must be a label of nodes: {problems[0]}")
    if topologies["subGroupExclusiveTopology"] and not size:
        raise ValueError("subGroupExclusiveTopology needs subGroupPolicy.subGroupSize")
    return Placement(
        subgroup_size=size,
        policy_type=read_choice(policy, "subGroupPolicyType", (LEADER_WORKER, LEADER_EXCLUDED)),
        exclusive=topologies["exclusiveTopology"],
        subgroup_exclusive=topologies["subGroupExclusiveTopology"],
        subdomain=read_choice(config, "subdomainPolicy", ("", SHARED, UNIQUE_PER_REPLICA)),
    )


def place_pod(pod: Object, placement: Placement, *, entry: str, size: int, index: int) -> Object:
    """The pod with its subgroup, exclusive affinity terms and subdomain, as far as configured."""
    marks, notes, spec = dict(labels_of(pod)), dict(annotations_of(pod)), dict(pod["spec"])
    subgroup = find_subgroup(placement, size, index)
    if placement.subgroup_size:
        _note(notes, "SUBGROUP_SIZE", str(placement.subgroup_size))
        _note(notes, "SUBGROUP_POLICY_TYPE", placement.policy_type)
    if subgroup is not None:
        key = names.subgroup_hash(entry, subgroup)
        _note(marks, "SUBGROUP_INDEX", str(subgroup))
        marks |= {labels.SUBGROUP_HASH: key, labels.LWS_SUBGROUP_KEY: key}
    if placement.exclusive:
        _note(notes, "EXCLUSIVE_TOPOLOGY", placement.exclusive)
        _keep_alone(spec, placement.exclusive, labels.LWS_GROUP_KEY, marks)
    if placement.subgroup_exclusive and subgroup is not None:
        _note(notes, "SUBGROUP_EXCLUSIVE_TOPOLOGY", placement.subgroup_exclusive)
        _keep_alone(spec, placement.subgroup_exclusive, labels.LWS_SUBGROUP_KEY, marks)
    if placement.subdomain:
        _note(notes, "SUBDOMAIN_POLICY", placement.subdomain)
        whose = labels.NAME if placement.subdomain == SHARED else labels.GROUP_NAME
        spec |= {"hostname": name_of(pod), "subdomain": marks.get(whose, "")}
    metadata = {**pod["metadata"], "labels": marks, "annotations": notes}
    return {**pod, "metadata": metadata, "spec": spec}


def find_division_faults(placement: Placement, role: str, size: int) -> Iterator[str]:
    """Why instances of this many pods cannot be divided into subgroups; empty if they can."""
    each = placement.subgroup_size
    if not each:
        return
    fits, fits_without_entry = size % each == 0, (size - 1) % each == 0
    where = f"role {role} has {size} pods in an instance, and subGroupSize is {each}"
    if size < each:
        yield f"{where}: it must not be larger"
    elif placement.policy_type == LEADER_EXCLUDED and not fits_without_entry:
        yield f"{where}: it must divide the workers"
    elif not fits and not fits_without_entry:
        yield f"{where}: it must divide all pods, or the workers"


def find_subgroup(placement: Placement, size: int, index: int) -> int | None:
    """The subgroup of a pod by LeaderWorkerSet's rule; None if it has none."""
    each = placement.subgroup_size
    if not each or (index == 0 and placement.policy_type == LEADER_EXCLUDED):
        return None
    return subgroup_index(size, each, index) if index else 0


def _note(target: dict[str, str], key: str, value: str) -> None:
    """Write a value under ModelServing's key and LeaderWorkerSet's."""
    target[getattr(labels, key)] = value
    target[getattr(labels, f"LWS_{key}")] = value


def _keep_alone(spec: Object, topology: str, label: str, marks: dict[str, str]) -> None:
    spec["affinity"] = add_exclusive_terms(spec.get("affinity"), topology, label, marks[label])
