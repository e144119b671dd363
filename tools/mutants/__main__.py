"""
Plants one fault at a time in a copy of the source, and sees whether a suite notices.

    python -m tools.mutants [--only NAME] [--suites simulation] [--workers N]

The suites run from the cheapest to the dearest, until one fails: rehearsals (corpus
and seeds), planning, the operator in virtual time. What survives is listed: it is
explained in docs/simulation.md or leads to a test.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("mutants.yaml")
SECONDS_MAX = 600
REHEARSE = """
import sys
from pathlib import Path
from kohort.rehearsal.running import rehearse, rehearse_seed
from kohort.rehearsal.scenario import load_scenario
for path in sorted(Path("tests/simulation/corpus").glob("*.yaml")):
    if not rehearse(load_scenario(path).play).is_good:
        sys.exit(f"corpus {path.stem}")
for seed in range(int(sys.argv[1])):
    if not rehearse_seed(seed).is_good:
        sys.exit(f"seed {seed}")
"""


@dataclass(frozen=True)
class Mutant:
    """One planted fault."""

    name: str
    file: str
    find: str
    put: str


def load() -> list[Mutant]:
    """All mutants of the list; each text must stand in its file exactly once."""
    mutants = [Mutant(**entry) for entry in yaml.safe_load(LIST.read_text())]
    for mutant in mutants:
        count = (ROOT / "src/kohort" / mutant.file).read_text().count(mutant.find)
        if count != 1:
            sys.exit(f"{mutant.name}: its text stands {count} times in {mutant.file}")
    return mutants


def judge(mutant: Mutant, chosen: dict[str, list[str]]) -> str:
    """Which suite noticed; empty if none did."""
    with TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder)
        for name in ("src", "tests", "pyproject.toml"):
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, copy / name)
        path = copy / "src/kohort" / mutant.file
        path.write_text(path.read_text().replace(mutant.find, mutant.put))
        for suite, command in chosen.items():
            found = run(copy, command)
            if found:
                return f"{suite}: {found}"
    return ""


def suites(seeds: int) -> dict[str, list[str]]:
    """The suites, the cheapest first."""
    pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    return {
        "simulation": [sys.executable, "-c", REHEARSE, str(seeds)],
        "planning": [*pytest, "tests/planning"],
        "operator": [*pytest, "tests/operator", "tests/controller"],
    }


def run(folder: Path, command: list[str]) -> str:
    """What a suite says when it fails; a suite that does not end has noticed too."""
    path = f"{folder / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "it did not end"
    if done.returncode == 0:
        return ""
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    failed = [line.partition("::")[2] for line in lines if line.startswith("FAILED")]
    return (failed or lines or [f"exit code {done.returncode}"])[-1][:90]


def main() -> int:
    """Judge all mutants, and print how many were caught."""
    parser = argparse.ArgumentParser(prog="tools.mutants")
    parser.add_argument("--only", default="", help="mutants whose name holds this")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--suites", default="simulation,planning,operator")
    arguments = parser.parse_args()
    names = arguments.suites.split(",")
    chosen = {name: command for name, command in suites(arguments.seeds).items() if name in names}
    mutants = [mutant for mutant in load() if arguments.only in mutant.name]
    begun = time.monotonic()
    caught = 0
    with ThreadPoolExecutor(arguments.workers) as pool:
        verdicts = pool.map(lambda mutant: judge(mutant, chosen), mutants)
        for mutant, verdict in zip(mutants, verdicts, strict=True):
            caught += bool(verdict)
            print(f"{mutant.name:30} {verdict or 'SURVIVED'}", flush=True)
    seconds = time.monotonic() - begun
    print(f"\n{caught} of {len(mutants)} caught in {seconds:.0f} s")
    return 0 if caught == len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main())
