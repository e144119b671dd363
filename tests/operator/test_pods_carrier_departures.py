"""What goes with groups carried by pods, and what comes back with their workload."""

import pytest
from operator_lab import LWS, Lab, make_lws, set_image, set_replicas
from pods_truth import PODS, PREFIX, owner_of, uids

from kohort.apiserver.store.entries import Event
from kohort.cluster import kinds
from kohort.cluster.objects import Object

CLAIM = {
    "metadata": {"name": "models"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    },
}
MOUNTED = {"volumeMounts": [{"name": "models", "mountPath": "/models"}]}


def with_claims(deleted: str, scaled: str, groups: int = 2, size: int = 2) -> Object:
    policy = {"whenDeleted": deleted, "whenScaled": scaled}
    template = {
        "volumeClaimTemplates": [CLAIM],
        "persistentVolumeClaimRetentionPolicy": policy,
    }
    return make_lws(
        groups=groups, size=size, annotations=PODS, template=template, container=MOUNTED
    )


def claims(lab: Lab) -> list[str]:
    return sorted(claim["metadata"]["name"] for claim in lab.all(kinds.CLAIM))


ALL = ["models-x-0", "models-x-0-1", "models-x-1", "models-x-1-1"]


@pytest.fixture
async def lab():
    opened = await Lab().open()
    yield opened
    await opened.close()


async def lose_the_last_group(lab: Lab) -> None:
    """Let the last group go in a rollout, and the user lower the count before it is back."""
    lab.cluster.hold("Pod")
    await lab.edit("x", set_image("two"))
    await lab.until(lambda: "x-1" not in uids(lab))
    await lab.edit("x", set_replicas(1))
    lab.cluster.release()
    await lab.run(120)
    assert lab.is_available()
    assert sorted(uids(lab)) == ["x-0", "x-0-1"]


@pytest.mark.parametrize(
    ("deleted", "scaled", "left"),
    [
        ("Delete", "Delete", ALL[:2]),
        ("Retain", "Delete", ALL[:2]),
        ("Delete", "Retain", ALL),
        ("Retain", "Retain", ALL),
    ],
)
async def test_claims_of_a_group_that_had_gone_when_it_was_scaled_away_go_as_the_policy_says(
    lab: Lab, deleted: str, scaled: str, left: list[str]
):
    await lab.apply(with_claims(deleted, scaled))
    await lab.until(lab.is_available)
    await lab.run(5)
    await lose_the_last_group(lab)
    assert claims(lab) == left


async def test_claims_kept_under_an_earlier_policy_stay(lab: Lab):
    await lab.apply(with_claims("Delete", "Retain", groups=3))
    await lab.until(lab.is_available)
    await lab.edit("x", set_replicas(2))
    await lab.run(60)
    path = "/spec/leaderWorkerTemplate/persistentVolumeClaimRetentionPolicy/whenScaled"
    await lab.edit("x", {"op": "replace", "path": path, "value": "Delete"})
    await lab.run(30)
    await lose_the_last_group(lab)
    assert claims(lab) == [*ALL[:2], "models-x-2", "models-x-2-1"]


async def test_a_claim_that_another_object_owns_stays_when_its_group_goes(lab: Lab):
    await lab.apply(with_claims("Delete", "Delete"))
    await lab.until(lab.is_available)
    await lab.run(5)
    service = lab.find(kinds.SERVICE, "x")
    assert service is not None
    uid = service["metadata"]["uid"]
    other = {"apiVersion": "v1", "kind": "Service", "name": "x", "uid": uid}
    added = {"op": "add", "path": "/metadata/ownerReferences/-", "value": other}
    await lab.edit("models-x-1", added, kind=kinds.CLAIM)
    await lose_the_last_group(lab)
    assert claims(lab) == ["models-x-0", "models-x-0-1", "models-x-1"]


async def test_orphans_have_their_claims_back_before_they_have_their_owner(lab: Lab):
    await lab.apply(with_claims("Delete", "Delete"))
    await lab.until(lab.is_available)
    await lab.run(5)
    before = uids(lab)
    await lab.delete(LWS, "x", propagation="Orphan")
    await lab.until(lambda: lab.find(LWS, "x") is None)
    made = await lab.apply(with_claims("Delete", "Delete"))
    uid, owners = made["metadata"]["uid"], []

    def note(event: Event) -> None:
        if owner_of(event.entry.decode()) == uid:
            owners.append({owner_of(claim) for claim in lab.all(kinds.CLAIM)})

    lab.api.store.subscribe(lab.api.registry.of(kinds.POD).bucket, note)
    await lab.run(60)
    assert owners[0] == {uid}
    assert uids(lab) == before


@pytest.mark.parametrize("label", ["group-index", "worker-index"])
@pytest.mark.parametrize("value", ["7", None])
async def test_an_orphan_whose_place_another_client_changed_gets_it_back_and_is_adopted(
    lab: Lab, label: str, value: str | None
):
    await lab.apply(make_lws(groups=2, size=2, annotations=PODS))
    await lab.until(lab.is_available)
    await lab.run(5)
    before = uids(lab)
    await lab.delete(LWS, "x", propagation="Orphan")
    await lab.until(lambda: lab.find(LWS, "x") is None)
    path = f"/metadata/labels/{PREFIX}{label}".replace("sigs.k8s.io/", "sigs.k8s.io~1")
    change = {"op": "replace", "path": path, "value": value}
    await lab.edit("x-1", change if value else {"op": "remove", "path": path}, kind=kinds.POD)
    made = await lab.apply(make_lws(groups=2, size=2, annotations=PODS))
    await lab.run(60)
    leader = lab.find(kinds.POD, "x-1")
    assert leader and owner_of(leader) == made["metadata"]["uid"]
    assert leader["metadata"]["labels"][f"{PREFIX}{label}"] in ("0", "1")
    assert uids(lab) == before
    assert lab.is_available()


async def test_an_orphan_that_another_carrier_made_is_not_adopted(lab: Lab):
    await lab.apply(make_lws(groups=1, size=1, annotations=PODS))
    await lab.until(lab.is_available)
    await lab.delete(LWS, "x", propagation="Orphan")
    await lab.until(lambda: lab.find(LWS, "x") is None)
    gone = {"op": "remove", "path": "/metadata/labels/kohort.dev~1carrier"}
    await lab.edit("x-0", gone, kind=kinds.POD)
    await lab.apply(make_lws(groups=1, size=1, annotations=PODS))
    await lab.run(60)
    conditions = {c["type"]: c for c in lab.lws()["status"]["conditions"]}
    assert conditions["Stalled"]["reason"] == "NameTaken"
