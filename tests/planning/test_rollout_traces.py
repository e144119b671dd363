"""
Traces of rollouts: what LeaderWorkerSet's own suite expects step by step.

A trace is played against the compatible strategy alone: after each event the
strategy is asked until it stands still, as the controller would.
"""

from dataclasses import dataclass, field

import pytest

from kohort.model.observed import Progress
from kohort.model.policies import RolloutPolicy
from kohort.model.units import Phase, Unit
from kohort.planning.rollout.compatible import plan_compatible


@dataclass
class RolloutState:
    """The state of a rollout, as the upstream suite fakes it."""

    policy: RolloutPolicy
    progress: Progress
    new: set[int] = field(default_factory=set)  # ready on the new revision
    broken: set[int] = field(default_factory=set)  # old and not ready

    def units(self) -> list[Unit]:
        def make(i: int) -> Unit:
            if i in self.new:
                return Unit(i, "new", Phase.READY)
            if i >= self.progress.boundary and self.progress.target == "new":
                return Unit(i, "new", Phase.STARTING)
            phase = Phase.STARTING if i in self.broken else Phase.READY
            return Unit(i, "old", phase)

        return [make(i) for i in range(self.progress.count)]

    def step(self) -> tuple[int, int]:
        step = plan_compatible(self.units(), self.progress, "new", self.policy)
        self.progress = Progress(step.boundary, step.count, self.policy.wanted, "new")
        return step.boundary, step.count


def start(wanted: int, unavailable: int = 1, surge: int = 0, **more) -> RolloutState:
    partition = more.get("partition", 0)
    policy = RolloutPolicy(wanted, partition, unavailable, surge)
    return RolloutState(policy, Progress(partition, wanted, wanted, "old"))


@pytest.mark.parametrize(
    ("stage", "trace"),
    [
        (start(4), [(4, 4), (3, 4), 3, (2, 4), 2, (1, 4), 1, (0, 4), 0, (0, 4)]),
        (start(4, 2), [(4, 4), (2, 4), 3, (1, 4), 2, (0, 4)]),
        (start(4, 10), [(4, 4), (0, 4)]),
        (
            start(4, 0, 1),
            [(4, 5), 4, (3, 5), 3, (2, 5), 2, (1, 5), 1, (0, 5), 0, (0, 4)],
        ),
        (start(4, 1, 1), [(4, 5), (3, 5), 4, (2, 5), 3, (1, 5), 2, (0, 5), 1, (0, 4)]),
        (start(2, 1, 2), [(2, 3), (1, 3)]),
        (start(6, partition=4), [(6, 6), (5, 6), 5, (4, 6), 4, (4, 6)]),
        (start(3, 1, 1, partition=2), [(3, 4), (2, 4), 3, (2, 4), 2, (2, 4)]),
    ],
    ids=["default", "two", "ten", "surge only", "one and one", "clamped", "partition", "both"],
)
def test_a_rollout_takes_upstreams_steps(stage: RolloutState, trace: list):
    for entry in trace:
        if isinstance(entry, int):
            stage.new.add(entry)
        else:
            assert stage.step() == entry


def test_the_nine_stages_of_the_guide_hold_where_the_rule_is_still_the_same():
    """Upstream's guide, with four groups, two down, two extra; stages 7 and 8 as of lws#778."""
    stage = start(4, 2, 2)
    assert stage.step() == (4, 6)  # stage 2
    assert stage.step() == (2, 6)  # stage 3
    stage.new.add(4)
    assert stage.step() == (2, 6)  # stage 4: the last group is not ready
    stage.new.add(5)
    assert stage.step() == (0, 6)  # stage 5
    stage.new.add(3)
    assert stage.step() == (0, 6)  # stage 6
    stage.new.add(1)
    assert stage.step() == (0, 4)  # stages 7 and 8 in one
    stage.new.update({0, 2})
    assert stage.step() == (0, 4)  # stage 9


def test_replicas_edited_in_the_middle_hold_the_partition_first():
    stage = start(4)
    stage.step()
    stage.step()
    stage.new.add(3)
    assert stage.step() == (2, 4)
    stage.policy = RolloutPolicy(6)
    stage.progress = Progress(2, 4, 4, "new")
    assert stage.step() == (2, 6)
    stage.new.update(range(6))
    assert stage.step() == (0, 6)


def test_an_unhealthy_group_below_the_window_is_paid_for():
    stage = start(4, 2)
    stage.broken.add(1)
    assert stage.step() == (4, 4)
    assert stage.step() == (3, 4)
