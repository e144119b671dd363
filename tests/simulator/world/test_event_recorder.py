"""What components tell about objects, as the events that clients see."""

from datetime import UTC, datetime
from random import Random

import orjson
import pytest

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.api.requests import DeleteOptions, ListOptions
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.store import Store
from kohort.cluster.kinds import EVENT, NAMESPACE
from kohort.simulator.component import EventRequest, Moment
from kohort.simulator.world.execution import Recorder, options_of

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
POD = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {"name": "one", "namespace": "lab", "uid": "uid-1"},
}


class RecorderHarness:
    """A recorder, and the events it wrote."""

    def __init__(self) -> None:
        registry = Registry(builtin_resources())
        self.api = ApiServer(Store(), registry, lambda: NOW, Random(1))
        self.recorder = Recorder(self.api)

    async def emit(self, reason: str, message: str = "", component: str = "kubelet") -> None:
        told = EventRequest(POD, "Normal", reason, message)
        await self.recorder.record(told, component, options_of("kubelet"), Moment(NOW, 0.0))

    def events(self) -> list[dict]:
        page = self.api.list(self.api.target(EVENT, "lab"), ListOptions())
        return [orjson.loads(raw) for raw in page.items]


@pytest.fixture
async def controller() -> RecorderHarness:
    controller = RecorderHarness()
    body = {"metadata": {"name": "lab"}}
    await controller.api.create(controller.api.target(NAMESPACE), body, options_of("test"))
    return controller


async def test_events_of_one_moment_are_listed_in_the_order_they_came(controller):
    reasons = ["Scheduled", "Pulling", "Pulled", "Created", "Started"]
    for reason in reasons:
        await controller.emit(reason)
    assert [event["reason"] for event in controller.events()] == reasons


async def test_a_thing_told_again_is_counted(controller):
    for message in ("same", "same", "other"):
        await controller.emit("BackOff", message)
    told = [(event["message"], event["count"]) for event in controller.events()]
    assert told == [("same", 2), ("other", 1)]


async def test_a_thing_told_again_after_its_event_was_deleted_is_told_anew(controller):
    await controller.emit("BackOff")
    (event,) = controller.events()
    target = controller.api.target(EVENT, "lab", event["metadata"]["name"])
    await controller.api.delete(target, DeleteOptions())
    await controller.emit("BackOff")
    assert [event["count"] for event in controller.events()] == [1]


async def test_events_name_the_controller_they_come_from(controller):
    await controller.emit("Scheduled", component="scheduler")
    await controller.emit("Pulled", component="kubelet")
    sources = [event["source"]["component"] for event in controller.events()]
    assert sources == ["default-scheduler", "kubelet"]


async def test_an_event_in_a_namespace_that_is_gone_is_dropped(controller):
    await controller.api.delete(controller.api.target(NAMESPACE, name="lab"), DeleteOptions())
    await controller.emit("Scheduled")
    assert controller.events() == []
