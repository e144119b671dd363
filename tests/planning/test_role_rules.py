"""Rules over the roles of a group: skew, order, dependencies, in every state of two small lines."""

from dataclasses import replace

import pytest
from line_search import NEW, NOW, OLD, World, group_of, instance_policy, live, search, serving

from kohort.model.cycles import find_cycle
from kohort.model.observed import Observed
from kohort.model.policies import Amendment, Gate, RolloutPolicy, Rule, Skew
from kohort.model.units import GROUPS, Line, Phase, Reach
from kohort.model.workload import Role, Workload
from kohort.planning.plan import plan

READY = Phase.READY


def workload(sizes: dict[str, int], *rules: Rule, after=None, unavailable: int = 1) -> Workload:
    roles = tuple(
        Role(
            size,
            name=name,
            revision=NEW,
            rollout=instance_policy(size, unavailable),
            after=(after or {}).get(name, ()),
        )
        for name, size in sizes.items()
    )
    return Workload(
        *("default", "x", "uid", 1),
        groups=1,
        roles=roles,
        revision=NEW,
        rollout=RolloutPolicy(1),
        reach=Reach.ANY,
        rules=rules,
        has_rollout=False,
    )


def steps_of(world: World, asked: Workload):
    sizes = {role.name: role.instances for role in asked.roles}
    decided = plan(asked, Observed((group_of(world, sizes),)), NOW)
    return {line.role: step for line, step in decided.steps.items() if line != GROUPS}


def start(sizes: dict[str, int], state=(OLD, READY), failures: int = 0) -> World:
    lines = {name: tuple((i, state) for i in range(size)) for name, size in sizes.items()}
    return World(tuple(lines.items()), failures)


def updated(world: World, role: str, *, is_ready: bool = False) -> int:
    held = live(world.units_of(role))
    return sum(s[0] == NEW and (s[1] is READY or not is_ready) for _, s in held)


def is_over(world: World) -> bool:
    return all(s == (NEW, READY) for _, units in world.lines for _, s in units)


@pytest.mark.parametrize("sizes", [{"a": 2, "b": 2}, {"a": 3, "b": 1}, {"a": 1, "b": 1}], ids=str)
@pytest.mark.parametrize("skew", [Skew(units=1), Skew(share=0.5), Skew(share=0.01)], ids=str)
@pytest.mark.parametrize("failures", [0, 1], ids=["no failure", "one failure"])
def test_no_role_is_updated_further_ahead_than_the_skew_allows(sizes, skew, failures):
    asked = workload(sizes, Rule("even", ("a", "b"), update_skew=skew), unavailable=2)

    def check(before: World, after: World, role: str) -> str:
        if serving(before.units_of(role)) == serving(after.units_of(role)):
            return ""
        other = "b" if role == "a" else "a"
        # What was taken down comes back updated: it counts as updated from then on.
        gone = sizes[role] - sum(s[0] == OLD for _, s in live(after.units_of(role)))
        slow = updated(after, other, is_ready=True) / sizes[other]
        ahead = gone / sizes[role] - slow
        slowest = min(sizes, key=lambda name: updated(after, name, is_ready=True) / sizes[name])
        most = max(skew.of(sizes[slowest]), 1 / sizes[role])
        spent = failures - after.failures
        return f"{role} is {ahead} ahead" if ahead > most + spent + 1e-9 else ""

    found = search(start(sizes, failures=failures), lambda w: steps_of(w, asked), check, is_over)
    assert not found


@pytest.mark.parametrize("skew", [Skew(units=1), Skew(share=0.25)], ids=str)
def test_all_roles_that_the_skew_allows_advance_in_one_step(skew: Skew):
    """Upstream lets the slowest role alone go on (rbg#154), so rounds add up over all roles."""
    sizes = {"a": 4, "b": 4, "c": 4}
    rule = Rule("even", tuple(sizes), update_skew=skew)
    steps = steps_of(start(sizes), workload(sizes, rule))
    assert {role: len(step.retire) for role, step in steps.items()} == {"a": 1, "b": 1, "c": 1}


@pytest.mark.parametrize("names", [("wide", "narrow"), ("narrow", "wide")], ids=str)
def test_a_role_that_one_skew_holds_back_bounds_others_by_another(names):
    """The order of the rules decided: the second lost its slowest role, and bounded nothing."""
    rules = {
        "wide": Rule("wide", ("p", "d"), update_skew=Skew(share=0.1)),
        "narrow": Rule("narrow", ("d", "r"), update_skew=Skew(share=0.25)),
    }
    sizes = {"p": 10, "d": 4, "r": 4}
    lines = dict(start(sizes).lines)
    lines["d"] = ((0, (OLD, READY)), (1, (OLD, READY)), (2, (OLD, READY)), (3, (NEW, READY)))
    asked = workload(sizes, *(rules[name] for name in names), unavailable=4)
    steps = steps_of(World(tuple(lines.items())), asked)
    assert {role: len(step.retire) for role, step in steps.items()} == {"p": 1, "d": 0, "r": 1}


def test_three_roles_under_two_skews_all_come_to_their_end():
    rules = (
        Rule("wide", ("a", "b"), update_skew=Skew(share=0.1)),
        Rule("narrow", ("b", "c"), update_skew=Skew(share=0.5)),
    )
    asked = workload({"a": 2, "b": 1, "c": 2}, *rules)

    def check(before: World, after: World, role: str) -> str:
        return ""

    assert not search(start({"a": 2, "b": 1, "c": 2}), lambda w: steps_of(w, asked), check, is_over)


def test_an_ordered_rule_updates_nothing_of_the_second_before_the_first_is_done():
    sizes = {"a": 2, "b": 2}
    asked = workload(sizes, Rule("first a", ("a", "b"), is_ordered=True), unavailable=2)

    def check(before: World, after: World, role: str) -> str:
        touched = before.units_of("b") != after.units_of("b")
        done = updated(before, "a", is_ready=True) == 2
        return "b was touched" if touched and not done else ""

    assert not search(start(sizes), lambda w: steps_of(w, asked), check, is_over)


def test_a_role_begins_when_those_before_it_are_ready():
    sizes = {"a": 2, "b": 1}
    asked = workload(sizes, after={"b": ("a",)})

    def check(before: World, after: World, role: str) -> str:
        begun = not before.units_of("b") and after.units_of("b")
        return "b began early" if begun and len(serving(before.units_of("a"))) < 2 else ""

    nothing = World((("a", ()), ("b", ())))

    def ends(world: World) -> bool:
        return is_over(world) and len(world.units_of("b")) == 1

    assert not search(nothing, lambda w: steps_of(w, asked), check, ends)


def test_what_has_begun_is_mended_while_those_before_it_are_in_trouble():
    asked = workload({"a": 1, "b": 2}, after={"b": ("a",)})
    trouble = World((("a", ((0, (NEW, Phase.STARTING)),)), ("b", ((0, (NEW, READY)),))))
    assert [make.ordinal for make in steps_of(trouble, asked)["b"].make] == [1]


def test_a_role_that_waits_says_for_which_one():
    asked = workload({"a": 2, "b": 1}, after={"b": ("a",)})
    step = steps_of(World((("a", ()), ("b", ()))), asked)["b"]
    assert step.make == ()
    (blocker,) = (b for b in step.blockers if b.reason == "WaitingForRole")
    assert blocker.line == Line(0, "b")
    assert "role a, of which 0 of 2" in blocker.message


class TestGrowth:
    """As upstream bounds the skew of roles."""

    def plan(self, counts: dict[str, int], sizes: dict[str, int], skew: Skew, gate=Gate.NONE):
        rule = Rule("ratio", tuple(sizes), scale_skew=skew, gate=gate)
        held = {n: tuple((i, (NEW, READY)) for i in range(c)) for n, c in counts.items()}
        steps = steps_of(World(tuple(held.items())), workload(sizes, rule))
        return {name: counts[name] + len(steps[name].make) for name in sizes}

    def test_the_one_ahead_holds_and_the_other_follows(self):
        found = self.plan({"a": 1, "b": 1}, {"a": 5, "b": 10}, Skew(share=0.1))
        assert found == {"a": 1, "b": 2}

    @pytest.mark.parametrize("sizes", [{"a": 2, "b": 2}, {"a": 3, "b": 1}])
    def test_what_was_allowed_and_is_not_there_holds_the_others(self, sizes: dict[str, int]):
        """Also where a role would have all that it wants."""
        rule = Rule("ratio", ("a", "b"), scale_skew=Skew(units=1))
        world = World((("a", ((0, (NEW, READY)),)), ("b", ())))
        asked = workload(sizes, rule)
        held = group_of(world, sizes)
        roles = tuple(replace(role, grown=1) for role in held.roles)
        steps = plan(asked, Observed((replace(held, roles=roles),)), NOW).steps
        assert [m.ordinal for m in steps[Line(0, "a")].make] == []
        assert [m.ordinal for m in steps[Line(0, "b")].make] == [0]

    def test_numbers_of_units_that_are_alike_are_no_growth(self):
        rule = Rule("ratio", ("a", "b"), scale_skew=Skew(units=1))
        sizes = {"a": 4, "b": 4}
        world = World((("a", ((3, (NEW, READY)),)), ("b", ((0, (NEW, READY)),))))
        held = group_of(world, sizes)
        roles = tuple(replace(role, are_alike=True, grown=1) for role in held.roles)
        steps = plan(workload(sizes, rule), Observed((replace(held, roles=roles),)), NOW).steps
        assert [len(steps[Line(0, name)].make) for name in sizes] == [1, 1]

    def test_equal_roles_grow_in_step(self):
        sizes = {"a": 3, "b": 3}
        assert self.plan({"a": 1, "b": 1}, sizes, Skew(share=1 / 3)) == {"a": 2, "b": 2}
        assert self.plan({"a": 2, "b": 2}, sizes, Skew(share=1 / 3)) == {"a": 3, "b": 3}

    def test_a_role_with_the_gate_ready_grows_when_its_units_are_ready(self):
        rule = Rule("ratio", ("a", "b"), scale_skew=Skew(share=1.0), gate=Gate.READY)
        asked = workload({"a": 3, "b": 3}, rule)
        half = World((("a", ((0, (NEW, Phase.STARTING)),)), ("b", ((0, (NEW, READY)),))))
        steps = steps_of(half, asked)
        assert {name: step.make for name, step in steps.items()} == {"a": (), "b": ()}
        assert {b.reason for step in steps.values() for b in step.blockers} == {"WaitingForSkew"}

    def test_shrinking_is_never_held(self):
        found = World((("a", ((0, (NEW, READY)), (1, (NEW, READY)))), ("b", ())))
        rule = Rule("ratio", ("a", "b"), scale_skew=Skew(share=0.1))
        steps = steps_of(found, workload({"a": 1, "b": 4}, rule))
        assert [gone.ordinal for gone in steps["a"].retire] == [1]


@pytest.mark.parametrize("sizes", [{"a": 3, "b": 3}, {"a": 3, "b": 1}], ids=str)
@pytest.mark.parametrize("skew", [Skew(units=0), Skew(share=0.0)], ids=str)
def test_roles_grow_evenly_where_the_skew_is_nothing(sizes, skew):
    """Each was as far as the slowest, so none was allowed to grow, for ever."""
    rule = Rule("ratio", tuple(sizes), scale_skew=skew)

    def check(before: World, after: World, role: str) -> str:
        shares = [len(live(after.units_of(name))) / size for name, size in sizes.items()]
        is_even = max(shares) - min(shares) <= 1 / min(sizes.values()) + 1e-9
        return "" if is_even else f"{role} is ahead"

    def is_whole(world: World) -> bool:
        return is_over(world) and all(len(world.units_of(n)) == s for n, s in sizes.items())

    empty = World(tuple((name, ()) for name in sizes))
    assert not search(empty, lambda w: steps_of(w, workload(sizes, rule)), check, is_whole)


def test_a_blocker_of_a_role_names_its_line():
    asked = workload({"a": 2, "b": 1})
    stuck = World((("a", ((0, (OLD, READY)), (1, (NEW, Phase.STARTING)))), ("b", ())))
    blockers = steps_of(stuck, asked)["a"].blockers
    assert [b.line for b in blockers] == [Line(0, "a")]
    assert blockers[0].message.startswith("role a of group 0: 1 of 2 instances wait")


def test_the_only_group_of_a_workload_is_not_named():
    stuck = ((0, (OLD, READY)), (1, (NEW, Phase.STARTING)))
    two = replace(workload({"a": 2, "b": 1}), is_one_group=True)
    (blocker,) = steps_of(World((("a", stuck), ("b", ((0, (NEW, READY)),)))), two)["a"].blockers
    assert blocker.message.startswith("role a: 1 of 2 instances wait")
    one = replace(workload({"a": 2}), is_one_group=True)
    (blocker,) = steps_of(World((("a", stuck),)), one)["a"].blockers
    assert blocker.message.startswith("1 of 2 instances wait")


def test_growth_that_waits_names_both_roles_the_rule_and_the_amounts():
    rule = Rule("pd", ("a", "b"), scale_skew=Skew(units=1), gate=Gate.READY)
    lines = (("a", ((0, (NEW, READY)),)), ("b", ((0, (NEW, Phase.STARTING)), (1, (NEW, READY)))))
    steps = steps_of(World(lines), workload({"a": 3, "b": 4}, rule))
    assert [b.message for b in steps["a"].blockers] == [
        "role a has 1 of 3 instances, and gets more when 1 of the 2 instances of role b are ready "
        "(rule pd)"
    ]


def test_a_group_in_which_all_is_well_has_no_steps():
    sizes = {"a": 1, "b": 1}
    group = group_of(start(sizes, (NEW, READY)), sizes)
    assert all(role.is_settled for role in group.roles)
    settled = replace(group, is_settled=True)
    assert list(plan(workload(sizes), Observed((settled,)), NOW).steps) == [GROUPS]


def test_a_role_that_left_the_spec_goes():
    asked = workload({"a": 1})
    world = World((("a", ((0, (NEW, READY)),)), ("gone", ((0, (OLD, READY)),))))
    decided = plan(asked, Observed((group_of(world, {"a": 1, "gone": 0}),)), NOW)
    retired = {line.role: [r.ordinal for r in step.retire] for line, step in decided.steps.items()}
    assert retired == {"": [], "a": [], "gone": [0]}


@pytest.mark.parametrize(
    ("after", "cycle"),
    [
        ({"a": (), "b": ("a",)}, ()),
        ({"a": ("b",), "b": ("a",)}, ("a", "b", "a")),
        ({"a": ("a",)}, ("a", "a")),
        ({"a": ("b",), "b": ("c",), "c": ("b",)}, ("b", "c", "b")),
    ],
)
def test_roles_that_wait_for_each_other_are_found(after, cycle):
    assert find_cycle(after) == cycle


@pytest.mark.parametrize(
    "rules", [(), (Rule("even", ("a", "b"), update_skew=Skew(units=1)),)], ids=["alone", "skew"]
)
def test_a_role_is_updated_after_those_that_it_comes_after_and_no_skew_stops_it(rules):
    sizes = {"a": 2, "b": 2}
    asked = workload(sizes, *rules, after={"b": ("a",)}, unavailable=2)

    def check(before: World, after: World, role: str) -> str:
        touched = before.units_of("b") != after.units_of("b")
        done = updated(before, "a", is_ready=True) == 2
        return "b was touched" if touched and not done else ""

    assert not search(start(sizes), lambda w: steps_of(w, asked), check, is_over)


def test_an_old_unit_beyond_the_wanted_ones_keeps_no_other_old():
    """The user went back in the middle of a rollout with surge: the extra unit is old, too."""
    rule = Rule("even", ("a", "b"), update_skew=Skew(share=0.5))
    asked = workload({"a": 2, "b": 2}, rule, unavailable=2)
    extra = ((0, (NEW, READY)), (1, (OLD, READY)), (2, (OLD, READY)))
    world = World((("a", extra), ("b", ((0, (NEW, READY)), (1, (NEW, READY))))))
    assert 1 in [gone.ordinal for gone in steps_of(world, asked)["a"].retire]


@pytest.mark.parametrize("is_ordered", [False, True])
def test_no_role_waits_for_one_whose_units_cannot_follow(is_ordered: bool):
    """The user alone can help: nothing may be made anew, and nothing can change as it runs."""
    skew = None if is_ordered else Skew(units=1)
    rule = Rule("even", ("a", "b"), update_skew=skew, is_ordered=is_ordered)
    asked = workload({"a": 2, "b": 2}, rule, unavailable=2)
    first, second = asked.roles
    asked = replace(asked, roles=(replace(first, amendment=Amendment.ONLY), second))
    steps = steps_of(start({"a": 2, "b": 2}), asked)
    assert len(steps["b"].retire) == 2 and not steps["a"].retire


@pytest.mark.parametrize("skew", [None, Skew(share=0.25)], ids=["order", "skew"])
def test_a_surge_unit_stands_for_no_wanted_unit_that_is_not_ready_yet(skew: Skew | None):
    """It goes when the last old one has: then the role would have fewer than it should."""
    rule = Rule("first a", ("a", "b"), is_ordered=skew is None, update_skew=skew)
    surge = ((0, (NEW, Phase.STARTING)), (1, (NEW, READY)), (2, (NEW, READY)))
    others = ((0, (OLD, READY)), *((i, (NEW if skew else OLD, READY)) for i in range(1, 4)))
    world = World((("a", surge), ("b", others)))
    assert steps_of(world, workload({"a": 2, "b": 4}, rule))["b"].retire == ()


def hold_first(asked: Workload) -> Workload:
    """The same, where the first unit of each role keeps its revision."""
    roles = (
        replace(role, rollout=replace(role.rollout, partition=1))
        for role in asked.roles
        if role.rollout is not None
    )
    return replace(asked, roles=tuple(roles))


def test_an_updated_unit_below_the_partition_stands_for_none_above_it_in_an_order():
    """The user has gone back: the first of each was never changed, the second is still to be."""
    asked = workload({"a": 2, "b": 2}, Rule("first a", ("a", "b"), is_ordered=True))
    units = ((0, (NEW, READY)), (1, (OLD, READY)))
    steps = steps_of(World((("a", units), ("b", units))), hold_first(asked))
    assert [gone.ordinal for gone in steps["a"].retire] == [1]
    assert steps["b"].retire == ()
    (blocker,) = steps["b"].blockers
    assert "role a, of which 0 of 2 instances are updated and ready" in blocker.message


def test_an_updated_unit_below_the_partition_stands_for_none_above_it_in_a_skew():
    """Of two to be updated a has none and b has one: half of them is as far as b may be ahead."""
    rule = Rule("even", ("a", "b"), update_skew=Skew(share=0.5))
    new, old = (NEW, READY), (OLD, READY)
    lines = (("a", ((0, new), (1, old), (2, old))), ("b", ((0, new), (1, old), (2, new))))
    steps = steps_of(World(lines), hold_first(workload({"a": 3, "b": 3}, rule)))
    assert [gone.ordinal for gone in steps["a"].retire] == [2]
    assert steps["b"].retire == ()
