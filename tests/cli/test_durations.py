"""Durations are read alike everywhere: in flags, scenario files, annotations and configurations."""

from pathlib import Path

import pytest

from kohort.cluster.durations import find_seconds, find_signed_seconds, read_seconds
from kohort.controller.process.configuration import read_duration
from kohort.simulation.scenario_files import ScenarioError, load_scenario
from kohort.simulator.stages import PULL, KubeletStages, Manner

WRITTEN = [
    ("15s", 15.0),
    ("1m30s", 90.0),
    ("1.5h", 5400.0),
    ("250ms", 0.25),
    (".5s", 0.5),
    ("2.s", 2.0),
    ("100us", 1e-4),
    ("100µs", 1e-4),
    ("5ns", 5e-9),
    ("0s", 0.0),
]
PLAIN = [("90", 90.0), ("0", 0.0), ("0.5", 0.5), (90, 90.0), (1.5, 1.5)]
WRONG = ["", "s", "1m 30s", "-1s", "+1s", "1e3", "1d", "٣s", "nan", "inf", "9" * 400, None, True]
BEYOND = [-1, float("nan"), float("inf"), 10**400, -(10**400), "300000000000h"]


@pytest.mark.parametrize(("text", "seconds"), [*WRITTEN, *PLAIN])
def test_durations_are_seconds(text, seconds):
    assert read_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", [*WRONG, *BEYOND])
def test_what_is_no_duration_is_refused_in_one_sentence(text):
    assert find_seconds(text) is None
    with pytest.raises(ValueError, match="must be a duration such as 15s or 1m30s, not "):
        read_seconds(text)


@pytest.mark.parametrize(("text", "seconds"), WRITTEN)
def test_annotations_and_configurations_read_the_same(text, seconds):
    manner = Manner(KubeletStages(), "uid", {PULL.annotation: text}, False)
    assert manner.seconds(PULL) == pytest.approx(seconds)
    assert read_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["90", 90])
def test_where_kubernetes_wants_a_unit_a_number_is_refused(text):
    with pytest.raises(ValueError, match="must be a duration such as 15s or 1m30s, not "):
        read_duration(text)


@pytest.mark.parametrize(
    "words",
    [
        ("sim", "clock", "step", "soon"),
        ("sim", "node", "drain", "gpu-00", "--timeout", "soon"),
        ("rollout", "status", "lws/x", "--timeout", "soon"),
        ("controller", "--leader-elect-lease-duration", "soon"),
    ],
)
def test_every_flag_refuses_alike(words, run_kohort):
    told = run_kohort(*words)
    assert told.code == 2
    assert "must be a duration such as 15s or 1m30s, not 'soon'" in told.err


def write(path: Path, at: str) -> Path:
    path.write_text(f"workload: {{latency: 100ms}}\nfaults: [{{fault: evict, at: {at}}}]\n")
    return path


def test_scenario_files_take_durations(tmp_path):
    scenario = load_scenario(write(tmp_path / "a.yaml", "1m30s")).scenario
    assert (scenario.latency, scenario.faults[0].at) == (0.1, 90.0)
    with pytest.raises(ScenarioError, match=r"at of evict must be a duration .* not 'soon'"):
        load_scenario(write(tmp_path / "b.yaml", "soon"))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("-1m30s", -90.0), ("+250ms", 0.25), ("0", 0.0), ("-0", 0.0), ("2h", 7200.0)],
)
def test_where_kubernetes_takes_a_sign_all_but_zero_need_a_unit(text, seconds):
    assert find_signed_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "-", "90", "--1s", "1d", "٣s", "300000000000h"])
def test_what_go_does_not_read_is_no_duration_with_a_sign_either(text):
    assert find_signed_seconds(text) is None
