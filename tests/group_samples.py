"""Upstream's examples of RoleBasedGroups and their sets, and what they name and do not bring."""

from collections.abc import Iterator
from typing import Any

from kohort.apis.rolebasedgroup import labels
from kohort.cluster.objects import Object, name_of
from recorded_groups import examples

JUDGED = (labels.KIND.name, labels.SET_KIND.name)
DEVICE = "rdma/hca"
# What stands beside groups in the files of examples, and what it needs is not served here.
FOREIGN = ("PodMonitor", "Instance", "InstanceSet")


def list_group_samples() -> dict[str, list[Object]]:
    """The objects of each file that has a group or a set of groups in it."""
    found: dict[str, list[Object]] = {}
    for source, obj in examples():
        found.setdefault(source, []).append(obj)
    return {s: held for s, held in found.items() if any(o.get("kind") in JUDGED for o in held)}


def list_missing_claims(objects: list[Object]) -> list[str]:
    """The volume claims that pods of these objects name, and that are not among them."""
    own = {name_of(o) for o in objects if o["kind"] == "PersistentVolumeClaim"}
    named = {str(found) for o in objects for found in list_values(o, "claimName")}
    return sorted(named - own)


def list_missing_profiles(objects: list[Object]) -> list[Object]:
    """The runtime profiles that roles name, and that stand in other files."""
    held = {name_of(o) for o in objects if o["kind"] == labels.PROFILE.name}
    named = {str(found) for o in objects for found in list_values(o, "profileName")}
    found: dict[str, Object] = {}
    for _, obj in examples():
        if obj["kind"] == labels.PROFILE.name and name_of(obj) in named - held:
            found.setdefault(name_of(obj), obj)
    return list(found.values())


def list_values(value: Any, key: str) -> Iterator[Any]:
    """All values that a key has anywhere in an object."""
    if isinstance(value, dict):
        for name, held in value.items():
            if name == key:
                yield held
            yield from list_values(held, key)
    elif isinstance(value, list):
        for each in value:
            yield from list_values(each, key)


def claim(name: str) -> Object:
    """A claim that many pods may use at once."""
    spec = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"name": name}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
