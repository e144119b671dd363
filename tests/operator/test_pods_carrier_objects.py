"""What we make ourselves is what sets would have made: pods, services, and claims."""

from typing import Any

import pytest
from operator_lab import LWS, Lab, make_lws, set_replicas
from pods_truth import PODS, make, names, owner_of

from kohort.cluster import kinds
from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Object

CLAIM = {
    "metadata": {"name": "models", "labels": {"kept": "yes"}},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    },
}
MOUNTED = {"volumeMounts": [{"name": "models", "mountPath": "/models"}]}
CARRIERS = "kohort.dev/carrier", "controller-revision-hash"
SAMPLES: dict[str, dict[str, Any]] = {
    "plain": {},
    "one pod": {"size": 1},
    "own subdomains": {"spec": {"networkConfig": {"subdomainPolicy": "UniquePerReplica"}}},
    "subgroups": {
        "size": 5,
        "template": {"subGroupPolicy": {"subGroupSize": 2, "subGroupPolicyType": "LeaderWorker"}},
        "annotations": {"leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology": "zone"},
    },
    "exclusive": {
        "annotations": {"leaderworkerset.sigs.k8s.io/exclusive-topology": "kubernetes.io/hostname"}
    },
    "variables": {"container": {"env": [{"name": "OWN", "value": "$(LWS_LEADER_ADDRESS)"}]}},
    "tpu": {"container": {"resources": {"limits": {"google.com/tpu": 4}}}},
    "claims": {"template": {"volumeClaimTemplates": [CLAIM]}, "container": MOUNTED},
}


async def collect(carrier: Object, **more: Any) -> tuple[dict[str, Object], dict[str, Object]]:
    """The pods and services of a sample, without what every object has of its own."""
    lab = await Lab().open()
    given = {**carrier, **more.pop("annotations", {})}
    await lab.apply(make_lws(annotations=given, **more))
    await lab.run(60)
    pods = {p["metadata"]["name"]: strip(p) for p in lab.all(kinds.POD)}
    services = {s["metadata"]["name"]: s["spec"]["selector"] for s in own_services(lab)}
    await lab.close()
    return pods, services


def own_services(lab: Lab) -> list[Object]:
    return [s for s in lab.all(kinds.SERVICE) if s["metadata"]["name"] != "kubernetes"]


def strip(pod: Object) -> Object:
    metadata, spec = pod["metadata"], dict(pod["spec"])
    spec.pop("nodeName", None)
    labels = {k: v for k, v in metadata["labels"].items() if k not in CARRIERS}
    return {"labels": labels, "annotations": metadata.get("annotations"), "spec": spec}


@pytest.mark.parametrize("name", SAMPLES)
async def test_pods_are_those_that_sets_would_have_made(name: str):
    ours, our_services = await collect(PODS, **SAMPLES[name])
    theirs, their_services = await collect({}, **SAMPLES[name])
    assert ours
    assert ours == theirs
    assert our_services == their_services


@pytest.fixture
async def lab():
    opened = await Lab().open()
    yield opened
    await opened.close()


async def test_ownership_goes_from_the_workload_by_the_leader_to_its_workers(lab: Lab):
    unique = {"networkConfig": {"subdomainPolicy": "UniquePerReplica"}}
    made = await lab.apply(make(spec=unique))
    await lab.until(lab.is_available)
    leader = lab.find(kinds.POD, "x-1")
    worker, service = lab.find(kinds.POD, "x-1-2"), lab.find(kinds.SERVICE, "x-1")
    assert leader and worker and service
    assert owner_of(leader) == made["metadata"]["uid"]
    assert owner_of(worker) == owner_of(service) == leader["metadata"]["uid"]


async def test_the_service_of_a_group_comes_back_with_its_group(lab: Lab):
    await lab.apply(make(spec={"networkConfig": {"subdomainPolicy": "UniquePerReplica"}}))
    await lab.until(lab.is_available)
    await lab.delete(kinds.POD, "x-1-1")
    await lab.run(120)
    leader, service = lab.find(kinds.POD, "x-1"), lab.find(kinds.SERVICE, "x-1")
    assert leader and service and owner_of(service) == leader["metadata"]["uid"]
    await lab.delete(kinds.SERVICE, "x-1")
    await lab.run(30)
    assert lab.find(kinds.SERVICE, "x-1")


async def test_names_may_be_as_long_as_pods_have_them(lab: Lab):
    name = "n" * 59
    await lab.apply(make_lws(name, groups=2, size=2, annotations=PODS))
    await lab.until(lambda: lab.is_available(name))
    assert names(lab)[-1] == f"{name}-1-1"
    assert {p["spec"]["hostname"] for p in lab.all(kinds.POD)} == set(names(lab))
    with pytest.raises(ClusterError, match="would have 64 characters, and at most 63"):
        await lab.apply(make_lws("n" * 60, groups=2, size=2, annotations=PODS))


def with_claims(deleted: str = "", scaled: str = "", groups: int = 2) -> Object:
    template: Object = {"volumeClaimTemplates": [CLAIM]}
    if deleted:
        policy = {"whenDeleted": deleted, "whenScaled": scaled}
        template["persistentVolumeClaimRetentionPolicy"] = policy
    return make(groups=groups, size=2, template=template, container=MOUNTED)


def claims(lab: Lab) -> list[str]:
    return sorted(c["metadata"]["name"] for c in lab.all(kinds.CLAIM))


ALL = ["models-x-0", "models-x-0-1", "models-x-1", "models-x-1-1"]


async def test_each_pod_has_its_claim_and_keeps_it(lab: Lab):
    await lab.apply(with_claims())
    await lab.until(lab.is_available)
    before = {c["metadata"]["name"]: c["metadata"]["uid"] for c in lab.all(kinds.CLAIM)}
    assert sorted(before) == ALL
    labels = lab.find(kinds.CLAIM, "models-x-1-1")["metadata"]["labels"]  # type: ignore[index]
    assert labels["kept"] == "yes"
    assert labels["leaderworkerset.sigs.k8s.io/group-index"] == "1"
    await lab.delete(kinds.POD, "x-1-1", grace_seconds=0)
    await lab.run(60)
    assert {c["metadata"]["name"]: c["metadata"]["uid"] for c in lab.all(kinds.CLAIM)} == before


@pytest.mark.parametrize(
    ("deleted", "scaled", "after_scaling", "after_deleting"),
    [
        ("", "", ALL, ALL),
        ("Retain", "Retain", ALL, ALL),
        ("Delete", "Retain", ALL, []),
        ("Retain", "Delete", ALL[:2], ALL[:2]),
        ("Delete", "Delete", ALL[:2], []),
    ],
)
async def test_claims_go_with_whom_the_policy_says(
    lab: Lab, deleted: str, scaled: str, after_scaling: list[str], after_deleting: list[str]
):
    await lab.apply(with_claims(deleted, scaled))
    await lab.until(lab.is_available)
    await lab.run(30)
    await lab.edit("x", set_replicas(1))
    await lab.until(lambda: lab.is_available() and len(lab.all(kinds.POD)) == 2)
    await lab.run(60)
    assert claims(lab) == after_scaling
    await lab.delete(LWS, "x")
    await lab.run(120)
    assert claims(lab) == after_deleting
    assert lab.all(kinds.POD) == []


async def test_a_group_that_was_scaled_away_comes_back_with_new_claims(lab: Lab):
    await lab.apply(with_claims("Delete", "Delete"))
    await lab.until(lab.is_available)
    old = lab.find(kinds.CLAIM, "models-x-1")
    await lab.edit("x", set_replicas(1))
    await lab.run(1)
    await lab.edit("x", set_replicas(2))
    await lab.until(lab.is_available)
    await lab.run(60)
    new = lab.find(kinds.CLAIM, "models-x-1")
    assert claims(lab) == ALL
    assert old and new and old["metadata"]["uid"] != new["metadata"]["uid"]


async def test_at_rest_claims_cost_nothing(lab: Lab):
    await lab.apply(with_claims("Delete", "Delete"))
    await lab.until(lab.is_available)
    await lab.run(60)
    assert lab.cluster.writes["create", "PersistentVolumeClaim"] == 4
    assert lab.cluster.writes["patch", "PersistentVolumeClaim"] == 0
    before = lab.api.store.revision
    await lab.run(600)
    assert lab.api.store.revision == before


async def test_an_owner_that_another_client_gives_a_claim_meanwhile_is_kept(lab: Lab):
    templates = {"volumeClaimTemplates": [CLAIM]}
    await lab.apply(make(groups=1, size=1, template=templates, container=MOUNTED))
    await lab.until(lab.is_available)
    service = lab.find(kinds.SERVICE, "x")
    assert service is not None
    uid = service["metadata"]["uid"]
    other = {"apiVersion": "v1", "kind": "Service", "name": "x", "uid": uid}
    lab.cluster.hold("PersistentVolumeClaim")
    added = {"op": "add", "path": "/metadata/ownerReferences", "value": [other]}
    await lab.edit("models-x-0", added, kind=kinds.CLAIM)
    policy = {"whenDeleted": "Delete"}
    path = "/spec/leaderWorkerTemplate/persistentVolumeClaimRetentionPolicy"
    await lab.edit("x", {"op": "add", "path": path, "value": policy})
    await lab.run(30)
    assert lab.cluster.tried["patch", "PersistentVolumeClaim"] > 0
    lab.cluster.release()
    await lab.run(60)
    claim = lab.find(kinds.CLAIM, "models-x-0")
    assert claim is not None
    owners = [owner["kind"] for owner in claim["metadata"]["ownerReferences"]]
    assert owners == ["Service", LWS.name]
