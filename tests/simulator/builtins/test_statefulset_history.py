"""The revisions and the claims of StatefulSets."""

from typing import Any

from builtins_world import World
from test_statefulset_pods import new_image, stateful_set, status, world_with

from kohort.cluster.kinds import CLAIM, CONTROLLER_REVISION, POD, STATEFUL_SET
from kohort.simulator.builtins.names import hash_revision
from kohort.simulator.builtins.statefulsets.controller import StatefulSets
from kohort.simulator.component import MergeRequest

CLAIM_TEMPLATE = {
    "metadata": {"name": "data", "labels": {"l": "m"}},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


def with_claims(**policy: str) -> dict[str, Any]:
    return {
        "volumeClaimTemplates": [CLAIM_TEMPLATE],
        "persistentVolumeClaimRetentionPolicy": policy,
    }


def owners(world: World, claim: str) -> list[tuple[str, str]]:
    refs = world.read(CLAIM, claim)["metadata"].get("ownerReferences") or []
    return [(ref["kind"], ref["name"]) for ref in refs]


def numbers(world: World) -> list[int]:
    return sorted(revision["revision"] for revision in world.all(CONTROLLER_REVISION))


def test_a_revision_hash_is_the_one_that_a_real_control_plane_writes():
    container = {
        "image": "img:1",
        "imagePullPolicy": "IfNotPresent",
        "name": "c",
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }
    spec = {
        "containers": [container],
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }
    metadata = {"annotations": {"t": "u"}, "labels": {"app": "web"}}
    template = {"$patch": "replace", "metadata": metadata, "spec": spec}
    assert hash_revision({"spec": {"template": template}}, 0) == "749f6dc675"


def test_a_revision_keeps_the_template_as_a_patch():
    world = world_with()
    (revision,) = world.all(CONTROLLER_REVISION)
    assert revision["data"]["spec"]["template"]["$patch"] == "replace"
    assert revision["revision"] == 1
    name, suffix = revision["metadata"]["name"].split("-")
    assert revision["metadata"]["labels"] == {
        "app": "web",
        "controller.kubernetes.io/hash": suffix,
    }
    assert name == "web"
    assert status(world)["collisionCount"] == 0


def test_going_back_to_an_old_template_gives_its_revision_a_new_number():
    world = world_with()
    first = status(world)["updateRevision"]
    for image in ("img:2", "img:3", "img:1"):
        world.converge()
        new_image(world, image)
    world.converge()
    assert status(world)["updateRevision"] == first
    assert numbers(world) == [2, 3, 4]


def test_only_as_much_history_is_kept_as_the_set_asks_for():
    world = world_with(revisionHistoryLimit=1)
    for image in ("img:2", "img:3", "img:4"):
        world.converge()
        new_image(world, image)
    world.converge()
    assert numbers(world) == [3, 4]


def test_a_revision_name_that_stands_for_other_data_is_avoided():
    world = world_with()
    taken = status(world)["updateRevision"]
    other = World(StatefulSets())
    labels = {"unrelated": "yes"}
    other.create(
        CONTROLLER_REVISION, {"metadata": {"name": taken, "labels": labels}, "revision": 1}
    )
    other.create(STATEFUL_SET, stateful_set())
    other.settle()
    assert status(other)["collisionCount"] == 1
    assert status(other)["updateRevision"] != taken


def test_claims_are_made_before_their_pod_and_carry_the_selector():
    world = world_with(replicas=1, **with_claims())
    claim = world.read(CLAIM, "data-web-0")
    assert claim["metadata"]["labels"] == {"l": "m", "app": "web"}
    assert owners(world, "data-web-0") == []
    volume = world.read(POD, "web-0")["spec"]["volumes"][0]
    assert volume == {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-0"}}
    assert ("Normal", "SuccessfulCreate", "Create Claim data-web-0 Pod web-0 in StatefulSet web "
            "success") in world.events  # fmt: skip


def test_a_claim_goes_with_its_set_if_the_policy_says_so():
    world = world_with(replicas=1, **with_claims(whenDeleted="Delete"))
    assert owners(world, "data-web-0") == [("StatefulSet", "web")]


def test_a_claim_goes_with_its_pod_when_the_set_shrinks():
    world = world_with(**with_claims(whenDeleted="Delete", whenScaled="Delete"))
    world.converge()
    world.patch(STATEFUL_SET, "web", {"spec": {"replicas": 2}})
    world.settle()
    assert owners(world, "data-web-2") == [("Pod", "web-2")]
    assert owners(world, "data-web-1") == [("StatefulSet", "web")]


def test_a_pod_waits_until_the_claim_of_its_predecessor_is_gone():
    world = world_with(replicas=2, **with_claims(whenScaled="Delete"))
    world.converge()
    for replicas in (1, 2):
        world.patch(STATEFUL_SET, "web", {"spec": {"replicas": replicas}})
        world.converge()
    assert world.names(POD) == ["web-0"]
    world.delete(CLAIM, "data-web-1")
    world.settle()
    assert world.names(POD) == ["web-0", "web-1"]


def test_a_changed_policy_changes_the_owners_of_claims():
    world = world_with(replicas=1, **with_claims())
    world.converge()
    policy = {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}}
    world.patch(STATEFUL_SET, "web", {"spec": policy})
    world.settle()
    assert owners(world, "data-web-0") == [("StatefulSet", "web")]


def test_revisions_of_a_deleted_set_are_adopted_by_its_successor():
    world = world_with()
    (revision,) = world.names(CONTROLLER_REVISION)
    world.delete(STATEFUL_SET, "web")
    world.patch(CONTROLLER_REVISION, revision, {"metadata": {"ownerReferences": None}})
    world.patch(POD, "web-0", {"metadata": {"ownerReferences": None}})
    world.settle()
    world.create(STATEFUL_SET, stateful_set())
    world.settle()
    adopted = [a.name for a in world.log if isinstance(a, MergeRequest)]
    assert sorted(adopted) == sorted([revision, "web-0"])
    assert world.names(CONTROLLER_REVISION) == [revision]
