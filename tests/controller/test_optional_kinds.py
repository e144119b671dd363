"""Kinds that a cluster may not serve: who waits for them, and what is known of them."""

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest
from controller_world import ALL, TestTime, make_cluster
from virtual_time import run_virtual

from kohort.apis.facts import read_head
from kohort.cluster.errors import ClusterError, Forbidden, NotFound, Unavailable
from kohort.cluster.port import Listing, Selection, WatchEvent
from kohort.controller.caches.informers import Informers
from kohort.simulator.inprocess import InProcessCluster


class Refusing(InProcessCluster):
    """A cluster that lets nobody look, until it is told otherwise."""

    error: ClusterError | None = None

    async def list(self, selection: Selection) -> Listing:
        if self.error:
            raise self.error
        return await super().list(selection)

    async def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        if self.error:
            raise self.error
        async for change in super().watch(selection, version, initial=initial):
            yield change


async def reconcile(error: ClusterError) -> tuple[bool, bool, bool]:
    """Whether work may begin, whether the kind is absent then, and whether it is later."""
    cluster = Refusing((await make_cluster()).api)
    cluster.error = error
    informers = Informers(cluster, TestTime(), Random(1))
    informers.add(ALL, read_head, optional=True)
    task = asyncio.ensure_future(informers.run())
    await asyncio.sleep(60)
    begins, is_absent = informers.are_ready, ALL in informers.absent
    cluster.error = None
    await asyncio.sleep(60)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return begins, is_absent, ALL in informers.absent


@pytest.mark.parametrize("error", [NotFound("no such path"), Forbidden("you may not")])
def test_a_kind_that_is_hidden_keeps_nobody_waiting_and_is_found_later(error: ClusterError):
    assert run_virtual(reconcile(error)) == (True, True, False)


def test_a_server_that_does_not_answer_is_waited_for():
    assert run_virtual(reconcile(Unavailable("try again"))) == (False, False, False)
