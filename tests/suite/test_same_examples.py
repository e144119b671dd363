"""``make test`` looks at the same examples each time; ``make search`` looks at new ones."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[2]
PROFILE = """
import sys
sys.path.insert(0, "tests")
import conftest
from hypothesis import settings
print(settings.default.derandomize, settings.default.deadline)
"""


def test_the_examples_of_this_run_are_not_drawn_by_chance():
    assert settings.default is not None
    assert settings.default.derandomize


@pytest.mark.parametrize("ci", ["", "true"])
def test_they_are_the_same_on_a_build_machine_and_elsewhere(ci: str):
    environment = {key: value for key, value in os.environ.items() if key != "CI"}
    environment |= {"CI": ci} if ci else {}
    done = subprocess.run(
        [sys.executable, "-c", PROFILE],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["True", "None"]


def test_a_search_takes_fresh_examples_and_fresh_seeds():
    command = ["make", "--dry-run", "--always-make", "--no-print-directory", "search", "SEEDS=7"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert not settings.get_profile("search").derandomize
    assert "-m 'hypothesis and not real' --hypothesis-profile=search" in done.stdout
    assert "kohort sim run --apis lws,ms,rbg,isvc --seeds 7" in done.stdout
