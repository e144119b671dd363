"""What simulations cover of the reliability specification, and why the rest is not theirs."""

import re
from pathlib import Path

import pytest

import kohort.simulation
from kohort.apis.api import DEFAULTS
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.simulation.checkers.gang_dialects import BY_KIND
from kohort.simulation.fault_actions import ACTIONS
from kohort.simulation.faults import CATALOGUE, draw_scenario, gang_faults
from kohort.simulation.faults.catalogue import OWNED_KINDS
from kohort.simulation.faulty_cluster import BY_REQUEST
from kohort.simulation.gang_clusters import DIALECTS, set_gang_flag

SOURCES = Path(kohort.simulation.__file__).parent
# Promises of LeaderWorkerSet that hold before or outside of a run, and where they are tested.
TESTED_ELSEWHERE = {
    "A7": "one replica with surge is a scenario; what rounds to nothing is refused at admission",
}
# A8, A9 and G9 are of designs/005, G10 of designs/011, the others of the reliability specification.
LETTERS = {"A": 9, "G": 10, "P": 7, "C": 6, "T": 8, "R": 6}
# O1 is all checkers together, O7 is T1 to T8, O3 and O5 are parts of O2 as it is checked.
ORACLES = {
    "O1": "A1:",
    "O2": "O2:",
    "O3": "O2:",
    "O4": "O4:",
    "O5": "O2:",
    "O6": "O6:",
    "O7": "T2:",
}


def list_breaches() -> set[str]:
    """The promises whose breach some checker can tell."""
    texts = [path.read_text() for path in SOURCES.rglob("*.py")]
    return set(re.findall(r'"([AGPCTRO]\d+):? ?', "".join(texts)))


def test_every_fault_of_the_specification_is_in_the_catalogue():
    covered = {number for entry in CATALOGUE.values() for number in entry.numbers}
    assert covered == {f"F{number}" for number in range(1, 21)}


def test_every_fault_of_the_catalogue_does_something():
    assert set(CATALOGUE) == set(ACTIONS) | BY_REQUEST


def test_every_oracle_is_held_against_runs():
    assert set(ORACLES) == {f"O{number}" for number in range(1, 8)}
    assert {text.removesuffix(":") for text in ORACLES.values()} <= list_breaches()


def test_every_promise_has_a_checker_or_a_reason():
    promises = {f"{letter}{n}" for letter, count in LETTERS.items() for n in range(1, count + 1)}
    checked = list_breaches()
    assert promises - checked == set(TESTED_ELSEWHERE)


def test_every_kind_that_is_written_is_watched():
    """F19: nothing that we own can change without an event of a watch."""
    watched = {watched.kind for watched in LEADER_WORKER_SET.watched}
    written = {grant.kind for grant in LEADER_WORKER_SET.writes}
    assert written <= watched
    assert {kind.name for kind in written} - {"PersistentVolumeClaim"} < set(OWNED_KINDS)


@pytest.mark.parametrize("name", DIALECTS)
def test_every_gang_that_is_written_is_watched(name: str):
    """Upstream does not watch them, and loses some (lws#1054)."""
    settings = set_gang_flag(DEFAULTS, name)
    watched = {watched.kind for watched in LEADER_WORKER_SET.watched_with(settings)}
    written = {grant.kind for grant in LEADER_WORKER_SET.writes_with(settings)}
    assert settings.gang_kinds <= written <= watched
    assert settings.gang_kinds <= set(BY_KIND), "no checker looks at them"


def test_three_hundred_seeds_draw_every_fault():
    drawn = {fault.name for seed in range(300) for fault in draw_scenario(seed).faults}
    assert drawn == {name for name, entry in CATALOGUE.items() if entry.is_drawn}


def test_seeds_draw_every_manner_of_workload():
    scenarios = [draw_scenario(seed) for seed in range(300)]
    assert {scenario.carrier for scenario in scenarios} == {"statefulsets", "pods"}
    assert {scenario.strategy for scenario in scenarios} == {"budgeted", "compatible"}
    assert {scenario.subdomain for scenario in scenarios} == {"Shared", "UniquePerReplica"}
    assert {scenario.claims for scenario in scenarios} == {"", "Retain", "Delete"}
    assert {scenario.groups for scenario in scenarios} == {1, 2, 3}
    assert {scenario.size for scenario in scenarios} == {1, 2, 4}
    assert {scenario.replicas for scenario in scenarios} == {1, 2}
    assert len({scenario.restart for scenario in scenarios}) == 3


def test_seeds_draw_every_manner_of_gang():
    scenarios = [scenario for seed in range(600) if (scenario := draw_scenario(seed)).gang]
    assert 100 < len(scenarios) < 200
    assert {scenario.gang for scenario in scenarios} == set(gang_faults.LISTS)
    assert {scenario.topology for scenario in scenarios} == set(gang_faults.TOPOLOGIES)
    assert {scenario.is_exclusive for scenario in scenarios} == {False, True}
    assert {scenario.names_scheduler for scenario in scenarios} == {False, True}
    assert {scenario.part for scenario in scenarios} == {0, 1, 2}
    assert {scenario.size for scenario in scenarios} == {1, 2, 4}
    kinds = {fault.kind for scenario in scenarios for fault in scenario.faults}
    assert set(gang_faults.KINDS) <= kinds


def test_a_seed_without_gangs_has_none_of_their_faults():
    scenarios = [scenario for seed in range(300) if not (scenario := draw_scenario(seed)).gang]
    drawn = {fault.name for scenario in scenarios for fault in scenario.faults}
    assert not any(CATALOGUE[name].is_of_gangs for name in drawn)
