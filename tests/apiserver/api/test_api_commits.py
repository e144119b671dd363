"""What readers see of writes that are not kept yet."""

import pytest
from api_builders import Bench, config_map

from kohort.apiserver.api.requests import ListOptions
from kohort.cluster.kinds import CONFIG_MAP


async def test_a_write_is_not_read_before_it_is_committed(kept: Bench):
    await kept.create(CONFIG_MAP, config_map("a"))
    assert not kept.api.store.is_settled
    kept.read(CONFIG_MAP, "a")
    assert kept.api.store.is_settled


async def test_a_write_is_not_listed_before_it_is_committed(kept: Bench):
    await kept.create(CONFIG_MAP, config_map("a"))
    kept.list(CONFIG_MAP)
    assert kept.api.store.is_settled


@pytest.mark.parametrize("initial", [True, False])
async def test_a_watch_that_begins_before_a_commit_tells_the_write_once(kept: Bench, initial: bool):
    before = str(kept.api.store.revision)
    await kept.create(CONFIG_MAP, config_map("a"))
    target = kept.api.target(CONFIG_MAP, "lab")
    options = ListOptions(resource_version="" if initial else before)
    watch = kept.api.watch(target, options, initial=initial, bookmarks=False)
    kept.api.store.flush()
    assert [event.type for event in await watch.batch()] == ["ADDED"]
