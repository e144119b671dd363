"""The metrics of RoleBasedGroups: instances by role, starts, rollouts and recoveries."""

from group_lab import GroupLab, leader_worker, standalone, start
from lab_metrics import LabMetrics

NAME = {"kind": "RoleBasedGroup", "namespace": "default", "name": "x"}
KIND = {"kind": "RoleBasedGroup", "namespace": "default"}


async def test_instances_are_counted_by_role_and_members_in_all(lab: GroupLab):
    metrics = LabMetrics(lab)
    await start(lab, standalone(), leader_worker())
    for role in ("router", "engine"):
        asked = {**NAME, "level": "instance", "role": role}
        assert metrics.sum("kohort_units", **asked, phase="ready") == 2
        assert metrics.sum("kohort_units_desired", **asked) == 2
    assert metrics.sum("kohort_units", **NAME, level="member", phase="ready") == 6
    assert metrics.sum("kohort_units_desired", **NAME, level="member") == 6
    assert metrics.sum("kohort_start_seconds_count", **KIND, phase="ready") == 6


async def test_a_failed_pod_is_one_recovery_of_its_instance(lab: GroupLab):
    metrics = LabMetrics(lab)
    await start(lab, leader_worker())
    await lab.fail_pod("x-engine-0-1")
    await lab.until(lambda: not lab.is_ready())
    await lab.until(lab.is_done, 120)
    asked = {**NAME, "level": "instance", "cause": "crashed"}
    assert metrics.sum("kohort_recoveries_total", **asked) == 1
    assert metrics.sum("kohort_recoveries_total", **NAME) == 1
    assert metrics.sum("kohort_recovery_seconds_count", **KIND, level="instance") == 1


async def test_a_pod_that_is_replaced_alone_is_a_recovery_of_a_member(lab: GroupLab):
    metrics = LabMetrics(lab)
    await start(lab, standalone())
    await lab.fail_pod("x-router-1")
    await lab.until(lambda: not lab.is_ready())
    await lab.until(lab.is_done, 120)
    assert metrics.sum("kohort_recoveries_total", **NAME) == 1
    assert metrics.sum("kohort_recovery_seconds_count", **KIND) == 1


async def test_a_rollout_of_roles_is_measured(lab: GroupLab):
    metrics = LabMetrics(lab)
    await start(lab, leader_worker())
    await lab.set_image("engine:2", pattern="leaderWorkerPattern")
    await lab.until(lambda: metrics.sum("kohort_rollout_progress_ratio", **NAME) == 0.5)
    await lab.until(lab.is_done, 120)
    assert metrics.sum("kohort_rollout_progress_ratio", **NAME) == 1
    assert metrics.sum("kohort_rollout_duration_seconds_count", **KIND) == 1
