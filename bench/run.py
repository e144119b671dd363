"""
The runner: measures one scenario after the other, each in a process of its own.

What one scenario leaves in memory or in caches is thereby no part of the next.
Results are appended as JSON lines, one file for each run. A scenario that fails does not
keep the others from being measured.
"""

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench.figures import Figure, show_table

SCENARIOS = (
    "starting",
    "storing",
    "serving",
    "watching",
    "growing",
    "scheduling",
    "ganging",
    "running",
    "planning",
    "roles",
    "operating",
    "carrying",
    "multiplying",
    "modelservings",
    "rolebasedgroups",
    "resting",
    "viewing",
    "browsing",
)
RESULTS = Path(__file__).with_name("results")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the named scenarios; the exit code says whether all goals were met."""
    parser = argparse.ArgumentParser(prog="bench", description="measure Kohort")
    parser.add_argument("scenarios", nargs="*", help=f"of {', '.join(SCENARIOS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="smaller loads, rougher figures")
    parser.add_argument("--strict", action="store_true", help="fail if a goal is missed")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    unknown = set(arguments.scenarios) - set(SCENARIOS)
    if unknown:
        parser.error(f"no such scenario: {', '.join(sorted(unknown))}")
    if arguments.inside:
        _measure_here(arguments.scenarios[0], quick=arguments.quick)
        return 0
    return _measure_all(arguments.scenarios or SCENARIOS, arguments.quick, arguments.strict)


def _measure_here(scenario: str, *, quick: bool) -> None:
    module = importlib.import_module(f"bench.scenarios.{scenario}")
    figures: list[Figure] = module.measure(quick)
    print(json.dumps([figure.as_json(scenario) for figure in figures]))


def _measure_all(scenarios: Sequence[str], quick: bool, strict: bool) -> int:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / time.strftime("%Y%m%d-%H%M%S.json")
    lines: list[dict[str, object]] = []
    failed: list[str] = []
    with path.open("w") as results:
        for scenario in scenarios:
            try:
                found = [{**line, **_machine()} for line in _measure_apart(scenario, quick)]
            except subprocess.CalledProcessError:
                failed.append(scenario)
                continue
            lines += found
            results.writelines(json.dumps(line) + "\n" for line in found)
            print(show_table(scenario, [_read(line) for line in found]), flush=True)
    print("\n".join(json.dumps(line) for line in lines))
    if failed:
        print(f"not measured: {', '.join(failed)}; the reasons are above", file=sys.stderr)
    return int(bool(failed) or (strict and any(line["verdict"] == "MISSED" for line in lines)))


def _measure_apart(scenario: str, quick: bool) -> list[dict[str, object]]:
    command = [sys.executable, "-m", "bench", "--inside", scenario]
    if quick:
        command.append("--quick")
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found: list[dict[str, object]] = json.loads(done.stdout.splitlines()[-1])
    return found


def _read(line: dict[str, object]) -> Figure:
    known = {name: line[name] for name in Figure.__dataclass_fields__}
    return Figure(**known)  # type: ignore[arg-type]


def _machine() -> dict[str, object]:
    return {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
    }
