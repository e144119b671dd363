"""
The headless Services by which the members of a group find each other.

They have no ports and publish addresses of pods that are not ready, since members
connect while they start. Upstream never changes one after its creation.
"""

from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.objects.sets import as_pod
from kohort.apis.leaderworkerset.objects.templates import group_labels
from kohort.cluster.objects import Object, name_of, namespace_of, owner_reference


def shared_service(lws: Object) -> Object:
    """The one Service of all groups, where they share a subdomain."""
    name = name_of(lws)
    return _service(lws, name, {labels.NAME: name}, lws)


def group_service(lws: Object, leader_pod: Object) -> Object:
    """The Service of one group, where each group has its own subdomain."""
    index = group_labels(lws, leader_pod)[labels.GROUP_INDEX]
    selector = {labels.NAME: name_of(lws), labels.GROUP_INDEX: index}
    return _service(lws, name_of(leader_pod), selector, as_pod(leader_pod))


def _service(lws: Object, name: str, selector: dict[str, str], owner: Object) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": name,
            "namespace": namespace_of(lws),
            "labels": {labels.NAME: name_of(lws)},
            "ownerReferences": [owner_reference(owner)],
        },
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector},
    }
