"""
What upstream's controller was seen to do wrong, by the numbers of ``docs/upstream-defects.md``.

The page names the tests of all defects; those that need no cluster stand elsewhere.
"""

import pytest
from edits import edit_as
from gang_lab import VOLCANO, define_pod_groups
from serving_lab import KIND, Refusing, ServingLab, role, serving, start

from kohort.apis.gangs.dialects.volcano import POD_GROUP
from kohort.apiserver.store.entries import Event
from kohort.cluster import kinds
from kohort.cluster.objects import Object, name_of
from kohort.simulator.stages import CRASH_AFTER, CRASH_TIMES, NEVER_READY, RUN_FOR

PREFIX = "modelserving.volcano.sh/"


async def annotate(lab: ServingLab, pod: str, **notes: str | None) -> None:
    """``kubectl annotate pod/NAME …``, by names of the kubelet's annotations."""
    await edit_as(lab, "user", {"metadata": {"annotations": notes}}, pod, kinds.POD)


async def crash(lab: ServingLab, pod: str, times: int = 1) -> None:
    """Let a pod's container end, and start again by itself."""
    await annotate(lab, pod, **{CRASH_AFTER: "100ms", CRASH_TIMES: str(times)})
    await lab.run(0.5)


class TestDefect1WithoutRecovery:
    async def test_defect_1_a_failed_pod_is_left_to_be_looked_at(self, lab: ServingLab):
        await start(lab, role(), recoveryPolicy="None", replicas=1)
        before = lab.uids()
        await crash(lab, "x-0-decode-0-1")
        await lab.run(60)
        assert lab.uids() == before

    async def test_defect_1_a_deleted_pod_is_made_again_alone(self, lab: ServingLab):
        """kthena#1661."""
        await start(lab, role(), recoveryPolicy="None", replicas=1)
        before = lab.uids()
        await lab.delete(kinds.POD, "x-0-decode-0-1")
        await lab.run(1)
        await lab.until(lab.is_done)
        changed = {name for name, uid in lab.uids().items() if uid != before[name]}
        assert changed == {"x-0-decode-0-1"}


async def test_defect_2_no_replicas_are_reconciled_and_survive_a_restart(lab: ServingLab):
    """kthena#1755."""
    await start(lab, replicas=0)
    await lab.stop_operator()
    lab.start_operator()
    await lab.set_field("/spec/template/restartGracePeriodSeconds", 5)
    await lab.until(lab.is_done)
    assert lab.status()["replicas"] == 0
    await lab.set_field("/spec/replicas", 1)
    await lab.until(lab.is_done)


async def test_defect_3_a_pod_that_is_not_ready_any_more_lowers_availability(lab: ServingLab):
    await start(lab, role())
    before = lab.uids()
    await annotate(lab, "x-1-decode-0-1", **{NEVER_READY: "true"})
    await lab.until(lambda: lab.status()["availableReplicas"] == 1, 10)
    progressing = [c for c in lab.status()["conditions"] if c["type"] == "Progressing"]
    assert progressing[0]["message"] == "Some groups is progressing: [1]"
    await annotate(lab, "x-1-decode-0-1", **{NEVER_READY: None})
    await lab.until(lab.is_done, 10)
    assert lab.uids() == before


async def test_defect_5_a_pod_that_only_bears_our_labels_outlives_its_group(lab: ServingLab):
    """Upstream deletes a group by a selector without the name of the workload or its uid."""
    await start(lab, role())
    marks = {PREFIX + "group-name": "x-1", PREFIX + "name": "x"}
    marks |= {PREFIX + "role": "decode", PREFIX + "role-id": "decode-1"}
    container, name = {"name": "mine", "image": "mine:1"}, "x-1-decode-1-0"
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": marks}}
    await lab.apply({**pod, "spec": {"containers": [container]}})
    await lab.set_field("/spec/replicas", 1)
    await lab.until(lambda: "x-1-decode-0-0" not in lab.pods())
    await lab.run(30)
    assert name in lab.pods()


class TestDefect6Services:
    async def test_defect_6_a_service_that_exists_is_not_asked_for(self, lab: ServingLab):
        await start(lab, role())
        for replicas in (3, 2):
            await lab.set_field("/spec/replicas", replicas)
            await lab.run(1)
            await lab.until(lab.is_done)
        assert lab.cluster.tried[("create", "Service")] == 3

    async def test_defect_6_a_service_exists_before_the_pods_that_it_names(self, lab: ServingLab):
        made: list[str] = []
        for kind in (kinds.SERVICE, kinds.POD):
            bucket = lab.api.registry.of(kind).bucket
            lab.api.store.subscribe(bucket, lambda event: made.append(_describe(event)))
        await start(lab, role())
        for group in (0, 1):
            first = f"x-{group}-decode-0-0"
            pods = [made.index(f"Pod x-{group}-decode-0-{index}") for index in (0, 1)]
            assert made.index(f"Service {first}") < min(pods)


def _describe(event: Event) -> str:
    obj = event.entry.decode()
    return f"{obj['kind']} {name_of(obj)}"


class TestDefect9Grace:
    async def test_defect_9_the_grace_period_goes_on_over_a_restart(self, lab: ServingLab):
        await self.open(lab, times=9)
        before = lab.uids()
        await lab.run(15)
        await lab.stop_operator()
        lab.start_operator()
        await lab.run(10)
        assert lab.uids() == before
        await lab.run(8)
        assert lab.uids() != before

    async def test_defect_9_who_serves_again_within_the_grace_period_stays(self, lab: ServingLab):
        await self.open(lab, times=1)
        before = lab.uids()
        await lab.run(120)
        assert lab.is_done()
        assert lab.uids() == before

    async def test_defect_9_the_next_failure_has_a_grace_period_of_its_own(self, lab: ServingLab):
        await self.open(lab, times=1)
        before = lab.uids()
        await lab.run(120)
        await crash(lab, "x-0-decode-0-1", times=2)
        await lab.run(20)
        assert lab.uids() == before

    async def open(self, lab: ServingLab, times: int) -> None:
        """A group of two whose worker has just crashed, with thirty seconds of grace."""
        await start(lab, role(), replicas=1)
        await lab.set_field("/spec/template/restartGracePeriodSeconds", 30)
        await lab.run(60)
        await crash(lab, "x-0-decode-0-1", times)


class TestDefect10Deleting:
    async def test_defect_10_a_leaving_group_is_not_made_again_before_it_is_gone(
        self, lab: ServingLab
    ):
        await start(lab, slow_worker(), replicas=1)
        await lab.set_image("engine:2")
        await self.restart_halfway(lab)
        assert sorted(lab.pods()) == ["x-0-decode-0-1"]
        await lab.until(lab.is_done)
        assert lab.images() == {"engine:2"}

    async def test_defect_10_a_surplus_group_that_leaves_stays_so(self, lab: ServingLab):
        await start(lab, slow_worker(), replicas=2)
        await lab.set_field("/spec/replicas", 1)
        await self.restart_halfway(lab)
        assert "x-1-decode-0-0" not in lab.pods()
        await lab.until(lab.is_done)
        assert sorted(lab.pods()) == ["x-0-decode-0-0", "x-0-decode-0-1"]

    async def restart_halfway(self, lab: ServingLab) -> None:
        """Let another operator look when the entry has gone and the worker is still leaving."""
        await lab.run(5)
        await lab.stop_operator()
        lab.start_operator()
        await lab.run(5)


def slow_worker() -> Object:
    """A role whose workers take twenty seconds to end."""
    found = role()
    metadata = {"annotations": {"sim.kohort.dev/stop-for": "20s"}}
    return {**found, "workerTemplate": {**found["workerTemplate"], "metadata": metadata}}


async def test_defect_11_a_role_that_could_not_grow_grows_later(lab: ServingLab):
    await start(lab, role(), replicas=1)
    lab.api.context.admission = Refusing("CREATE", kinds.POD)
    await lab.set_field("/spec/template/roles/0/replicas", 2)
    await lab.run(10)
    assert len(lab.pods()) == 2
    lab.mend_webhooks()
    await lab.until(lab.is_done)


async def test_defect_12_a_rollout_by_role_stores_its_revision(lab: ServingLab):
    strategy = {"type": "RoleRollingUpdate"}
    await start(lab, role(), replicas=1, rolloutStrategy=strategy)
    await lab.set_image("engine:2")
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"})
    stored = {
        r["metadata"]["labels"][PREFIX + "revision"] for r in lab.all(kinds.CONTROLLER_REVISION)
    }
    assert lab.status()["updateRevision"] in stored
    assert len({r["revision"] for r in lab.all(kinds.CONTROLLER_REVISION)}) == 2


async def test_defect_16_a_queue_that_changes_reaches_the_gangs():
    lab = ServingLab(VOLCANO)
    await lab.open(operator=False)
    await define_pod_groups(lab)
    lab.start_operator()
    await lab.apply(serving(role(), schedulerName="volcano"))
    await lab.run(10)
    assert {g["spec"].get("queue") for g in lab.all(POD_GROUP)} == {None}
    await lab.set_field("/metadata/annotations", {"scheduling.volcano.sh/queue-name": "gold"})
    await lab.run(5)
    assert {g["spec"].get("queue") for g in lab.all(POD_GROUP)} == {"gold"}
    await lab.close()


async def test_defect_17_a_new_role_waits_for_its_groups_turn(lab: ServingLab):
    await start(lab, role(), replicas=3)
    operation = {"op": "add", "path": "/spec/template/roles/-", "value": role("prefill")}
    await lab.edit("x", operation, kind=KIND)
    old, mixed, least = set(lab.uids().values()), set(), 3
    for _ in range(240):
        await lab.run(0.5)
        least = min(least, lab.status()["availableReplicas"])
        new = {name[:3] for name in lab.pods() if "prefill" in name}
        mixed |= {name for name, uid in lab.uids().items() if uid in old and name[:3] in new}
        if lab.is_done():
            break
    assert lab.is_done()
    assert (least, mixed) == (2, set())


async def test_defect_20_a_pod_that_restarted_long_ago_may_be_unready_without_harm(
    lab: ServingLab,
):
    """Upstream takes every unready pod with a restart for one that failed."""
    await start(lab, role(), replicas=1, recoveryPolicy="None")
    await crash(lab, "x-0-decode-0-1")
    await lab.run(60)
    before = lab.uids()
    await lab.set_field("/spec/recoveryPolicy", "RoleRecreate")
    await lab.run(60)
    await annotate(lab, "x-0-decode-0-1", **{NEVER_READY: "true"})
    await lab.run(60)
    assert lab.status()["availableReplicas"] == 0
    await annotate(lab, "x-0-decode-0-1", **{NEVER_READY: None})
    await lab.until(lab.is_done)
    assert lab.uids() == before


@pytest.mark.parametrize("policy", ["None", "RoleRecreate", "ServingGroupRecreate"])
async def test_defect_21_a_pod_that_ended_well_is_replaced(lab: ServingLab, policy: str):
    found = role(workers=0)
    template = {**found["entryTemplate"]}
    template["spec"] = {**template["spec"], "restartPolicy": "Never"}
    await start(lab, {**found, "entryTemplate": template}, replicas=1, recoveryPolicy=policy)
    before = lab.uids()
    await annotate(lab, "x-0-decode-0-0", **{RUN_FOR: "1s"})
    await lab.until(lambda: lab.uids().keys() == before.keys() and lab.uids() != before, 60)
    await lab.until(lab.is_done)
