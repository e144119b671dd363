"""Events: the leader writes each once, and no reconcile waits for them."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from kohort.cluster.errors import Forbidden, KohortError, Unavailable
from kohort.cluster.objects import Object
from kohort.controller.events import EventSink
from kohort.model.reasons import Notice

NOW, LATER = "2026-01-01T00:00:00Z", "2026-01-01T00:00:02Z"
OBJECT = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a", "namespace": "lab", "uid": "1"},
}


class Recording:
    """Keeps what is created, and refuses what it is told to."""

    def __init__(self, refused: str = "", error: KohortError | None = None) -> None:
        self.events: list[Object] = []
        self._refused = refused
        self._error = error or Forbidden("no")

    async def create(self, kind: Any, namespace: str, obj: Any) -> Any:
        await asyncio.sleep(0)
        if obj["message"] == self._refused:
            raise self._error
        self.events.append(obj)

    @property
    def notes(self) -> list[str]:
        return [event["message"] for event in self.events]


def notices(*messages: str) -> tuple[Notice, ...]:
    return tuple(Notice("Normal", "Done", message, "Update") for message in messages)


def make(cluster: Recording, may_write: Callable[[], bool] = lambda: True) -> EventSink:
    return EventSink(cluster, "lab", "one", may_write)  # type: ignore[arg-type]


async def finish(sink: EventSink) -> None:
    sink.stop()
    await sink.run()


async def test_what_waits_at_the_end_is_written_in_its_order():
    cluster = Recording()
    sink = make(cluster)
    sink.emit(OBJECT, notices(*map(str, range(20))), NOW)
    assert cluster.notes == []
    await finish(sink)
    assert cluster.notes == [str(number) for number in range(20)]


async def test_kubectl_can_sort_events_by_their_last_timestamp_and_ties_by_their_names():
    cluster = Recording()
    sink = make(cluster)
    for now, message in ((NOW, "z"), (NOW, "a"), (LATER, "m"), (LATER, "b")):
        sink.emit(OBJECT, notices(message), now)
    await finish(sink)
    events = sorted(cluster.events, key=lambda event: event["metadata"]["name"])
    assert [event["message"] for event in events] == ["z", "a", "m", "b"]
    assert [event["lastTimestamp"] for event in events] == [NOW, NOW, LATER, LATER]
    assert [event["eventTime"][20:26] for event in events] == [
        "000000",
        "000001",
        "000002",
        "000003",
    ]


async def test_events_are_written_while_others_come():
    cluster = Recording()
    sink = make(cluster)
    running = asyncio.create_task(sink.run())
    for number in range(3):
        sink.emit(OBJECT, notices(str(number)), NOW)
        while len(cluster.notes) <= number:
            await asyncio.sleep(0)
    sink.stop()
    await running


async def test_the_same_event_is_written_again_only_after_a_while():
    cluster = Recording()
    sink = make(cluster)
    for now in (NOW, NOW, LATER):
        sink.emit(OBJECT, notices("again"), now)
    await finish(sink)
    assert cluster.notes == ["again", "again"]


async def test_events_are_written_though_the_wall_clock_is_set_back():
    cluster = Recording()
    sink = make(cluster)
    sink.emit(OBJECT, notices("again"), LATER)
    sink.emit(OBJECT, notices("again"), NOW)
    await finish(sink)
    assert cluster.notes == ["again", "again"]


async def test_a_clock_that_is_set_back_takes_no_allowance():
    cluster = Recording()
    sink = make(cluster)
    sink.emit(OBJECT, notices(*map(str, range(30))), "2026-01-02T00:00:00Z")
    sink.emit(OBJECT, notices("earlier"), NOW)
    await finish(sink)
    assert cluster.notes[-1] == "earlier"


@pytest.mark.parametrize(
    "error",
    [
        Forbidden("no"),
        Unavailable("lost the connection"),
        KohortError("exec plugin: ended with code 1"),
        KohortError("cannot reach the provider"),
        KohortError("the client certificate or key cannot be read"),
    ],
    ids=str,
)
async def test_an_event_that_cannot_be_written_is_forgotten(error: KohortError):
    cluster = Recording(refused="bad", error=error)
    sink = make(cluster)
    sink.emit(OBJECT, notices("bad", "good"), NOW)
    await finish(sink)
    assert cluster.notes == ["good"]


async def test_a_process_that_does_not_lead_writes_no_events():
    cluster = Recording()
    sink = make(cluster, lambda: False)
    sink.emit(OBJECT, notices("late"), NOW)
    await finish(sink)
    assert cluster.notes == []


@pytest.mark.parametrize("letter", ["a", "\u00e4", "\u6f22", "\U0001f600"])
async def test_a_note_has_no_more_bytes_than_a_server_takes(letter: str):
    cluster = Recording()
    sink = make(cluster)
    sink.emit(OBJECT, notices("x" + letter * 1024), NOW)
    await finish(sink)
    (note,) = cluster.notes
    assert 1020 < len(note.encode()) <= 1024
    assert note == "x" + letter * (len(note) - 1)


async def test_of_many_normal_events_of_one_reason_the_first_are_written_and_then_one_at_a_time():
    cluster = Recording()
    sink = make(cluster)
    sink.emit(OBJECT, notices(*(f"group {number}" for number in range(200))), NOW)
    sink.emit(OBJECT, notices("too soon"), "2026-01-01T00:00:09Z")
    sink.emit(OBJECT, notices("a place is free", "and no second one"), "2026-01-01T00:00:10Z")
    await finish(sink)
    assert cluster.notes == [*(f"group {number}" for number in range(25)), "a place is free"]


async def test_a_warning_another_reason_and_another_object_are_written_all_the_same():
    cluster = Recording()
    sink = make(cluster)
    sink.emit(OBJECT, notices(*map(str, range(30))), NOW)
    warning = Notice("Warning", "Done", "broken", "Update")
    sink.emit(OBJECT, (warning, Notice("Normal", "Completed", "over", "Update")), NOW)
    other = {**OBJECT, "metadata": {**OBJECT["metadata"], "name": "b", "uid": "2"}}
    sink.emit(other, notices("of another"), NOW)
    await finish(sink)
    assert cluster.notes[25:] == ["broken", "over", "of another"]


async def test_an_hour_later_the_allowance_is_whole_and_not_more_than_that():
    cluster = Recording()
    sink = make(cluster)
    sink.emit(OBJECT, notices(*map(str, range(30))), NOW)
    sink.emit(OBJECT, notices(*map(str, range(100, 130))), "2026-01-01T01:00:00Z")
    await finish(sink)
    assert cluster.notes[25:] == [str(number) for number in range(100, 125)]
