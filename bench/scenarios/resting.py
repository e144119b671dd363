"""
Resting: ten minutes in which nothing happens, and what the operator asks for in them.

Time is virtual, as in the tests, whose laboratory this is: the minutes take only as
long as a task has something to do. Every request is counted, reads and watches too.
"""

import asyncio
import sys
import time
from pathlib import Path
from random import Random
from typing import Any, cast

from bench.controller import CountedRequests
from bench.figures import Figure
from bench.processes import pin
from bench.snapshots import make_workload
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apiserver.inprocess import InProcessCluster
from kohort.controller.api_controller import ControllerContext
from kohort.controller.operator import Operator

SIZE = 4
REST_SECONDS = 600.0


def measure(quick: bool) -> list[Figure]:
    """Let a large workload rest, with each carrier."""
    pin(0)
    groups = 10 if quick else 50
    return [asyncio.run(_rest(carrier, groups)) for carrier in ("statefulsets", "pods")]


async def _rest(carrier: str, groups: int) -> Figure:
    lab = _make_lab()
    await lab.open(nodes=64, operator=False)
    counted = CountedRequests(cast(Any, InProcessCluster(lab.api, bookmark_seconds=None)))
    context = ControllerContext(cast(Any, counted), lab.time, Random(1))
    lab.operator = Operator(context, [LEADER_WORKER_SET])
    lab._task = asyncio.ensure_future(lab.operator.run())
    await lab.apply(make_workload("serve", groups, SIZE, carrier))
    await lab.until(lambda: lab.is_available("serve"))
    await lab.run(5.0)
    counted.seen.clear()
    revision, began = lab.api.store.revision, time.process_time()
    await lab.run(REST_SECONDS)
    seconds = time.process_time() - began
    changes = lab.api.store.revision - revision
    await lab.close()
    return Figure(
        f"{carrier}: {groups} groups x {SIZE}: requests in 10 minutes",
        sum(counted.seen.values()),
        "",
        at_most=0,
        note=f"{changes} writes by anybody, {seconds * 1e3:.0f} ms of CPU time",
    )


def _make_lab() -> Any:
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "operator"))
    from operator_lab import Lab

    return Lab()
