"""
``python -m bench.real``: measure the operator on a real control plane.

Figures are kept after every act, so a measurement that is cut short is not lost.
"""

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.real.passes import ALL, GROWTH, WORKLOADS, Choice, Sizes, list_passes, run_pass
from bench.real.report import write_report
from bench.real.sites import READINESS, before_others

RESULTS = Path(__file__).parents[1] / "results"


def main(words: Sequence[str]) -> int:
    """Measure the named scenarios, and print a table."""
    told = _read(words)
    if told.report:
        lines = [line for path in told.report for line in json.loads(path.read_text())["figures"]]
        print(write_report(lines))
        return 0
    choice = Choice(
        told.only,
        told.workloads,
        told.readiness,
        told.runs,
        told.growth,
        told.rest,
        told.timeout,
        told.profile,
        Sizes(told.burst, told.fleet, told.big),
    )
    RESULTS.mkdir(exist_ok=True)
    path = told.out or RESULTS / time.strftime("real-%Y%m%d-%H%M%S.json")
    with before_others(), tempfile.TemporaryDirectory(prefix="kohort-real-") as folder:
        lines = asyncio.run(_measure(choice, told.folder or Path(folder, "plane"), path))
    print(write_report(lines))
    print(f"\nall figures: {path}")
    return int(not all(line.get("done", True) for line in lines))


async def _measure(choice: Choice, folder: Path, path: Path) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    head = describe_machine()

    def keep(line: dict[str, Any]) -> None:
        lines.append(line)
        path.write_text(json.dumps({**head, "figures": lines}, indent=1) + "\n")

    began = time.monotonic()
    for one in list_passes(choice):
        await run_pass(one, choice, folder, keep)
        print(f"{time.monotonic() - began:.0f} s so far", file=sys.stderr, flush=True)
    return lines


def describe_machine() -> dict[str, Any]:
    """What the figures were measured on."""
    text = Path("/proc/cpuinfo").read_text()
    model = text.partition("model name")[2].partition(":")[2].partition("\n")[0].strip()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "time": time.strftime("%Y-%m-%d %H:%M:%S"),
        "cores": os.cpu_count(),
        "processor": model,
        "memory_gib": round(memory / 2**30),
        "python": platform.python_version(),
        "load_before": round(os.getloadavg()[0], 2),
    }


def _read(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.real", description=__doc__)
    parser.add_argument("--only", type=_some(ALL), default=ALL, help=f"of {','.join(ALL)}")
    known = tuple(WORKLOADS)
    parser.add_argument("--workloads", type=_some(known), default=known, help=",".join(known))
    parser.add_argument("--readiness", type=_some(tuple(READINESS)), default=tuple(READINESS))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--burst", type=int, default=Sizes().burst, help="groups in act a")
    parser.add_argument("--fleet", type=int, default=Sizes().fleet, help="objects in act b")
    parser.add_argument("--big", type=int, default=Sizes().big, help="groups in act c")
    parser.add_argument("--growth", type=_numbers, default=GROWTH, help="groups, as 25,50,100")
    parser.add_argument("--rest", type=float, default=60.0, help="seconds of rest")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for one act")
    parser.add_argument("--profile", type=Path, help="write a profile of the operator there")
    parser.add_argument("--folder", type=Path, help="where the last control plane is left")
    parser.add_argument("--out", type=Path, help="where the figures are kept")
    parser.add_argument("--report", type=Path, nargs="+", help="only print the table of results")
    return parser.parse_args(words)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def _some(known: tuple[str, ...]) -> Any:
    def read(text: str) -> tuple[str, ...]:
        parts = tuple(text.split(","))
        unknown = ", ".join(part for part in parts if part not in known)
        if unknown:
            raise argparse.ArgumentTypeError(f"{unknown} is not one of {', '.join(known)}")
        return parts

    return read


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
