"""A bookmark names a version only after everything up to that version has been told."""

import orjson
import pytest
from api_builders import Bench, config_map

from kohort.apiserver.api.reads import watches as watching
from kohort.apiserver.api.reads.watches import Watch, WatchEvent
from kohort.apiserver.api.requests import ListOptions
from kohort.cluster.kinds import CONFIG_MAP


def open_watch(bench: Bench) -> Watch:
    options = ListOptions(resource_version=str(bench.api.store.revision))
    target = bench.api.target(CONFIG_MAP, "lab")
    return bench.api.watch(target, options, initial=False, bookmarks=True)


def versions(events: list[WatchEvent]) -> list[tuple[str, int]]:
    metas = [orjson.loads(event.raw)["metadata"] for event in events]
    return [(e.type, int(m["resourceVersion"])) for e, m in zip(events, metas, strict=True)]


async def test_what_waits_is_told_before_the_bookmark_that_covers_it(bench: Bench):
    watch = open_watch(bench)
    await bench.create(CONFIG_MAP, config_map("a"))
    revision = bench.api.store.revision
    assert versions(await watch.catch_up()) == [("ADDED", revision), ("BOOKMARK", revision)]
    assert versions(await watch.catch_up()) == [("BOOKMARK", revision)]


async def test_a_bookmark_names_no_version_that_is_not_kept_yet(kept: Bench):
    watch = open_watch(kept)
    before = kept.api.store.revision
    await kept.create(CONFIG_MAP, config_map("a"))
    assert versions(await watch.catch_up()) == [("BOOKMARK", before)]
    kept.api.store.flush()
    assert versions(await watch.catch_up()) == [("ADDED", before + 1), ("BOOKMARK", before + 1)]


async def test_a_watch_does_not_fall_behind_by_the_objects_that_it_begins_with(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(watching, "QUEUE_EVENTS_MAX", 2)
    for name in "abc":
        await bench.create(CONFIG_MAP, config_map(name))
    target = bench.api.target(CONFIG_MAP, "lab")
    watch = bench.api.watch(target, ListOptions(), initial=True, bookmarks=True)
    await bench.create(CONFIG_MAP, config_map("d"))
    told = [event.type for event in await watch.batch()]
    assert told == ["ADDED", "ADDED", "ADDED", "BOOKMARK", "ADDED"]
    for name in "efg":
        await bench.create(CONFIG_MAP, config_map(name))
    assert [event.type for event in await watch.batch()] == ["ERROR"]


async def test_nothing_comes_after_the_word_that_a_watch_fell_behind(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(watching, "QUEUE_EVENTS_MAX", 1)
    watch = open_watch(bench)
    for name in "abc":
        await bench.create(CONFIG_MAP, config_map(name))
    assert [event.type for event in await watch.catch_up()] == ["ERROR"]
