"""Lines whose units are made one by one keep their budget in every small state, sparse or not."""

from dataclasses import replace

import pytest
from line_search import NEW, NOW, OLD, World, group_of, instance_policy, live, search, serving

from kohort.model.policies import Amendment, RolloutPolicy, Victims
from kohort.model.units import Line, Phase
from kohort.planning.lines import LineState
from kohort.planning.step import plan_step

SHAPES = {
    "dense": (0, 1, 2),
    "sparse": (1, 4, 7),
    "one missing": (0, 2),
    "one too many": (0, 1, 2, 3),
}


def line(world: World, policy: RolloutPolicy, **more) -> LineState:
    (held,) = group_of(world, {"r": policy.wanted}).roles
    return LineState(Line(0, "r"), NEW, policy, held.instances, base=OLD, **more)


def check_budget(policy: RolloutPolicy, failures: int, victims: Victims = Victims.HIGHEST):
    most = policy.wanted + policy.surge

    def check(before: World, after: World, role: str) -> str:
        ((_, units),) = after.lines
        ((_, had),) = before.lines
        # One that is beyond the count goes, and nothing waits for it.
        beyond = [o for o, _ in live(units) if o >= most] if victims is Victims.BEYOND else []
        if len(live(units)) - len(beyond) > max(most, len(live(had))):
            return "too many units exist"
        lost = serving(had) - serving(units)
        spent = failures - after.failures
        if lost and len(serving(units)) < policy.ready_min - spent:
            return f"{sorted(lost)} taken down without the budget"
        return ""

    return check


def is_finished(policy: RolloutPolicy):
    def ask(world: World) -> bool:
        ((_, units),) = world.lines
        return len(units) == policy.wanted and all(s == (NEW, Phase.READY) for _, s in units)

    return ask


# Where ordinals are addresses, no line is sparse unless another client made it so.
CASES = [(s, v) for v in Victims for s in SHAPES if (s, v) != ("sparse", Victims.BEYOND)]


@pytest.mark.parametrize(("shape", "victims"), CASES, ids=str)
@pytest.mark.parametrize("budget", [(1, 0), (2, 0), (0, 1), (1, 1)], ids=str)
@pytest.mark.parametrize("failures", [0, 1], ids=["no failure", "one failure"])
def test_no_plan_takes_down_what_has_to_serve_and_every_rollout_ends(
    shape, budget, victims, failures
):
    policy = instance_policy(3, *budget)
    units = tuple((ordinal, (OLD, Phase.READY)) for ordinal in SHAPES[shape])

    def plan(world: World):
        return {"r": plan_step(line(world, policy, victims=victims), NOW)}

    start = World((("r", units),), failures)
    assert not search(start, plan, check_budget(policy, failures, victims), is_finished(policy))


@pytest.mark.parametrize("failures", [0, 1], ids=["no failure", "one failure"])
def test_changes_in_running_units_are_paid_for_like_replacements(failures):
    policy = instance_policy(3, 1)
    units = tuple((ordinal, (OLD, Phase.READY)) for ordinal in range(3))

    def plan(world: World):
        state = line(world, policy, amendment=Amendment.IF_POSSIBLE)
        amendable = tuple(replace(unit, may_amend=True) for unit in state.units)
        step = plan_step(replace(state, units=amendable), NOW)
        assert not step.rollout.replace
        return {"r": step}

    start = World((("r", units),), failures)
    assert not search(start, plan, check_budget(policy, failures), is_finished(policy))


def test_the_search_finds_a_budget_that_is_broken():
    policy, generous = instance_policy(3, 1), instance_policy(3, 2)
    units = tuple((ordinal, (OLD, Phase.READY)) for ordinal in range(3))

    def plan(world: World):
        return {"r": plan_step(line(world, generous), NOW)}

    assert search(World((("r", units),)), plan, check_budget(policy, 0), is_finished(policy))


class TestExamples:
    def plan(self, *units, policy=None, **more):
        start = World((("r", tuple(units)),))
        return plan_step(line(start, policy or instance_policy(4, 2), **more), NOW)

    @pytest.mark.parametrize(
        ("units", "retired"),
        [
            ("old R, old C, old R, old C", [1, 3]),
            ("old R, old R, new C, new R", [1]),
            ("old R, old R, old D, new C", []),
        ],
    )
    def test_the_golden_rollouts_of_roles(self, units, retired):
        """A rollout by role of a ModelServing: four instances, of which two may be down."""
        phases = {"R": Phase.READY, "C": Phase.STARTING, "D": Phase.LEAVING}
        states = [tuple(text.split()) for text in units.split(", ")]
        found = self.plan(*((i, (r, phases[p])) for i, (r, p) in enumerate(states)))
        assert [gone.ordinal for gone in found.retire] == retired

    def test_positions_below_the_partition_are_spared_in_a_sparse_line(self):
        """As in a ModelServing whose ordinals are [1, 3, 5, 8], with partition 2."""
        policy = instance_policy(4, 4, partition=2)
        units = [(ordinal, (OLD, Phase.READY)) for ordinal in (1, 3, 5, 8)]
        found = self.plan(*units, policy=policy)
        assert [gone.ordinal for gone in found.retire] == [5, 8]

    def test_a_protected_unit_that_is_missing_comes_back_as_it_was(self):
        policy = instance_policy(3, 1, partition=2)
        found = self.plan((0, (OLD, Phase.READY)), (2, (NEW, Phase.READY)), policy=policy)
        assert [(make.ordinal, make.revision) for make in found.make] == [(1, OLD)]

    def test_a_unit_that_is_leaving_holds_its_ordinal(self):
        units = [(0, (NEW, Phase.READY)), (1, (NEW, Phase.LEAVING))]
        found = self.plan(*units, policy=instance_policy(2, 1))
        assert found.make == () and found.retire == ()

    def test_extra_units_have_the_lowest_ordinals_that_are_free(self):
        units = [(ordinal, (OLD, Phase.READY)) for ordinal in (1, 4)]
        found = self.plan(*units, policy=instance_policy(2, 0, surge=1))
        assert [(make.ordinal, make.revision) for make in found.make] == [(0, NEW)]
        assert found.retire == ()

    def test_a_line_that_does_not_roll_keeps_its_revisions_and_still_scales(self):
        units = [(ordinal, (OLD, Phase.READY)) for ordinal in range(3)]
        found = self.plan(*units, policy=instance_policy(2, 1), may_roll=False)
        assert [gone.ordinal for gone in found.retire] == [2]

    def test_a_paused_rollout_takes_nothing_down_and_fills_what_is_missing(self):
        policy = replace(instance_policy(3, 1), is_paused=True)
        units = [(0, (OLD, Phase.READY)), (1, (OLD, Phase.READY))]
        found = self.plan(*units, policy=policy)
        assert found.retire == ()
        assert [make.ordinal for make in found.make] == [2]

    def test_only_in_place_leaves_what_cannot_be_changed_and_says_so(self):
        units = [(ordinal, (OLD, Phase.READY)) for ordinal in range(4)]
        found = self.plan(*units, amendment=Amendment.ONLY)
        assert (found.retire, found.amend) == ((), ())
        assert "InPlaceUpdateNotPossible" in [b.reason for b in found.blockers]

    def test_a_million_units_are_made_in_windows(self):
        found = self.plan((0, (NEW, Phase.READY)), policy=instance_policy(1_000_000, 1))
        assert len(found.make) == 1_000
        assert found.make[0].ordinal == 1
