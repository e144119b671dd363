"""Logs: which container, which lines, and who has none."""

from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from http_server import make_api, start_http_server

from kohort.apiserver.api.requests import WriteOptions
from kohort.apiserver.server.logs import (
    LogLine,
    LogOptions,
    check_state,
    choose_container,
    cut,
    read_log_options,
    write_lines,
)
from kohort.apiserver.server.request.queries import read_query
from kohort.cluster.errors import BadRequest, Invalid
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
PODS = "/api/v1/namespaces/default/pods"
LINES = [LogLine(NOW - timedelta(seconds=10 - n), f"line {n}") for n in range(10)]


def pod(*names: str, **status: Any) -> Object:
    containers = [{"name": name, "image": "x"} for name in names]
    spec = {"containers": containers, "nodeName": "n"}
    return {"metadata": {"name": "p"}, "spec": spec, "status": status}


def test_a_pod_with_one_container_needs_no_choice():
    assert choose_container(pod("a"), "") == "a"
    assert choose_container(pod("a", "b"), "b") == "b"


def test_a_pod_with_several_containers_needs_a_choice():
    with pytest.raises(BadRequest) as caught:
        choose_container(pod("a", "b"), "")
    why = "a container name must be specified for pod p, choose one of: [a b]"
    assert caught.value.message == why
    with pytest.raises(BadRequest, match="container zz is not valid for pod p"):
        choose_container(pod("a"), "zz")


def test_a_container_that_waits_has_no_logs():
    waiting = {"name": "a", "state": {"waiting": {"reason": "ImagePullBackOff"}}}
    with pytest.raises(BadRequest, match="is waiting to start: ImagePullBackOff"):
        check_state(pod("a", containerStatuses=[waiting]), "a", previous=False)
    with pytest.raises(BadRequest, match='previous terminated container "a" in pod "p" not found'):
        check_state(pod("a"), "a", previous=True)
    running = {"name": "a", "state": {"running": {}}}
    check_state(pod("a", containerStatuses=[running]), "a", previous=False)


def test_lines_are_cut_by_number_and_time():
    assert [line.text for line in cut(LINES, LogOptions(tail=2))] == ["line 8", "line 9"]
    assert cut(LINES, LogOptions(tail=0)) == []
    assert cut(LINES, LogOptions(tail=99)) == LINES
    assert len(cut(LINES, LogOptions(since=NOW - timedelta(seconds=3)))) == 3


def test_lines_may_carry_their_time():
    assert write_lines(LINES[:1], timestamps=True) == b"2026-01-01T11:59:50.000000000Z line 0\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("tailLines=-1", "tailLines: Invalid value: -1: must be greater than or equal to 0"),
        ("limitBytes=0", "limitBytes: Invalid value: 0: must be greater than 0"),
        ("sinceSeconds=0", "sinceSeconds: Invalid value: 0: must be greater than 0"),
        (
            "sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z",
            "[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified",
        ),
    ],
)
def test_options_that_make_no_sense_are_invalid(text: str, why: str):
    with pytest.raises(Invalid) as caught:
        read_log_options(read_query(text), "p", NOW)
    assert caught.value.message == f'PodLogOptions "p" is invalid: {why}'


class Spoken:
    """A container that has said ten lines, and says one more to those who follow."""

    def lines(self, pod: Object, container: str, *, previous: bool) -> Sequence[LogLine]:
        return LINES

    async def follow(
        self, pod: Object, container: str, after: int
    ) -> AsyncGenerator[LogLine, None]:
        yield LogLine(NOW, f"line {after}")


class Talkative(Spoken):
    """Goes on for long, and knows whether a client still listens."""

    def __init__(self) -> None:
        self.said = 0
        self.has_ended = False

    async def follow(
        self, pod: Object, container: str, after: int
    ) -> AsyncGenerator[LogLine, None]:
        try:
            for self.said in range(1, 1000):
                yield LogLine(NOW, "more")
        finally:
            self.has_ended = True


async def start_running_pod(logs: Spoken):
    api = make_api()
    server = await start_http_server(api, logs=logs, clock=lambda: NOW)
    await server.ask("POST", PODS, pod("a"))
    assert (await server.ask("GET", f"{PODS}/p/log")).code == 400
    running = pod("a", containerStatuses=[{"name": "a", "state": {"running": {}}}])
    await api.update(api.target(POD, "default", "p", "status"), running, WriteOptions())
    return server


async def test_logs_are_streamed_to_those_who_follow():
    server = await start_running_pod(Spoken())
    told = await server.ask("GET", f"{PODS}/p/log?tailLines=1&follow=true")
    assert told.raw == b"line 9\nline 10\n"
    assert told.headers["Content-Type"] == "text/plain"
    short = await server.ask("GET", f"{PODS}/p/log?limitBytes=8")
    assert short.raw == b"line 0\nl"
    await server.session.close()
    await server.server.stop()


async def test_a_followed_log_ends_at_the_byte_limit():
    logs = Talkative()
    server = await start_running_pod(logs)
    told = await server.ask("GET", f"{PODS}/p/log?tailLines=1&follow=true&limitBytes=12")
    assert told.raw == b"line 9\nmore\n"
    assert (logs.said, logs.has_ended) == (1, True)
    await server.session.close()
    await server.server.stop()
