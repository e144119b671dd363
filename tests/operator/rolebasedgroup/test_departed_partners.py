"""A rollout goes on when what held it is deleted in its middle: a policy, a role, an adapter."""

from group_lab import KIND, GroupLab, standalone, start
from test_coordinated_groups import policy, set_images, updated

from kohort.apis.rolebasedgroup import labels
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster.objects import name_of, uid_of
from kohort.cluster.port import PatchType

UPDATE_ORDER = {labels.UPDATE_ORDER: '{"pd": ["decode", "prefill"]}'}


async def hold_prefill(lab: GroupLab) -> None:
    """Prefill is updated after decode, whose new instance no node can take."""
    strategy = {"rollingUpdate": {"maxSkew": "100%"}}
    await lab.apply(policy(strategy, "prefill", "decode", **UPDATE_ORDER))
    await start(lab, standalone("prefill", 2), standalone("decode", 1))
    path = "/spec/roles/1/standalonePattern/template/spec/nodeSelector"
    await lab.set_field(path, {"absent": "here"})
    await set_images(lab, "engine:2")
    await lab.until(lambda: updated(lab, "decode") == 1)
    await lab.run(60)
    assert updated(lab, "prefill") == 0


async def test_a_policy_that_is_deleted_holds_no_role_any_more(lab: GroupLab):
    await hold_prefill(lab)
    await lab.delete(labels.POLICY, "x")
    await lab.until(lambda: updated(lab, "prefill") == 2, 120)


async def test_a_role_that_is_removed_holds_no_other_any_more(lab: GroupLab):
    await hold_prefill(lab)
    await lab.edit("x", {"op": "remove", "path": "/spec/roles/1"}, kind=KIND)
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 240)
    assert not lab.pods("decode")
    assert [name_of(found) for found in lab.all(labels.INSTANCE_SET)] == ["x-prefill"]


async def test_an_adapter_that_is_deleted_comes_back_with_the_replicas_of_its_role(lab: GroupLab):
    await start(lab, standalone("prefill", 1, scalingAdapter={"enable": True}))
    target = lab.api.target(labels.ADAPTER, lab.namespace, "x-prefill", "scale")
    body = PatchBody(PatchType.MERGE, {"spec": {"replicas": 3}})
    await lab.api.patch(target, body, WriteOptions(manager="autoscaler"))
    await lab.until(lambda: lab.is_done() and len(lab.pods()) == 3)
    (former,) = lab.all(labels.ADAPTER)
    pods = lab.uids()
    await lab.delete(labels.ADAPTER, "x-prefill")
    await lab.until(
        lambda: [uid_of(a) != uid_of(former) for a in lab.all(labels.ADAPTER)] == [True]
    )
    await lab.run(60)
    (found,) = lab.all(labels.ADAPTER)
    assert (found["spec"]["replicas"], found["status"]["phase"]) == (3, "Bound")
    assert lab.group()["spec"]["roles"][0]["replicas"] == 3
    assert lab.uids() == pods
    body = PatchBody(PatchType.MERGE, {"spec": {"replicas": 2}})
    await lab.api.patch(target, body, WriteOptions(manager="autoscaler"))
    await lab.until(lambda: lab.is_done() and len(lab.pods()) == 2)
