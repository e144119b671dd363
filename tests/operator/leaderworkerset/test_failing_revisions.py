"""A revision that does not last holds its own rollout, and is made anew ever more slowly."""

import pytest
from crash_lab import (
    NOTES,
    Watch,
    crash_once,
    find_blockers,
    open_set,
    own_events,
    plain_writes,
    roll_crashing,
    roll_good,
)
from operator_lab import Lab, set_image

from kohort.cluster import kinds

PODS = {"kohort.dev/carrier": "pods"}
COMPATIBLE = {"kohort.dev/rollout-strategy": "compatible"}
CARRIERS = pytest.mark.parametrize("annotations", [{}, PODS], ids=["statefulsets", "pods"])
# At once, then after 10, 20, 40, 80, 160 and 300 seconds: 610 seconds, and the starts besides.
RESTARTS_MAX = 7
PARTITION = "/spec/rolloutStrategy/rollingUpdateConfiguration/partition"


@CARRIERS
async def test_old_groups_serve_within_the_budget_while_the_new_ones_crash(lab: Lab, annotations):
    watch = await open_set(lab, annotations=annotations)
    events = own_events(lab)
    await roll_crashing(lab)
    await lab.run(600)
    assert watch.fewest >= 3
    assert watch.images()["engine:1"] == 3
    restarts = watch.restarts("engine:2")
    assert max(restarts.values()) <= RESTARTS_MAX
    assert len(restarts) == 2 and min(restarts.values()) >= 4, "nobody was made anew"
    assert own_events(lab) - events <= 60


@CARRIERS
async def test_the_hold_names_the_group_the_container_and_how_it_ended(lab: Lab, annotations):
    await open_set(lab, annotations=annotations)
    await roll_crashing(lab)
    await lab.run(60)
    found = find_blockers(lab)
    assert "container engine of pod x-" in found["HoldingOnRestarts"]
    assert "exited with code 3" in found["HoldingOnRestarts"]
    assert "is made anew at 00:0" in found["BackingOff"]


@CARRIERS
async def test_nothing_is_written_while_a_failed_group_waits(lab: Lab, annotations):
    await open_set(lab, annotations=annotations)
    await roll_crashing(lab)
    # The sixth wait takes 160 seconds.
    await lab.until(lambda: "failed 6 times" in find_blockers(lab).get("BackingOff", ""))
    await lab.run(30)
    lab.cluster.tried.clear()
    await lab.run(60)
    assert {what for what in lab.cluster.tried if what[1] != "LeaderWorkerSet/status"} == set()


@CARRIERS
async def test_a_restart_of_the_operator_forgets_no_wait(lab: Lab, annotations):
    watch = await open_set(lab, annotations=annotations)
    await roll_crashing(lab)
    for _ in range(20):
        await lab.run(30)
        await lab.stop_operator()
        lab.start_operator()
    assert watch.fewest >= 3
    assert max(watch.restarts("engine:2").values()) <= RESTARTS_MAX


@pytest.mark.slow
@CARRIERS
async def test_a_crash_between_two_writes_makes_no_group_anew_too_often(annotations):
    for writes in (1, 2, 3, 4, *range(6, 26, 3)):
        lab = await Lab().open()
        watch = await open_set(lab, annotations=annotations)
        lab.cluster.left = writes
        await roll_crashing(lab)
        await lab.run(15)
        if not lab.cluster.is_dead:
            assert writes > 15, "too little was written"
            break
        await lab.stop_operator()
        lab.start_operator()
        await lab.run(45)
        assert watch.fewest >= 3, writes
        assert max(watch.restarts("engine:2").values()) <= 4, writes
        await lab.close()


@CARRIERS
async def test_a_new_target_ends_the_hold_and_the_waits(lab: Lab, annotations):
    watch = await open_set(lab, annotations=annotations)
    await roll_crashing(lab)
    await lab.run(200)
    await roll_good(lab)
    await lab.until(lab.is_available, seconds=60)
    assert watch.images() == {"engine:3": 4}
    assert watch.fewest >= 3


@CARRIERS
async def test_going_back_ends_the_hold_and_the_waits(lab: Lab, annotations):
    watch = await open_set(lab, annotations=annotations)
    await roll_crashing(lab)
    await lab.run(200)
    await roll_good(lab, "engine:1")
    await lab.until(lab.is_available, seconds=60)
    assert watch.images() == {"engine:1": 4}
    assert watch.fewest >= 3
    assert find_blockers(lab) == {}


async def time_rollout(lab: Lab, watch: Watch, image: str) -> float:
    begun = lab.clock.elapsed()
    await lab.until(lambda: lab.is_available() and watch.images() == {image: 4})
    return lab.clock.elapsed() - begun


@CARRIERS
async def test_a_healthy_rollout_waits_once_for_its_first_group_and_never_again(annotations):
    seconds = {}
    for strategy in ("budgeted", "compatible"):
        lab = await Lab().open()
        notes = {**annotations, "kohort.dev/rollout-strategy": strategy}
        watch = await open_set(lab, annotations=notes)
        await lab.edit("x", set_image("engine:2"))
        seconds[strategy] = await time_rollout(lab, watch, "engine:2")
        await lab.close()
    assert seconds["budgeted"] <= seconds["compatible"] + 4


@CARRIERS
async def test_one_accident_costs_a_rollout_about_ten_seconds(annotations):
    seconds = {}
    for is_accident in (False, True):
        lab = await Lab().open()
        watch = await open_set(lab, annotations=annotations)
        await lab.edit("x", set_image("engine:2"))
        await lab.until(lambda watch=watch: watch.images()["engine:2"] >= 3)
        if is_accident:
            await crash_once(lab, "x-4-1")
        seconds[is_accident] = await time_rollout(lab, watch, "engine:2")
        await lab.close()
    assert 5 <= seconds[True] - seconds[False] <= 20


async def test_compatible_holds_too(lab: Lab):
    watch = await open_set(lab, annotations=COMPATIBLE)
    await roll_crashing(lab)
    await lab.run(600)
    assert watch.images()["engine:1"] >= 1
    assert max(watch.restarts("engine:2").values()) <= RESTARTS_MAX
    assert "HoldingOnRestarts" in find_blockers(lab)


@CARRIERS
async def test_where_groups_are_not_recreated_a_revision_that_crashes_holds_too(lab, annotations):
    watch = await open_set(lab, annotations=annotations, template={"restartPolicy": "None"})
    await roll_crashing(lab)
    await lab.run(600)
    assert watch.fewest >= 3
    assert watch.images()["engine:1"] == 3
    assert set(watch.restarts("engine:2").values()) == {0}
    assert "exited with code 3" in find_blockers(lab)["HoldingOnRestarts"]


@CARRIERS
async def test_a_failure_after_ten_quiet_minutes_is_the_first_again(lab: Lab, annotations):
    watch = await open_set(lab, annotations=annotations)
    for crashes in range(1, 4):
        await crash_once(lab, "x-1-1")
        await lab.until(lambda n=crashes: len([o for o, _ in watch.made if o == 1]) == n, 5)
        await lab.until(lab.is_available)
        await lab.run(620)


@CARRIERS
async def test_a_group_that_fails_again_waits_and_one_that_is_deleted_does_not(lab, annotations):
    watch = await open_set(lab, annotations=annotations)

    def made() -> int:
        return len([ordinal for ordinal, _ in watch.made if ordinal == 1])

    await crash_once(lab, "x-1-1")
    await lab.until(lambda: made() == 1, 5)
    await lab.until(lab.is_available)
    await crash_once(lab, "x-1-1")
    await lab.run(8)
    assert made() == 1 and "BackingOff" in find_blockers(lab)
    await lab.run(8)
    assert made() == 2
    await lab.until(lab.is_available)
    for count in (3, 4):
        await lab.delete(kinds.POD, "x-1-1")
        await lab.until(lambda n=count: made() == n, 5)
        await lab.until(lab.is_available)


@CARRIERS
async def test_a_template_that_comes_back_brings_no_failures_of_long_ago(lab: Lab, annotations):
    """A partition keeps the group that crashes where it is, so that only its record can change."""
    watch = await open_set(lab, annotations=annotations)
    await crash_once(lab, "x-3-1")
    await lab.until(lambda: len(watch.made) == 1 and lab.is_available())
    await roll_crashing(lab)
    await lab.until(lambda: "failed 5 times" in find_blockers(lab).get("BackingOff", ""))
    before = watch.restarts("engine:2")[3]
    partition = {"op": "add", "path": PARTITION, "value": 4}
    await lab.edit("x", set_image("engine:1"), {"op": "remove", "path": NOTES}, partition)
    await lab.run(60)
    assert watch.restarts("engine:2")[3] == before, "it waits for 80 seconds"
    assert "failed 5 times" in find_blockers(lab)["BackingOff"]


async def test_at_rest_after_failures_nothing_is_written(lab: Lab):
    await open_set(lab)
    await crash_once(lab, "x-1-1")
    await lab.run(60)
    assert lab.is_available()
    before = plain_writes(lab)
    await lab.run(1200)
    assert plain_writes(lab) == before


@CARRIERS
async def test_groups_are_counted_on_after_the_time_that_was_asked_for(lab: Lab, annotations):
    notes = {**annotations, "kohort.dev/min-ready-seconds": "30"}
    watch = await open_set(lab, annotations=notes)
    await lab.run(40)
    await lab.edit("x", set_image("engine:2"))
    begun = lab.clock.elapsed()
    await lab.until(lambda: watch.images()["engine:2"] >= 3)
    assert lab.clock.elapsed() - begun >= 30
    await time_rollout(lab, watch, "engine:2")
    assert lab.clock.elapsed() - begun >= 60
    assert watch.fewest >= 3


@CARRIERS
async def test_a_set_that_has_just_started_is_not_taken_down_whole(lab: Lab, annotations):
    notes = {**annotations, "kohort.dev/min-ready-seconds": "60"}
    watch = await open_set(lab, annotations=notes)
    await lab.edit("x", set_image("engine:2"))
    await lab.run(30)
    assert watch.fewest == 4
    await time_rollout(lab, watch, "engine:2")
    assert watch.fewest >= 3
