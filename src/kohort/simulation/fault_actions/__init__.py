"""
Fault actions: the functions that carry out timed faults.

A fault that lasts undoes itself when its time is over. A fault that finds no object
to act on does nothing, since which objects exist depends on the faults before it.
"""

import asyncio
from collections.abc import Awaitable, Callable

from kohort.simulation.fault_actions import (
    cluster_faults,
    gang_faults,
    hand_edits,
    request_faults,
    user_edits,
)
from kohort.simulation.harness import Harness
from kohort.simulation.scenario import Fault

Act = Callable[[Harness, Fault], Awaitable[None]]
ACTIONS: dict[str, Act] = {
    **request_faults.ACTIONS,
    **cluster_faults.ACTIONS,
    **user_edits.ACTIONS,
    **gang_faults.ACTIONS,
    **hand_edits.ACTIONS,
}


async def apply_fault(harness: Harness, fault: Fault) -> None:
    """Let one fault happen when its time has come; those of requests happen by themselves."""
    action = ACTIONS.get(fault.name)
    if action is not None:
        await asyncio.sleep(fault.at)
        await action(harness, fault)
