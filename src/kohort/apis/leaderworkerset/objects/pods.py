"""
The pods of a LeaderWorkerSet as a StatefulSet would make them, without a StatefulSet.

They have name, host name, index and volumes of claims, and all that our webhook adds to a
pod of a StatefulSet, so a program inside sees no difference. One more label marks them, and
keeps the API server from calling the webhook.
"""

from collections.abc import Iterable, Iterator

from kohort.apis.leaderworkerset import labels, names
from kohort.apis.leaderworkerset.admission.pods import Joining, PodRefused, mutate_pod
from kohort.apis.leaderworkerset.objects.claims import claim_name, claim_templates
from kohort.apis.leaderworkerset.objects.sets import as_pod
from kohort.apis.leaderworkerset.objects.templates import (
    ALONE,
    Following,
    leader_template,
    worker_template,
)
from kohort.apis.leaderworkerset.spec import UNIQUE_PER_REPLICA, subdomain_policy_of
from kohort.cluster.objects import Object, name_of, namespace_of, owner_reference

POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"
_KEPT = ("annotations", "finalizers", "labels")


def leader_pods(
    lws_at_revision: Object, key: str, groups: Iterable[int], gang: Joining | None = None
) -> Iterator[Object | PodRefused]:
    """The leaders of some groups, at the revision with that key."""
    template = leader_template(lws_at_revision, key)
    subdomain = name_of(lws_at_revision)
    for group in groups:
        name = names.leader_name(name_of(lws_at_revision), group)
        pod = _make(lws_at_revision, template, name, group, subdomain)
        yield _finish(pod, lws_at_revision, gang)


def worker_pods(
    lws_at_revision: Object,
    leader: Object,
    workers: Iterable[int],
    following: Following = ALONE,
    gang: Joining | None = None,
) -> Iterator[Object | PodRefused]:
    """Some workers of this leader's group; the leader owns them."""
    template = worker_template(lws_at_revision, leader, following)
    is_alone = subdomain_policy_of(lws_at_revision) == UNIQUE_PER_REPLICA
    subdomain = name_of(leader) if is_alone else name_of(lws_at_revision)
    for worker in workers:
        name = names.worker_name(name_of(leader), worker)
        pod = _make(lws_at_revision, template, name, worker, subdomain)
        yield _finish(pod, as_pod(leader), gang)


def _make(lws: Object, template: Object, name: str, index: int, subdomain: str) -> Object:
    metadata = {k: v for k, v in template["metadata"].items() if k in _KEPT}
    marks = {POD_NAME: name, POD_INDEX: str(index), labels.CARRIER: labels.PODS}
    spec = {**template["spec"], "hostname": name, "subdomain": subdomain}
    volumes = _volumes(lws, name, spec.get("volumes") or [])
    if volumes:
        spec["volumes"] = volumes
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            **metadata,
            "name": name,
            "namespace": namespace_of(lws),
            "labels": {**metadata["labels"], **marks},
        },
        "spec": spec,
    }


def _volumes(lws: Object, pod: str, volumes: list[Object]) -> list[Object]:
    """The pod's volumes; a claim replaces a volume of the same name."""
    claimed = {
        name_of(template): {"claimName": claim_name(template, pod)}
        for template in claim_templates(lws)
    }
    made = [{"name": name, "persistentVolumeClaim": claim} for name, claim in claimed.items()]
    return [*made, *(volume for volume in volumes if volume.get("name") not in claimed)]


def _finish(pod: Object, owner: Object, gang: Joining | None) -> Object | PodRefused:
    pod["metadata"]["ownerReferences"] = [owner_reference(owner)]
    return mutate_pod(pod, gang=gang)
