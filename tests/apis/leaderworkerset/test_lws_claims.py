"""Claim templates: a new set gets all that was asked for, an old one keeps what it has."""

from lws_builders import lws

from kohort.apis.leaderworkerset.objects.sets import leader_set
from kohort.cluster.objects import Object

CLAIM: Object = {
    "metadata": {"name": "data", "labels": {"tier": "fast"}, "annotations": {"a": "b"}},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "selector": {"matchLabels": {"disk": "ssd"}},
        "resources": {"requests": {"storage": "10240Mi"}},
    },
}
POLICY = {"whenDeleted": "Delete", "whenScaled": "Retain"}


def test_a_new_set_carries_everything_that_the_user_wrote():
    workload = lws(volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=POLICY)
    spec = leader_set(workload, "k", 3, 0)["spec"]
    (claim,) = spec["volumeClaimTemplates"]
    assert claim["metadata"] == {**CLAIM["metadata"], "namespace": "default"}
    assert claim["spec"]["selector"] == {"matchLabels": {"disk": "ssd"}}
    assert claim["spec"]["resources"] == {"requests": {"storage": "10Gi"}}
    assert (claim["apiVersion"], claim["kind"]) == ("v1", "PersistentVolumeClaim")
    assert "status" not in claim
    assert spec["persistentVolumeClaimRetentionPolicy"] == POLICY


def test_a_set_made_by_upstream_keeps_the_claims_that_it_was_made_with():
    kept = {"metadata": {"name": "data"}, "spec": {"volumeMode": "Filesystem"}}
    existing = {"spec": {"volumeClaimTemplates": [{**kept, "status": {"phase": "Pending"}}]}}
    workload = lws(volumeClaimTemplates=[CLAIM])
    assert leader_set(workload, "k", 3, 0, existing)["spec"]["volumeClaimTemplates"] == [kept]


def test_a_set_without_claims_cannot_gain_any():
    workload = lws(volumeClaimTemplates=[CLAIM])
    assert "volumeClaimTemplates" not in leader_set(workload, "k", 3, 0, {"spec": {}})["spec"]
