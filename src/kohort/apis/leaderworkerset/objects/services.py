"""
The headless services by which the members of a group know each other.

They have no ports and publish addresses before anything is ready, since
members meet while they start. Upstream never changes one after its creation.
"""

from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.objects.sets import as_pod
from kohort.apis.leaderworkerset.objects.templates import group_labels
from kohort.cluster.objects import Object, name_of, namespace_of, owner_reference


def shared_service(lws: Object) -> Object:
    """The one service of all groups, where the subdomain is shared."""
    name = name_of(lws)
    return _service(lws, name, {labels.NAME: name}, lws)


def group_service(lws: Object, leader_pod: Object) -> Object:
    """The service of one group, where each has a subdomain of its own."""
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
