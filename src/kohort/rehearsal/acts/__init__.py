"""
Acts: what the timed faults do when their time has come.

A fault that lasts undoes itself when its time is over. A fault that finds nothing
to act on does nothing: what exists at a time depends on everything before it.
"""

import asyncio
from collections.abc import Awaitable, Callable

from kohort.rehearsal.acts import autoscaling, cluster, editing, gangs, hands, meddling, paths
from kohort.rehearsal.play import Fault
from kohort.rehearsal.stage import Stage

Act = Callable[[Stage, Fault], Awaitable[None]]
ACTIONS: dict[str, Act] = {
    **paths.ACTIONS,
    **cluster.ACTIONS,
    **meddling.ACTIONS,
    **editing.ACTIONS,
    **gangs.ACTIONS,
    **hands.ACTIONS,
    **autoscaling.ACTIONS,
}


async def act(stage: Stage, fault: Fault) -> None:
    """Let one fault happen when its time has come; those of requests happen by themselves."""
    action = ACTIONS.get(fault.name)
    if action is not None:
        await asyncio.sleep(fault.at)
        await action(stage, fault)
