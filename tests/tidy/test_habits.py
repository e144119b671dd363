"""The hosted workflow and the hooks before a commit run what the Makefile runs."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
TOOLS = ("ruff format --check", "ruff check", "mypy", "lint-imports", "python -m tools.check_types")


def test_every_step_of_the_workflow_is_a_command_of_the_makefile():
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    steps = [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]
    commands = [step["run"].split() for step in steps if "run" in step]
    assert {words[1] for words in commands} == {"lint", "test", "test-real", "search"}
    assert all(words[0] == "make" and words[1] in targets for words in commands)


def test_tests_run_on_every_python_from_the_least_on():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    least = int(project["requires-python"].removeprefix(">=3."))
    versions = WORKFLOW["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert versions == [f"3.{minor}" for minor in range(least, 15)]


def test_the_hooks_before_a_commit_run_the_tools_of_make_lint():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    entries = " ".join(hook["entry"] for hook in hooks)
    lint = MAKEFILE.split("lint: ")[1].split("\n\n")[0]
    for tool in TOOLS:
        assert f"/{tool}" in entries and f"/{tool}" in lint


def test_make_check_ends_in_make_test():
    check = MAKEFILE.split("check: lint")[1].split("\n\n")[0]
    assert check.rstrip().endswith("test")
