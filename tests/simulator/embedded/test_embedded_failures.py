"""A cluster that can no longer keep what it is told ends, and says why."""

import pytest

from kohort.apiserver.api.requests import WriteOptions
from kohort.apiserver.store.entries import Event
from kohort.apiserver.store.sqlite import StorageError
from kohort.cluster import kinds
from kohort.cluster.errors import InternalError
from kohort.simulator.embedded import Embedded, EmbeddedOptions


async def test_a_write_that_is_not_kept_is_not_answered_as_one(tmp_path):
    embedded = await Embedded.start(EmbeddedOptions(token="t", nodes=0, data_dir=tmp_path))
    journal = embedded.api.store._journal
    assert journal is not None

    def full(batch: list[tuple[str, Event]]) -> None:
        raise StorageError("the disk is full")

    journal.commit = full  # type: ignore[method-assign]
    target = embedded.api.target(kinds.CONFIG_MAP, "default")
    with pytest.raises(InternalError, match="the write is not kept: the disk is full"):
        await embedded.api.create(target, {"metadata": {"name": "a"}}, WriteOptions())
    with pytest.raises(StorageError, match="the disk is full"):
        await embedded.fail()
    await embedded.stop()


async def test_a_start_that_fails_leaves_the_data_to_the_next_one(tmp_path):
    first = await Embedded.start(EmbeddedOptions(token="t", nodes=0))
    taken = EmbeddedOptions(token="t", nodes=0, data_dir=tmp_path, port=first.port)
    with pytest.raises(OSError, match="in use"):
        await Embedded.start(taken)
    second = await Embedded.start(EmbeddedOptions(token="t", nodes=0, data_dir=tmp_path))
    await second.stop()
    await first.stop()
