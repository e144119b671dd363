"""Components that make mistakes, meet kinds that have gone, or are stopped while they wait."""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime
from random import Random

import pytest

from kohort.apiserver.api.admission import NoAdmission, Review
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.api.requests import Target, WriteOptions
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.entries import StoredObject
from kohort.apiserver.store.store import Store
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import NAMESPACE
from kohort.cluster.objects import Kind, Object
from kohort.simulator.clock import VirtualClock
from kohort.simulator.component import (
    ComponentAction,
    CreateRequest,
    DeleteRequest,
    MergeRequest,
    Moment,
    ReplaceRequest,
    Step,
    View,
)
from kohort.simulator.world import World

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
GONE = Kind("example.com", "v1", "Widget", "widgets", namespaced=False)


class Errand:
    """A component that does the same things about every namespace."""

    name = "errand"
    manager = "errand"
    kinds: tuple[Kind, ...] = (NAMESPACE,)

    def __init__(self, *actions: ComponentAction) -> None:
        self.actions = actions
        self.steps = 0
        self.refusals: list[ClusterError] = []

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        return (new.name,) if new is not None and old is None else ()

    def step(self, key: str, view: View, moment: Moment) -> Step:
        self.steps += 1
        return Step(self.actions if self.steps == 1 else ())

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        self.refusals.append(error)


class Stuck(NoAdmission):
    """Wants to see namespaces, and never comes to an end."""

    def __init__(self) -> None:
        self.is_asked = asyncio.Event()

    def concerns(self, operation: str, target: Target) -> bool:
        return target.resource.kind == NAMESPACE

    async def mutate(self, review: Review) -> Object:
        self.is_asked.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody wakes it")


class Broken(Stuck):
    """Fails with an error that the world does not expect."""

    async def mutate(self, review: Review) -> Object:
        raise ZeroDivisionError


async def make_world(component: Errand) -> World:
    api = ApiServer(Store(), Registry(builtin_resources()), lambda: NOW, Random(1))
    await api.create(api.target(NAMESPACE), {"metadata": {"name": "lab"}}, WriteOptions())
    return World(api, [component], VirtualClock(NOW))


async def test_deleting_an_object_whose_kind_has_gone_is_a_success():
    component = Errand(DeleteRequest(GONE, "", "a", "uid"))
    await (await make_world(component)).settle()
    assert (component.steps, component.refusals) == (1, [])


async def test_changing_an_object_whose_kind_has_gone_is_refused():
    component = Errand(MergeRequest(GONE, "", "a", {}))
    world = await make_world(component)
    await world.advance(1.0)
    assert [error.code for error in component.refusals] == [404]
    assert component.steps == 2


@pytest.mark.parametrize(("owner", "refusals"), [("", []), ("another", [409])])
async def test_a_create_that_meets_an_object_of_the_same_owner_is_a_success(owner, refusals):
    metadata: Object = {"name": "lab"}
    if owner:
        reference = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": owner}
        metadata["ownerReferences"] = [{**reference, "controller": True}]
    component = Errand(CreateRequest(NAMESPACE, {"metadata": metadata}))
    await (await make_world(component)).advance(1.0)
    assert [error.code for error in component.refusals] == refusals


@pytest.mark.parametrize(
    ("action", "admission"),
    [
        (ReplaceRequest(NAMESPACE, {}), NoAdmission()),
        (CreateRequest(NAMESPACE, {"metadata": {"name": "other"}}), Broken()),
    ],
)
async def test_a_mistake_while_acting_is_told_and_the_key_is_looked_at_again(action, admission):
    component = Errand(action)
    world = await make_world(component)
    world.api.context.admission = admission
    told: list[tuple[str, str]] = []
    world.on_fault = lambda name, key, error: told.append((name, key))
    await world.advance(1.0)
    assert told == [("errand", "lab")]
    assert component.steps == 2


async def test_a_key_is_not_looked_at_while_a_webhook_is_asked_about_it():
    component = Errand(CreateRequest(NAMESPACE, {"metadata": {"name": "other"}}))
    world = await make_world(component)
    world.api.context.admission = Stuck()
    await world.turn()
    world.runners[0].add("lab")
    assert not await world.turn()
    assert component.steps == 1


async def test_a_simulation_raises_a_mistake_of_a_part_that_waited():
    component = Errand(CreateRequest(NAMESPACE, {"metadata": {"name": "other"}}))
    world = await make_world(component)
    world.api.context.admission = Broken()
    with pytest.raises(ZeroDivisionError):
        await world.settle()


async def test_a_world_that_ends_leaves_no_caller_waiting():
    component = Errand(CreateRequest(NAMESPACE, {"metadata": {"name": "other"}}))
    world = await make_world(component)
    world.api.context.admission = stuck = Stuck()
    before = asyncio.all_tasks()
    running = asyncio.create_task(world.run())
    await stuck.is_asked.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert asyncio.all_tasks() == before


class Stumbling(Errand):
    """A component that cannot bear the sight of one namespace."""

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        if new is not None and new.name == "lab":
            raise ZeroDivisionError
        return super().observe(kind, old, new, view)


async def test_a_part_that_stumbles_over_an_object_sees_the_next_one():
    component = Stumbling()
    world = await make_world(component)
    told: list[str] = []
    world.on_fault = lambda name, key, error: told.append(name)
    api = world.api
    await api.create(api.target(NAMESPACE), {"metadata": {"name": "next"}}, WriteOptions())
    await world.settle()
    assert (told, component.steps) == (["errand"], 1)


async def test_a_part_that_cannot_bear_a_refusal_is_told_to_the_log():
    class Sulking(Errand):
        def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
            raise ZeroDivisionError

    component = Sulking(MergeRequest(GONE, "", "a", {}))
    world = await make_world(component)
    told: list[str] = []
    world.on_fault = lambda name, key, error: told.append(name)
    await world.advance(1.0)
    assert (told, component.steps) == (["errand"], 2)


async def test_a_key_that_has_failed_for_days_is_still_looked_at():
    world = await make_world(Errand())
    runner = world.runners[0]
    runner._failures["lab"] = 2_000
    runner.finished("lab", Step(), refused=True, elapsed=0.0)
    assert runner.next_due() == 30.0
