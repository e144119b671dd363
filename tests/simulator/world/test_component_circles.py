"""Two components that undo what the other does wait for each other, and let time pass."""

from collections.abc import Iterable
from datetime import UTC, datetime
from random import Random

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.api.requests import WriteOptions
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.entries import StoredObject
from kohort.apiserver.store.store import Store
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import CONFIG_MAP, NAMESPACE
from kohort.cluster.objects import Kind
from kohort.simulator.clock import VirtualClock
from kohort.simulator.component import (
    ComponentAction,
    CreateRequest,
    DeleteRequest,
    Moment,
    Step,
    View,
)
from kohort.simulator.world import World
from kohort.simulator.world.component_runner import LOOKS_MAX

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
BODY = {"metadata": {"name": "a", "namespace": "lab"}}


class Creator:
    """Makes an object whenever it is not there."""

    name = manager = "creator"
    kinds: tuple[Kind, ...] = (CONFIG_MAP,)

    def __init__(self) -> None:
        self.steps = 0

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        return ("a",)

    def step(self, key: str, view: View, moment: Moment) -> Step:
        self.steps += 1
        return Step(tuple(self.plan(view.find(CONFIG_MAP, "lab", key))))

    def plan(self, found: StoredObject | None) -> Iterable[ComponentAction]:
        return () if found else (CreateRequest(CONFIG_MAP, BODY),)

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        raise AssertionError(error)


class Remover(Creator):
    """Deletes it whenever it is there."""

    name = manager = "remover"

    def plan(self, found: StoredObject | None) -> Iterable[ComponentAction]:
        return (DeleteRequest(CONFIG_MAP, "lab", found.name, found.uid),) if found else ()


async def test_a_circle_of_two_components_lets_time_pass():
    api = ApiServer(Store(), Registry(builtin_resources()), lambda: NOW, Random(1))
    await api.create(api.target(NAMESPACE), {"metadata": {"name": "lab"}}, WriteOptions())
    creator, remover = Creator(), Remover()
    world = World(api, [creator, remover], VirtualClock(NOW))
    for runner in world.runners:
        runner.add("a")
    turns = 0
    while await world.turn():
        turns += 1
        assert turns < 10 * LOOKS_MAX
    assert max(creator.steps, remover.steps) == LOOKS_MAX
    assert all(runner.next_due() is not None for runner in world.runners)
