"""
The cases of upstream's end-to-end suite, written anew; each says which one it is.

Those that need a kubelet with real images, a chart or a ModelBooster are not here. ``LWSAPIBasic``
is in ``tests/operator/bridges``, negative replicas in ``tests/controller_admission``.
"""

from typing import Any

import pytest
from edits import edit_as
from serving_lab import KIND, ServingLab, role, serving, start

from kohort.apiserver.store.entries import Event
from kohort.cluster import kinds
from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Object, labels_of, name_of
from kohort.simulator.stages import NEVER_READY, PULL_ERROR

PREFIX = "modelserving.volcano.sh/"
COST = "controller.kubernetes.io/pod-deletion-cost"
GROUPS, ROLES = "ServingGroupRollingUpdate", "RoleRollingUpdate"


def rolling(**configuration: Any) -> Object:
    return {"type": GROUPS, "rollingUpdateConfiguration": configuration}


async def change(lab: ServingLab, path: str, value: Any) -> None:
    await lab.set_field(path, value)
    await lab.run(1)
    await lab.until(lab.is_done)


async def annotate(lab: ServingLab, pod: str, key: str, value: str) -> None:
    await edit_as(lab, "user", {"metadata": {"annotations": {key: value}}}, pod, kinds.POD)


def groups(lab: ServingLab) -> set[str]:
    return {labels_of(pod)[PREFIX + "group-name"] for pod in lab.pods().values()}


def instances(lab: ServingLab, name: str = "decode") -> set[str]:
    found = lab.pods(lambda pod: labels_of(pod)[PREFIX + "role"] == name)
    return {labels_of(pod)[PREFIX + "role-id"] for pod in found.values()}


def images(lab: ServingLab) -> dict[str, str]:
    return {name: pod["spec"]["containers"][0]["image"] for name, pod in lab.pods().items()}


def services(lab: ServingLab) -> set[str]:
    return {name_of(found) for found in lab.all(kinds.SERVICE)} - {"kubernetes"}


class Gap:
    """How many groups were missing at the worst status that a client could see."""

    def __init__(self, lab: ServingLab) -> None:
        self.worst = 0
        lab.api.store.subscribe(lab.api.registry.of(KIND).bucket, self._on_change)

    def _on_change(self, event: Event) -> None:
        status = event.entry.decode().get("status") or {}
        if "availableReplicas" in status:
            self.worst = max(self.worst, status["replicas"] - status["availableReplicas"])


def running_events(lab: ServingLab) -> list[Object]:
    return [event for event in lab.all(kinds.EVENT) if event["reason"] == "RoleRunning"]


class TestLife:
    async def test_lifecycle(self, lab: ServingLab):
        await start(lab, replicas=1)
        await lab.set_image("engine:2")
        await lab.set_image("engine:2", index=1)
        await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"})
        await lab.delete(KIND, "x")
        await lab.until(lambda: not lab.pods() and not services(lab))

    async def test_duplicate_host_aliases_reach_the_pods(self, lab: ServingLab):
        """WithDuplicateHostAliases: a definition that lists them by address would refuse it."""
        found = role(workers=0)
        aliases = [{"ip": "10.0.0.1", "hostnames": [name]} for name in ("a", "b")]
        found["entryTemplate"] = {
            "spec": {**found["entryTemplate"]["spec"], "hostAliases": aliases}
        }
        await start(lab, found, replicas=1)
        assert lab.pods()["x-0-decode-0-0"]["spec"]["hostAliases"] == aliases

    async def test_role_status_events(self, lab: ServingLab):
        await start(lab, role(), replicas=1)
        reasons = {e["reason"] for e in lab.all(kinds.EVENT) if e["involvedObject"]["name"] == "x"}
        assert {"RoleCreating", "RoleRunning"} <= reasons

    async def test_only_instances_that_begin_to_run_are_said_to_run(self, lab: ServingLab):
        await start(lab, role("a"), role("b"), replicas=1, recoveryPolicy="RoleRecreate")
        await lab.run(30)
        before = {e["metadata"]["uid"] for e in running_events(lab)}
        await lab.delete(kinds.POD, "x-0-b-0-0")
        await lab.run(60)
        fresh = [e for e in running_events(lab) if e["metadata"]["uid"] not in before]
        assert lab.is_done()
        assert [e["message"] for e in fresh] == ["Role b/b-0 in ServingGroup x-0 is now Running"]

    async def test_controller_manager_restart(self, lab: ServingLab):
        """Another operator in the midst of making 25 pods makes the others, and none twice."""
        await lab.apply(serving(role("a", workers=1), role("b", workers=2), replicas=5))
        lab.cluster.left = 20
        await lab.until(lambda: lab.cluster.is_dead)
        await lab.stop_operator()
        assert 0 < len(lab.pods()) < 25
        before = lab.uids()
        lab.start_operator()
        await lab.until(lab.is_done)
        assert len(lab.pods()) == 25
        assert before.items() <= lab.uids().items()

    async def test_negative_replicas_are_refused(self, lab: ServingLab):
        """TestWebhook, Invalid ModelServing."""
        with pytest.raises(ClusterError, match="non-negative integer"):
            await lab.apply(serving(role(), replicas=-1))


class TestScale:
    async def test_scale_up_and_scale_down(self, lab: ServingLab):
        await start(lab, role(), replicas=1)
        await change(lab, "/spec/replicas", 3)
        assert groups(lab) == {"x-0", "x-1", "x-2"}
        await change(lab, "/spec/replicas", 1)
        assert groups(lab) == {"x-0"}

    async def test_role_scale_up_and_role_scale_down(self, lab: ServingLab):
        await start(lab, role(), replicas=1)
        await change(lab, "/spec/template/roles/0/replicas", 3)
        assert instances(lab) == {"decode-0", "decode-1", "decode-2"}
        await change(lab, "/spec/template/roles/0/replicas", 1)
        assert instances(lab) == {"decode-0"}

    async def test_headless_services_go_with_their_group(self, lab: ServingLab):
        """HeadlessServiceDeleteOnServingGroupDelete."""
        await start(lab, role(), replicas=3)
        assert len(services(lab)) == 3
        await change(lab, "/spec/replicas", 1)
        await lab.until(lambda: services(lab) == {"x-0-decode-0-0"})

    async def test_bin_pack_scale_down_of_groups(self, lab: ServingLab):
        """BinPackScaleDownServingGroup: the highest cost survives, and ordinals have holes."""
        await start(lab, role(), replicas=4)
        await annotate(lab, "x-2-decode-0-0", COST, "100")
        await change(lab, "/spec/replicas", 1)
        assert groups(lab) == {"x-2"}

    async def test_bin_pack_scale_down_of_roles(self, lab: ServingLab):
        """BinPackScaleDownRole."""
        await start(lab, role(replicas=4), replicas=1)
        await annotate(lab, "x-0-decode-3-1", COST, "100")
        await change(lab, "/spec/template/roles/0/replicas", 1)
        assert instances(lab) == {"decode-3"}

    async def test_bin_pack_scale_down_of_both(self, lab: ServingLab):
        """BinPackScaleDownCombined."""
        await start(lab, role(replicas=2), replicas=2)
        for pod in ("x-1-decode-1-0", "x-1-decode-0-0"):
            await annotate(lab, pod, COST, "100" if "decode-1" in pod else "10")
        await change(lab, "/spec/replicas", 1)
        await change(lab, "/spec/template/roles/0/replicas", 1)
        assert sorted(lab.pods()) == ["x-1-decode-1-0", "x-1-decode-1-1"]

    @pytest.mark.parametrize("path", ["/spec/replicas", "/spec/template/roles/0/replicas"])
    async def test_what_does_not_serve_goes_first(self, lab: ServingLab, path: str):
        """StatusAwarePriorityScaleDownServingGroup and …Role."""
        is_group = path == "/spec/replicas"
        await start(lab, role(replicas=1 if is_group else 3), replicas=3 if is_group else 1)
        await annotate(lab, "x-0-decode-0-0", NEVER_READY, "true")
        await annotate(lab, "x-0-decode-0-0", COST, "1000")
        await lab.until(lambda: not lab.is_done(), 10)
        await change(lab, path, 2)
        assert "x-0-decode-0-0" not in lab.pods()


class TestRecovery:
    async def test_serving_group_recreate(self, lab: ServingLab):
        await start(lab, role(), replicas=1, recoveryPolicy="ServingGroupRecreate")
        before = lab.uids()
        await lab.delete(kinds.POD, "x-0-decode-0-1")
        await lab.run(1)
        await lab.until(lab.is_done)
        assert lab.uids().keys() == before.keys()
        assert not set(lab.uids().values()) & set(before.values())

    async def test_pod_recovery(self, lab: ServingLab):
        await start(lab, role(workers=0), replicas=1)
        before = lab.pods()["x-0-decode-0-0"]
        await lab.delete(kinds.POD, "x-0-decode-0-0")
        await lab.run(1)
        await lab.until(lab.is_done)
        after = lab.pods()["x-0-decode-0-0"]
        assert after["metadata"]["uid"] != before["metadata"]["uid"]
        assert labels_of(after) == labels_of(before)

    async def test_service_recovery(self, lab: ServingLab):
        await start(lab, role(), replicas=1)
        before = lab.find(kinds.SERVICE, "x-0-decode-0-0") or {}
        await lab.delete(kinds.SERVICE, "x-0-decode-0-0")
        await lab.until(lambda: lab.find(kinds.SERVICE, "x-0-decode-0-0") is not None)
        after = lab.find(kinds.SERVICE, "x-0-decode-0-0") or {}
        assert after["metadata"]["uid"] != before["metadata"]["uid"]


class TestGroupRollouts:
    async def test_rolling_update(self, lab: ServingLab):
        await start(lab, role(), replicas=2)
        await lab.set_image("engine:2")
        await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"})
        status = lab.status()
        assert status["currentRevision"] == status["updateRevision"]

    @pytest.mark.parametrize("is_bad", [False, True])
    async def test_rolling_update_max_unavailable(self, lab: ServingLab, is_bad: bool):
        """RollingUpdateMaxUnavailable, and …WithBadImage: at every status that was written."""
        roles = [role(name, workers=0) for name in "abcd"]
        await start(lab, *roles, replicas=4, rolloutStrategy=rolling(maxUnavailable=2))
        gap = Gap(lab)
        if is_bad:
            path = "/spec/template/roles/0/entryTemplate/metadata"
            await lab.set_field(path, {"annotations": {PULL_ERROR: "no such image"}})
            await lab.run(60)
            assert lab.status()["availableReplicas"] == 2
        else:
            await lab.set_image("engine:2", parts=("entryTemplate",))
            await lab.run(1)
            await lab.until(lab.is_done)
        assert 1 <= gap.worst <= 2


class TestPartitions:
    async def open(self, lab: ServingLab) -> str:
        """Five groups, of which a partition keeps three; the first revision."""
        await start(lab, role(), replicas=5, rolloutStrategy=rolling(partition=3, maxUnavailable=2))
        first: str = lab.status()["updateRevision"]
        return first

    async def roll(self, lab: ServingLab) -> None:
        await lab.set_image("engine:2")
        await lab.until(lambda: lab.status().get("updatedReplicas") == 2, 120)
        await lab.until(lambda: lab.status()["availableReplicas"] == 5, 120)

    def old(self, lab: ServingLab) -> set[str]:
        return {name[:3] for name, image in images(lab).items() if image == "engine:1"}

    async def test_partition_boundary_protection(self, lab: ServingLab):
        first = await self.open(lab)
        await self.roll(lab)
        assert self.old(lab) == {"x-0", "x-1", "x-2"}
        assert lab.status()["currentRevision"] == first

    async def test_partition_deleted_group_historical_revision(self, lab: ServingLab):
        first = await self.open(lab)
        await self.roll(lab)
        await lab.delete(kinds.POD, "x-1-decode-0-0")
        await lab.run(60)
        pod = lab.pods()["x-1-decode-0-0"]
        assert labels_of(pod)[PREFIX + "revision"] == first
        assert self.old(lab) == {"x-0", "x-1", "x-2"}

    async def test_partition_scale_up(self, lab: ServingLab):
        await self.open(lab)
        await self.roll(lab)
        await lab.set_field("/spec/replicas", 7)
        await lab.until(lambda: lab.status()["availableReplicas"] == 7, 120)
        assert self.old(lab) == {"x-0", "x-1", "x-2"}
        assert groups(lab) == {f"x-{i}" for i in range(7)}

    async def test_partition_scale_down(self, lab: ServingLab):
        await self.open(lab)
        await self.roll(lab)
        await lab.set_field("/spec/replicas", 3)
        await lab.until(lambda: lab.status()["replicas"] == 3, 120)
        status = lab.status()
        assert self.old(lab) == {"x-0", "x-1", "x-2"}
        assert (status["currentReplicas"], status["updatedReplicas"]) == (3, 0)


class TestRoleRollouts:
    async def test_role_based_rolling_update(self, lab: ServingLab):
        await start(lab, replicas=2, rolloutStrategy={"type": ROLES})
        before = lab.uids(role="decode")
        await lab.set_image("engine:2")
        await lab.run(1)
        await lab.until(lab.is_done)
        assert lab.uids(role="decode") == before
        assert {i for n, i in images(lab).items() if "prefill" in n} == {"engine:2"}

    async def test_role_rolling_update_max_unavailable(self, lab: ServingLab):
        """With an image that cannot be pulled two serve on, and two wait."""
        found = role(replicas=4, workers=0, maxUnavailable=2)
        await start(lab, found, replicas=1, rolloutStrategy={"type": ROLES})
        path = "/spec/template/roles/0/entryTemplate/metadata"
        await lab.set_field(path, {"annotations": {PULL_ERROR: "no such image"}})
        await lab.run(30)
        phases = sorted(pod["status"]["phase"] for pod in lab.pods().values())
        assert phases == ["Pending", "Pending", "Running", "Running"]
        await lab.run(30)
        assert sorted(pod["status"]["phase"] for pod in lab.pods().values()) == phases

    async def open(self, lab: ServingLab) -> None:
        found = role(replicas=4, workers=0, maxUnavailable=2, partition=2)
        await start(lab, found, replicas=1, rolloutStrategy={"type": ROLES})
        await lab.set_image("engine:2", parts=("entryTemplate",))
        await lab.run(60)

    def old(self, lab: ServingLab) -> set[str]:
        return {name for name, image in images(lab).items() if image == "engine:1"}

    async def test_role_rolling_update_partition(self, lab: ServingLab):
        await self.open(lab)
        kept = {"x-0-decode-0-0", "x-0-decode-1-0"}
        assert self.old(lab) == kept
        await lab.delete(kinds.POD, "x-0-decode-1-0")
        await lab.run(60)
        assert (self.old(lab), len(lab.pods())) == (kept, 4)

    async def test_role_partition_scale_up(self, lab: ServingLab):
        await self.open(lab)
        await lab.set_field("/spec/template/roles/0/replicas", 6)
        await lab.run(60)
        assert (len(self.old(lab)), len(lab.pods())) == (2, 6)

    async def test_role_partition_scale_down(self, lab: ServingLab):
        """The partition protects its instances, though they cost least."""
        await self.open(lab)
        for ordinal in (2, 3):
            await annotate(lab, f"x-0-decode-{ordinal}-0", COST, "100")
        await lab.set_field("/spec/template/roles/0/replicas", 2)
        await lab.run(60)
        assert set(lab.pods()) == {"x-0-decode-0-0", "x-0-decode-1-0"}
