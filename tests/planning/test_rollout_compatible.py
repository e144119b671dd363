"""The compatible strategy gives upstream's values, recorded and traced."""

import json
from pathlib import Path

import pytest
from planning_builders import progress, units

from kohort.model.policies import RolloutPolicy
from kohort.planning.rollout.compatible import plan_compatible
from kohort.planning.rollout.units import count_while_rolling

VECTORS = json.loads((Path(__file__).parent / "rolling_update_vectors.json").read_text())["vectors"]


@pytest.mark.parametrize("vector", VECTORS, ids=range(len(VECTORS)))
def test_a_recorded_state_gives_the_recorded_step(vector):
    policy = RolloutPolicy(
        vector["replicas"],
        max_unavailable=vector["maxUnavailable"],
        max_surge=vector["maxSurge"],
    )
    groups = units(vector["groups_ready_updated"])
    seen = progress(vector["sts_partition"], vector["sts_replicas"], noted=policy.wanted)
    step = plan_compatible(groups, seen, "new", policy)
    assert (step.boundary, step.count) == (vector["expect_partition"], vector["expect_replicas"])


@pytest.mark.parametrize(
    ("wanted", "surge", "unavailable", "unready", "count"),
    [
        (1, 1, 0, 1, 2),
        (4, 2, 1, 2, 5),
        (2, 2, 1, 2, 3),
        (1, 1, 0, 0, 1),
        (1, 1, 1, 1, 1),
        (3, 0, 0, 1, 3),
    ],
)
def test_surge_is_given_back_as_upstream_does(wanted, surge, unavailable, unready, count):
    policy = RolloutPolicy(wanted, max_unavailable=unavailable, max_surge=surge)
    assert count_while_rolling(policy, unready) == count
