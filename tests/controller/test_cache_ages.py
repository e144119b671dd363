"""How old a cache is: nothing while its watch works, and longer and longer while it fails."""

import asyncio
from random import Random
from typing import Any

import pytest
from controller_world import ALL, RefusingCluster, TestTime, make_cluster

from kohort.apis.facts import Whole
from kohort.cluster.errors import ClusterError, Forbidden, NotFound, Unavailable
from kohort.controller.caches.informers import Informers
from kohort.simulation.virtual_loop import run_virtually

QUIET_SECONDS = 300.0


async def measure_ages(*errors: ClusterError | None, is_optional: bool = False) -> list[Any]:
    """The age of a cache after five minutes with each error in turn; None: it has none."""
    cluster = RefusingCluster((await make_cluster()).api)
    informers = Informers(cluster, TestTime(), Random(1))
    informers.add(ALL, Whole, optional=is_optional)
    task = asyncio.ensure_future(informers.run())
    found: list[Any] = []
    for error in errors:
        cluster.error = error
        await asyncio.sleep(QUIET_SECONDS)
        found.append(informers.ages.get(ALL))
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return found


def test_a_cache_whose_watch_works_is_not_old_however_quiet_it_is():
    assert run_virtually(lambda: measure_ages(None, None)) == [0.0, 0.0]


def test_a_cache_grows_old_while_its_watch_fails_and_is_young_again_after_that():
    before, during, after = run_virtually(lambda: measure_ages(None, Unavailable("no"), None))
    # Bookmarks come once a minute, and an open watch fails with the next one.
    assert before == after == 0.0
    assert QUIET_SECONDS - 61.0 <= during <= QUIET_SECONDS


def test_a_cache_that_was_never_filled_is_as_old_as_the_attempts_to_fill_it():
    ages = run_virtually(lambda: measure_ages(Forbidden("you may not"), Unavailable("no")))
    assert ages == pytest.approx([QUIET_SECONDS, 2 * QUIET_SECONDS])


@pytest.mark.parametrize("error", [NotFound("no such kind"), Forbidden("you may not")])
def test_an_optional_kind_that_is_absent_has_no_age(error: ClusterError):
    assert run_virtually(lambda: measure_ages(error, None, is_optional=True)) == [None, 0.0]
