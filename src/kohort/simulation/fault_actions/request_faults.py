"""
What happens on the way between the operator and the cluster, and to its processes.
"""

import asyncio
from datetime import timedelta

from kohort.cluster import kinds
from kohort.simulation.harness import Harness
from kohort.simulation.scenario import Fault

_PART_KINDS = {
    "Pod": kinds.POD,
    "StatefulSet": kinds.STATEFUL_SET,
    "ControllerRevision": kinds.CONTROLLER_REVISION,
    "Deployment": kinds.DEPLOYMENT,
    "ReplicaSet": kinds.REPLICA_SET,
    "Node": kinds.NODE,
}
REPEATS = 4


async def _lag(harness: Harness, fault: Fault) -> None:
    until = harness.clock.elapsed() + fault.seconds
    lags = harness.trouble.lags
    lags[fault.kind] = max(lags.get(fault.kind, 0.0), until)
    await asyncio.sleep(fault.seconds)


async def _relist(harness: Harness, fault: Fault) -> None:
    await _lag(harness, fault)
    harness.trouble.breaks[fault.kind] = fault.name


async def _part_lag(harness: Harness, fault: Fault) -> None:
    kind = _PART_KINDS[fault.kind]
    runners = [runner for runner in harness.world.runners if runner.component.name == fault.value]
    for runner in runners:
        runner.hold(kind)
    await asyncio.sleep(fault.seconds)
    for runner in runners:
        runner.release(kind)


async def _jump(harness: Harness, fault: Fault) -> None:
    harness.time.jump += timedelta(seconds=float(fault.value))


async def _cut_off(harness: Harness, fault: Fault) -> None:
    for candidate in harness.candidates:
        if candidate.election is not None and candidate.election.is_held:
            harness.trouble.cut_off[candidate.writer] = harness.clock.elapsed() + fault.seconds
    await asyncio.sleep(fault.seconds)


async def _repeat(harness: Harness, fault: Fault) -> None:
    harness.trouble.repeats[fault.kind] = max(REPEATS, fault.span)
    await asyncio.sleep(fault.seconds)
    harness.trouble.repeats.pop(fault.kind, None)


async def _restart(harness: Harness, fault: Fault) -> None:
    for candidate in harness.candidates:
        await candidate.stop(fault.seconds)


async def _upgrade(harness: Harness, fault: Fault) -> None:
    harness.modernise()
    for candidate in harness.candidates:
        candidate.kill(fault.seconds)
        await asyncio.sleep(1.0)


ACTIONS = {
    "lag": _lag,
    "relist": _relist,
    "break": _relist,
    "deaf": _relist,
    "repeat": _repeat,
    "part-lag": _part_lag,
    "clock-jump": _jump,
    "partitioned": _cut_off,
    "restart": _restart,
    "upgrade": _upgrade,
}
