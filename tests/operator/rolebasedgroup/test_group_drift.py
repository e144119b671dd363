"""What other clients do to objects of a RoleBasedGroup, and what becomes of them."""

from group_lab import KIND, GroupLab, group, leader_worker, standalone, start

from kohort.apis.rolebasedgroup import labels
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.kinds import CONFIG_MAP
from kohort.cluster.objects import Object, labels_of, name_of
from kohort.cluster.port import PatchType

RECREATE = {"type": "RecreatePod", "maxUnavailable": 2, "maxSurge": 1}


async def patch_pod(lab: GroupLab, name: str, body: Object) -> None:
    target = lab.api.target(kinds.POD, lab.namespace, name)
    await lab.api.patch(
        target, PatchBody(PatchType.STRATEGIC, body), WriteOptions(manager="kubectl")
    )


def policy(strategy: Object) -> Object:
    return {
        "apiVersion": labels.POLICY.api_version,
        "kind": labels.POLICY.name,
        "metadata": {"name": "x", "namespace": "default"},
        "spec": {"policies": [{"name": "pd", "roles": ["a", "b"], "strategy": strategy}]},
    }


async def test_a_group_that_is_applied_again_takes_its_orphans_back(lab: GroupLab):
    await start(lab, leader_worker("a"), standalone("b", scalingAdapter={"enable": True}))
    before = lab.uids()
    await lab.delete(KIND, "x", propagation="Orphan")
    await lab.until(lambda: lab.find(KIND, "x") is None)
    await lab.apply(group(leader_worker("a"), standalone("b", scalingAdapter={"enable": True})))
    await lab.until(lab.is_done, 60)
    assert lab.uids() == before
    owner = lab.group()["metadata"]["uid"]
    left = [*lab.all(labels.INSTANCE_SET), *lab.all(CONFIG_MAP)]
    held = {name_of(obj): obj["metadata"].get("ownerReferences") for obj in left}
    assert {name: [o["uid"] for o in held[name] or ()] for name in ("x-a", "x-b", "x")} == {
        name: [owner] for name in ("x-a", "x-b", "x")
    }


async def test_a_set_that_is_made_again_takes_its_instances_back(lab: GroupLab):
    await start(lab, standalone("b", 2))
    before = lab.uids()
    await lab.delete(labels.INSTANCE_SET, "x-b", propagation="Orphan")
    await lab.until(lambda: len(lab.all(labels.INSTANCE_SET)) == 1 and lab.is_done(), 60)
    (owner,) = lab.all(labels.INSTANCE_SET)
    uids = {i["metadata"]["ownerReferences"][0]["uid"] for i in lab.all(labels.INSTANCE)}
    assert (uids, lab.uids()) == ({owner["metadata"]["uid"]}, before)


async def test_an_edited_pod_that_cannot_follow_its_template_is_made_anew(lab: GroupLab):
    """To put its image back was taken for all that the new template asks of it."""
    await start(lab, standalone("b", 1))
    before = lab.uids()
    image = [{"name": "engine", "image": "foreign:1"}]
    await patch_pod(lab, "x-b-0", {"spec": {"containers": image}})
    await lab.set_field(
        "/spec/roles/0/standalonePattern/template/spec/terminationGracePeriodSeconds", 7
    )
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:1"}, 120)
    await lab.run(30)
    (pod,) = lab.pods().values()
    assert pod["spec"]["terminationGracePeriodSeconds"] == 7
    assert lab.uids() != before


async def test_an_image_that_another_client_set_is_put_back_as_the_pod_runs(lab: GroupLab):
    await start(lab, standalone("b", 2))
    before = lab.uids()
    image = [{"name": "engine", "image": "foreign:1"}]
    await patch_pod(lab, "x-b-1", {"spec": {"containers": image}})
    await lab.until(lambda: lab.images() == {"engine:1"} and lab.is_done())
    assert lab.uids() == before


async def test_a_pod_without_its_hash_gets_it_back_and_serves_on(lab: GroupLab):
    await start(lab, leader_worker("a", 1))
    before = lab.pods()
    for value in (None, "foreign"):
        await patch_pod(lab, "x-a-0-1", {"metadata": {"labels": {labels.REVISION: value}}})
        await lab.run(5)
        now = lab.pods()
        assert {name: labels_of(pod) for name, pod in now.items()} == {
            name: labels_of(pod) for name, pod in before.items()
        }
        assert lab.uids() == {name: pod["metadata"]["uid"] for name, pod in before.items()}
        assert now["x-a-0-1"]["status"]["conditions"] == before["x-a-0-1"]["status"]["conditions"]
    assert lab.is_done()


async def test_labels_that_tell_where_a_pod_stands_are_put_back(lab: GroupLab):
    await start(lab, leader_worker("a", 1))
    wrong = {labels.INSTANCE_NAME: "x-z-7", labels.COMPONENT_NAME: "other"}
    await patch_pod(lab, "x-a-0-1", {"metadata": {"labels": wrong}})
    await lab.run(5)
    held = labels_of(lab.pods()["x-a-0-1"])
    assert (held[labels.INSTANCE_NAME], held[labels.COMPONENT_NAME]) == ("x-a-0", "worker")


async def test_extra_instances_of_a_rollout_leave_the_lowest_places_behind(lab: GroupLab):
    role = standalone("b", 3, rolloutStrategy={"rollingUpdate": RECREATE})
    await start(lab, role)
    await lab.set_image("engine:2")
    await lab.until(lambda: lab.is_done() and set(lab.pods()) == {"x-b-0", "x-b-1", "x-b-2"})
    assert lab.images() == {"engine:2"}


async def test_roles_with_a_partition_grow_in_step(lab: GroupLab):
    """Our own webhook refused the set of a role that had not grown past its partition yet."""
    await lab.apply(policy({"scaling": {"maxSkew": 1}}))
    held = {"rolloutStrategy": {"rollingUpdate": {"partition": 1}}}
    await start(lab, standalone("a", 2, **held), standalone("b", 2, **held))
    assert set(lab.pods()) == {"x-a-0", "x-a-1", "x-b-0", "x-b-1"}


async def test_an_autoscaler_may_scale_a_role_to_its_partition(lab: GroupLab):
    held = {"rolloutStrategy": {"rollingUpdate": {"partition": 1}}}
    await start(lab, standalone("b", 2, scalingAdapter={"enable": True}, **held))
    target = lab.api.target(labels.ADAPTER, lab.namespace, "x-b", "scale")
    body = {"spec": {"replicas": 1}}
    await lab.api.patch(
        target, PatchBody(PatchType.MERGE, body), WriteOptions(manager="autoscaler")
    )
    await lab.until(lambda: lab.group()["spec"]["roles"][0]["replicas"] == 1, 60)
    await lab.until(lambda: set(lab.pods()) == {"x-b-0"} and lab.is_ready())
