"""``make bench`` keeps up with the code that it measures."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench import run
from bench.scenarios.planning import measure_looks


async def test_a_look_at_a_workload_is_measured():
    figures = await measure_looks(10)
    assert [figure.unit for figure in figures] == ["ms", "ms", "ms", "times"] * 2


def test_a_scenario_that_fails_does_not_keep_others_from_being_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(run, "SCENARIOS", ("unknown", "ganging"))
    monkeypatch.setattr(run, "RESULTS", tmp_path)
    assert run.main(["unknown", "ganging", "--quick"]) == 1
    told = capfd.readouterr()
    assert "a session of" in told.out
    assert "not measured: unknown" in told.err
