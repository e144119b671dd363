"""
The process of the command is killed after each of its writes, for each of the four upstreams.

Each case kills at every fourth write. Each upstream begins with another write, since the command
writes alike for all of them; with KOHORT_EVERY_KILL=1 each begins with each of the first four.
"""

import os

import pytest
from apply_lab import ApplyLab

from upstream_controllers import OTHERS

STEP = 4
EVERY = [(name, first) for name in OTHERS for first in range(1, STEP + 1)]
CHOSEN = [(name, 1 + number % STEP) for number, name in enumerate(OTHERS)]
CASES = EVERY if os.environ.get("KOHORT_EVERY_KILL") else CHOSEN


async def open_lab(name: str) -> ApplyLab:
    return await ApplyLab(name).open_with_others()


@pytest.mark.parametrize(("name", "first"), CASES)
async def test_after_a_kill_at_any_write_apply_goes_on_and_undo_goes_back(name: str, first: int):
    lab = await open_lab(name)
    before = await lab.picture()
    number, has_ended = first, False
    while not has_ended:
        has_ended = not await lab.is_killed(lab.take_over(number))
        if number % 2 or has_ended:
            await lab.take_over()
        assert await lab.undo()
        assert await lab.picture() == before, f"after a kill at write {number}"
        number += STEP
    assert number > 16, "a takeover has more writes than this"
    assert lab.most_writers == 1
    await lab.close()


@pytest.mark.parametrize(("name", "first"), CASES)
async def test_after_a_kill_at_any_write_of_undo_both_ways_are_open(name: str, first: int):
    lab = await open_lab(name)
    before = await lab.picture()
    number, has_ended = first, False
    while not has_ended:
        await lab.take_over()
        has_ended = not await lab.is_killed(lab.undo(number))
        if number % 2:
            await lab.take_over()
        await lab.undo()
        assert await lab.picture() == before, f"after a kill at write {number}"
        number += STEP
    assert number > 8, "an undo has more writes than this"
    assert lab.most_writers == 1
    await lab.close()
