"""
The order of the creates of one plan.

Creates of one kind start slowly: one, then two for each that succeeded, and no more after one that
did not. A create with a link is sent after the create that it names, if that made its object, and
before what waits: so units are complete one after the other.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from kohort.cluster.actions import Action, Create, Link, address_of
from kohort.cluster.objects import Kind, metadata_of
from kohort.cluster.port import Address

Follower = tuple[int, str]  # the number of a create, and the uid of the object that it follows


def link_of(action: Action) -> Link | None:
    """The link of a create that follows another; None for all other actions."""
    return action.link if isinstance(action, Create) else None


def find_lead(action: Action) -> Address | None:
    """The object that an action follows by a link."""
    link = link_of(action)
    return None if link is None else replace(address_of(action), name=link.name)


def find_followers(
    actions: Sequence[Action], creates: Mapping[Kind, Sequence[int]]
) -> dict[int, list[int]]:
    """The creates that follow each create by a link."""
    found: dict[int, list[int]] = {}
    for numbers in creates.values():
        links = [(number, link) for number in numbers if (link := link_of(actions[number]))]
        named = {address_of(actions[number]).name: number for number in numbers} if links else {}
        for number, link in links:
            if link.name in named:
                found.setdefault(named[link.name], []).append(number)
    return found


def note_lead(action: Action, uid: str) -> Action:
    """The action with the uid of the object that it follows."""
    link = link_of(action)
    if link is None or not isinstance(action, Create):
        return action
    metadata = metadata_of(action.obj)
    notes = {**(metadata.get("annotations") or {}), link.annotation: uid}
    return replace(action, obj={**action.obj, "metadata": {**metadata, "annotations": notes}})


async def start_slowly(
    run: Callable[[int, str], Awaitable[Sequence[Follower] | None]],
    numbers: Sequence[int],
    at_once: int,
) -> None:
    """Run one, then two for each success, within a limit; start no more after a failure."""
    waiting = deque((number, "") for number in numbers)
    running = 0
    has_failed = False

    async def follow(number: int, uid: str) -> None:
        nonlocal running, has_failed
        followers = await run(number, uid)
        has_failed = has_failed or followers is None
        if has_failed:
            waiting.clear()
        else:
            waiting.extendleft(reversed(followers or ()))
        running -= 1
        start(2)

    def start(count: int) -> None:
        nonlocal running
        for _ in range(min(count, len(waiting), at_once - running)):
            running += 1
            group.create_task(follow(*waiting.popleft()))

    async with asyncio.TaskGroup() as group:
        start(1)
