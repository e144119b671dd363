"""The first start on a bare cluster is calm: what is just not served yet is waited for."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest
from process_world import WritingCluster, make_api, running, until

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.cluster.errors import Forbidden, KohortError, NotFound, TooManyRequests
from kohort.cluster.objects import Object
from kohort.cluster.port import Selection, WatchEvent
from kohort.controller.process import schemas

INITIALIZING = TooManyRequests(
    "storage is (re)initializing", details={"causes": [], "retryAfterSeconds": 1}
)


class FreshCluster(WritingCluster):
    """Knows a definition some time before it can serve watches of its kind, as real servers do."""

    refusals = 2

    async def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        if selection.kind == LEADER_WORKER_SET.kind and self.refusals:
            self.refusals -= 1
            raise INITIALIZING
        async for change in super().watch(selection, version, initial=initial):
            yield change


class Documents:
    """The published schemas: some answers are errors, and then there is one."""

    def __init__(self, *errors: KohortError) -> None:
        self.errors = list(errors)
        self.asked = 0

    async def read(self, path: str) -> Object:
        self.asked += 1
        if self.errors:
            raise self.errors.pop(0)
        return {}


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


async def test_a_kind_whose_storage_is_being_made_is_waited_for_without_a_warning(
    caplog: pytest.LogCaptureFixture,
):
    caplog.set_level(logging.INFO)
    async with running(make_api(), "a", cluster=FreshCluster) as one:
        await until(lambda: one.is_working, one.task)
        assert one.cluster.refusals == 0
    assert warnings(caplog) == []


async def test_a_schema_that_is_not_published_yet_is_asked_for_again_in_silence(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(schemas, "LOOK_SECONDS", 0.0)
    documents = Documents(NotFound("404"), NotFound("404"))
    await schemas.log_pruning(documents.read, [LEADER_WORKER_SET])
    assert documents.asked == 3
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("error", "asked"), [(NotFound("404"), schemas.LOOKS_MAX), (Forbidden("403"), 1)]
)
async def test_a_schema_that_cannot_be_seen_is_told_once(error, asked, caplog, monkeypatch):
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(schemas, "LOOK_SECONDS", 0.0)
    documents = Documents(*[error] * 9)
    async with asyncio.timeout(10):
        await schemas.log_pruning(documents.read, [LEADER_WORKER_SET])
    assert documents.asked == asked
    assert caplog.text.count("cannot see the schema of LeaderWorkerSet") == 1
