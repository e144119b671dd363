"""What happens to the cluster while a webhook thinks, and in which order it is asked."""

from typing import Any

import orjson
import pytest
from admission_world import World, answer, config_map, webhook

from kohort.apiserver.api.requests import DeleteOptions, ListOptions, WriteOptions
from kohort.cluster.errors import Conflict, Invalid, NotFound
from kohort.cluster.kinds import CONFIG_MAP, PRIORITY_CLASS
from kohort.cluster.objects import Object


class Meddler:
    """A webhook during whose first call another client writes."""

    def __init__(self) -> None:
        self.meddle: Any = None
        self.asked = 0

    async def __call__(
        self, url: str, body: bytes, ca: bytes, server_name: str, timeout: float
    ) -> bytes:
        self.asked += 1
        request = orjson.loads(body)["request"]
        meddle, self.meddle = self.meddle, None
        if meddle is not None:
            await meddle()
        return answer(request, {"warnings": ["seen"]})


async def start(kind: str = "Validating", **changes: Any) -> tuple[World, Meddler]:
    meddler = Meddler()
    world = await World(caller=meddler).start()
    await world.create(config_map("a"))
    await world.configure(webhook("think", **changes), kind=kind)
    return world, meddler


def read(world: World, name: str) -> Object | None:
    entry = world.store.find("configmaps", ("lab", name))
    return entry.decode() if entry else None


async def test_a_patch_loses_nothing_that_was_written_meanwhile():
    world, meddler = await start()
    meddler.meddle = lambda: world.merge("a", {"data": {"theirs": "1"}})
    await world.merge("a", {"data": {"ours": "1"}})
    found = read(world, "a")
    assert found is not None
    assert found["data"] == {"x": "y", "theirs": "1", "ours": "1"}


async def test_a_warning_is_told_once_however_often_it_is_tried():
    world, meddler = await start()
    meddler.meddle = lambda: world.merge("a", {"data": {"theirs": "1"}})
    target = world.api.target(CONFIG_MAP, "lab", "a")
    body = {**config_map("a"), "data": {"ours": "1"}}
    updated = await world.api.update(target, body, WriteOptions())
    assert updated.warnings == ("seen",)
    assert meddler.asked == 3


async def test_a_delete_does_not_take_an_object_that_came_meanwhile():
    world, meddler = await start()
    before = read(world, "a")
    assert before is not None

    async def replace() -> None:
        await world.delete("a")
        await world.create(config_map("a"))

    meddler.meddle = replace
    target = world.api.target(CONFIG_MAP, "lab", "a")
    with pytest.raises(Conflict):
        await world.api.delete(target, DeleteOptions(uid=before["metadata"]["uid"]))
    assert read(world, "a") is not None


async def test_a_collection_is_deleted_though_part_of_it_went_meanwhile():
    world, meddler = await start()
    await world.create(config_map("b"))
    meddler.meddle = lambda: world.delete("a")
    target = world.api.target(CONFIG_MAP, "lab")
    await world.api.delete_collection(target, ListOptions(), DeleteOptions())
    assert read(world, "a") is None
    assert read(world, "b") is None


async def test_a_delete_of_what_went_meanwhile_finds_nothing():
    world, meddler = await start()
    meddler.meddle = lambda: world.delete("a")
    with pytest.raises(NotFound):
        await world.delete("a")


@pytest.mark.parametrize(("kind", "asked"), [("Validating", 0), ("Mutating", 1)])
async def test_only_those_who_may_change_a_write_see_one_that_is_invalid(kind: str, asked: int):
    everything = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"]}
    rules = [{**everything, "resources": ["priorityclasses"]}]
    world, meddler = await start(kind, rules=rules)
    with pytest.raises(Invalid):
        await world.create({"metadata": {"name": "Not A Name"}, "value": 1}, PRIORITY_CLASS)
    assert meddler.asked == asked
