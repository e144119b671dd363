"""Kinds that a cluster may not serve: who waits for them, and what is known of them."""

import asyncio
from collections.abc import AsyncIterator
from random import Random

import orjson
import pytest
from controller_world import ALL, RefusingCluster, TestTime, make_cluster

from kohort.apis.facts import Whole
from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster.errors import ClusterError, Forbidden, Invalid, NotFound, Unavailable
from kohort.cluster.objects import Kind
from kohort.cluster.port import Listing, Selection, WatchEvent
from kohort.controller.caches.definitions import is_defined
from kohort.controller.caches.informers import Informers
from kohort.simulation.virtual_loop import run_virtually


async def reconcile(error: ClusterError) -> tuple[bool, bool, bool]:
    """Whether work may begin, whether the kind is absent then, and whether it is later."""
    cluster = RefusingCluster((await make_cluster()).api)
    cluster.error = error
    informers = Informers(cluster, TestTime(), Random(1))
    informers.add(ALL, Whole, optional=True)
    task = asyncio.ensure_future(informers.run())
    await asyncio.sleep(60)
    begins, is_absent = informers.are_ready, ALL in informers.absent
    cluster.error = None
    await asyncio.sleep(60)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return begins, is_absent, ALL in informers.absent


@pytest.mark.parametrize("error", [NotFound("no such path"), Forbidden("you may not")])
def test_a_hidden_kind_delays_no_start_and_is_found_later(error: ClusterError):
    assert run_virtually(lambda: reconcile(error)) == (True, True, False)


def test_a_server_that_does_not_answer_is_waited_for():
    assert run_virtually(lambda: reconcile(Unavailable("try again"))) == (False, False, False)


THING = Kind("things.example.com", "v1", "Thing", "things")
THINGS = Selection(THING)
DEFINITION = {
    "metadata": {"name": "things.things.example.com", "resourceVersion": "5"},
    "spec": {"versions": [{"name": "v1", "served": True}]},
    "status": {"conditions": [{"type": "Established", "status": "True"}]},
}


class Undefined(InProcessCluster):
    """A cluster without one kind until it is defined; definitions can be watched, or not."""

    may_see_definitions = True

    def prepare(self) -> "Undefined":
        self.defined = asyncio.Event()
        self.lists = 0
        return self

    async def list(self, selection: Selection) -> Listing:
        assert selection == THINGS
        self.lists += 1
        if not self.defined.is_set():
            raise NotFound("the server could not find the requested resource")
        return Listing((), "7")

    async def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        if selection == THINGS:
            if not self.defined.is_set():
                raise NotFound("the server could not find the requested resource")
            raise Invalid("sendInitialEvents is forbidden")
        assert selection.fields == "metadata.name=things.things.example.com"
        if not self.may_see_definitions:
            raise Forbidden("you may not")
        pending = {**DEFINITION, "status": {}}
        yield WatchEvent("ADDED", orjson.dumps(pending))
        await self.defined.wait()
        yield WatchEvent("MODIFIED", orjson.dumps(DEFINITION))


async def follow_things(*, may_see: bool) -> tuple[int, bool, float]:
    """Lists in ten minutes without the kind, whether it is absent, and when it is found then."""
    cluster = Undefined((await make_cluster()).api).prepare()
    cluster.may_see_definitions = may_see
    informers = Informers(cluster, TestTime(), Random(1))
    informers.add(THINGS, Whole, optional=True)
    task = asyncio.ensure_future(informers.run())
    await asyncio.sleep(600)
    lists, is_absent = cluster.lists, THINGS in informers.absent
    cluster.defined.set()
    begun = asyncio.get_running_loop().time()
    while THINGS in informers.absent:
        await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return lists, is_absent, asyncio.get_running_loop().time() - begun


def test_a_kind_that_is_not_defined_costs_nothing_at_rest_and_is_found_at_once():
    lists, is_absent, seconds = run_virtually(lambda: follow_things(may_see=True))
    assert is_absent
    assert lists <= 1
    assert seconds < 1


def test_where_definitions_may_not_be_seen_the_kind_is_tried_again():
    lists, is_absent, seconds = run_virtually(lambda: follow_things(may_see=False))
    assert is_absent
    assert lists > 10
    assert seconds < 40


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("scheduling.volcano.sh", True),
        ("scheduling.x-k8s.io", True),
        ("scheduling.k8s.io", False),
        ("apps", False),
        ("", False),
    ],
)
def test_kinds_of_kubernetes_itself_have_no_definition(group: str, expected: bool):
    assert is_defined(Kind(group, "v1", "Thing", "things")) is expected
