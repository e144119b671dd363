"""Versions of roles that are kept together: all end an update, or all go back as one."""

from dataclasses import replace

import pytest
from line_search import NEW, NOW, OLD, World, group_of, instance_policy, live, search, serving

from kohort.model.observed import Member, Observed, Tally
from kohort.model.policies import RolloutPolicy, Rule, Skew
from kohort.model.units import GROUPS, Line, Phase, Reach
from kohort.model.workload import Role, Workload
from kohort.planning.bounds import plan_bounds
from kohort.planning.plan import plan

READY, STARTING = Phase.READY, Phase.STARTING
TOGETHER = Rule("pd", ("a", "b"), update_skew=Skew(units=1), is_together=True)


def workload(
    sizes: dict[str, int], rule: Rule, target: str = NEW, **policies: RolloutPolicy
) -> Workload:
    roles = tuple(
        Role(
            size,
            name=name,
            revision=target,
            rollout=policies.get(name, instance_policy(size, 2)),
        )
        for name, size in sizes.items()
    )
    return Workload(
        *("default", "x", "uid", 1),
        groups=1,
        roles=roles,
        revision=target,
        rollout=RolloutPolicy(1),
        reach=Reach.ANY,
        rules=(rule,),
        has_rollout=False,
    )


def plan_of(world: World, asked: Workload):
    sizes = {role.name: role.instances for role in asked.roles}
    return plan(asked, Observed((group_of(world, sizes, asked.revision),)), NOW)


def steps_of(world: World, asked: Workload):
    steps = plan_of(world, asked).steps
    return {line.role: step for line, step in steps.items() if line != GROUPS}


def make_world(sizes: dict[str, int], counts: dict[str, int], failures: int = 0) -> World:
    """So many instances of each role are new, the highest; all are ready."""
    lines = {
        name: tuple(
            (i, (NEW if i >= size - counts.get(name, 0) else OLD, READY)) for i in range(size)
        )
        for name, size in sizes.items()
    }
    return World(tuple(lines.items()), failures)


def count_of(world: World, role: str, revision: str, *, is_ready: bool = False) -> int:
    held = live(world.units_of(role))
    return sum(s[0] == revision and (s[1] is READY or not is_ready) for _, s in held)


def check_skew(sizes: dict[str, int], skew: Skew, target: str, failures: int):
    """No write takes a role further ahead of the other than the skew, or than one instance."""
    other_revision = OLD if target == NEW else NEW

    def check(before: World, after: World, role: str) -> str:
        if serving(before.units_of(role)) == serving(after.units_of(role)):
            return ""
        other = "b" if role == "a" else "a"
        gone = sizes[role] - count_of(after, role, other_revision)
        slow = count_of(after, other, target, is_ready=True) / sizes[other]
        most = max(skew.of(sizes[other]), skew.of(sizes[role]), 1 / sizes[role])
        ahead = gone / sizes[role] - slow
        spent = failures - after.failures
        return f"{role} is {ahead} ahead" if ahead > most + spent + 1e-9 else ""

    return check


SIZES = [{"a": 2, "b": 2}, {"a": 3, "b": 1}, {"a": 1, "b": 1}]


def are_all(world: World, revision: str) -> bool:
    return all(s == (revision, READY) for _, units in world.lines for _, s in units)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("skew", [Skew(units=1), Skew(share=0.5), Skew(share=0.01)], ids=str)
@pytest.mark.parametrize("failures", [0, 1], ids=["no failure", "one failure"])
def test_roles_stay_within_the_skew_and_end_equal(sizes, skew, failures):
    asked = workload(sizes, replace(TOGETHER, update_skew=skew))
    check = check_skew(sizes, skew, NEW, failures)
    start = make_world(sizes, {}, failures)
    assert not search(start, lambda w: steps_of(w, asked), check, lambda w: are_all(w, NEW))


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("done", [(0, 1), (1, 0), (1, 1), (2, 1)], ids=str)
def test_a_rollout_that_is_undone_goes_back_within_the_skew_and_ends_equal(sizes, done):
    counts = {role: min(n, sizes[role]) for role, n in zip(sizes, done, strict=True)}
    asked = workload(sizes, TOGETHER, OLD)
    check = check_skew(sizes, Skew(units=1), OLD, 0)
    start = make_world(sizes, counts)
    assert not search(start, lambda w: steps_of(w, asked), check, lambda w: are_all(w, OLD))


@pytest.mark.parametrize(
    "stopped",
    [replace(instance_policy(2, 2), is_paused=True), instance_policy(2, 2, partition=2)],
    ids=["paused", "partitioned"],
)
def test_where_one_role_is_stopped_the_others_stop_within_the_skew(stopped):
    """A skew alone leaves out a role that is paused or partitioned, and the others run ahead."""
    sizes = {"a": 2, "b": 2}
    asked = workload(sizes, TOGETHER, b=stopped)

    def check(before: World, after: World, role: str) -> str:
        return "a ran ahead" if 2 - count_of(after, "a", OLD) > 1 else ""

    def is_over(world: World) -> bool:
        return count_of(world, "a", NEW, is_ready=True) == 1

    assert not search(make_world(sizes, {}), lambda w: steps_of(w, asked), check, is_over)
    alone = workload(sizes, replace(TOGETHER, is_together=False), b=stopped)
    assert search(make_world(sizes, {}), lambda w: steps_of(w, alone), check, is_over)


def test_a_role_that_is_held_says_by_which_rule_and_by_how_much():
    sizes = {"a": 10, "b": 10}
    rule = replace(TOGETHER, update_skew=Skew(share=0.1))
    world = make_world(sizes, {"a": 4, "b": 3})
    (blocker,) = steps_of(world, workload(sizes, rule))["a"].blockers
    assert (blocker.reason, blocker.line) == ("WaitingForVersions", Line(0, "a"))
    assert blocker.message == (
        "role a has 4 of 10 instances updated, and may have 4 while role b has 3 of 10 updated "
        "and ready: versions are kept together within 10% (rule pd)"
    )
    paused = workload(sizes, rule, b=replace(instance_policy(10, 2), is_paused=True))
    (blocker,) = steps_of(world, paused)["a"].blockers
    assert "while role b, whose rollout is paused, has 3 of 10" in blocker.message


def test_where_no_skew_is_allowed_no_role_goes_beyond_one_that_is_stopped():
    sizes = {"a": 4, "b": 2}
    rule = replace(TOGETHER, update_skew=Skew(units=0))
    asked = workload(sizes, rule, b=replace(instance_policy(2, 2), is_paused=True))
    step = steps_of(make_world(sizes, {}), asked)["a"]
    assert step.retire == ()
    assert "while role b, whose rollout is paused, has 0 of 2" in step.blockers[0].message


def test_the_slowest_role_waits_for_no_other_role():
    sizes = {"a": 2, "b": 2}
    world = make_world(sizes, {"b": 1}).put("a", 1, (NEW, STARTING))
    told = {b.reason: b.message for b in steps_of(world, workload(sizes, TOGETHER))["a"].blockers}
    assert "of which 0 count as ready: more follow when those are" in told["WaitingForVersions"]


def test_a_partition_below_which_all_is_new_holds_nothing():
    sizes = {"a": 2, "b": 2}
    asked = workload(sizes, TOGETHER, b=instance_policy(2, 2, partition=2))
    step = steps_of(make_world(sizes, {"a": 1, "b": 2}), asked)["a"]
    assert [gone.ordinal for gone in step.retire] == [0]


def test_a_delegated_role_that_is_held_below_its_partition_says_why():
    sizes = {"a": 4, "b": 4}
    asked = workload(sizes, TOGETHER, a=instance_policy(4, 2, partition=2))
    group = group_of(make_world(sizes, {"b": 0}), sizes)
    first, *others = group.roles
    told = replace(first, instances=(), tally=Tally(4, 4, 4, 1, 1))
    group = replace(group, roles=(told, *others))
    blockers = plan_bounds(asked, group)["a"].blockers
    assert [blocker.reason for blocker in blockers] == ["WaitingForVersions"]


class TestRollback:
    """All roles of a rule go back once an updated instance is unready for too long."""

    rule = replace(TOGETHER, rollback_seconds=60.0)

    def plan(
        self, since: float | None, rule: Rule = rule, base: str = OLD, revision: str = NEW, **more
    ):
        """Role a has one instance, of a revision, that is unready since a moment."""
        sizes = {"a": 1, "b": 1, "c": 1}
        group = group_of(make_world(sizes, {"a": 1}), sizes)
        member = Member("x", "uid", 0, revision, STARTING, unready_since=since)
        first, *others = group.roles
        (unit,) = first.instances
        unit = replace(unit, revision=revision, phase=STARTING, members=(member,), **more)
        roles = (replace(first, instances=(unit,), base=base), *others)
        asked = workload(sizes, rule)
        return plan(asked, Observed((replace(group, roles=roles),)), NOW)

    def test_the_roles_of_the_rule_go_back_as_one(self):
        (found,) = self.plan(NOW - 60).rollbacks
        assert (found.rule, found.roles) == ("pd", ("a", "b"))
        assert found.cause.reason == "RollingBack"
        assert found.cause.message == (
            "instance 0 of role a is not ready 60 seconds after its update: roles a and b go back "
            "to the revision that served before (rule pd)"
        )

    def test_the_plan_waits_until_the_moment_has_come(self):
        decided = self.plan(NOW - 20)
        assert (decided.rollbacks, decided.recheck_seconds) == ((), 40)

    def test_an_update_in_place_is_late_only_after_it_began(self):
        """Pods are old and were made ready long ago; some have not even been changed yet."""
        late = self.plan(NOW - 600, made_at=NOW - 900, amended_at=NOW - 20, has_served=True)
        assert (late.rollbacks, late.recheck_seconds) == ((), 40)
        assert self.plan(None, made_at=NOW - 900, has_served=True).rollbacks == ()
        assert self.plan(None, made_at=NOW - 900).rollbacks != ()

    def test_the_cause_of_a_rollback_is_the_first_blocker(self):
        assert self.plan(NOW - 60).report.blockers[0].reason == "RollingBack"

    @pytest.mark.parametrize(
        "more",
        [{"rule": TOGETHER}, {"base": ""}, {"base": NEW}, {"revision": OLD}],
        ids=["not asked for", "nothing before", "rollout over", "an old instance"],
    )
    def test_nothing_goes_back_without_a_rollout_that_fails(self, more):
        assert self.plan(NOW - 600, **more).rollbacks == ()
