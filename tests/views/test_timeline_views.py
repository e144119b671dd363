"""The band and the marks of a time line, and the role that a ready workload waits for."""

from dataclasses import replace
from datetime import timedelta

from scenes import NOW, Scene, bad_image, make_lws

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.model.plans import LineReport
from kohort.model.policies import RolloutPolicy
from kohort.model.workload import Role
from kohort.views.health import describe_lag
from kohort.views.picture import Picture, take_picture
from kohort.views.timeline import Level, find_mark, measure_levels


def make_rolling(**rolling: int) -> Scene:
    lws = make_lws()
    lws["spec"]["rolloutStrategy"] = {
        "type": "RollingUpdate",
        "rollingUpdateConfiguration": rolling,
    }
    return Scene(lws=lws)


def test_the_band_goes_from_what_may_be_missing_to_what_may_be_extra():
    picture = make_rolling(maxUnavailable=1, maxSurge=2).picture()
    assert measure_levels(picture) == {"": Level(NOW, ready=4, wanted=4, least=3, most=6)}


def test_a_mark_stays_at_the_moment_from_which_help_was_needed():
    scene = Scene((1, 1, 1, 2), boundary=3, waiting={"llama-3-2": bad_image()})
    first = find_mark(scene.picture())
    later = find_mark(take_picture(LEADER_WORKER_SET, scene.sample(), NOW + timedelta(minutes=1)))
    assert first is not None
    assert first.at < NOW
    assert later == first


def test_a_workload_that_needs_no_help_has_no_mark():
    assert find_mark(Scene().picture()) is None


def give_role(picture: Picture, updated: int) -> Picture:
    """The picture as if the workload had a role with a rollout of its own."""
    assert picture.reading is not None
    assert picture.plan is not None
    role = Role(name="decode", rollout=RolloutPolicy(4))
    count = LineReport(wanted=4, exist=4, ready=4, updated=updated, updated_ready=updated)
    workload = replace(picture.reading.workload, roles=(role,))
    report = replace(picture.plan.report, roles={"decode": count})
    return replace(
        picture,
        reading=replace(picture.reading, workload=workload),
        plan=replace(picture.plan, report=report),
    )


def test_a_role_whose_instances_wait_for_the_new_revision_is_named():
    lag = describe_lag(give_role(Scene().picture(), updated=1))
    assert lag == "role decode: 3 of 4 instances wait for the new revision"
    assert describe_lag(give_role(Scene().picture(), updated=4)) == ""
