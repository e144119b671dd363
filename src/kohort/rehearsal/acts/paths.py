"""
What happens on the way between the operator and the cluster, and to its processes.
"""

import asyncio
from datetime import timedelta

from kohort.rehearsal.play import Fault
from kohort.rehearsal.stage import Stage
from kohort.simulator import kinds

_PART_KINDS = {
    "Pod": kinds.POD,
    "StatefulSet": kinds.STATEFUL_SET,
    "ControllerRevision": kinds.REVISION,
    "Node": kinds.NODE,
}
REPEATS = 4


async def _lag(stage: Stage, fault: Fault) -> None:
    until = stage.clock.elapsed() + fault.seconds
    lags = stage.trouble.lags
    lags[fault.kind] = max(lags.get(fault.kind, 0.0), until)
    await asyncio.sleep(fault.seconds)


async def _relist(stage: Stage, fault: Fault) -> None:
    await _lag(stage, fault)
    stage.trouble.breaks[fault.kind] = fault.name


async def _part_lag(stage: Stage, fault: Fault) -> None:
    kind = _PART_KINDS[fault.kind]
    seats = [seat for seat in stage.world.seats if seat.part.name == fault.value]
    for seat in seats:
        seat.hold(kind)
    await asyncio.sleep(fault.seconds)
    for seat in seats:
        seat.release(kind)


async def _jump(stage: Stage, fault: Fault) -> None:
    stage.time.jump += timedelta(seconds=float(fault.value))


async def _cut_off(stage: Stage, fault: Fault) -> None:
    for candidate in stage.candidates:
        if candidate.election is not None and candidate.election.is_held:
            stage.trouble.cut_off[candidate.writer] = stage.clock.elapsed() + fault.seconds
    await asyncio.sleep(fault.seconds)


async def _repeat(stage: Stage, fault: Fault) -> None:
    stage.trouble.repeats[fault.kind] = max(REPEATS, fault.span)
    await asyncio.sleep(fault.seconds)
    stage.trouble.repeats.pop(fault.kind, None)


async def _restart(stage: Stage, fault: Fault) -> None:
    for candidate in stage.candidates:
        await candidate.stop(fault.seconds)


async def _upgrade(stage: Stage, fault: Fault) -> None:
    stage.modernise()
    for candidate in stage.candidates:
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
