"""
The suites, run in a copy of the tree: what noticed, in the words of the suite.

A run of a suite has a limit, and one that does not end has noticed too. The limit is one
of processor time, so that a busy machine cannot make a sound run look like one that hangs;
only a run that waits for ever meets the limit by the clock, which is far longer. A suite
that cannot be run at all (nothing collected, a name that is gone) is an error: it must not
be taken for one that noticed.
"""

import compileall
import os
import py_compile
import resource
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tools.mutants.entries import ROOT

NAMED_SECONDS_MAX = 120
ALL_SECONDS_MAX = 600
SIMULATIONS_SECONDS_MAX = 300
WAITING_FACTOR = 5
# Asked only where neither simulations nor the named suites notice: the quick ones first.
ALL = (
    "tests/planning",
    "tests/controller",
    "tests/apis",
    "tests/controller_admission",
    "tests/operator",
)
_COPIED = ("src", "tests", "tools", "examples", "docs", "pyproject.toml", "Makefile")
_NOT_ENDED = "(did not end)"


class SuiteError(Exception):
    """A suite that could not be run."""


@dataclass(frozen=True)
class Noticed:
    """Who noticed, so that it can be asked again, and in which words."""

    by: str  # a test's id, or a simulation as ``lws:7`` or ``corpus:name``
    words: str = ""


def copy_tree(folder: Path) -> None:
    """A copy in which files can change in one second without stale bytecode being taken."""
    for name in _COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.is_file():
            shutil.copy(source, folder / name)
    mode = py_compile.PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(folder / "src", quiet=2, invalidation_mode=mode)


def run_simulations(
    copy: Path, runs: list[str], seeds: int = 0, api: str = "lws"
) -> Noticed | None:
    """The first simulation that breaks a promise."""
    options = ["--seeds", str(seeds), "--api", api]
    command = [sys.executable, "-m", "tools.mutants.simulate", *options, *runs]
    done = _run(copy, command, SIMULATIONS_SECONDS_MAX)
    if done is None:
        return Noticed("", f"simulations {_NOT_ENDED}")
    if done.returncode == 0:
        return None
    lines = done.stdout.splitlines()
    if done.returncode != 1 or not lines:
        # The source cannot be imported, or a simulation took the interpreter with it.
        raise SuiteError(_last_line(done))
    run, _, words = lines[-1].partition(" ")
    return Noticed(run, words[:160])


def run_tests(copy: Path, paths: list[str], seconds_max: int) -> Noticed | None:
    """The first test that fails."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *paths]
    done = _run(copy, command, seconds_max)
    if done is None:
        return Noticed(" ".join(paths), _NOT_ENDED)
    if done.returncode == 0:
        return None
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode != 1 or not failed:
        raise SuiteError(_last_line(done))
    test, _, words = failed[0].partition(" ")[2].partition(" - ")
    return Noticed(test.strip(), words.strip()[:160])


def _run(
    copy: Path, command: list[str], seconds_max: int
) -> subprocess.CompletedProcess[str] | None:
    paths = (str(copy / "src"), str(copy))
    # Properties look at the same examples each time, so a verdict can be repeated.
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "CI": "1"}
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=copy, env=known, stdout=pipe, stderr=pipe, text=True)
    with process:
        if hasattr(resource, "prlimit"):
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (seconds_max, seconds_max + 5))
        try:
            out, err = process.communicate(timeout=seconds_max * WAITING_FACTOR)
        except subprocess.TimeoutExpired:
            process.kill()
            return None
    if process.returncode == -signal.SIGXCPU:
        return None
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return lines[-1] if lines else f"exit code {done.returncode}"
