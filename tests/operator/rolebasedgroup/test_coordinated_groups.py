"""Rules over roles: skew while scaling and updating, order, ratio."""

from typing import Any

import orjson
import pytest
from group_lab import GroupLab, group, standalone, start, template

from kohort.apis.rolebasedgroup import labels
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object, is_true, name_of, owner_reference
from kohort.cluster.port import PatchType
from kohort.simulator.stages import PREFIX

WIDE = {"rolloutStrategy": {"rollingUpdate": {"maxUnavailable": 4}}}


def policy(strategy: Object, *roles: str, **annotations: str) -> Object:
    return {
        "apiVersion": labels.POLICY.api_version,
        "kind": labels.POLICY.name,
        "metadata": {"name": "x", "namespace": "default", "annotations": annotations},
        "spec": {"policies": [{"name": "pd", "roles": list(roles), "strategy": strategy}]},
    }


async def set_images(lab: GroupLab, image: str, count: int = 2) -> None:
    path = "/spec/roles/{}/standalonePattern/template/spec/containers/0/image"
    operations: list[Any] = [
        {"op": "replace", "path": path.format(index), "value": image} for index in range(count)
    ]
    await lab.edit("x", *operations, kind=labels.KIND)


def updated(lab: GroupLab, role: str) -> int:
    pods = lab.pods(role).values()
    return sum(pod["spec"]["containers"][0]["image"] == "engine:2" for pod in pods)


async def watch_gap(lab: GroupLab, count: int) -> int:
    """The widest gap between both roles until both are updated."""
    widest = 0
    for _ in range(2000):
        await lab.run(0.25)
        a, b = updated(lab, "prefill"), updated(lab, "decode")
        widest = max(widest, abs(a - b))
        if a == b == count and lab.is_done():
            return widest
    raise AssertionError("it never ended")


async def test_a_skew_of_one_bounds_the_gap_of_an_update(lab: GroupLab):
    """E2E coordinated_policy: maxSkew 1 with 4 and 4."""
    await lab.apply(policy({"rollingUpdate": {"maxSkew": 1}}, "prefill", "decode"))
    await start(lab, standalone("prefill", 4, **WIDE), standalone("decode", 4, **WIDE))
    await set_images(lab, "engine:2")
    assert await watch_gap(lab, 4) <= 1


async def test_single_replicas_are_updated_under_a_skew(lab: GroupLab):
    """rbg#307."""
    await lab.apply(policy({"rollingUpdate": {"maxSkew": "1%"}}, "prefill", "decode"))
    await start(lab, standalone("prefill", 1), standalone("decode", 1))
    await set_images(lab, "engine:2")
    assert await watch_gap(lab, 1) <= 1


async def test_roles_grow_in_step(lab: GroupLab):
    """E2E coordinated_policy: from 1 to 3 with 33 % and OrderReady."""
    scaling = {"scaling": {"maxSkew": "33%", "progression": "OrderReady"}}
    await lab.apply(policy(scaling, "prefill", "decode"))
    await start(lab, standalone("prefill", 1), standalone("decode", 1))
    for index in (0, 1):
        await lab.set_field(f"/spec/roles/{index}/replicas", 3)
    widest = 0
    while not (lab.is_done() and len(lab.pods()) == 6):
        await lab.run(0.25)
        widest = max(widest, abs(len(lab.pods("prefill")) - len(lab.pods("decode"))))
        assert lab.clock.elapsed() < 600
    assert widest <= 1


@pytest.mark.parametrize("progression", ["OrderScheduled", "OrderReady"])
async def test_roles_grow_again_when_what_they_have_is_as_far_as_asked(
    lab: GroupLab, progression: str
):
    """Instances need a minute to be ready."""
    scaling = {"scaling": {"maxSkew": "33%", "progression": progression}}
    await lab.apply(policy(scaling, "prefill", "decode"))
    slow = {**template(), "metadata": {"annotations": {f"{PREFIX}ready-after": "60s"}}}
    pattern = {"standalonePattern": {"template": slow}}
    await start(lab, standalone("prefill", 1, **pattern), standalone("decode", 1, **pattern))
    for index in (0, 1):
        await lab.set_field(f"/spec/roles/{index}/replicas", 3)
    await lab.until(lambda: any(name.endswith("-2") for name in lab.pods()))
    second = [lab.pods()[f"x-{role}-1"] for role in ("prefill", "decode")]
    is_awaited = progression == "OrderReady"
    assert [is_true(pod, "Ready") for pod in second] == [is_awaited, is_awaited]
    await lab.until(lambda: lab.is_done() and len(lab.pods()) == 6)


async def test_an_order_updates_the_first_role_before_the_second(lab: GroupLab):
    strategy = {"rollingUpdate": {"maxSkew": "100%"}}
    order = {labels.UPDATE_ORDER: '{"pd": ["decode", "prefill"]}'}
    await lab.apply(policy(strategy, "prefill", "decode", **order))
    await start(lab, standalone("prefill", 2), standalone("decode", 2))
    await set_images(lab, "engine:2")
    await lab.until(lambda: updated(lab, "prefill") > 0)
    assert updated(lab, "decode") == 2
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"})


async def test_defect_10_a_policy_that_is_edited_counts_at_once(lab: GroupLab):
    strategy = {"rollingUpdate": {"maxSkew": "100%", "partition": "100%"}}
    await lab.apply(policy(strategy, "prefill", "decode"))
    await start(lab, standalone("prefill", 2), standalone("decode", 2))
    await set_images(lab, "engine:2")
    await lab.run(30)
    assert updated(lab, "prefill") == updated(lab, "decode") == 0
    path = "/spec/policies/0/strategy/rollingUpdate/partition"
    await lab.edit("x", {"op": "replace", "path": path, "value": 0}, kind=labels.POLICY)
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"})


async def test_a_ratio_takes_the_partner_of_a_scaled_role_along(lab: GroupLab):
    """A to B as 2 to 1, when an autoscaler raises one of them."""
    ratio = {labels.RATIO: '{"pd": {"prefill": 2, "decode": 1}}'}
    await lab.apply(policy({"scaling": {"maxSkew": "100%"}}, "prefill", "decode", **ratio))
    scaled = standalone("decode", 1, scalingAdapter={"enable": True})
    await start(lab, standalone("prefill", 2), scaled)
    target = lab.api.target(labels.ADAPTER, lab.namespace, "x-decode", "scale")
    body = {"spec": {"replicas": 3}}
    await lab.api.patch(
        target, PatchBody(PatchType.MERGE, body), WriteOptions(manager="autoscaler")
    )
    await lab.until(lambda: (len(lab.pods("prefill")), len(lab.pods("decode"))) == (6, 3))
    await lab.until(lab.is_done)


async def test_defect_2_coordination_of_v1alpha1_becomes_a_policy(lab: GroupLab):
    rule = '[{"name": "pd", "roles": ["a", "b"], "strategy": {"rollingUpdate": {"maxSkew": "1%"}}}]'
    made = group(standalone("a", 1), standalone("b", 1), **{labels.OLD_COORDINATION: rule})
    await lab.apply(made)
    await lab.until(lambda: bool(lab.all(labels.POLICY)))
    (found,) = lab.all(labels.POLICY)
    assert (name_of(found), found["spec"]["policies"][0]["name"]) == ("x", "pd")
    await lab.until(lab.is_done)
    assert lab.find(kinds.POD, "x-a-0")


async def test_coordination_that_the_user_removes_binds_no_more(lab: GroupLab):
    half = {"rollingUpdate": {"partition": "50%"}}
    rule = orjson.dumps([{"name": "ab", "roles": ["a", "b"], "strategy": half}]).decode()
    await start(lab, standalone("a"), standalone("b"), **{labels.OLD_COORDINATION: rule})
    await lab.until(lambda: bool(lab.all(labels.POLICY)))
    await lab.run(5)
    await lab.set_image("engine:2")
    await lab.until(lambda: updated(lab, "a") == 1)
    await lab.run(60)
    assert lab.images("a") == {"engine:1", "engine:2"}
    path = f"/metadata/annotations/{labels.OLD_COORDINATION.replace('/', '~1')}"
    await lab.edit("x", {"op": "remove", "path": path}, kind=labels.KIND)
    await lab.until(lambda: lab.images("a") == {"engine:2"})
    assert not lab.all(labels.POLICY)


async def test_a_policy_that_a_user_lets_a_group_own_is_not_deleted(lab: GroupLab):
    await start(lab, standalone("a"), standalone("b"))
    made = policy({"rollingUpdate": {"maxSkew": "50%"}}, "a", "b")
    made["metadata"]["ownerReferences"] = [owner_reference(lab.group())]
    await lab.apply(made)
    await lab.set_image("engine:2")
    await lab.until(lambda: lab.is_done() and lab.images("a") == {"engine:2"})
    assert lab.all(labels.POLICY)


async def test_a_role_that_is_lost_whole_in_a_rollout_comes_back_as_it_was(lab: GroupLab):
    """The role before it does not come to its end, so none of its instances may be updated."""
    order = {labels.UPDATE_ORDER: '{"pd": ["prefill", "decode"]}'}
    await lab.apply(policy({"rollingUpdate": {"maxSkew": "100%"}}, "prefill", "decode", **order))
    await start(lab, standalone("prefill", 1), standalone("decode", 3))
    # No node has the label, so the new instance of prefill waits for ever.
    path = "/spec/roles/0/standalonePattern/template/spec/nodeSelector"
    await lab.set_field(path, {"absent": "here"})
    await set_images(lab, "engine:2")
    await lab.until(lambda: updated(lab, "prefill") == 1)
    former = lab.uids("decode")
    for name in former:
        await lab.delete(labels.INSTANCE, name)
    await lab.until(lambda: set(lab.uids("decode").values()).isdisjoint(former.values()))
    await lab.until(lambda: len(lab.pods("decode")) == 3)
    assert lab.images("decode") == {"engine:1"}
