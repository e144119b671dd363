"""A ModelServing from its first pod to its last, with the operator that plans any API."""

import pytest
from operator_lab import set_replicas
from serving_lab import KIND, ServingLab, role, serving, start

from kohort.apiserver.api.admission import NoAdmission, Review
from kohort.apiserver.api.requests import PatchBody, Target, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.errors import Invalid
from kohort.cluster.objects import Object, annotations_of, labels_of, name_of
from kohort.cluster.port import PatchType

PREFIX = "modelserving.volcano.sh/"


class RefusedPods(NoAdmission):
    """A policy of another party that no pod fits."""

    def concerns(self, operation: str, target: Target) -> bool:
        return (operation, target.resource.kind) == ("CREATE", kinds.POD)

    async def mutate(self, review: Review) -> Object:
        raise Invalid("no pod fits")


class TestBirth:
    async def test_all_pods_of_all_roles_come_and_the_status_says_so(self, lab: ServingLab):
        await start(lab)
        assert sorted(lab.pods()) == [
            f"x-{group}-{name}-0-{index}"
            for group in (0, 1)
            for name in ("decode", "prefill")
            for index in (0, 1)
        ]
        assert lab.status()["currentRevision"] == lab.status()["updateRevision"]

    async def test_writes_are_as_few_as_there_are_objects(self, lab: ServingLab):
        """Pods, Services and a revision, once each."""
        await start(lab)
        made = {kind: n for (verb, kind), n in lab.cluster.writes.items() if verb == "create"}
        assert (made["Pod"], made["Service"], made["ControllerRevision"]) == (8, 4, 1)
        assert lab.cluster.tried[("create", "Pod")] == 8

    async def test_at_rest_nothing_is_written(self, lab: ServingLab):
        await start(lab)
        await lab.run(5)
        before = dict(lab.cluster.tried)
        await lab.run(600)
        assert dict(lab.cluster.tried) == before

    async def test_workers_note_the_entry_that_they_were_made_for(self, lab: ServingLab):
        await start(lab, role("decode"), replicas=1)
        pods = lab.pods()
        entry, worker = pods["x-0-decode-0-0"], pods["x-0-decode-0-1"]
        assert annotations_of(worker)["kohort.dev/entry-uid"] == entry["metadata"]["uid"]
        assert annotations_of(worker)[PREFIX + "entry-name"] == name_of(entry)

    async def test_one_plan_makes_entries_and_their_workers(self, lab: ServingLab):
        """The caches see none of them, so that there is no second plan."""
        await lab.run(1)
        lab.cluster.hold("Pod")
        await lab.apply(serving(role("decode")))
        await lab.run(5)
        assert sorted(lab.pods()) == [f"x-{g}-decode-0-{n}" for g in (0, 1) for n in (0, 1)]

    async def test_one_plan_makes_the_first_revision_and_what_is_made_from_it(
        self, lab: ServingLab
    ):
        await lab.run(1)
        lab.cluster.hold("ControllerRevision", "Service", "Pod")
        await lab.apply(serving(role("decode")))
        await lab.run(5)
        assert len(lab.pods()) == 4
        assert lab.cluster.writes["create", "Service"] == 2

    async def test_the_first_status_counts_the_groups_that_were_just_made(self, lab: ServingLab):
        """The caches see none of them, so it follows from what the API server stored."""
        await lab.run(1)
        lab.cluster.hold("ControllerRevision", "Service", "Pod")
        await lab.apply(serving(role("decode")))
        await lab.run(5)
        counts = {key: lab.status()[key] for key in ("replicas", "updatedReplicas")}
        assert counts == {"replicas": 2, "updatedReplicas": 2}
        assert lab.status()["availableReplicas"] == 0
        assert lab.cluster.writes["patch", "ModelServing/status"] == 1

    async def test_the_first_status_counts_no_group_that_was_refused(self, lab: ServingLab):
        lab.api.context.admission = RefusedPods()
        await lab.apply(serving(role("decode")))
        await lab.run(5)
        assert lab.status()["replicas"] == 0

    async def test_workers_of_a_refused_entry_are_neither_made_nor_tried_again(
        self, lab: ServingLab
    ):
        lab.api.context.admission = RefusedPods()
        await lab.apply(serving(role("decode"), replicas=1))
        await lab.run(60)
        assert lab.cluster.tried[("create", "Pod")] == 1
        (controller, *_) = lab.operator.controllers
        assert controller.queue.schedule.failures((lab.namespace, "x")) == 0

    async def test_no_replicas_are_none(self, lab: ServingLab):
        """Defect 2: a ModelServing of zero groups is reconciled, and grows."""
        await start(lab, replicas=0)
        assert lab.status()["replicas"] == 0
        await lab.set_field("/spec/replicas", 1)
        await lab.until(lab.is_done)

    async def test_it_goes_whole(self, lab: ServingLab):
        await start(lab)
        await lab.delete(KIND, "x")
        await lab.until(lambda: not lab.pods())
        await lab.run(30)
        names = [name_of(service) for service in lab.all(kinds.SERVICE)]
        assert names == ["kubernetes"]


class TestRecovery:
    async def test_a_deleted_pod_takes_its_instance_along_and_no_other(self, lab: ServingLab):
        await start(lab)
        before = lab.uids()
        await lab.delete(kinds.POD, "x-0-decode-0-1")
        await lab.run(1)
        await lab.until(lab.is_done)
        changed = {name for name, uid in lab.uids().items() if uid != before[name]}
        assert changed == {"x-0-decode-0-0", "x-0-decode-0-1"}

    async def test_a_deleted_entry_takes_its_workers_along(self, lab: ServingLab):
        await start(lab)
        before = lab.uids()
        await lab.delete(kinds.POD, "x-1-prefill-0-0")
        await lab.run(1)
        await lab.until(lab.is_done)
        changed = {name for name, uid in lab.uids().items() if uid != before[name]}
        assert changed == {"x-1-prefill-0-0", "x-1-prefill-0-1"}

    async def test_the_whole_group_goes_if_the_user_says_so(self, lab: ServingLab):
        await start(lab, recoveryPolicy="ServingGroupRecreate")
        before = lab.uids()
        await lab.delete(kinds.POD, "x-0-decode-0-1")
        await lab.run(1)
        await lab.until(lab.is_done)
        changed = {name for name, uid in lab.uids().items() if uid != before[name]}
        assert changed == {name for name in before if name.startswith("x-0-")}

    async def test_without_a_policy_only_what_is_missing_comes_back(self, lab: ServingLab):
        """Defect 1, kthena#1661."""
        await start(lab, recoveryPolicy="None")
        before = lab.uids()
        await lab.delete(kinds.POD, "x-0-decode-0-1")
        await lab.run(1)
        await lab.until(lab.is_done)
        changed = {name for name, uid in lab.uids().items() if uid != before[name]}
        assert changed == {"x-0-decode-0-1"}

    async def test_what_went_while_no_operator_ran_is_mended(self, lab: ServingLab):
        await start(lab)
        await lab.stop_operator()
        await lab.delete(kinds.POD, "x-0-decode-0-0")
        await lab.run(60)
        lab.start_operator()
        await lab.until(lab.is_done)

    async def test_a_service_that_was_deleted_comes_back(self, lab: ServingLab):
        await start(lab)
        await lab.delete(kinds.SERVICE, "x-0-decode-0-0")
        await lab.until(lambda: lab.find(kinds.SERVICE, "x-0-decode-0-0") is not None)


class TestScale:
    async def test_roles_grow_and_shrink_inside_living_groups(self, lab: ServingLab):
        await start(lab)
        before = lab.uids()
        await lab.set_field("/spec/template/roles/1/replicas", 3)
        await lab.run(1)
        await lab.until(lab.is_done)
        assert {n: uid for n, uid in lab.uids().items() if n in before} == before
        await lab.set_field("/spec/template/roles/1/replicas", 1)
        await lab.run(1)
        await lab.until(lab.is_done)
        assert lab.uids() == before

    async def test_the_cheapest_group_goes_and_the_lowest_hole_is_filled(self, lab: ServingLab):
        """After a choice by cost the ordinals may have holes."""
        await start(lab, role("decode"), replicas=3)
        cost = {"controller.kubernetes.io/pod-deletion-cost": "100"}
        for group in (0, 2):
            path = "/metadata/annotations"
            name = f"x-{group}-decode-0-0"
            held = annotations_of(lab.pods()[name])
            operation = {"op": "add", "path": path, "value": {**held, **cost}}
            await lab.edit(name, operation, kind=kinds.POD)
        await lab.set_field("/spec/replicas", 2)
        await lab.run(1)
        await lab.until(lab.is_done)
        assert {name[:3] for name in lab.pods()} == {"x-0", "x-2"}
        await lab.set_field("/spec/replicas", 3)
        await lab.run(1)
        await lab.until(lab.is_done)
        assert {name[:3] for name in lab.pods()} == {"x-0", "x-1", "x-2"}

    async def test_counts_on_pods_follow_without_a_restart(self, lab: ServingLab):
        await start(lab, role("decode"))
        before = lab.uids()
        await lab.set_field("/spec/replicas", 3)
        await lab.run(1)
        await lab.until(lab.is_done)
        pods = lab.pods()
        assert {annotations_of(pod)[PREFIX + "replicas"] for pod in pods.values()} == {"3"}
        assert before.items() <= lab.uids().items()

    async def test_pods_that_go_are_told_no_new_count(self, lab: ServingLab):
        await start(lab, role("decode"), replicas=4)
        before = lab.cluster.tried["patch", "Pod"]
        await lab.set_field("/spec/replicas", 1)
        await lab.run(1)
        await lab.until(lab.is_done)
        assert lab.cluster.tried["patch", "Pod"] - before == 2


class TestRollouts:
    async def roll(self, lab: ServingLab, image: str) -> int:
        """Change an image; the fewest groups that were available meanwhile."""
        least = lab.status()["availableReplicas"]
        await lab.set_image(image)
        for _ in range(200):
            await lab.run(0.5)
            least = min(least, lab.status()["availableReplicas"])
            if lab.is_done() and image in lab.images():
                return least
        raise AssertionError("the rollout never ended")

    @pytest.mark.parametrize(("unavailable", "least"), [(1, 3), (2, 2)])
    async def test_groups_roll_within_the_budget(self, lab: ServingLab, unavailable, least):
        rolling = {"rollingUpdateConfiguration": {"maxUnavailable": unavailable}}
        strategy = {"type": "ServingGroupRollingUpdate", **rolling}
        await start(lab, role("decode"), replicas=4, rolloutStrategy=strategy)
        assert await self.roll(lab, "engine:2") >= least
        assert lab.images() == {"engine:2"}

    async def test_a_percentage_of_which_scaling_leaves_nothing_does_not_stop_a_rollout(
        self, lab: ServingLab
    ):
        """Admission is not asked when an autoscaler lowers the replicas; 60 % of one is none."""
        rolling = {"rollingUpdateConfiguration": {"maxUnavailable": "60%"}}
        strategy = {"type": "ServingGroupRollingUpdate", **rolling}
        await start(lab, role("decode"), replicas=3, rolloutStrategy=strategy)
        await lab.set_image("engine:2")
        target = lab.api.target(KIND, lab.namespace, "x", "scale")
        await lab.api.patch(target, PatchBody(PatchType.JSON, [set_replicas(1)]), WriteOptions())
        await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"})

    async def test_a_partition_keeps_the_lowest_groups(self, lab: ServingLab):
        strategy = {
            "type": "ServingGroupRollingUpdate",
            "rollingUpdateConfiguration": {"maxUnavailable": 1, "partition": 2},
        }
        await start(lab, role("decode"), replicas=3, rolloutStrategy=strategy)
        await lab.set_image("engine:2")
        await lab.run(60)
        images = {n: p["spec"]["containers"][0]["image"] for n, p in lab.pods().items()}
        assert {n[:3] for n, image in images.items() if image == "engine:2"} == {"x-2"}
        await lab.delete(kinds.POD, "x-0-decode-0-0")
        await lab.run(60)
        pod = lab.pods()["x-0-decode-0-0"]
        assert pod["spec"]["containers"][0]["image"] == "engine:1"

    async def test_roles_roll_by_themselves(self, lab: ServingLab):
        """The other role is not touched, and no more instances are down than may be."""
        roles = (role("prefill", 3), role("decode", 2))
        strategy = {"type": "RoleRollingUpdate"}
        await start(lab, *roles, replicas=1, rolloutStrategy=strategy)
        before = lab.uids(role="decode")
        await lab.set_image("engine:2")
        await lab.run(60)
        await lab.until(lab.is_done)
        assert lab.uids(role="decode") == before
        prefill = lab.pods(lambda pod: labels_of(pod)[PREFIX + "role"] == "prefill")
        images = {pod["spec"]["containers"][0]["image"] for pod in prefill.values()}
        assert images == {"engine:2"}

    async def test_surge_comes_first_and_goes_last(self, lab: ServingLab):
        strategy = {
            "type": "ServingGroupRollingUpdate",
            "rollingUpdateConfiguration": {"maxUnavailable": 1},
        }
        obj = serving(role("decode"), replicas=2, rolloutStrategy=strategy)
        obj["metadata"]["annotations"] = {"kohort.dev/max-surge": "1"}
        await lab.apply(obj)
        await lab.until(lab.is_done)
        await self.roll(lab, "engine:2")
        assert {name[:3] for name in lab.pods()} == {"x-0", "x-1"}

    async def test_surge_and_a_partition_do_not_wait_for_each_other(self, lab: ServingLab):
        """Upstream's rollout with both stands still for ever (kthena#1743)."""
        rolling = {"maxUnavailable": 1, "partition": 1}
        strategy = {"type": "ServingGroupRollingUpdate", "rollingUpdateConfiguration": rolling}
        obj = serving(role("decode"), replicas=3, rolloutStrategy=strategy)
        obj["metadata"]["annotations"] = {"kohort.dev/max-surge": "1"}
        await lab.apply(obj)
        await lab.until(lab.is_done)
        await lab.set_image("engine:2")
        await lab.run(120)
        found = {name: p["spec"]["containers"][0]["image"] for name, p in lab.pods().items()}
        wanted = {0: "engine:1", 1: "engine:2", 2: "engine:2"}
        names = [(group, index) for group in wanted for index in (0, 1)]
        assert found == {f"x-{group}-decode-0-{index}": wanted[group] for group, index in names}

    async def test_a_revision_that_comes_back_is_the_old_one(self, lab: ServingLab):
        await start(lab, role("decode"))
        first = lab.status()["updateRevision"]
        await self.roll(lab, "engine:2")
        await self.roll(lab, "engine:1")
        assert lab.status()["updateRevision"] == first


class TestPlugins:
    async def test_labels_of_plugin_lws_are_on_the_pods(self, lab: ServingLab):
        await start(lab, role("decode"), plugins=[{"name": "lws", "type": "BuiltIn"}])
        marks = labels_of(lab.pods()["x-1-decode-0-1"])
        assert marks["leaderworkerset.sigs.k8s.io/group-index"] == "1"
        assert marks["leaderworkerset.sigs.k8s.io/worker-index"] == "1"

    @pytest.mark.parametrize(
        ("policy", "services"), [("Shared", {"x"}), ("UniquePerReplica", {"x-0", "x-1"})]
    )
    async def test_a_subdomain_has_its_services(self, lab: ServingLab, policy, services):
        plugin = {"name": "lws", "type": "BuiltIn", "config": {"subdomainPolicy": policy}}
        await start(lab, role("decode"), plugins=[plugin])
        found = {name_of(service) for service in lab.all(kinds.SERVICE)}
        assert found == {"kubernetes", "x-0-decode-0-0", "x-1-decode-0-0", *services}

    async def test_an_absent_plugin_blocks_with_a_reason(self, lab: ServingLab):
        lab.remove_webhooks()
        await lab.apply(serving(plugins=[{"name": "nope", "type": "BuiltIn"}]))
        await lab.run(10)
        stalled = [c for c in lab.status()["conditions"] if c["type"] == "Stalled"]
        assert "plugin nope: it is not installed" in stalled[0]["message"]
        assert lab.pods() == {}


async def test_the_former_group_is_served_alike(lab: ServingLab):
    obj = serving(role("decode"), replicas=1)
    obj["apiVersion"] = "workload.volcano.sh/v1alpha1"
    await lab.apply(obj)
    await lab.run(30)
    assert sorted(lab.pods()) == ["x-0-decode-0-0", "x-0-decode-0-1"]
    owner = lab.pods()["x-0-decode-0-0"]["metadata"]["ownerReferences"][0]
    assert owner["apiVersion"] == "workload.volcano.sh/v1alpha1"


async def test_the_strategy_is_named_as_on_every_api(lab: ServingLab):
    obj = serving(role("decode"), replicas=1)
    obj["metadata"]["annotations"] = {"kohort.dev/rollout-strategy": "nope"}
    await lab.apply(obj)
    await lab.run(10)
    stalled = [c for c in lab.status()["conditions"] if c["type"] == "Stalled"]
    assert stalled[0]["reason"] == "UnknownStrategy"
    assert '"nope", and must be budgeted or compatible' in stalled[0]["message"]
