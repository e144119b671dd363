"""Cases of upstream's own suites, as tests of ours."""

import pytest
from group_lab import KIND, GroupLab, group, leader_worker, standalone, start, template

from kohort.apis.rolebasedgroup import labels
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import CONTROLLER_REVISION, SERVICE
from kohort.cluster.objects import Object, is_true, name_of

TEMPLATE = "/spec/roles/0/standalonePattern/template/spec"


def strategy(**rolling: object) -> Object:
    return {"rolloutStrategy": {"rollingUpdate": rolling}}


def ready(lab: GroupLab, role: str = "") -> int:
    return sum(is_true(pod, "Ready") for pod in lab.pods(role).values())


def service(lab: GroupLab) -> Object:
    found = next(s for s in lab.all(SERVICE) if name_of(s) == "s-x-engine")
    selector: Object = found["spec"]["selector"]
    return selector


async def test_convergence_rapid_successive_updates_end_on_the_last(lab: GroupLab):
    await start(lab, standalone(replicas=3))
    for number in (2, 3, 4):
        await lab.set_image(f"engine:{number}")
        await lab.run(1)
        assert len(lab.images()) > 1  # it rolls
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:4"}, 240)


async def test_convergence_a_role_is_scaled_in_the_middle_of_its_rollout(lab: GroupLab):
    await start(lab, standalone(replicas=3))
    await lab.set_image("engine:2")
    await lab.run(1)
    assert lab.images() == {"engine:1", "engine:2"}
    await lab.set_field("/spec/roles/0/replicas", 5)
    await lab.until(lambda: lab.is_done() and len(lab.pods()) == 5, 240)
    assert lab.images() == {"engine:2"}


async def test_stability_the_update_of_one_role_touches_no_other(lab: GroupLab):
    recreate = strategy(type="RecreatePod")
    await start(lab, standalone("a", 2, **recreate), standalone("b", 2))
    before = lab.uids("b"), [p["metadata"]["resourceVersion"] for p in lab.pods("b").values()]
    await lab.set_image("engine:2", 0)
    await lab.until(lambda: lab.is_done() and lab.images("a") == {"engine:2"}, 240)
    after = lab.uids("b"), [p["metadata"]["resourceVersion"] for p in lab.pods("b").values()]
    assert after == before


async def test_ris_a_surge_keeps_all_instances_ready(lab: GroupLab):
    role = standalone(replicas=3, **strategy(type="RecreatePod", maxSurge=1, maxUnavailable=0))
    await start(lab, role)
    await lab.set_image("engine:2")
    lowest = 3
    while not (lab.is_done() and lab.images() == {"engine:2"}):
        await lab.run(0.5)
        lowest = min(lowest, ready(lab))
        assert lab.clock.elapsed() < 600
    assert lowest == 3 and len(lab.pods()) == 3


async def test_ris_a_partition_that_is_lowered_lets_the_rollout_go_on(lab: GroupLab):
    await start(lab, standalone(replicas=4, **strategy(partition=3)))
    await lab.set_image("engine:2")
    await lab.run(60)
    assert lab.status()["roleStatuses"][0]["updatedReplicas"] == 1
    await lab.set_field("/spec/roles/0/rolloutStrategy/rollingUpdate/partition", 1)
    await lab.run(60)
    assert lab.status()["roleStatuses"][0]["updatedReplicas"] == 3
    await lab.set_field("/spec/roles/0/rolloutStrategy/rollingUpdate/partition", 0)
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 120)


async def test_update_strategy_a_paused_rollout_waits_until_it_is_resumed(lab: GroupLab):
    await start(lab, standalone(replicas=2, **strategy(paused=True)))
    await lab.set_image("engine:2")
    await lab.run(60)
    assert lab.images() == {"engine:1"}
    await lab.set_field("/spec/roles/0/rolloutStrategy/rollingUpdate/paused", False)
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 120)


async def test_shared_service_selection_goes_there_and_back(lab: GroupLab):
    await start(lab, leader_worker())
    assert service(lab)[labels.COMPONENT_NAME] == "leader"
    path = "/spec/roles/0/leaderWorkerPattern/sharedServiceSelection"
    await lab.set_field(path, "All")
    await lab.until(lambda: labels.COMPONENT_NAME not in service(lab) and lab.is_done(), 240)
    await lab.set_field(path, "LeaderOnly")
    await lab.until(lambda: service(lab).get(labels.COMPONENT_NAME) == "leader", 240)


@pytest.mark.parametrize(
    ("policy", "restarts"),
    [
        ({"restartPolicy": "None"}, False),
        ({"restartPolicyConfig": {"type": "None"}}, False),
        ({"restartPolicy": "RecreateRoleInstanceOnPodRestart"}, True),
        (
            {
                "restartPolicy": "RecreateRoleInstanceOnPodRestart",
                "restartPolicyConfig": {"type": "None"},
            },
            False,
        ),
    ],
    ids=["none", "config-none", "former-field", "config-wins"],
)
async def test_restart_policy_fields(lab: GroupLab, policy: Object, restarts: bool):
    role = leader_worker(replicas=1)
    role["leaderWorkerPattern"] |= policy
    await start(lab, role)
    before = lab.uids()
    await lab.fail_pod("x-engine-0-1")
    await lab.until(
        lambda: lab.uids().get("x-engine-0-1") not in (None, before["x-engine-0-1"]), 240
    )
    await lab.until(lab.is_done, 240)
    assert (lab.uids()["x-engine-0-0"] != before["x-engine-0-0"]) is restarts


async def test_revision_a_set_that_another_client_edits_is_put_back(lab: GroupLab):
    await start(lab, standalone(replicas=2))
    before = lab.uids()
    edit = {"op": "replace", "path": "/spec/replicas", "value": 1}
    await lab.edit("x-router", edit, kind=labels.INSTANCE_SET)
    await lab.until(lambda: lab.all(labels.INSTANCE_SET)[0]["spec"]["replicas"] == 2)
    await lab.until(lab.is_done)
    assert lab.uids() == before


async def test_webhook_validation_a_name_with_a_dot_is_refused(lab: GroupLab):
    made = group(standalone())
    made["metadata"]["name"] = "a.b"
    with pytest.raises(ClusterError, match=r"metadata\.name"):
        await lab.apply(made)
    assert not lab.all(KIND)


async def test_revision_a_template_that_another_client_edits_is_put_back(lab: GroupLab):
    await start(lab, standalone(replicas=2))
    before = lab.uids()
    path = "/spec/roleInstanceTemplate/components/0/template/spec/containers/0/image"
    edit = {"op": "replace", "path": path, "value": "engine:9"}
    await lab.edit("x-router", edit, kind=labels.INSTANCE_SET)
    await lab.run(30)
    (held,) = lab.all(labels.INSTANCE_SET)
    (made,) = held["spec"]["roleInstanceTemplate"]["components"]
    assert made["template"]["spec"]["containers"][0]["image"] == "engine:1"
    assert lab.is_done()
    assert (lab.uids(), lab.images()) == (before, {"engine:1"})


async def test_revision_an_edit_of_a_set_that_means_the_same_is_left_alone(lab: GroupLab):
    """Another client writes an amount in another way."""
    spec = template()["spec"]
    spec["containers"][0]["resources"] = {"requests": {"memory": "1024Mi"}}
    await start(lab, standalone(replicas=2, standalonePattern={"template": {"spec": spec}}))
    before, stored = lab.uids(), len(lab.all(CONTROLLER_REVISION))
    tried = lab.cluster.tried.copy()
    path = "/spec/roleInstanceTemplate/components/0/template/spec/containers/0/resources"
    edit = {"op": "replace", "path": path, "value": {"requests": {"memory": "1Gi"}}}
    await lab.edit("x-router", edit, kind=labels.INSTANCE_SET)
    await lab.run(30)
    assert lab.cluster.tried == tried
    assert lab.is_done()
    assert (lab.uids(), len(lab.all(CONTROLLER_REVISION))) == (before, stored)


async def test_rbg_roles_of_one_replica_are_updated_though_a_skew_bounds_them(lab: GroupLab):
    """E2E rbg: coordinated update with single replicas."""
    rule = {"name": "pd", "roles": ["a", "b"], "strategy": {"rollingUpdate": {"maxSkew": "10%"}}}
    head = {"apiVersion": labels.POLICY.api_version, "kind": labels.POLICY.name}
    await lab.apply({**head, "metadata": {"name": "x"}, "spec": {"policies": [rule]}})
    await start(lab, standalone("a", 1), standalone("b", 1))
    for index in (0, 1):
        await lab.set_image("engine:2", index)
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 120)


async def test_ris_surge_and_budget_together_keep_the_least_number_ready(lab: GroupLab):
    role = standalone(replicas=4, **strategy(type="RecreatePod", maxSurge=1, maxUnavailable=1))
    await start(lab, role)
    await lab.set_image("engine:2")
    lowest, most = 4, 0
    while not (lab.is_done() and lab.images() == {"engine:2"}):
        await lab.run(0.5)
        lowest, most = min(lowest, ready(lab)), max(most, len(lab.all(labels.INSTANCE)))
        assert lab.clock.elapsed() < 600
    assert (lowest, most) == (3, 5) and len(lab.pods()) == 4


async def test_ris_a_large_surge_makes_no_more_than_are_needed(lab: GroupLab):
    role = standalone(replicas=2, **strategy(type="RecreatePod", maxSurge=10, maxUnavailable=0))
    await start(lab, role)
    await lab.set_image("engine:2")
    most = 0
    while not (lab.is_done() and lab.images() == {"engine:2"}):
        await lab.run(0.5)
        most = max(most, len(lab.all(labels.INSTANCE)))
        assert ready(lab) >= 2
        assert lab.clock.elapsed() < 600
    assert most <= 4 and len(lab.pods()) == 2


async def test_coordinated_policy_a_partition_goes_from_two_to_none(lab: GroupLab):
    rule = {"name": "pd", "roles": ["a", "b"], "strategy": {"rollingUpdate": {"partition": 2}}}
    head = {"apiVersion": labels.POLICY.api_version, "kind": labels.POLICY.name}
    await lab.apply({**head, "metadata": {"name": "x"}, "spec": {"policies": [rule]}})
    await start(lab, standalone("a", 4), standalone("b", 4))
    for index in (0, 1):
        await lab.set_image("engine:2", index)
    await lab.run(120)
    for role in ("a", "b"):
        images = {n: p["spec"]["containers"][0]["image"] for n, p in lab.pods(role).items()}
        assert [images[f"x-{role}-{i}"][-1] for i in range(4)] == ["1", "1", "2", "2"]
    path = "/spec/policies/0/strategy/rollingUpdate/partition"
    await lab.edit("x", {"op": "replace", "path": path, "value": 0}, kind=labels.POLICY)
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 240)


async def test_inactive_pod_a_second_failure_during_a_restart_counts_no_second_one(lab: GroupLab):
    await start(lab, leader_worker(replicas=1))
    before = lab.uids()
    await lab.fail_pod("x-engine-0-0")
    await lab.fail_pod("x-engine-0-1")
    await lab.until(lambda: not set(lab.uids().values()) & set(before.values()), 240)
    await lab.until(lambda: len(lab.pods()) == 2 and lab.is_done(), 240)
    (instance,) = lab.all(labels.INSTANCE)
    assert instance["status"]["restartCount"] == 1


async def test_restart_policy_stability_an_update_does_not_wait_for_a_back_off(lab: GroupLab):
    role = leader_worker(replicas=1)
    policy = {"type": "RecreateRoleInstanceOnPodRestart", "baseDelaySeconds": 3000}
    role["leaderWorkerPattern"]["restartPolicyConfig"] = {**policy, "maxDelaySeconds": 3000}
    await start(lab, role)
    for wait in (False, True):
        before = lab.uids()
        await lab.fail_pod("x-engine-0-1")
        if wait:
            await lab.run(60)
            assert lab.uids() == before
        else:
            await lab.until(lambda: not set(lab.uids().values()) & set(before.values()), 240)  # noqa: B023
            await lab.until(lambda: len(lab.pods()) == 2 and lab.is_done(), 240)
    await lab.set_image("engine:2", 0, "leaderWorkerPattern")
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 240)
