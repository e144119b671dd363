"""Ports of all groups: in any order of actions, on views of any age, no two pods get the same."""

from dataclasses import dataclass, field, replace

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.apis.api import Snapshot
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.instance_facts import RoleInstanceFacts, read_facts
from kohort.apis.rolebasedgroup.objects.ports import choose_ports
from kohort.apis.rolebasedgroup.port_claims import list_claims, list_holders, must_yield

pytestmark = pytest.mark.hypothesis
COUNT = 8  # ports that there are; few, so that all meet


@dataclass(frozen=True)
class Stored:
    """An instance of a group of its own, as the API server stores it."""

    name: str
    version: int
    port: int
    is_ready: bool = False

    def read(self) -> RoleInstanceFacts:
        said = [{"type": "RoleInstanceReady", "status": "True"}] if self.is_ready else []
        metadata = {
            "name": self.name,
            "namespace": "default",
            "uid": self.name,
            "resourceVersion": str(self.version),
            "labels": {labels.GROUP_NAME: self.name},
            "annotations": {f"{self.name}.http": str(self.port), "other": "text"},
        }
        return read_facts(orjson.dumps({"metadata": metadata, "status": {"conditions": said}}))


@dataclass
class World:
    """What was stored, in order, and which pods run."""

    writes: list[Stored] = field(default_factory=list)
    pods: dict[str, int] = field(default_factory=dict)
    own: dict[str, int] = field(default_factory=dict)  # how many writes an instance's plan awaits

    def touch(self, name: str) -> None:
        """A write that changes no port: of a status, or of a label by another client."""
        held = self.see(len(self.writes)).get(name)
        if held is not None:
            self.writes.append(replace(held, version=len(self.writes) + 1))

    def see(self, upto: int) -> dict[str, Stored]:
        return {each.name: each for each in self.writes[:upto]}

    def plan_once(self, name: str, lag: int) -> None:
        """One plan for one instance, from a view that has its own last write."""
        view = self.see(max(self.own.get(name, 0), len(self.writes) - lag))
        held = view.get(name)
        beside = {labels.INSTANCE: tuple(each.read() for each in view.values())}
        claims = list_claims(Snapshot({"metadata": {}}, {}, beside=beside))
        if name in self.pods:
            if held is not None and not held.is_ready:
                self._write(replace(held, is_ready=True))
        elif held is None or must_yield(claims, held.read().metadata, held.port):
            # All search from the same port at first, so that those with old views meet.
            owner = f"{name}/{held.port}" if held else ""
            port = choose_ports(["http"], claims, first=0, count=COUNT, owner=owner)["http"]
            self._write(Stored(name, 0, port))
        else:
            self.pods[name] = held.port

    def _write(self, stored: Stored) -> None:
        self.writes.append(replace(stored, version=len(self.writes) + 1))
        self.own[stored.name] = len(self.writes)


MOVES = st.tuples(st.integers(0, 5), st.integers(0, 6), st.booleans())


@settings(max_examples=200, deadline=None)
@given(st.lists(MOVES, max_size=40))
def test_no_two_pods_have_one_port_in_any_order_of_plans_and_views(
    moves: list[tuple[int, int, bool]],
):
    world = World()
    ends = [(n, 0, False) for _ in range(4) for n in range(6)]
    for number, lag, is_touched in (*moves, *ends):
        world.plan_once(f"i{number}", lag)
        if is_touched:
            world.touch(f"i{number}")
        assert len(set(world.pods.values())) == len(world.pods)
    assert len(world.pods) == 6


def test_an_instance_yields_to_an_earlier_one_that_was_written_since():
    earlier, later = Stored("a", 15, 30_001).read(), Stored("b", 12, 30_001).read()
    beside = {labels.INSTANCE: (earlier, later)}
    claims = list_claims(Snapshot({"metadata": {}}, {}, beside=beside))
    assert must_yield(claims, later.metadata, 30_001)


def test_the_holders_of_each_port_are_listed_in_order():
    stored = (Stored("b", 1, 30_002), Stored("a", 2, 30_001), Stored("c", 3, 30_002))
    found = tuple(each.read() for each in stored)
    claims = list_claims(Snapshot({"metadata": {}}, {}, beside={labels.INSTANCE: found}))
    assert list_holders(claims) == ((30_001, ("a",)), (30_002, ("b", "c")))
