"""Another client edits what belongs to a ModelServing: it is put back, or made anew in budget."""

import pytest
from edits import edit_as
from serving_lab import KIND, ServingLab, role, start

from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object, find_condition, find_controller, labels_of
from kohort.simulator.stages import CRASH_AFTER, CRASH_TIMES

PREFIX = "modelserving.volcano.sh/"
PLACES = ("name", "group-name", "role", "role-id", "group-index", "group-hash")


def drift(lab: ServingLab) -> str:
    found = find_condition(lab.serving(), "Drifted") or {}
    return str(found.get("message")) if found.get("status") == "True" else ""


async def rest(lab: ServingLab) -> None:
    """All is as it should be, the condition ends, and nothing more is written."""
    await lab.until(lambda: lab.is_done() and not drift(lab), 900)
    await lab.run(20)
    before = lab.api.store.revision
    await lab.run(700)
    assert lab.api.store.revision == before


async def relabel(lab: ServingLab, kind: Kind, named: str, **marks: str | None) -> None:
    held = {PREFIX + key.replace("_", "-"): value for key, value in marks.items()}
    await edit_as(lab, "kubectl-label", {"metadata": {"labels": held}}, named, kind)


async def set_pod_image(lab: ServingLab, pod: str) -> None:
    body = {"spec": {"containers": [{"name": "engine", "image": "evil:1"}]}}
    await edit_as(lab, "kubectl-set", body, pod, kinds.POD)


async def crash(lab: ServingLab, pod: str) -> None:
    notes = {CRASH_AFTER: "100ms", CRASH_TIMES: "9"}
    await edit_as(lab, "user", {"metadata": {"annotations": notes}}, pod, kinds.POD)
    await lab.run(2)


class TestPods:
    @pytest.mark.parametrize("pod", ["x-1-decode-0-0", "x-1-decode-0-1"])
    @pytest.mark.parametrize("value", ["other", None])
    @pytest.mark.parametrize("label", PLACES[1:])
    async def test_a_label_of_a_place_is_put_back_and_costs_no_pod(
        self, lab: ServingLab, label: str, value: str | None, pod: str
    ):
        await start(lab, role())
        before, uids = labels_of(lab.pods()[pod]), lab.uids()
        await relabel(lab, kinds.POD, pod, **{label: value})
        await lab.run(2)
        assert labels_of(lab.pods()[pod]) == before
        assert f"Pod {pod}: another client changed {PREFIX}{label}" in drift(lab)
        await rest(lab)
        assert lab.uids() == uids

    async def test_a_pod_that_names_another_workload_is_brought_home(self, lab: ServingLab):
        await start(lab, role())
        uids = lab.uids()
        await relabel(lab, kinds.POD, "x-0-decode-0-1", name="other")
        await lab.run(2)
        assert labels_of(lab.pods()["x-0-decode-0-1"])[PREFIX + "name"] == "x"
        await rest(lab)
        assert lab.uids() == uids

    @pytest.mark.parametrize("pod", ["x-1-decode-0-0", "x-1-decode-0-1"])
    async def test_a_pod_without_the_label_by_which_it_is_watched_is_not_lost_for_ever(
        self, lab: ServingLab, pod: str
    ):
        await start(lab, role())
        others = {name: uid for name, uid in lab.uids().items() if name.startswith("x-0")}
        await relabel(lab, kinds.POD, pod, name=None)
        await lab.run(60)
        await rest(lab)
        assert labels_of(lab.pods()[pod])[PREFIX + "name"] == "x"
        assert others.items() <= lab.uids().items()

    async def test_an_entry_that_is_none_is_no_entry(self, lab: ServingLab):
        await start(lab, role())
        await relabel(lab, kinds.POD, "x-0-decode-0-1", entry="true")
        await relabel(lab, kinds.POD, "x-1-decode-0-0", entry=None)
        await lab.run(2)
        entries = lab.pods(lambda pod: labels_of(pod).get(PREFIX + "entry") == "true")
        assert set(entries) == {"x-0-decode-0-0", "x-1-decode-0-0"}

    async def test_a_client_that_insists_is_answered_more_and_more_slowly(self, lab: ServingLab):
        await start(lab, role())
        before = lab.cluster.writes[("patch", "Pod")]
        for _ in range(120):
            await relabel(lab, kinds.POD, "x-0-decode-0-0", role="other")
            await lab.run(1)
        assert 3 <= lab.cluster.writes[("patch", "Pod")] - before <= 12

    async def test_a_pod_that_is_orphaned_again_and_again_is_adopted_more_and_more_slowly(
        self, lab: ServingLab
    ):
        """As by the garbage collector, if the operator learns late that its owner is to go."""
        await start(lab, role())
        uids, before = lab.uids(), lab.cluster.writes[("patch", "Pod")]
        body = {"metadata": {"ownerReferences": None}}
        for _ in range(120):
            await edit_as(lab, "collector", body, "x-0-decode-0-0", kinds.POD)
            await lab.run(1)
        assert 3 <= lab.cluster.writes[("patch", "Pod")] - before <= 12
        await lab.run(120)
        assert find_controller(lab.pods()["x-0-decode-0-0"]) is not None
        await rest(lab)
        assert lab.uids() == uids

    async def test_counts_that_were_removed_come_back(self, lab: ServingLab):
        await start(lab, role())
        notes = {f"{PREFIX}replicas": None, f"{PREFIX}group-size": None}
        body = {"metadata": {"annotations": notes}}
        await edit_as(lab, "kubectl-annotate", body, "x-0-decode-0-1", kinds.POD)
        await lab.run(2)
        held = lab.pods()["x-0-decode-0-1"]["metadata"]["annotations"]
        assert (held[PREFIX + "replicas"], held[PREFIX + "group-size"]) == ("2", "2")


@pytest.mark.parametrize("by_role", [False, True])
class TestImages:
    async def test_pods_with_a_foreign_image_are_rolled_within_the_budget(
        self, lab: ServingLab, by_role: bool
    ):
        kind = "RoleRollingUpdate" if by_role else "ServingGroupRollingUpdate"
        counts = {"replicas": 1} if by_role else {"replicas": 4}
        found = role(replicas=4 if by_role else 1)
        strategy = {"type": kind}
        await start(lab, found, recoveryPolicy="None", rolloutStrategy=strategy, **counts)
        await lab.stop_operator()
        pods = [name for name in lab.pods() if name.endswith("-1")]
        for pod in pods:
            await set_pod_image(lab, pod)
        await lab.run(20)
        lab.start_operator()
        least = await self.watch(lab)
        assert lab.images() == {"engine:1"}
        assert least == 3

    async def watch(self, lab: ServingLab) -> int:
        """The fewest of four entries that served while all were made anew."""
        least, told = 4, ""
        for _ in range(200):
            await lab.run(0.5)
            told = told or drift(lab)
            entries = lab.pods(lambda pod: labels_of(pod).get(PREFIX + "entry") == "true")
            least = min(least, sum(serves(pod) for pod in entries.values()))
            if lab.images() == {"engine:1"} and lab.is_done():
                break
        assert "kubectl-set set spec.containers[engine].image; its group is made anew" in told
        return least

    async def test_a_unit_that_had_failed_before_the_edit_waits_longer_when_it_fails_again(
        self, lab: ServingLab, by_role: bool
    ):
        kind = "RoleRollingUpdate" if by_role else "ServingGroupRollingUpdate"
        await start(lab, role(), replicas=1, rolloutStrategy={"type": kind})
        await lab.set_field("/spec/template/restartGracePeriodSeconds", 5)
        await crash(lab, "x-0-decode-0-1")
        await set_pod_image(lab, "x-0-decode-0-0")
        await lab.run(2)
        await lab.until(lab.is_done)
        before = lab.uids()
        await crash(lab, "x-0-decode-0-1")
        await lab.run(6)
        assert lab.uids() == before
        await lab.run(6)
        assert not lab.uids().items() & before.items()

    async def test_a_revision_that_was_edited_rolls_its_own_unit_alone(
        self, lab: ServingLab, by_role: bool
    ):
        kind = "RoleRollingUpdate" if by_role else "ServingGroupRollingUpdate"
        await start(lab, role(), replicas=3, rolloutStrategy={"type": kind})
        before = lab.uids()
        marks = {"revision": "other", "role_template_hash": "other"}
        await relabel(lab, kinds.POD, "x-1-decode-0-0", **marks)
        await lab.run(10)
        await rest(lab)
        changed = {name[:3] for name, uid in lab.uids().items() if uid != before[name]}
        assert changed == {"x-1"}


def serves(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    is_ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
    return is_ready and "deletionTimestamp" not in pod["metadata"]


@pytest.mark.parametrize("value", [None, "0"])
async def test_an_instance_comes_back_as_its_group_is_though_another_has_an_edited_revision(
    lab: ServingLab, value: str | None
):
    """A partition keeps group 0 on the first template, also where an edited label sorts first."""
    configuration = {"type": "ServingGroupRollingUpdate"}
    rollout = {**configuration, "rollingUpdateConfiguration": {"partition": 1}}
    await start(lab, role(replicas=2, workers=0), rolloutStrategy=rollout)
    await lab.set_image("engine:2", parts=("entryTemplate",))
    await lab.run(60)
    before = lab.uids()
    await relabel(lab, kinds.POD, "x-0-decode-0-0", revision=value)
    await lab.delete(kinds.POD, "x-0-decode-1-0")
    await lab.run(60)
    changed = {name for name, uid in lab.uids().items() if uid != before[name]}
    assert changed == {"x-0-decode-1-0"}
    pods = lab.pods()
    kept = {name: pod["spec"]["containers"][0]["image"] for name, pod in pods.items()}
    assert kept["x-0-decode-1-0"] == kept["x-0-decode-0-0"] == "engine:1"


class TestServices:
    @pytest.mark.parametrize("name", ["x-1-decode-0-0", "x"])
    async def test_the_selector_of_a_service_is_put_back(self, lab: ServingLab, name: str):
        plugin = {"name": "lws", "type": "BuiltIn", "config": {"subdomainPolicy": "Shared"}}
        await start(lab, role(), plugins=[plugin])
        before = lab.find(kinds.SERVICE, name) or {}
        body = {"spec": {"selector": {"app": "other"}, "publishNotReadyAddresses": False}}
        await edit_as(lab, "kubectl-patch", body, name, kinds.SERVICE)
        await lab.run(5)
        assert (lab.find(kinds.SERVICE, name) or {})["spec"] == before["spec"]
        assert f"Service {name}: another client changed" in drift(lab)
        await rest(lab)

    @pytest.mark.parametrize("label", ["role-id", "group-name", "name"])
    async def test_the_labels_of_a_service_are_put_back(self, lab: ServingLab, label: str):
        await start(lab, role())
        before = lab.find(kinds.SERVICE, "x-1-decode-0-0") or {}
        await relabel(lab, kinds.SERVICE, "x-1-decode-0-0", **{label: None})
        await lab.run(5)
        after = lab.find(kinds.SERVICE, "x-1-decode-0-0") or {}
        assert after["metadata"]["uid"] == before["metadata"]["uid"]
        assert labels_of(after) == labels_of(before)
        await rest(lab)

    async def test_a_port_that_was_added_to_a_service_stays(self, lab: ServingLab):
        await start(lab, role())
        body = {"spec": {"ports": [{"name": "http", "port": 80}]}}
        await edit_as(lab, "kubectl-patch", body, "x-0-decode-0-0", kinds.SERVICE)
        await rest(lab)
        assert (lab.find(kinds.SERVICE, "x-0-decode-0-0") or {})["spec"]["ports"][0]["port"] == 80


class TestRevisions:
    @pytest.mark.parametrize("label", ["revision", "name"])
    @pytest.mark.parametrize("value", ["other", None])
    async def test_the_labels_of_a_revision_are_put_back_and_nothing_rolls(
        self, lab: ServingLab, label: str, value: str | None
    ):
        await start(lab, role())
        stored, uids = lab.all(kinds.CONTROLLER_REVISION)[0], lab.uids()
        await relabel(lab, kinds.CONTROLLER_REVISION, stored["metadata"]["name"], **{label: value})
        await lab.run(5)
        assert [labels_of(found) for found in lab.all(kinds.CONTROLLER_REVISION)] == [
            labels_of(stored)
        ]
        await rest(lab)
        assert lab.uids() == uids

    async def test_a_forged_revision_is_replaced_and_nothing_rolls(self, lab: ServingLab):
        await start(lab, role())
        stored, uids = lab.all(kinds.CONTROLLER_REVISION)[0], lab.uids()
        await lab.stop_operator()
        await lab.delete(kinds.CONTROLLER_REVISION, stored["metadata"]["name"])
        forged = {**stored, "data": {"data": [role("other")]}}
        forged["metadata"] = {**stored["metadata"], "resourceVersion": ""}
        await lab.apply(forged)
        lab.start_operator()
        await lab.run(10)
        assert [found["data"] for found in lab.all(kinds.CONTROLLER_REVISION)] == [stored["data"]]
        await rest(lab)
        assert lab.uids() == uids

    async def test_a_revision_that_was_deleted_is_stored_again_and_nothing_rolls(
        self, lab: ServingLab
    ):
        await start(lab, role())
        stored, uids = lab.all(kinds.CONTROLLER_REVISION)[0], lab.uids()
        await lab.delete(kinds.CONTROLLER_REVISION, stored["metadata"]["name"])
        await lab.run(10)
        assert [found["data"] for found in lab.all(kinds.CONTROLLER_REVISION)] == [stored["data"]]
        await rest(lab)
        assert lab.uids() == uids


async def test_each_edit_that_is_put_back_has_an_event(lab: ServingLab):
    await start(lab, role())
    await relabel(lab, kinds.POD, "x-0-decode-0-0", role="other")
    await lab.run(5)
    events = [e for e in lab.all(kinds.EVENT) if e["reason"] == "Drifted"]
    assert [(e["type"], e["involvedObject"]["kind"]) for e in events] == [("Warning", KIND.name)]
