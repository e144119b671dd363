"""Objects of gangs on servers that drop fields, refuse for a while, or keep deleted pods."""

from typing import Any

import pytest
from gang_lab import VOLCANO, define_pod_groups, gangs
from operator_lab import LWS, Lab, set_image
from topology_lab import NOWHERE, find_degraded, make_packed, open_topology_lab, put, specs

from kohort.apis.api import Settings
from kohort.apis.gangs.definitions import definitions_of
from kohort.apis.gangs.dialects.kubernetes import V1ALPHA2
from kohort.apis.gangs.dialects.volcano import POD_GROUP
from kohort.apis.leaderworkerset import labels
from kohort.apiserver.api.requests import WriteOptions
from kohort.cluster import kinds
from kohort.cluster.errors import Forbidden
from kohort.cluster.objects import Object, find_condition, name_of, uid_of
from kohort.simulator.api_admission import ApiAdmission

HARD = {"mode": "hard", "highestTierAllowed": 1}
PARTS = {"size": 4, "subGroupPolicy": {"subGroupSize": 2}}


@pytest.fixture(params=["statefulsets", "pods"])
def carrier(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def open_old_lab() -> Lab:
    """A cluster with a Volcano of before it knew topology and subgroups."""
    lab = await Lab(VOLCANO).open(operator=False)
    for crd in definitions_of("volcano"):
        if crd["spec"]["names"]["kind"] == "PodGroup":
            schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
            fields = schema["properties"]["spec"]["properties"]
            del fields["networkTopology"], fields["subGroupPolicy"]
        await lab.api.create(lab.api.target(kinds.DEFINITION), crd, WriteOptions())
    lab.start_operator()
    return lab


async def test_what_an_older_server_drops_is_said_and_not_written_for_ever(carrier: str):
    lab = await open_old_lab()
    await lab.apply(make_packed(carrier, HARD, groups=2, template=PARTS, pod=NOWHERE))
    await lab.run(60)
    message = find_degraded(lab)["message"]
    for field in ("networkTopology", "subGroupPolicy"):
        assert f"on this cluster does not keep spec.{field}: a newer version" in message
    before = lab.api.store.revision
    await lab.run(600)
    assert lab.api.store.revision == before
    await lab.stop_operator()
    lab.start_operator()
    await lab.run(60)
    assert find_degraded(lab)["message"] == message
    assert lab.cluster.writes["patch", "PodGroup"] <= 2
    await lab.close()


async def test_the_loss_ends_with_the_server_that_caused_it(carrier: str):
    lab = await open_old_lab()
    await lab.apply(make_packed(carrier, HARD, groups=1, pod=NOWHERE))
    await lab.run(60)
    newer = next(c for c in definitions_of("volcano") if "podgroups" in name_of(c))
    found = next(c for c in lab.all(kinds.DEFINITION) if name_of(c) == name_of(newer))
    target = lab.api.target(kinds.DEFINITION, "", name_of(newer))
    spec = {**found["spec"], "versions": newer["spec"]["versions"]}
    await lab.api.update(target, {**found, "spec": spec}, WriteOptions())
    await lab.edit("x", put("/spec/replicas", 2))
    await lab.run(60)
    assert [spec["networkTopology"] for spec in specs(lab)] == [HARD, HARD]
    assert "does not keep" not in find_degraded(lab)["message"]
    await lab.close()


class ClosedQueue(ApiAdmission):
    """Lets no PodGroup in, as Volcano's webhook does while a queue is closed."""

    is_closed = True

    def concerns(self, operation: str, target: Any) -> bool:
        is_group = target.resource.kind.name == "PodGroup" and operation == "CREATE"
        return is_group or super().concerns(operation, target)

    async def mutate(self, review: Any) -> Object:
        if review.target.resource.kind.name != "PodGroup":
            return await super().mutate(review)
        if self.is_closed:
            raise Forbidden("can only submit PodGroup to queue with state `Open`")
        obj: Object = review.obj
        return obj


async def test_a_gang_that_was_refused_is_tried_again():
    lab = await open_topology_lab(VOLCANO)
    door = ClosedQueue([lab.operator.controllers[0].api], VOLCANO)
    lab.api.context.admission = door
    await lab.apply(make_packed("statefulsets", None, groups=1))
    await lab.run(10)
    stalled = find_condition(lab.lws(), "Stalled")
    assert stalled is not None
    assert "can only submit PodGroup" in stalled["message"]
    door.is_closed = False
    await lab.run(60)
    assert list(gangs(lab)) == ["x-0"]
    await lab.until(lab.is_available)
    await lab.close()


async def open_native_lab() -> Lab:
    lab = await Lab(Settings(gangs=(V1ALPHA2,))).open(operator=False)
    for crd in definitions_of("kubernetes"):
        await lab.api.create(lab.api.target(kinds.DEFINITION), crd, WriteOptions())
    lab.start_operator()
    return lab


async def test_native_groups_outlive_a_leader_and_go_when_no_pod_will_name_them(carrier: str):
    """A group that a pod still names is protected: one that went with its leader would hang."""
    lab = await open_native_lab()
    kind = V1ALPHA2.kinds[0]
    await lab.apply(make_packed(carrier, None, groups=2))
    await lab.until(lambda: len(lab.all(kind)) == 2)
    assert {g["metadata"]["ownerReferences"][0]["kind"] for g in lab.all(kind)} == {LWS.name}
    before = {name_of(group): uid_of(group) for group in lab.all(kind)}
    await lab.delete(kinds.POD, "x-0")
    await lab.run(60)
    assert {name_of(group): uid_of(group) for group in lab.all(kind)} == before
    await lab.edit("x", put("/spec/replicas", 1))
    await lab.run(60)
    assert len(lab.all(kind)) == 1
    await lab.delete(LWS, "x")
    await lab.run(120)
    assert lab.all(kind) == []
    await lab.close()


async def test_native_groups_of_an_old_revision_go_when_the_rollout_has_ended(carrier: str):
    lab = await open_native_lab()
    kind = V1ALPHA2.kinds[0]
    await lab.apply(make_packed(carrier, None, groups=2))
    await lab.until(lab.is_available)
    old = {name_of(group) for group in lab.all(kind)}
    await lab.edit("x", set_image("engine:2"))
    await lab.run(10)
    await lab.until(lab.is_available)
    await lab.run(60)
    assert len(lab.all(kind)) == 2
    assert not old & {name_of(group) for group in lab.all(kind)}
    before = lab.api.store.revision
    await lab.run(600)
    assert lab.api.store.revision == before
    await lab.close()


async def test_native_groups_above_a_partition_go_while_it_holds_others_back(carrier: str):
    lab = await open_native_lab()
    kind = V1ALPHA2.kinds[0]
    await lab.apply(make_packed(carrier, None, groups=2))
    await lab.until(lab.is_available)
    rolling = "/spec/rolloutStrategy/rollingUpdateConfiguration/partition"
    await lab.edit("x", put(rolling, 1))
    await lab.edit("x", set_image("engine:2"))
    await lab.run(60)
    assert sorted(name_of(group)[:3] for group in lab.all(kind)) == ["x-0", "x-1"]
    await lab.close()


async def test_native_groups_go_when_the_user_wants_no_gangs_any_more(carrier: str):
    """The revision stays the same, so the name of the next leader's gang would, too."""
    lab = await open_native_lab()
    kind = V1ALPHA2.kinds[0]
    await lab.apply(make_packed(carrier, None, groups=2, annotations={labels.GANG: "kubernetes"}))
    await lab.until(lab.is_available)
    await lab.edit("x", put(f"/metadata/annotations/{labels.GANG.replace('/', '~1')}", "none"))
    for name in ("x-0", "x-1"):
        await lab.delete(kinds.POD, name)
    await lab.run(60)
    await lab.until(lab.is_available)
    await lab.run(60)
    assert lab.all(kind) == []
    await lab.close()


@pytest.mark.parametrize("image", ["engine:1", "engine:2"])
async def test_native_groups_go_when_a_kept_leader_came_back_without_a_gang(
    carrier: str, image: str
):
    """A rollout that a partition holds back is never over."""
    lab = await open_native_lab()
    rollout = {"partition": 1, "maxUnavailable": 1}
    await lab.apply(make_packed(carrier, None, groups=2, rollout=rollout))
    await lab.until(lab.is_available)
    await lab.edit("x", set_image(image))
    await lab.run(60)
    await lab.stop_operator()
    lab.settings = Settings(gangs=(V1ALPHA2,), has_usual=False)
    lab.mend_webhooks()
    lab.start_operator()
    await lab.delete(kinds.POD, "x-0")
    await lab.run(60)
    assert [name_of(group)[:3] for group in lab.all(V1ALPHA2.kinds[0])] == ["x-1"]
    await lab.close()


async def test_a_kind_that_is_only_read_and_not_served_makes_nothing_stall(carrier: str):
    lab = await Lab(VOLCANO).open(operator=False)
    await define_pod_groups(lab)
    lab.start_operator()
    pod = {"schedulerName": "default-scheduler"}
    await lab.apply(make_packed(carrier, {"highestTierAllowed": 9}, pod=pod))
    await lab.until(lab.is_available)
    stalled = find_condition(lab.lws(), "Stalled") or {"status": "False"}
    assert stalled["status"] == "False"
    assert "HyperNode" not in find_degraded(lab).get("message", "")
    assert len(lab.all(POD_GROUP)) == 2
    await lab.close()


async def test_a_native_group_stays_until_the_carrier_knows_the_lower_count():
    """The set may still make a leader that names it."""
    lab = await open_native_lab()
    kind = V1ALPHA2.kinds[0]
    await lab.apply(make_packed("statefulsets", None, groups=2, size=1))
    await lab.until(lambda: len(lab.all(kind)) == 2)
    for runner in lab.world.runners:
        if runner.component.name == "statefulsets":
            lab.hold_component(runner)
    await lab.delete(kinds.POD, "x-1", grace_seconds=0)
    await lab.run(30)
    assert len(lab.all(kind)) == 2
    lab.cluster.hold("StatefulSet")
    await lab.edit("x", put("/spec/replicas", 1))
    await lab.run(30)
    assert len(lab.all(kind)) == 2
    lab.cluster.release()
    await lab.run(30)
    assert len(lab.all(kind)) == 1
    await lab.close()
