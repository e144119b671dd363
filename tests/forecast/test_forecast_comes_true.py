"""On the embedded cluster without faults, what was foretold is what then happens, step for step."""

import pytest
from embedded_runs import Run, run_edit
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kohort.cluster.objects import Object
from kohort.forecast.values import Ending
from kohort.simulation.known import find_simulated
from kohort.simulation.modelserving.labels import (
    GROUP_RECREATE,
    GROUP_ROLLING,
    ROLE_RECREATE,
    ROLE_ROLLING,
)
from kohort.simulation.scenario import (
    BUDGETED,
    COMPATIBLE,
    LEADER_FIRST,
    PODS,
    STATEFULSETS,
    TOGETHER,
    Scenario,
    make_template,
)
from kohort.simulation.simulated_api import Template

IMAGE = "engine:2"
NEW_IMAGE: Object = {"leaderWorkerTemplate": {"workerTemplate": make_template(IMAGE)}}
IN_PLACE_TYPES = ("RecreatePod", "InPlaceIfPossible")


def expect_true(run: Run) -> None:
    """What happened is what was foretold."""
    assert run.ending is Ending.DONE
    assert run.happened == run.foretold


@st.composite
def sets(draw: st.DrawFn) -> Scenario:
    """A LeaderWorkerSet of any small shape."""
    surge = draw(st.integers(0, 2))
    return Scenario(
        groups=draw(st.integers(1, 5)),
        size=draw(st.integers(1, 3)),
        unavailable=draw(st.integers(0 if surge else 1, 3)),
        surge=surge,
        partition=draw(st.integers(0, 2)),
        carrier=draw(st.sampled_from([STATEFULSETS, PODS])),
        startup=draw(st.sampled_from([TOGETHER, LEADER_FIRST])),
        strategy=draw(st.sampled_from([BUDGETED, COMPATIBLE])),
        min_ready=draw(st.sampled_from([0, 0, 20])),
    )


@st.composite
def set_edits(draw: st.DrawFn) -> Object:
    """Another image, another number of groups, or both."""
    found: Object = {}
    if draw(st.booleans()):
        found["replicas"] = draw(st.integers(0, 6))
    if draw(st.booleans()) or not found:
        found |= NEW_IMAGE
    return found


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(sets(), set_edits())
@example(Scenario(groups=3, unavailable=0, surge=2, partition=1), NEW_IMAGE)
@example(Scenario(groups=4, unavailable=2, carrier=PODS, startup=LEADER_FIRST), NEW_IMAGE)
def test_a_leader_worker_set_does_what_was_foretold(scenario: Scenario, edit: Object):
    expect_true(run_edit(scenario, lambda live: edit))


@st.composite
def servings(draw: st.DrawFn) -> Scenario:
    """A ModelServing whose groups roll as wholes, or whose roles roll by themselves."""
    surge, rollout = draw(st.integers(0, 2)), draw(st.sampled_from([GROUP_ROLLING, ROLE_ROLLING]))
    policies = [ROLE_RECREATE] if rollout == ROLE_ROLLING else [GROUP_RECREATE, ROLE_RECREATE]
    return Scenario(
        api="ms",
        groups=draw(st.integers(1, 3)),
        roles=draw(st.sampled_from(["a 1+0", "a 1+1, b 2+0", "a 2+1"])),
        rollout=rollout,
        restart=draw(st.sampled_from(policies)),
        unavailable=draw(st.integers(0 if surge else 1, 2)),
        surge=surge,
        partition=draw(st.integers(0, 1)),
        role_unavailable=draw(st.integers(0, 1)),
        role_partition=draw(st.integers(0, 1)),
    )


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(servings(), st.integers(0, 3))
def test_a_model_serving_does_what_was_foretold(scenario: Scenario, pick: int):
    write = find_simulated("ms").edits.write_template
    expect_true(run_edit(scenario, lambda live: write(scenario, live, Template(IMAGE, {}, pick))))


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(servings().filter(lambda scenario: scenario.rollout == GROUP_ROLLING), st.integers(0, 4))
def test_a_model_serving_is_scaled_in_the_forecast_steps(scenario: Scenario, groups: int):
    expect_true(run_edit(scenario, lambda live: {"replicas": groups}))


@st.composite
def role_groups(draw: st.DrawFn) -> Scenario:
    """A RoleBasedGroup of any small shape, with a rule over its roles or without."""
    surge = draw(st.integers(0, 1))
    return Scenario(
        api="rbg",
        roles=draw(st.sampled_from(["a 3+0", "a 2+0, b 2+1", "a 2+1, b 1&1"])),
        rollout=draw(st.sampled_from(IN_PLACE_TYPES)),
        restart=draw(st.sampled_from(["None", "RecreateRoleInstanceOnPodRestart"])),
        unavailable=draw(st.integers(0 if surge else 1, 2)),
        surge=surge,
        role_partition=draw(st.integers(0, 1)),
        rules=draw(st.sampled_from(["", "skew 1"])),
        is_ordered=draw(st.booleans()),
    )


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(role_groups(), st.integers(0, 8))
def test_a_role_based_group_does_what_was_foretold(scenario: Scenario, pick: int):
    write = find_simulated("rbg").edits.write_template
    expect_true(run_edit(scenario, lambda live: write(scenario, live, Template(IMAGE, {}, pick))))
