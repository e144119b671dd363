"""What rehearsals cover of the reliability specification, and what is still open."""

from kohort.rehearsal.faults import CATALOGUE, draw_play

# Whoever closes one of these takes it out here, and out of docs/simulation.md.
OPEN_FAULTS = {
    "F19": "no run leaves a watch out",
    "F20": "there is no earlier version to upgrade from",
}
OPEN_ORACLES = {
    "O4": "creates and deletes are not counted against a reference run",
}
COVERED_ORACLES = {"O1", "O2", "O3", "O5", "O6", "O7"}
OPEN_INVARIANTS = {
    "A6": "which group goes first when scaling down",
    "A7": "refusals at admission are tested there",
    "C5": "no workload here has configuration that pods refer to",
    "C6": "no workload here has claims",
    "T7": "tested with the operator",
    "T8": "tested with the operator",
    "R5": "no run has so many events",
    "R6": "a crash stands for every stop",
}


def test_every_fault_is_covered_or_named_as_open():
    covered = {number for entry in CATALOGUE.values() for number in entry.numbers}
    assert covered | set(OPEN_FAULTS) == {f"F{number}" for number in range(1, 21)}
    assert not covered & set(OPEN_FAULTS)


def test_every_oracle_is_covered_or_named_as_open():
    assert set(OPEN_ORACLES) | COVERED_ORACLES == {f"O{number}" for number in range(1, 8)}


def test_three_hundred_seeds_draw_every_fault():
    drawn = {fault.name for seed in range(300) for fault in draw_play(seed).faults}
    assert drawn == set(CATALOGUE)


def test_seeds_draw_every_manner_of_workload():
    plays = [draw_play(seed) for seed in range(300)]
    assert {play.carrier for play in plays} == {"statefulsets", "pods"}
    assert {play.groups for play in plays} == {1, 2, 3}
    assert {play.size for play in plays} == {1, 2}
    assert {play.replicas for play in plays} == {1, 2}
    assert len({play.restart for play in plays}) == 3
