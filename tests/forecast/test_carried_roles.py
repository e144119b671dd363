"""Roles that a Deployment or a set carries: rolled in batches within their budget, by hand."""

from dataclasses import replace

from ideal_workloads import START, foretell, list_moves, workload

from kohort.forecast.values import Ending, Forecast
from kohort.model.observed import Group, Observed, RoleInstances, Tally
from kohort.model.policies import RolloutPolicy
from kohort.model.units import Phase, Reach
from kohort.model.workload import Role, Workload
from kohort.views.forecasts import _list_restarts


def ask(instances: int, **policy: int) -> Workload:
    """One group with one role that another controller carries."""
    rollout = RolloutPolicy(instances, **policy)  # type: ignore[arg-type]
    role = Role(instances, name="web", revision="new", rollout=rollout, reach=Reach.COUNT)
    return replace(workload(1, reach=Reach.ANY), roles=(role,), has_rollout=False)


def see(wanted: int, tally: Tally, partition: int = 0) -> Observed:
    role = RoleInstances("web", wanted, "new", tally=tally, partition=partition, grown=tally.wanted)
    is_ready = tally.ready == wanted
    phase = Phase.READY if is_ready else Phase.STARTING
    return Observed((Group(0, "old", phase, "root", wanted, roles=(role,)),), exist=1)


def roll(instances: int, tally: Tally, stuck: int = 0, **policy: int) -> Forecast:
    seen = see(instances, tally, policy.get("partition", 0))
    return foretell(ask(instances, **policy), seen, stuck_units={"web": stuck})


def test_units_are_replaced_one_by_one_within_the_budget():
    found = roll(3, Tally(3, 3, 3, 0, 0), max_unavailable=1)
    assert list_moves(found) == [["-2", "+2"], ["-1", "+1"], ["-0", "+0"]]
    assert (found.ending, found.least["web"], found.seconds) == (Ending.DONE, 2, 3 * START)


def test_extra_units_come_first_and_no_capacity_is_lost():
    found = roll(3, Tally(3, 3, 3, 0, 0), max_unavailable=0, max_surge=1)
    assert list_moves(found)[0] == ["+3"]
    assert (found.least["web"], found.extra.members) == (3, 1)
    assert found.amount_after.members == 3
    assert found.ending is Ending.DONE


def test_units_that_are_updated_are_not_told_again():
    found = roll(3, Tally(3, 3, 3, 2, 2), max_unavailable=1)
    assert list_moves(found) == [["-0", "+0"]]


def test_units_below_the_partition_stay():
    found = roll(4, Tally(4, 4, 4, 0, 0), partition=2)
    assert list_moves(found) == [["-3", "+3"], ["-2", "+2"]]


def test_units_below_the_partition_stay_when_the_role_shrinks():
    found = roll(2, Tally(4, 4, 4, 2, 2), partition=2)
    assert list_moves(found) == [["-3", "-2"]]


def test_new_units_that_are_stuck_block_the_rollout():
    found = roll(4, Tally(4, 4, 3, 1, 0), stuck=1, max_unavailable=1)
    assert (found.ending, list_moves(found), found.after["web"].ready) == (Ending.BLOCKED, [], 3)


def test_old_units_that_are_stuck_are_replaced_first():
    found = roll(2, Tally(2, 2, 1, 0, 0), stuck=1, max_unavailable=1)
    assert (found.ending, len(found.steps), found.least["web"]) == (Ending.DONE, 2, 1)


def test_units_that_start_become_ready():
    assert roll(4, Tally(4, 4, 1, 4, 1)).ending is Ending.DONE


def test_a_role_grows_and_shrinks_at_once():
    grown = roll(4, Tally(2, 2, 2, 2, 2))
    assert list_moves(grown) == [["+2", "+3"]]
    shrunk = roll(2, Tally(4, 4, 4, 4, 4), max_surge=1)
    assert list_moves(shrunk) == [["-3", "-2"]]


def depend(first: Tally, second: Tally, **told: bool) -> Forecast:
    """Role ``web`` after role ``base``, both with a new template and carried by others."""
    asked = ask(2, max_unavailable=1)
    (web,) = asked.roles
    base = replace(web, name="base")
    seen = see(2, replace(second, is_seen=False, is_told=False))
    (group,) = seen.groups
    before = RoleInstances("base", 2, "new", tally=replace(first, **told), grown=2)
    group = replace(group, roles=(before, *group.roles))
    asked = replace(asked, roles=(base, replace(web, after=("base",))))
    return foretell(asked, replace(seen, groups=(group,)))


def test_a_role_waits_for_the_role_that_it_depends_on():
    found = depend(Tally(2, 2, 2, 0, 0), Tally(2, 2, 2, 0, 0), is_seen=False, is_told=False)
    order = [{move.line.role for move in step.moves} for step in found.steps]
    assert order == [{"base"}, {"base"}, {"web"}, {"web"}]
    assert (found.ending, found.least) == (Ending.DONE, {"base": 1, "web": 1})


def test_a_role_goes_at_once_after_one_that_has_nothing_to_update():
    found = depend(Tally(2, 2, 2, 2, 2), Tally(2, 2, 2, 0, 0))
    assert [{move.line.role for move in step.moves} for step in found.steps] == [{"web"}] * 2


def test_a_role_after_one_that_is_not_ready_is_not_foretold_to_roll():
    asked = depend(Tally(2, 2, 1, 2, 1, is_seen=False), Tally(2, 2, 2, 0, 0))
    assert {move.line.role for step in asked.steps for move in step.moves} <= {"web"}
    assert asked.steps[0].begins >= START


def test_all_that_are_replaced_are_made_anew_whatever_their_ordinals():
    asked = ask(3, max_unavailable=0, max_surge=1)
    found = foretell(asked, see(3, Tally(3, 3, 3, 0, 0)))
    (restart,) = _list_restarts(asked, found, ())
    assert (restart.what, restart.units, restart.is_in_place) == (
        *("every instance of role web", 3),
        False,
    )
