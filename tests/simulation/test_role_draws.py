"""What seeds mean for RoleBasedGroup, and that checkers of roles find what is wrong."""

from dataclasses import replace
from pathlib import Path

import pytest

from kohort.apis.rolebasedgroup import pod_actions, role_facts
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.model.observed import RoleInstances
from kohort.model.policies import Rule
from kohort.model.workload import Workload
from kohort.planning import bounds
from kohort.planning import plan as planning
from kohort.simulation.faults import CATALOGUE
from kohort.simulation.rolebasedgroup import carried_draws
from kohort.simulation.rolebasedgroup.labels import (
    IN_PLACE,
    IN_PLACE_ONLY,
    RECOVER_NONE,
    RECREATE,
    RECREATE_POD,
)
from kohort.simulation.rolebasedgroup.scenarios import (
    DRAWN_EDITS,
    FAILURES,
    KINDS,
    NEVER,
    PAIRS,
    ROLES,
    RULES,
    draw_scenario,
)
from kohort.simulation.run import simulate
from kohort.simulation.scenario import PODS, Fault, Scenario
from kohort.simulation.scenario_files import ScenarioFile, load_scenario, write_scenario

SEEDS = 40
ROLL = Fault("roll", at=20.0, pick=2, value="2")  # of both roles


def two_roles(**more) -> Scenario:
    usual = {"api": "rbg", "carrier": PODS, "groups": 1, "rollout": IN_PLACE, "restart": RECREATE}
    return Scenario(**{**usual, "roles": "a 3+0, b 3+0", "unavailable": 2, **more})


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS, 10))
def test_fixed_seeds_of_roles_keep_every_promise(first: int):
    for seed in range(first, first + 10):
        outcome = simulate(draw_scenario(seed))
        replay = f"kohort sim run --apis rbg --seed {seed}"
        assert outcome.is_good, f"{outcome.breaches[:3]}; replay it with: {replay}"


def test_seeds_draw_every_manner_of_group():
    scenarios = [draw_scenario(seed) for seed in range(400)]
    assert {scenario.api for scenario in scenarios} == {"rbg"}
    assert {scenario.roles for scenario in scenarios} == set(ROLES)
    skews = {rule.replace("skew", "together", 1) for rule in RULES if rule.startswith("skew")}
    pairs = {pair.replace("skew", "together", 1) for pair in PAIRS if pair.startswith("skew")}
    assert {scenario.rules for scenario in scenarios} == {*RULES, *PAIRS, *skews, *pairs}
    assert {scenario.rollout for scenario in scenarios} == {IN_PLACE, IN_PLACE_ONLY, RECREATE_POD}
    assert {scenario.restart for scenario in scenarios} == {RECREATE, RECOVER_NONE}
    assert {scenario.adapters for scenario in scenarios} == {"", "a", "b", "a b"}
    assert {scenario.after for scenario in scenarios} == {"", "b a", "a b", "b a, c b"}
    assert {scenario.surge for scenario in scenarios} == {0, 1}
    assert {scenario.role_partition for scenario in scenarios} == {0, 1}
    assert {scenario.drain for scenario in scenarios} == {0, 3}
    assert {scenario.is_ordered for scenario in scenarios} == {False, True}
    assert {scenario.stateless for scenario in scenarios} == {"", "a", "b", "a b", "a b c"}


def test_seeds_draw_every_fault_that_roles_can_have():
    drawn = {fault.name for seed in range(600) for fault in draw_scenario(seed).faults}
    assert drawn >= {*FAILURES, *DRAWN_EDITS}
    missing = {n for n, kind in CATALOGUE.items() if not kind.is_of_gangs} - drawn
    assert missing - set(NEVER) == {"metric", "edit-shared", "reshape", "switch"}


def test_every_kind_that_instances_need_is_drawn():
    watched = {watched.kind.name for watched in ROLE_BASED_GROUP.watched}
    written = {grant.kind.name for grant in ROLE_BASED_GROUP.writes if not grant.part}
    # Policies and gangs are made by users and schedulers.
    others = {"CoordinatedPolicy", "PodGroup"}
    assert written - others <= {*KINDS, *carried_draws.KINDS}
    assert set(KINDS) - watched == {"RoleBasedGroup"}


def test_one_seed_of_roles_is_one_run():
    assert simulate(draw_scenario(3)).log == simulate(draw_scenario(3)).log


def test_a_scenario_of_roles_survives_being_written_and_read(tmp_path: Path):
    path = tmp_path / "scenario.yaml"
    for seed in range(20):
        file = ScenarioFile("a story", draw_scenario(seed))
        path.write_text(write_scenario(file))
        assert load_scenario(path) == file


@pytest.mark.parametrize(
    ("rules", "found"), [("skew 1", "G8: role "), ("order b a", "G8: role a ")]
)
def test_roles_that_rules_do_not_hold_are_found(
    rules: str, found: str, monkeypatch: pytest.MonkeyPatch
):
    assert simulate(two_roles(rules=rules, faults=(ROLL,))).is_good
    monkeypatch.setattr(planning, "plan_bounds", lambda *given: {})
    broken = simulate(two_roles(rules=rules, faults=(ROLL,)))
    assert broken.breaches[0].startswith(found)


def test_a_role_that_grows_ahead_is_found(monkeypatch: pytest.MonkeyPatch):
    faults = (Fault("quota", at=0.0, seconds=10.0),)
    assert simulate(two_roles(rules="grow 1", faults=faults)).is_good
    monkeypatch.setattr(planning, "plan_bounds", lambda *given: {})
    broken = simulate(two_roles(rules="grow 1", faults=faults))
    assert broken.breaches[0].startswith("G8: role ")


def test_a_role_that_begins_too_early_is_found(monkeypatch: pytest.MonkeyPatch):
    assert simulate(two_roles(after="b a")).is_good
    monkeypatch.setattr(planning, "find_waiting_roles", lambda *given: {})
    broken = simulate(two_roles(after="b a"))
    assert broken.breaches[0].startswith("G8: role b began before role a was ready")


def test_pods_that_could_have_changed_as_they_ran_are_found(monkeypatch: pytest.MonkeyPatch):
    assert simulate(two_roles(faults=(ROLL,))).is_good
    monkeypatch.setattr(pod_actions, "find_in_place_change", lambda *given: None)
    broken = simulate(two_roles(faults=(ROLL,)))
    assert any(breach.startswith("G10: x-") for breach in broken.breaches)


def test_an_instance_that_its_policy_keeps_on_a_bad_template_is_no_fault_of_the_operator():
    """The user undoes a bad image, and at once asks for what no running pod can follow."""
    edits = (
        Fault("bad-roll", at=15.0, seconds=10.0, pick=1),
        Fault("roll", at=25.01, pick=5, value="3"),  # changes a variable
    )
    one = two_roles(roles="a 2+0", rollout=IN_PLACE_ONLY, unavailable=1, faults=edits)
    assert simulate(one).breaches == ()


def test_an_instance_that_could_leave_a_bad_template_in_place_and_stays_is_found(
    monkeypatch: pytest.MonkeyPatch,
):
    faults = (
        Fault("crash-before", n=2, seconds=5.0),  # so the first instances have the bad template
        Fault("bad-roll", at=1.0, seconds=20.0, pick=1),
    )
    one = two_roles(roles="a 2+0", rollout=IN_PLACE_ONLY, faults=faults)
    assert simulate(one).is_good
    monkeypatch.setattr(role_facts, "can_follow", lambda old, new: False)
    assert simulate(one).breaches[0].startswith("O2: instances [0, 1] of role a do not serve")


def test_versions_that_are_not_measured_below_the_partition_are_found(
    monkeypatch: pytest.MonkeyPatch,
):
    """One old instance of each is held: three of five may go with one of two, and not four."""
    hold = Fault("hold", at=19.0, seconds=60.0)  # a partition of one
    scenario = two_roles(roles="a 2+0, b 5+0", rules="together 1%", faults=(hold, ROLL))
    assert simulate(scenario).is_good
    count = bounds._count

    def count_above(held: RoleInstances, rule: Rule, workload: Workload) -> bounds._Counts:
        return count(held, replace(rule, is_together=False), workload)

    monkeypatch.setattr(bounds, "_count", count_above)
    broken = simulate(scenario)
    assert broken.breaches[0].startswith("G8: role b has 4 updated, and there are")


def stateless(**more) -> Scenario:
    return two_roles(stateless="a b", **more)


@pytest.mark.parametrize("rules", ["", "skew 1", "order b a", "grow 1", "together 1"])
def test_roles_without_ordinals_keep_every_promise(rules: str):
    quota = Fault("quota", at=0.0, seconds=10.0)
    outcome = simulate(stateless(rules=rules, faults=(quota, ROLL)))
    assert outcome.is_good, outcome.breaches[:3]


def test_rules_that_do_not_hold_roles_without_ordinals_are_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(planning, "plan_bounds", lambda *given: {})
    for rules, faults in (("skew 1", (ROLL,)), ("grow 1", (Fault("quota", seconds=10.0),))):
        broken = simulate(stateless(rules=rules, faults=faults))
        assert broken.breaches[0].startswith("G8: role "), rules
