"""
Starting: how long a person waits for ``kohort up`` and for ``kohort --help``.

Imports are counted by asking Python for the time of each: the sum is what the
ready line would gain if nothing had to be imported.
"""

import os
import re
import subprocess
import sys
import time
from statistics import median

from bench.figures import Figure
from bench.processes import cluster, environment, kohort, pin

_IMPORT = re.compile(r"import time:\s+(\d+) \|")
_HEAVY = "import kohort.cli.embedded, kohort.simulator.embedded, kohort.apiserver.host.identity"


def measure(quick: bool) -> list[Figure]:
    """Run each command a few times; the best run is the one that was disturbed least."""
    pin(0)
    runs = 3 if quick else 7
    ready = [_start() for _ in range(runs)]
    alone = [_start("--no-operator") for _ in range(runs)]
    helps = [_run([*kohort(), "--help"]) for _ in range(runs)]
    imports = [_run([sys.executable, "-c", _HEAVY]) for _ in range(runs)]
    bare = [_run([sys.executable, "-c", "pass"]) for _ in range(runs)]
    best_import = min(cpu for _, cpu in imports) - min(cpu for _, cpu in bare)
    return [
        Figure("kohort up, to its ready line (best)", min(ready), "s", at_most=2),
        Figure("kohort up, to its ready line (median)", median(ready), "s"),
        Figure("kohort up --no-operator (best)", min(alone), "s", at_most=2),
        Figure("kohort up --no-operator (median)", median(alone), "s"),
        Figure("its imports, CPU time (best)", best_import, "s", at_most=0.5),
        Figure("its imports, CPU time (median)", median(cpu for _, cpu in imports), "s"),
        Figure("its imports, sum of -X importtime", _import_seconds(), "s"),
        Figure("kohort --help (best)", min(s for s, _ in helps) * 1e3, "ms", at_most=150),
        Figure("kohort --help (median)", median(s for s, _ in helps) * 1e3, "ms"),
        Figure("kohort --help, CPU time (best)", min(cpu for _, cpu in helps) * 1e3, "ms"),
    ]


def _start(*arguments: str) -> float:
    with cluster(*arguments) as running:
        return running.seconds


def _run(command: list[str]) -> tuple[float, float]:
    """Seconds of the wall and of the CPU."""
    before, began = os.times(), time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, env=environment(), check=True)
    seconds = time.perf_counter() - began
    after = os.times()
    user = after.children_user - before.children_user
    return seconds, user + after.children_system - before.children_system


def _import_seconds() -> float:
    command = [sys.executable, "-X", "importtime", "-c", _HEAVY]
    done = subprocess.run(command, stderr=subprocess.PIPE, env=environment(), text=True, check=True)
    return sum(int(own) for own in _IMPORT.findall(done.stderr)) / 1e6
