"""The metrics of LeaderWorkerSets: units, starts, rollouts and recoveries."""

from lab_metrics import LabMetrics
from operator_lab import LWS, Lab, make_lws, set_image

from kohort.cluster import kinds
from kohort.cluster.objects import Object

RECREATE = {"restartPolicy": "RecreateGroupOnPodRestart"}
NAME = {"kind": "LeaderWorkerSet", "namespace": "default", "name": "x"}
KIND = {"kind": "LeaderWorkerSet", "namespace": "default"}


def note(key: str, value: str) -> Object:
    path = f"/metadata/annotations/sim.kohort.dev~1{key}"
    return {"op": "add", "path": path, "value": value}


async def bring_up(lab: Lab) -> LabMetrics:
    metrics = LabMetrics(lab)
    await lab.apply(make_lws(groups=2, size=3, template=RECREATE))
    await lab.until(lab.is_available)
    await lab.run(5)
    return metrics


async def test_groups_and_members_are_counted_against_what_was_asked_for(lab: Lab):
    metrics = await bring_up(lab)
    for level, number in (("group", 2), ("member", 6)):
        assert metrics.sum("kohort_units", **NAME, level=level, phase="ready") == number
        assert metrics.sum("kohort_units_desired", **NAME, level=level) == number
    assert 'level="instance"' not in metrics.text


async def test_each_start_of_a_pod_is_measured_once_by_its_phases(lab: Lab):
    metrics = await bring_up(lab)
    for phase in ("schedule", "pull", "load", "ready"):
        assert metrics.sum("kohort_start_seconds_count", **KIND, phase=phase) == 6
    parts = [
        metrics.sum("kohort_start_seconds_sum", **KIND, phase=phase)
        for phase in ("schedule", "pull", "load")
    ]
    assert metrics.sum("kohort_start_seconds_sum", **KIND, phase="ready") == sum(parts) > 0
    await lab.run(600)
    assert metrics.sum("kohort_start_seconds_count", **KIND, phase="ready") == 6


async def test_starts_before_the_process_began_are_not_measured(lab: Lab):
    await bring_up(lab)
    await lab.stop_operator()
    lab.start_operator()
    metrics = LabMetrics(lab)
    await lab.run(60)
    assert metrics.sum("kohort_units", **NAME, level="member", phase="ready") == 6
    assert metrics.sum("kohort_start_seconds_count") == -1
    await lab.delete(kinds.POD, "x-1-2")
    await lab.run(60)
    assert metrics.sum("kohort_start_seconds_count", phase="ready") == 3


async def test_a_rollout_is_shown_while_it_runs_and_measured_when_it_has_ended(lab: Lab):
    metrics = await bring_up(lab)
    assert metrics.sum("kohort_rollout_progress_ratio", **NAME) == 1
    assert metrics.sum("kohort_rollout_duration_seconds_count", **KIND) == -1
    await lab.edit("x", set_image("engine:2"))
    begun = lab.clock.elapsed()
    await lab.until(lambda: metrics.sum("kohort_rollout_progress_ratio", **NAME) == 0)
    await lab.until(lambda: metrics.sum("kohort_rollout_progress_ratio", **NAME) == 0.5)
    await lab.until(lab.is_available)
    took = lab.clock.elapsed() - begun
    assert metrics.sum("kohort_rollout_progress_ratio", **NAME) == 1
    assert metrics.sum("kohort_rollout_duration_seconds_count", **KIND) == 1
    assert took - 2 <= metrics.sum("kohort_rollout_duration_seconds_sum", **KIND) <= took


async def test_a_rollout_that_ran_before_the_process_is_not_measured(lab: Lab):
    metrics = await bring_up(lab)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lambda: metrics.sum("kohort_rollout_progress_ratio", **NAME) == 0)
    await lab.stop_operator()
    lab.start_operator()
    metrics = LabMetrics(lab)
    await lab.until(lambda: metrics.sum("kohort_rollout_progress_ratio", **NAME) == 0.5)
    await lab.until(lab.is_available)
    assert metrics.sum("kohort_rollout_duration_seconds_count", **KIND) == -1


async def test_a_crash_is_one_recovery_of_its_group(lab: Lab):
    metrics = await bring_up(lab)
    assert metrics.sum("kohort_recoveries_total", **NAME) == -1
    await lab.edit("x-1-2", note("crash-times", "1"), kind=kinds.POD)
    await lab.edit("x-1-2", note("crash-after", "1s"), kind=kinds.POD)
    await lab.run(60)
    assert lab.is_available()
    assert metrics.sum("kohort_recoveries_total", **NAME) == 1
    assert metrics.sum("kohort_recoveries_total", **NAME, level="group", cause="crashed") == 1
    assert metrics.sum("kohort_recovery_seconds_count", **KIND, level="group") == 1
    assert 0 < metrics.sum("kohort_recovery_seconds_sum", **KIND) < 60


async def test_a_deleted_pod_is_a_lost_one_and_a_rollout_no_recovery(lab: Lab):
    metrics = await bring_up(lab)
    await lab.delete(kinds.POD, "x-0-1")
    await lab.run(60)
    assert metrics.sum("kohort_recoveries_total", **NAME, level="group", cause="lost") == 1
    await lab.edit("x", set_image("engine:2"))
    await lab.run(120)
    assert lab.is_available()
    assert metrics.sum("kohort_recoveries_total", **NAME) == 1


async def test_the_recoveries_of_a_deleted_set_are_forgotten(lab: Lab):
    metrics = await bring_up(lab)
    await lab.delete(kinds.POD, "x-0-1")
    await lab.run(60)
    await lab.delete(LWS, "x")
    await lab.until(lambda: lab.find(LWS, "x") is None)
    await lab.run(5)
    assert 'name="x"' not in metrics.text
