"""The metrics of ModelServings: instances by role, starts, rollouts and recoveries."""

from lab_metrics import LabMetrics
from serving_lab import ServingLab, start

from kohort.cluster import kinds

NAME = {"kind": "ModelServing", "namespace": "default", "name": "x"}
KIND = {"kind": "ModelServing", "namespace": "default"}


async def test_instances_are_counted_by_role(lab: ServingLab):
    metrics = LabMetrics(lab)
    await start(lab)
    for role in ("decode", "prefill"):
        asked = {**NAME, "level": "instance", "role": role}
        assert metrics.sum("kohort_units", **asked, phase="ready") == 2
        assert metrics.sum("kohort_units_desired", **asked) == 2
    assert metrics.sum("kohort_units_desired", **NAME, level="group") == 2
    assert metrics.sum("kohort_units_desired", **NAME, level="member") == 8
    assert metrics.sum("kohort_start_seconds_count", **KIND, phase="ready") == 8


async def test_a_recovery_of_an_instance_and_one_of_a_group_are_told_apart(lab: ServingLab):
    metrics = LabMetrics(lab)
    await start(lab)
    await lab.delete(kinds.POD, "x-0-decode-0-1")
    await lab.run(60)
    assert metrics.sum("kohort_recoveries_total", **NAME, level="instance", cause="lost") == 1
    await lab.set_field("/spec/recoveryPolicy", "ServingGroupRecreate")
    await lab.run(30)
    await lab.delete(kinds.POD, "x-0-decode-0-1")
    await lab.run(60)
    assert metrics.sum("kohort_recoveries_total", **NAME, level="group", cause="lost") == 1
    assert metrics.sum("kohort_recovery_seconds_count", **KIND) == 2


async def test_a_rollout_is_measured(lab: ServingLab):
    metrics = LabMetrics(lab)
    await start(lab)
    await lab.set_image("engine:2")
    await lab.until(lambda: 0 <= metrics.sum("kohort_rollout_progress_ratio", **NAME) < 1)
    await lab.until(lab.is_done)
    assert metrics.sum("kohort_rollout_progress_ratio", **NAME) == 1
    assert metrics.sum("kohort_rollout_duration_seconds_count", **KIND) == 1
