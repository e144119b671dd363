"""What parts tell about objects, as the events that clients see."""

from datetime import UTC, datetime
from random import Random

import orjson
import pytest

from kohort.simulator.api.api import Api
from kohort.simulator.api.registry import Registry
from kohort.simulator.api.requests import DeleteOptions, ListOptions
from kohort.simulator.kinds import EVENT, NAMESPACE
from kohort.simulator.resources.builtin import builtin_resources
from kohort.simulator.steps import Emit, Moment
from kohort.simulator.store.store import Store
from kohort.simulator.world.executing import options_of
from kohort.simulator.world.recording import Recorder

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
POD = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {"name": "one", "namespace": "lab", "uid": "uid-1"},
}


class Desk:
    """A recorder, and the events it wrote."""

    def __init__(self) -> None:
        registry = Registry(builtin_resources())
        self.api = Api(Store(), registry, lambda: NOW, Random(1))
        self.recorder = Recorder(self.api)

    async def tell(self, reason: str, message: str = "", part: str = "kubelet") -> None:
        told = Emit(POD, "Normal", reason, message)
        await self.recorder.record(told, part, options_of("kubelet"), Moment(NOW, 0.0))

    def events(self) -> list[dict]:
        page = self.api.list(self.api.target(EVENT, "lab"), ListOptions())
        return [orjson.loads(raw) for raw in page.items]


@pytest.fixture
async def desk() -> Desk:
    desk = Desk()
    body = {"metadata": {"name": "lab"}}
    await desk.api.create(desk.api.target(NAMESPACE), body, options_of("test"))
    return desk


async def test_events_of_one_moment_are_listed_in_the_order_they_came(desk):
    reasons = ["Scheduled", "Pulling", "Pulled", "Created", "Started"]
    for reason in reasons:
        await desk.tell(reason)
    assert [event["reason"] for event in desk.events()] == reasons


async def test_a_thing_told_again_is_counted(desk):
    for message in ("same", "same", "other"):
        await desk.tell("BackOff", message)
    told = [(event["message"], event["count"]) for event in desk.events()]
    assert told == [("same", 2), ("other", 1)]


async def test_a_thing_told_again_after_its_event_was_deleted_is_told_anew(desk):
    await desk.tell("BackOff")
    (event,) = desk.events()
    target = desk.api.target(EVENT, "lab", event["metadata"]["name"])
    await desk.api.delete(target, DeleteOptions())
    await desk.tell("BackOff")
    assert [event["count"] for event in desk.events()] == [1]


async def test_events_name_the_controller_they_come_from(desk):
    await desk.tell("Scheduled", part="scheduler")
    await desk.tell("Pulled", part="kubelet")
    sources = [event["source"]["component"] for event in desk.events()]
    assert sources == ["default-scheduler", "kubelet"]


async def test_an_event_in_a_namespace_that_is_gone_is_dropped(desk):
    await desk.api.delete(desk.api.target(NAMESPACE, name="lab"), DeleteOptions())
    await desk.tell("Scheduled")
    assert desk.events() == []
