"""
The partition of a StatefulSet or LeaderWorkerSet that carries a role under a skew or a pause.

Each write of the partition makes the workload's status outdated for a moment. An operator that took
that for progress lost, and raised the partition again, would write for ever.
"""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from group_lab import GroupLab, group, leader_worker, standalone
from operator_lab import Lab

from kohort.apis.api import DEFAULTS
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.cluster.kinds import DEPLOYMENT, STATEFUL_SET
from kohort.cluster.objects import Kind, Object

KINDS = {"StatefulSet": STATEFUL_SET, "LeaderWorkerSet": LEADER_WORKER_SET.kind}


class CarrierLab(GroupLab):
    """A cluster in which LeaderWorkerSets are served, too."""

    def __init__(self, **more: Any) -> None:
        Lab.__init__(self, DEFAULTS, apis=(ROLE_BASED_GROUP, LEADER_WORKER_SET), **more)


@pytest.fixture
async def lab() -> AsyncIterator[CarrierLab]:
    found = CarrierLab()
    await found.open()
    yield found
    await found.close()


def carried(name: str, kind: Kind, **more: Any) -> Object:
    notes = {labels.WORKLOAD_TYPE: f"{kind.api_version}/{kind.name}"}
    make = leader_worker if kind == LEADER_WORKER_SET.kind else standalone
    return make(name, 3, annotations=notes, **more)


def policy(**rolling: Any) -> Object:
    rule = {"name": "ab", "roles": ["a", "b"], "strategy": {"rollingUpdate": rolling}}
    head = {"apiVersion": labels.POLICY.api_version, "kind": labels.POLICY.name}
    return {**head, "metadata": {"name": "x"}, "spec": {"policies": [rule]}}


async def expect_silence(lab: CarrierLab) -> None:
    await lab.run(10)
    before = dict(lab.cluster.tried)
    await lab.run(300)
    assert dict(lab.cluster.tried) == before


def path_of(index: int, kind: Kind | None) -> str:
    pattern = "leaderWorker" if kind == LEADER_WORKER_SET.kind else "standalone"
    return f"/spec/roles/{index}/{pattern}Pattern/template/spec/containers/0/image"


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("are_both", [False, True], ids=["one", "both"])
async def test_a_role_under_a_skew_rolls_and_rests(lab: CarrierLab, kind: Kind, are_both: bool):
    await lab.apply(policy(maxSkew="10%"))
    other = carried("a", kind) if are_both else standalone("a", 3)
    await lab.apply(group(other, carried("b", kind)))
    await lab.until(lab.is_done, 240)
    await expect_silence(lab)
    for index, own in enumerate((kind if are_both else None, kind)):
        await lab.set_field(path_of(index, own), "engine:2")
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 600)
    await expect_silence(lab)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
async def test_a_pause_in_the_middle_of_a_rollout_rests_where_it_is(lab: CarrierLab, kind: Kind):
    await lab.apply(group(carried("b", kind)))
    await lab.until(lab.is_done, 240)
    await lab.set_field(path_of(0, kind), "engine:2")
    await lab.until(lambda: lab.status()["roleStatuses"][0]["updatedReplicas"] == 1, 240)
    await lab.set_field("/spec/roles/0/rolloutStrategy", {"rollingUpdate": {"paused": True}})
    await lab.run(120)
    assert lab.images() == {"engine:1", "engine:2"}
    await expect_silence(lab)
    await lab.set_field("/spec/roles/0/rolloutStrategy/rollingUpdate/paused", False)
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 240)


@pytest.mark.parametrize("kind", [DEPLOYMENT, LEADER_WORKER_SET.kind], ids=lambda kind: kind.name)
async def test_a_policy_limits_what_the_controller_of_a_carried_role_may_take_down(
    lab: CarrierLab, kind: Kind
):
    """Its maxUnavailable reached only the planner, which takes down no pod of such a role."""
    wide = {"rolloutStrategy": {"rollingUpdate": {"maxUnavailable": 3}}}
    await lab.apply(policy(maxUnavailable="34%"))
    await lab.apply(group(standalone("a", 3), carried("b", kind, **wide)))
    await lab.until(lab.is_done, 240)
    (found,) = lab.all(kind)
    spec = found["spec"]
    if kind == DEPLOYMENT:
        rolling = spec["strategy"]["rollingUpdate"]
    else:
        rolling = spec["rolloutStrategy"]["rollingUpdateConfiguration"]
    assert rolling["maxUnavailable"] == 1
    await expect_silence(lab)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
async def test_a_role_that_grows_while_it_rolls_under_a_skew_comes_to_its_end(
    lab: CarrierLab, kind: Kind
):
    await lab.apply(policy(maxSkew="10%"))
    await lab.apply(group(standalone("a", 3), carried("b", kind)))
    await lab.until(lab.is_done, 240)
    for index, own in enumerate((None, kind)):
        await lab.set_field(path_of(index, own), "engine:2")
    await lab.until(lambda: lab.status()["roleStatuses"][1]["updatedReplicas"] == 1, 240)
    await lab.set_field("/spec/roles/1/replicas", 8)
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 900)
    await expect_silence(lab)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
async def test_a_role_at_rest_that_grows_under_a_skew_costs_one_write(lab: CarrierLab, kind: Kind):
    await lab.apply(policy(maxSkew="10%"))
    await lab.apply(group(standalone("a", 3), carried("b", kind)))
    await lab.until(lab.is_done, 240)
    await lab.run(10)
    before = lab.cluster.tried["patch", kind.name]
    await lab.set_field("/spec/roles/1/replicas", 8)
    await lab.until(lambda: lab.is_done() and len(lab.pods("b")) >= 8, 240)
    await lab.run(10)
    assert lab.cluster.tried["patch", kind.name] == before + 1
