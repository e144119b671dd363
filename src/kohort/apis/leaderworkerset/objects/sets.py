"""
The StatefulSets of a LeaderWorkerSet: one of leaders, and one of workers for each group.

The leader set follows the spec that the caller passes: the current one, or that of the oldest
revision where a new set must bring back groups that a partition keeps. Its partition keeps old
leaders at their revision, and is what limits a rollout: its ``maxUnavailable`` is only how many
leaders the StatefulSet controller may replace at once of those that the partition releases. A
worker set belongs to one incarnation of its leader and has that leader's revision. Claim
templates of a StatefulSet are immutable, and upstream drops half of the user's fields in them,
so an existing StatefulSet keeps its own, and a new one gets all of the user's fields.
"""

from kohort.apis.gojson import CLAIM, RETENTION, drop_nulls
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.gojson import write_typed
from kohort.apis.leaderworkerset.objects.templates import (
    ALONE,
    Following,
    group_labels,
    leader_template,
    worker_template,
)
from kohort.apis.leaderworkerset.spec import (
    UNIQUE_PER_REPLICA,
    max_surge_of,
    max_unavailable_of,
    replicas_of,
    size_of,
    subdomain_policy_of,
    template_of,
)
from kohort.cluster.objects import (
    Object,
    annotations_of,
    labels_of,
    name_of,
    namespace_of,
    owner_reference,
)

# Annotations of one object alone: kubectl's last applied configuration, and the user's for us.
_PRIVATE = ("kubectl.kubernetes.io/last-applied-configuration", "kohort.dev/")


def leader_set(
    lws: Object, key: str, replicas: int, partition: int, existing: Object | None = None
) -> Object:
    """The leader set to apply; ``existing`` is the stored one, if there is one."""
    name = name_of(lws)
    metadata = _metadata(lws, name, {labels.NAME: name, labels.REVISION: key}, lws)
    metadata["annotations"][labels.REPLICAS] = str(replicas_of(lws))
    spec = {
        "serviceName": name,
        "replicas": replicas,
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": {labels.NAME: name, labels.WORKER_INDEX: "0"}},
        "updateStrategy": {
            "type": "RollingUpdate",
            # Where the feature gate for the second field is off, the API server drops it.
            "rollingUpdate": {"partition": partition, "maxUnavailable": _at_once(lws)},
        },
        "template": leader_template(lws, key),
        **_claim_fields(lws, existing),
    }
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": spec}


def worker_set(
    lws_at_revision: Object,
    leader_pod: Object,
    following: Following = ALONE,
) -> Object:
    """One group's worker set; ``lws_at_revision`` has the template of the leader's revision."""
    leader = name_of(leader_pod)
    marks = group_labels(lws_at_revision, leader_pod)
    is_alone = subdomain_policy_of(lws_at_revision) == UNIQUE_PER_REPLICA
    spec = {
        "serviceName": leader if is_alone else name_of(lws_at_revision),
        "replicas": size_of(lws_at_revision) - 1,
        "podManagementPolicy": "Parallel",
        "ordinals": {"start": 1},
        "selector": {"matchLabels": {k: v for k, v in marks.items() if k != labels.REVISION}},
        "template": worker_template(lws_at_revision, leader_pod, following),
        **_claim_fields(lws_at_revision, None),
    }
    metadata = _metadata(lws_at_revision, leader, marks, as_pod(leader_pod))
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": spec}


def as_pod(pod: Object) -> Object:
    """The pod with its kind, which list items lack and an owner reference needs."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": pod["metadata"]}


def _metadata(lws: Object, name: str, marks: dict[str, str], owner: Object) -> Object:
    shared = {k: v for k, v in annotations_of(lws).items() if not k.startswith(_PRIVATE)}
    return {
        "name": name,
        "namespace": namespace_of(lws),
        "labels": {**labels_of(lws), **marks},
        "annotations": shared,
        "ownerReferences": [owner_reference(owner)],
    }


def _at_once(lws: Object) -> int:
    return max(1, max_unavailable_of(lws) + max_surge_of(lws))


def _claim_fields(lws: Object, existing: Object | None) -> Object:
    template = template_of(lws)
    if existing is None:
        claims = [
            claim_template(lws, claim) for claim in template.get("volumeClaimTemplates") or ()
        ]
    else:
        kept = existing["spec"].get("volumeClaimTemplates") or ()
        claims = [{k: v for k, v in claim.items() if k != "status"} for claim in kept]
    fields: Object = {"volumeClaimTemplates": claims} if claims else {}
    retention = template.get("persistentVolumeClaimRetentionPolicy")
    if retention is not None:
        fields["persistentVolumeClaimRetentionPolicy"] = drop_nulls(
            write_typed(RETENTION, retention)
        )
    return fields


def claim_template(lws: Object, claim: Object) -> Object:
    """One claim template, as the API server will store it."""
    written: Object = drop_nulls(write_typed(CLAIM, claim))
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {**written["metadata"], "namespace": namespace_of(lws)},
        "spec": written["spec"],
    }
