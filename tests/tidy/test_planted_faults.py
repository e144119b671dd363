"""The list of planted faults keeps up with the source, and its page with the list."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIST = ROOT / "tools/mutants/mutants.yaml"
FAULTS_MIN = 40


def check(faults: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.mutants", "--check", "--list", str(faults)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_fault_applies_and_the_page_says_what_became_of_it():
    done = check(LIST)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[0]) >= FAULTS_MIN


def test_a_fault_whose_text_has_gone_is_an_error(tmp_path: Path):
    faults = tmp_path / "faults.yaml"
    faults.write_text(LIST.read_text().replace("policy.ready_min", "policy.ready_least", 1))
    done = check(faults)
    assert done.returncode != 0
    assert "budget-ignores-released: its text stands 0 times" in done.stderr


def test_a_page_that_is_behind_the_list_is_an_error(tmp_path: Path):
    faults = tmp_path / "faults.yaml"
    faults.write_text(LIST.read_text().replace("maxUnavailable goes at once", "it", 1))
    done = check(faults)
    assert done.returncode != 0
    assert "planted-bugs.md is behind" in done.stderr
