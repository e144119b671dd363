"""The embedded cluster asks the converters of its own APIs, without a call."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from gadget_api import GADGET, GADGETS, OLD_GADGET, define_gadgets, make_gadget
from kohort.apis.api import DEFAULTS
from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import DEFINITION
from kohort.cluster.port import Address, Selection
from kohort.embedded_operator import make_operator
from kohort.simulator.embedded import Embedded, EmbeddedOptions


@pytest.fixture
async def cluster() -> AsyncIterator[InProcessCluster]:
    embedded = await Embedded.start(EmbeddedOptions(token="t", nodes=1, racks=1, apis=[GADGETS]))
    await make_operator(embedded, DEFAULTS, [GADGETS])
    yield InProcessCluster(embedded.api)
    await embedded.stop()


async def test_an_object_is_stored_in_one_version_and_seen_in_each(cluster):
    await cluster.create(OLD_GADGET, "default", make_gadget(version="v1", size=3))
    seen = [await cluster.read(Address(k, "default", "g")) for k in (GADGET, OLD_GADGET)]
    assert seen[0]["spec"]["dimensions"] == {"size": 3}
    assert (seen[1]["apiVersion"], seen[1]["spec"]["size"]) == ("gadgets.kohort.dev/v1", 3)
    assert seen[0]["metadata"]["uid"] == seen[1]["metadata"]["uid"]


async def test_what_has_no_form_in_a_version_is_told_with_the_words_of_the_api(cluster):
    await cluster.create(GADGET, "default", make_gadget(tint="blue"))
    with pytest.raises(
        ClusterError, match=r"Gadget default/g has no form in v1: spec\.tint 'blue'"
    ):
        await cluster.read(Address(OLD_GADGET, "default", "g"))
    with pytest.raises(ClusterError, match="has no form in v1"):
        await cluster.list(Selection(OLD_GADGET))


async def test_a_mistake_of_a_converter_costs_its_object_only(cluster):
    await cluster.create(GADGET, "default", make_gadget("bad", tint="void"))
    await cluster.create(GADGET, "default", make_gadget("good"))
    with pytest.raises(ClusterError, match=r"a mistake of Kohort \(KeyError\), report it"):
        await cluster.read(Address(OLD_GADGET, "default", "bad"))
    assert await cluster.read(Address(OLD_GADGET, "default", "good"))


async def test_an_embedded_operator_follows_the_definitions_of_its_kinds():
    embedded = await Embedded.start(EmbeddedOptions(token="t", nodes=1, racks=1, apis=[GADGETS]))
    served = await make_operator(embedded, DEFAULTS, [GADGETS])
    task = asyncio.create_task(served.run())
    cluster = InProcessCluster(embedded.api)
    definition = Address(DEFINITION, "", GADGET.group_resource)

    async def until_serving(is_so: bool) -> None:
        async with asyncio.timeout(20):
            while (GADGET in served.operators) is not is_so:
                await asyncio.sleep(0.01)

    await until_serving(True)
    await cluster.delete(definition)
    await until_serving(False)
    await cluster.create(DEFINITION, "", define_gadgets())
    await until_serving(True)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await embedded.stop()
