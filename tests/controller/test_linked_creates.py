"""Creates that follow another create of their plan, and note the uid of its object."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from controller_world import CONFIGMAP, config_map, make_cluster

from kohort.cluster.actions import Create, Link
from kohort.cluster.errors import Invalid
from kohort.cluster.objects import Object, annotations_of, name_of, uid_of
from kohort.cluster.port import Address
from kohort.controller.execute import Executor, Outcome, Result

NOTE = "example.com/lead"


def create(name: str, lead: str = "") -> Create:
    made = Create(CONFIGMAP, "lab", config_map(name, "me"), why="it is wanted")
    return replace(made, link=Link(lead, NOTE)) if lead else made


class Recording:
    """A cluster that notes the order of creates, and refuses or delays some."""

    def __init__(self, refused: str = "", delayed: str = "") -> None:
        self.refused, self.delayed = refused, delayed
        self.made: list[str] = []
        self.has_refused = asyncio.Event()

    async def create(self, kind: Any, namespace: str, obj: Object) -> Object:
        name = name_of(obj)
        self.made.append(name)
        if name == self.refused:
            self.has_refused.set()
            raise Invalid("bad template")
        if name == self.delayed:
            await self.has_refused.wait()
        return {**obj, "metadata": {**obj["metadata"], "uid": f"uid of {name}"}}


async def run(cluster: Any, *actions: Create, at_once: int = 64) -> list[Outcome]:
    return await Executor(cluster, at_once=at_once).run(actions)


async def test_one_that_follows_notes_the_uid_of_what_was_made_before_it():
    cluster = await make_cluster()
    actions = [create("worker", "entry"), create("entry")]
    outcomes = await run(cluster, *actions)
    assert [outcome.action for outcome in outcomes] == actions
    assert {outcome.result for outcome in outcomes} == {Result.DONE}
    entry = await cluster.read(Address(CONFIGMAP, "lab", "entry"))
    worker = await cluster.read(Address(CONFIGMAP, "lab", "worker"))
    assert annotations_of(worker)[NOTE] == uid_of(entry)
    assert NOTE not in annotations_of(entry)


async def test_units_are_complete_one_after_the_other():
    cluster = Recording()
    entries = [create("a"), create("b")]
    workers = [create(f"{lead}-{n}", lead) for lead in ("a", "b") for n in (1, 2)]
    await run(cluster, *entries, *workers, at_once=1)
    assert cluster.made == ["a", "a-1", "a-2", "b", "b-1", "b-2"]


async def test_nothing_follows_what_existed_already():
    """It may be of another revision: only a plan that has seen it can tell what it lacks."""
    cluster = await make_cluster()
    await cluster.create(CONFIGMAP, "lab", config_map("entry", "me"))
    outcomes = await run(cluster, create("entry"), create("worker", "entry"))
    assert [outcome.result for outcome in outcomes] == [Result.EXISTS, Result.CONFLICT]
    assert "entry" in outcomes[1].message


async def test_one_whose_lead_is_not_in_the_plan_is_not_sent():
    cluster = Recording()
    [outcome] = await run(cluster, create("worker", "entry"))
    assert (outcome.result, cluster.made) == (Result.CONFLICT, [])


async def test_nothing_follows_what_was_refused():
    cluster = Recording(refused="entry")
    outcomes = await run(cluster, create("entry"), create("worker", "entry"))
    assert [outcome.result for outcome in outcomes] == [Result.REFUSED, Result.SKIPPED]
    assert cluster.made == ["entry"]
    assert outcomes[1].message == "bad template"


@pytest.mark.parametrize("delayed", ["b", "c"])
async def test_after_a_refusal_nothing_follows_what_succeeds_later(delayed: str):
    refused = "c" if delayed == "b" else "b"
    cluster = Recording(refused=refused, delayed=delayed)
    follower = create("worker", delayed)
    outcomes = await run(cluster, create("a"), create("b"), create("c"), follower)
    assert (outcomes[3].result, "worker" in cluster.made) == (Result.SKIPPED, False)
