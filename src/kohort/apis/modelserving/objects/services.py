"""
The headless Services of a ModelServing.

Each role instance with workers has one, of its entry pod's name: it resolves to the entry alone.
They publish addresses of pods that are not ready, since pods connect while they start. Where plugin
`lws` gives pods a subdomain, another Service covers all pods of the workload, or of each group.
"""

from collections.abc import Mapping

from kohort.apis.modelserving import labels, names
from kohort.apis.modelserving.objects.instances import InstancePlace, group_marks, instance_marks
from kohort.cluster.kinds import SERVICE
from kohort.cluster.objects import Object, name_of, namespace_of, owner_reference

_SELECTED = (labels.GROUP_NAME, labels.ROLE, labels.ROLE_ID)
SHARED, UNIQUE_PER_REPLICA = "Shared", "UniquePerReplica"


def make_service(serving: Object, place: InstancePlace) -> Object:
    """The Service of a role instance."""
    marks = instance_marks(serving, place)
    return _make(serving, place.entry_name(serving), marks, select_entry(marks))


def select_entry(marks: Mapping[str, str]) -> dict[str, str]:
    """The selector for the entry of the instance that has these labels."""
    return {**{key: marks[key] for key in _SELECTED}, labels.ENTRY: "true"}


def make_shared_service(serving: Object) -> Object:
    """The Service of all pods, for subdomain policy Shared."""
    marks = {labels.NAME: name_of(serving)}
    return _make(serving, name_of(serving), marks, marks)


def make_group_service(serving: Object, group: int) -> Object:
    """The Service of all pods of a group, for subdomain policy UniquePerReplica."""
    marks = group_marks(serving, group)
    selector = {key: marks[key] for key in (labels.NAME, labels.GROUP_NAME)}
    return _make(serving, names.group_name(name_of(serving), group), marks, selector)


def _make(serving: Object, name: str, marks: dict[str, str], selector: dict[str, str]) -> Object:
    return {
        "apiVersion": SERVICE.api_version,
        "kind": SERVICE.name,
        "metadata": {
            "name": name,
            "namespace": namespace_of(serving),
            "labels": dict(marks),
            "ownerReferences": [owner_reference(serving)],
        },
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector},
    }
