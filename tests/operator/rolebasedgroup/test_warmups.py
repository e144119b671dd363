"""RoleBasedGroupWarmups: one pod for each node, counted and read back after any single write."""

from collections import Counter
from collections.abc import AsyncIterator

import orjson
import pytest
from group_lab import group, standalone
from warmup_lab import FAIL, KIND, PRELOAD, SLEEP, WarmupLab, warmup

from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.warmup.api import ROLE_BASED_GROUP_WARMUP
from kohort.cluster import kinds
from kohort.cluster.objects import labels_of
from kohort.views.samples import gather


@pytest.fixture
async def lab() -> AsyncIterator[WarmupLab]:
    found = WarmupLab()
    await found.open()
    yield found
    await found.close()


def custom(name: str, volume: str = "", **more: str) -> dict:
    mounts = [{"name": volume, "mountPath": "/m"}] if volume else []
    container = {"name": name, "image": "loader:1", "volumeMounts": mounts}
    volumes = [{"name": volume, "hostPath": {"path": more["path"]}}] if volume else []
    return {"customizedAction": {"containers": [container], "volumes": volumes}}


async def start_on_one_node(lab: WarmupLab) -> None:
    """A group of two roles, whose pods are on one node."""
    roles = [standalone(name, 1) for name in ("engine", "router")]
    for role in roles:
        pod = role["standalonePattern"]["template"]["spec"]
        pod["nodeSelector"] = {"kubernetes.io/hostname": "gpu-03"}
    await lab.apply(group(*roles))
    await lab.until(lab.is_done)


class TestUpstreamCases:
    """The cases of upstream's own suite, v1alpha2/warmup, by name."""

    async def test_target_nodes(self, lab: WarmupLab):
        await lab.apply(warmup())
        await lab.until_phase("Completed")
        assert lab.counts() == (3, 0, 3, 0)
        assert lab.condition("Complete")["reason"] == "WarmupCompleted"
        placed = {lab.node_of(pod): pod["spec"]["nodeName"] for pod in lab.warmers().values()}
        assert placed == {node: node for node in ("gpu-00", "gpu-01", "gpu-02")}
        assert lab.said()["startTime"] <= lab.said()["completionTime"]

    async def test_target_group_with_actions_of_roles_merged(self, lab: WarmupLab):
        await start_on_one_node(lab)
        by_role = {
            "engine": {**PRELOAD, **custom("load")},
            "router": custom("load", "v", path="/a"),
        }
        target = {"targetRoleBasedGroup": {"name": "x", "roles": by_role}}
        await lab.apply(warmup(target, name="w"))
        await lab.until(lambda: lab.said("w").get("phase") == "Completed")
        (pod,) = lab.warmers().values()
        assert pod["spec"]["nodeName"] == "gpu-03"
        names = [container["name"] for container in pod["spec"]["containers"]]
        assert names == ["image-preload-0", "load", "router-load"]

    async def test_ttl_after_finished(self, lab: WarmupLab):
        await lab.apply(warmup(ttlSecondsAfterFinished=30))
        await lab.until_phase("Completed")
        await lab.run(25)
        assert lab.warmup()
        await lab.until(lambda: not lab.warmup() and not lab.warmers(), 15)

    async def test_global_timeout(self, lab: WarmupLab):
        lab.decide_fates(gpu_01=SLEEP)
        await lab.apply(warmup(globalTimeoutSeconds=60))
        await lab.until_phase("Failed")
        assert lab.condition("Failed")["reason"] == "GlobalTimeoutExceeded"
        assert lab.counts() == (3, 0, 2, 0)
        await lab.until(lambda: len(lab.warmers()) == 2)

    async def test_retry_limit_of_a_node(self, lab: WarmupLab):
        lab.decide_fates(gpu_01=FAIL)
        await lab.apply(warmup(backoffLimitPerNode=2, maxFailedNodes=0))
        await lab.until_phase("Failed")
        assert lab.condition("Failed")["reason"] == "MaxFailedNodesExceeded"
        tries = Counter(lab.node_of(pod) for pod in lab.warmers().values())
        assert tries == {"gpu-00": 1, "gpu-01": 3, "gpu-02": 1}

    async def test_no_nodes_match(self, lab: WarmupLab):
        await lab.apply(warmup({"targetNodes": {"nodeSelector": {"no": "node"}, **PRELOAD}}))
        await lab.until_phase("Completed")
        assert lab.condition("Complete")["reason"] == "NoNodesMatched"
        assert lab.counts() == (0, 0, 0, 0)


class TestNodes:
    async def test_a_selector_chooses_nodes(self, lab: WarmupLab):
        wanted = {"kubernetes.io/hostname": "gpu-05"}
        await lab.apply(warmup({"targetNodes": {"nodeSelector": wanted, **PRELOAD}}))
        await lab.until_phase("Completed")
        assert [lab.node_of(pod) for pod in lab.warmers().values()] == ["gpu-05"]

    async def test_named_nodes_that_do_not_exist_are_said(self, lab: WarmupLab):
        names = ["gpu-00", "gpu-99"]
        await lab.apply(warmup({"targetNodes": {"nodeNames": names, **PRELOAD}}))
        await lab.until_phase("Completed")
        assert lab.counts() == (1, 0, 1, 0)
        assert "gpu-99" in lab.condition("Complete")["message"]

    async def test_volumes_of_one_name_that_differ_are_said(self, lab: WarmupLab):
        await start_on_one_node(lab)
        by_role = {"engine": custom("a", "v", path="/a"), "router": custom("b", "v", path="/b")}
        await lab.apply(warmup({"targetRoleBasedGroup": {"name": "x", "roles": by_role}}))
        await lab.until_phase("Completed")
        said = lab.condition("VolumeConflict")
        assert (said["status"], said["reason"]) == ("True", "ConflictingVolumeDefinitions")
        (pod,) = lab.warmers().values()
        assert pod["spec"]["volumes"][0]["hostPath"]["path"] == "/a"


class TestPods:
    async def test_a_pod_pulls_and_runs_what_was_asked_for(self, lab: WarmupLab):
        preload = {"images": ["a:1", "b:1"], "pullSecrets": [{"name": "key"}]}
        spec = {"nodeNames": ["gpu-00"], "imagePreload": preload, **custom("load", "v", path="/a")}
        taint = [{"key": "gpu", "operator": "Exists"}]
        await lab.apply(warmup({"targetNodes": spec, "tolerations": taint}))
        await lab.until_phase("Completed")
        (pod,) = lab.warmers().values()
        names = [(c["name"], c["image"]) for c in pod["spec"]["containers"]]
        assert names == [
            ("image-preload-0", "a:1"),
            ("image-preload-1", "b:1"),
            ("load", "loader:1"),
        ]
        assert pod["spec"]["restartPolicy"] == "Never"
        assert pod["spec"]["imagePullSecrets"] == [{"name": "key"}]
        assert taint[0].items() <= pod["spec"]["tolerations"][0].items()
        assert labels_of(pod)[labels.WARMUP_NAME] == "x"

    async def test_an_image_without_a_shell_was_pulled_all_the_same(self, lab: WarmupLab):
        lab.decide_fates(others=SLEEP)
        await lab.apply(warmup({"targetNodes": {"nodeNames": ["gpu-00"], **PRELOAD}}))
        await lab.until(lambda: bool(lab.warmers()))
        (name,) = lab.warmers()
        end = {"exitCode": 128, "reason": "StartError", "finishedAt": "2026-01-01T00:00:05Z"}
        status = {"name": "image-preload-0", "state": {"terminated": end}, "ready": False}
        await lab.end_pod(name, {"phase": "Failed", "containerStatuses": [status]})
        await lab.until_phase("Completed")
        assert lab.counts() == (1, 0, 1, 0)


class TestPolicies:
    async def test_no_more_nodes_are_begun_than_parallelism_allows(self, lab: WarmupLab):
        names = [f"gpu-0{i}" for i in range(6)]
        await lab.apply(warmup({"targetNodes": {"nodeNames": names, **PRELOAD}}, parallelism=2))
        await lab.until_phase("Completed")
        assert (lab.most_active, lab.counts()) == (2, (6, 0, 6, 0))

    async def test_failed_nodes_within_the_limit_do_not_fail_the_rest(self, lab: WarmupLab):
        lab.decide_fates(gpu_01=FAIL)
        await lab.apply(warmup(backoffLimitPerNode=0, maxFailedNodes=1))
        await lab.until_phase("Completed")
        assert lab.counts() == (3, 0, 2, 1)

    async def test_without_a_limit_a_node_is_tried_until_it_is_warm(self, lab: WarmupLab):
        lab.decide_fates(gpu_01=FAIL)
        await lab.apply(warmup())
        await lab.run(120)
        assert lab.said()["phase"] == "Running"
        failed = [p for p in lab.warmers().values() if p["status"]["phase"] == "Failed"]
        assert len(failed) == 1
        lab.decide_fates()
        await lab.until_phase("Completed")
        assert lab.counts() == (3, 0, 3, 0)

    async def test_a_paused_one_begins_no_node_until_it_goes_on(self, lab: WarmupLab):
        await lab.apply(warmup(paused=True))
        await lab.until_phase("Paused")
        await lab.run(30)
        assert not lab.warmers()
        await lab.edit("x", {"op": "replace", "path": "/spec/paused", "value": False}, kind=KIND)
        await lab.until_phase("Completed")

    async def test_what_has_ended_is_not_begun_again(self, lab: WarmupLab):
        await lab.apply(warmup())
        await lab.until_phase("Completed")
        before = lab.said()
        await lab.delete(kinds.POD, next(iter(lab.warmers())))
        names = ["gpu-00", "gpu-07"]
        await lab.edit(
            "x", {"op": "replace", "path": "/spec/targetNodes/nodeNames", "value": names}, kind=KIND
        )
        await lab.run(30)
        assert (lab.said(), len(lab.warmers())) == (before, 2)


class TestRest:
    @pytest.mark.parametrize("fate", [{}, SLEEP], ids=["ended", "running"])
    async def test_at_rest_nothing_is_written(self, lab: WarmupLab, fate: dict):
        lab.decide_fates(others=fate)
        await lab.apply(warmup())
        await lab.run(20)
        before = dict(lab.cluster.tried)
        await lab.run(600)
        assert dict(lab.cluster.tried) == before

    async def test_its_pods_go_with_it(self, lab: WarmupLab):
        await lab.apply(warmup())
        await lab.until_phase("Completed")
        await lab.delete(KIND, "x")
        await lab.until(lambda: not lab.warmers())


def test_views_find_the_pods_of_the_group_that_is_warmed():
    target = {"targetRoleBasedGroup": {"name": "chat", "roles": {"router": PRELOAD}}}
    root = orjson.dumps(warmup(target))
    marks = {labels.GROUP_NAME: "chat", labels.ROLE_NAME: "router"}
    pods = [
        {"metadata": {"name": name, "namespace": "default", "labels": own}}
        for name, own in (("chat-router-0", marks), ("other", {labels.GROUP_NAME: "y"}))
    ]
    children = {kinds.POD: [orjson.dumps(pod) for pod in pods]}
    (sample,) = gather(ROLE_BASED_GROUP_WARMUP, [root], children)
    found = sample.snapshot.references[kinds.POD]
    assert [pod.metadata.name for pod in found] == ["chat-router-0"]


@pytest.mark.parametrize("writes", [1, 2, 3, 4, 5, 6, 7, 8])
async def test_an_operator_that_ends_after_any_write_is_followed_up(lab: WarmupLab, writes: int):
    lab.decide_fates(gpu_01=FAIL)
    lab.cluster.left = writes
    await lab.apply(warmup(backoffLimitPerNode=1, maxFailedNodes=1, parallelism=2))
    tries: Counter[str] = Counter()
    seen = set()
    for _ in range(240):
        await lab.run(0.5)
        for name, pod in lab.warmers().items():
            tries[lab.node_of(pod)] += name not in seen
            seen.add(name)
        if lab.cluster.is_dead:
            await lab.stop_operator()
            lab.start_operator()
            lab.cluster.left = writes
        if lab.said().get("phase") == "Completed":
            break
    assert lab.counts() == (3, 0, 2, 1)
    assert tries == {"gpu-00": 1, "gpu-01": 2, "gpu-02": 1}
