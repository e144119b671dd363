"""Conversion webhooks: who is asked when, and what happens while one thinks or fails."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import orjson
import pytest
from admission_world import Hooks, patching, webhook
from conversion_world import (
    GROUP,
    V1,
    V2,
    ConversionWorld,
    gadget,
    gadgets,
    start_world,
    told,
    turn,
)

from kohort.apiserver.admission.conversions import Conversions
from kohort.apiserver.api.context import encode
from kohort.apiserver.api.reads import watches as watching
from kohort.apiserver.api.requests import ListOptions
from kohort.cluster import kinds
from kohort.cluster.errors import ClusterError, NotFound
from kohort.cluster.objects import Kind
from kohort.cluster.selectors import parse_field_selector
from kohort.simulator.component import DeleteRequest
from kohort.simulator.world.execution import suspends


@pytest.fixture
async def world(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ConversionWorld]:
    monkeypatch.setattr(watching, "CONVERSION_RETRY_SECONDS", 0.001)
    world = await start_world()
    yield world
    await world.conversions.close()


async def test_a_request_in_the_storage_version_calls_no_webhook(world: ConversionWorld):
    watch = world.watch(V2)
    await world.create(gadget(width=1), V2)
    await world.merge("a", {"spec": {"width": 2}}, V2)
    assert (await world.read(V2, "a"))["spec"] == {"width": 2}
    assert len(await world.list(V2)) == 1
    await world.delete("a", V2)
    assert len(told(await watch.batch())) == 3
    assert world.hook.asked == []


@pytest.mark.parametrize("strategy", ["None", "Webhook"])
async def test_what_needs_no_conversion_is_sent_as_it_is_stored(strategy: str):
    world = await start_world(gadgets(strategy))
    await world.create(gadget(width=1), V2)
    target = world.api.target(V2, "lab", "a")
    entry = world.api.context.expect(target)
    assert encode(target.resource, entry) is entry.raw


async def test_a_create_is_converted_to_be_stored_and_back_to_be_answered(world: ConversionWorld):
    made = await world.create(gadget(size=1), V1)
    assert (made["apiVersion"], made["spec"]) == (f"{GROUP}/v1", {"size": 1})
    assert world.hook.asked == [("a", "v2"), ("a", "v1")]
    assert (await world.read(V2, "a"))["spec"] == {"width": 1}


async def test_watchers_of_a_version_share_what_the_webhook_said(world: ConversionWorld):
    watches = [world.watch(V1) for _ in range(3)]
    await world.create(gadget(width=1), V2)
    batches = await asyncio.gather(*(watch.batch() for watch in watches))
    assert [told(batch) for batch in batches] == [[("ADDED", "a", {"size": 1})]] * 3
    assert world.hook.asked == [("a", "v1")]


async def test_a_list_asks_once_and_a_read_asks_again(world: ConversionWorld):
    await world.create(gadget(width=1), V2)
    for _ in range(2):
        assert [item["spec"] for item in await world.list(V1)] == [{"size": 1}]
    assert len(world.hook.asked) == 1
    await world.read(V1, "a")
    assert len(world.hook.asked) == 2


async def test_events_wait_in_their_order_while_a_webhook_fails(world: ConversionWorld):
    watch = world.watch(V1)
    await world.create(gadget("first", width=1), V2)
    assert told(await watch.batch()) == [("ADDED", "first", {"size": 1})]
    world.hook.fails = True
    for number in range(3):
        await world.create(gadget(f"g{number}", width=number), V2)
    reading = asyncio.create_task(watch.batch())
    await turn()
    assert not reading.done()
    world.hook.fails = False
    names = [name for _, name, _ in told(await reading)]
    while len(names) < 3:
        names += [name for _, name, _ in told(await watch.batch())]
    assert names == ["g0", "g1", "g2"]


async def test_a_bookmark_waits_for_events_that_wait_for_a_webhook(world: ConversionWorld):
    watch = world.watch(V1)
    await world.create(gadget(width=1), V2)
    told_now = await watch.catch_up()
    assert [event.type for event in told_now] == ["ADDED", "BOOKMARK"]
    world.hook.fails = True
    await world.merge("a", {"spec": {"width": 2}}, V2)
    reading = asyncio.create_task(watch.catch_up())
    await turn()
    assert not reading.done()
    world.hook.fails = False
    assert [event.type for event in await reading] == ["MODIFIED", "BOOKMARK"]


async def test_a_watch_that_cannot_begin_is_told_so(world: ConversionWorld):
    await world.create(gadget(width=1), V2)
    world.hook.fails = True
    [event] = await world.watch(V1).batch()
    status = orjson.loads(event.raw)
    assert (event.type, status["code"], status["reason"]) == ("ERROR", 504, "Timeout")
    assert "Too large resource version" in status["message"]


async def test_a_watch_does_not_begin_with_a_part_of_what_is_there(world: ConversionWorld):
    world.hook.stumbles_over = {"b"}
    for name in ("a", "b"):
        await world.create(gadget(name, width=1), V2)
    watch = world.watch(V1)
    assert [event.type for event in await watch.batch()] == ["ERROR"]


async def test_a_watch_that_has_begun_goes_on_as_far_as_it_can(world: ConversionWorld):
    watch = world.watch(V1)
    world.hook.stumbles_over = {"b"}
    for name in ("a", "b", "c"):
        await world.create(gadget(name, width=1), V2)
    assert [name for _, name, _ in told(await watch.batch())] == ["a"]
    world.hook.stumbles_over = set()
    assert [name for _, name, _ in told(await watch.batch())] == ["b", "c"]


async def selected(world: ConversionWorld, kind: Kind, field: str) -> tuple[list[str], list[str]]:
    """The names that a list and a watch of a version find by the value 1 of a field."""
    options = ListOptions(fields=parse_field_selector(f"spec.{field}=1"))
    target = world.api.target(kind, "lab")
    page = await world.api.fetch_page(target, options)
    since = replace(options, resource_version="1")
    watch = world.api.watch(target, since, initial=False, bookmarks=False)
    events = await watch.batch() if watch.has_events else []
    return [orjson.loads(item)["metadata"]["name"] for item in page.items], [
        name for _, name, _ in told(events)
    ]


@pytest.mark.parametrize("strategy", ["None", "Webhook"])
@pytest.mark.parametrize("storage", ["v1", "v2"])
async def test_objects_are_selected_by_the_fields_of_the_version_that_asks(strategy, storage):
    crd = gadgets(strategy, storage)
    for version, field in zip(crd["spec"]["versions"], ("size", "tint"), strict=True):
        spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
        spec["properties"][field] = {"type": "integer"}
        version["selectableFields"] = [{"jsonPath": f".spec.{field}"}]
    world = await start_world(crd)
    for kind in (V1, V2):
        await world.create(gadget(f"tinted-{kind.version}", tint=1), kind)
    await world.create(gadget("sized", size=1), V1)
    tinted = ["tinted-v1", "tinted-v2"]
    assert await selected(world, V2, "tint") == (tinted, tinted)
    if storage == "v1" or strategy == "Webhook":  # without a webhook, v2 cannot hold a size
        assert await selected(world, V1, "size") == (["sized"], ["sized"])
    await world.conversions.close()


async def test_a_watch_that_is_closed_asks_no_more(world: ConversionWorld):
    watch = world.watch(V1)
    world.hook.fails = True
    await world.create(gadget(width=1), V2)
    reading = asyncio.create_task(watch.batch())
    await turn()
    watch.close()
    async with asyncio.timeout(10):
        assert await reading == []


async def test_others_are_served_while_a_long_list_is_renamed():
    world = await start_world(gadgets("None"))
    for number in range(200):
        await world.create(gadget(f"g{number}", tint=number), V2)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    items = await world.list(V1)
    counting.cancel()
    assert {item["apiVersion"] for item in items} == {f"{GROUP}/v1"}
    assert turns >= 4


async def test_other_requests_are_served_while_a_webhook_has_not_answered(world: ConversionWorld):
    world.hook.gate.clear()
    waiting = asyncio.create_task(world.create(gadget("slow", size=1), V1))
    await turn()
    await world.create(gadget("quick", width=1), V2)
    assert not waiting.done()
    world.hook.gate.set()
    assert (await waiting)["spec"] == {"size": 1}


async def test_a_write_that_was_overtaken_while_it_was_converted_starts_again(
    world: ConversionWorld,
):
    await world.create(gadget(width=1), V2)
    world.hook.gate.clear()
    slow = asyncio.create_task(world.merge("a", {"spec": {"size": 7}}, V1))
    await turn()
    await world.merge("a", {"spec": {"tint": "red"}}, V2)
    world.hook.gate.set()
    assert (await slow)["spec"] == {"size": 7, "tint": "red"}


async def test_who_leaves_takes_no_answer_from_others(world: ConversionWorld):
    await world.create(gadget(width=1), V2)
    world.hook.gate.clear()
    leaving, staying = (asyncio.create_task(world.read(V1, "a")) for _ in range(2))
    await turn()
    leaving.cancel()
    await turn()
    world.hook.gate.set()
    assert (await staying)["spec"] == {"size": 1}
    assert len(world.hook.asked) == 1


async def test_a_definition_goes_with_its_objects_though_its_webhook_is_gone(
    world: ConversionWorld,
):
    await world.create(gadget(width=1), V2)
    world.hook.fails = True
    await world.delete(f"gadgets.{GROUP}", kinds.DEFINITION)
    with pytest.raises(NotFound):
        world.api.target(V2)
    assert not world.store.bucket(f"gadgets.{GROUP}").entries


async def test_objects_of_an_old_version_go_with_their_definition_though_its_webhook_is_gone():
    world = await start_world(gadgets(storage="v1"))
    await world.create(gadget(size=1), V1)
    versions = gadgets(storage="v2")["spec"]["versions"]
    await world.merge(f"gadgets.{GROUP}", {"spec": {"versions": versions}}, kinds.DEFINITION)
    world.hook.fails = True
    await world.delete(f"gadgets.{GROUP}", kinds.DEFINITION)
    assert world.hook.asked
    assert not world.store.bucket(f"gadgets.{GROUP}").entries
    assert world.store.find(kinds.DEFINITION.group_resource, ("", f"gadgets.{GROUP}")) is None


async def test_a_definition_that_is_going_is_served_by_what_is_changed_in_it(
    world: ConversionWorld,
):
    held = gadget(width=1)
    held["metadata"]["finalizers"] = ["example.com/hold"]
    await world.create(held, V2)
    world.hook.fails = True
    await world.delete(f"gadgets.{GROUP}", kinds.DEFINITION)
    with pytest.raises(ClusterError):
        await world.read(V1, "a")
    plain = {"spec": {"conversion": {"strategy": "None", "webhook": None}}}
    await world.merge(f"gadgets.{GROUP}", plain, kinds.DEFINITION)
    assert (await world.read(V1, "a"))["apiVersion"] == f"{GROUP}/v1"
    await world.merge("a", {"metadata": {"finalizers": None}}, V1)
    assert world.store.find(kinds.DEFINITION.group_resource, ("", f"gadgets.{GROUP}")) is None


async def test_parts_do_not_wait_for_a_conversion_in_their_turn(world: ConversionWorld):
    assert suspends(world.api, DeleteRequest(V1, "lab", "a", ""))
    assert not suspends(world.api, DeleteRequest(kinds.CONFIG_MAP, "lab", "a", ""))


async def test_parts_that_look_at_every_kind_need_no_conversion(world: ConversionWorld):
    kept = [r.kind for r in world.api.registry.storage_kinds() if r.kind.group == GROUP]
    assert kept == [V2]


async def test_an_admission_webhook_sees_the_version_that_it_asked_for():
    hooks = Hooks(v1=lambda request: patching({"op": "add", "path": "/spec/size", "value": 9}))
    world = await start_world(caller=hooks)
    rule = {"apiGroups": [GROUP], "apiVersions": ["v1"], "operations": ["*"]}
    await world.configure(webhook("v1", rules=[{**rule, "resources": ["gadgets"]}]))
    made = await world.create(gadget(width=1), V2)
    assert hooks.requests[0]["object"]["spec"] == {"size": 1}
    assert made["spec"] == {"width": 9}


async def test_a_webhook_behind_a_service_cannot_be_reached(world: ConversionWorld):
    crd = gadgets()
    service = {"name": "hooks", "namespace": "lab", "path": "/convert"}
    client = {"service": service, "url": None}
    patch = {"spec": {"conversion": {"webhook": {"clientConfig": client}}}}
    world.api.context.ask_webhook = Conversions(world.api.context.new_uid).ask
    await world.merge(crd["metadata"]["name"], patch, kinds.DEFINITION)
    with pytest.raises(ClusterError) as caught:
        await world.create(gadget(size=1), V1)
    start = (
        f'conversion webhook for {GROUP}/v1, Kind=Gadget failed: Post "https://hooks.lab.svc:443'
    )
    assert caught.value.message.startswith(f'{start}/convert?timeout=30s": service "hooks"')
    assert (caught.value.code, caught.value.status().get("reason")) == (500, None)


async def test_a_new_definition_forgets_what_was_converted(world: ConversionWorld):
    await world.create(gadget(width=1), V2)
    await world.list(V1)
    await world.merge(
        f"gadgets.{GROUP}", {"spec": {"names": {"shortNames": ["gd"]}}}, kinds.DEFINITION
    )
    await world.list(V1)
    assert world.hook.asked == [("a", "v1")] * 2
