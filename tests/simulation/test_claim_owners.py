"""Owners that others give to claims are kept, and the checker notices where they are not."""

from dataclasses import replace
from typing import Any

import pytest

from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.simulation.checkers.checker import Scene
from kohort.simulation.checkers.claims import Claims
from kohort.simulation.checkers.truth import Commit
from kohort.simulation.leaderworkerset.labels import WORKLOAD
from kohort.simulation.leaderworkerset.simulated import LEADER_WORKER_SETS
from kohort.simulation.run import simulate
from kohort.simulation.scenario import PODS, Fault, Scenario

OURS = "kohort-0.1"


class Facts:
    """Claims by hand, in the place of a store."""

    def __init__(self) -> None:
        self.objects: dict[Any, dict[str, Object]] = {kind: {} for kind in (kinds.CLAIM, WORKLOAD)}
        self.breaches: list[str] = []
        self.at = 100.0

    @property
    def workload(self) -> Object | None:
        return self.objects[WORKLOAD].get("x")

    def scene(self) -> Scene:
        scenario = Scenario(size=1, claims="Retain")
        known = LEADER_WORKER_SETS
        return Scene(scenario, known, self, lambda: self.at, self.breaches.append, 1.0)  # type: ignore

    def put(self, kind: Any, obj: Object | None, name: str, writer: str = "") -> Commit:
        old = self.objects[kind].pop(name, None)
        if obj is not None:
            self.objects[kind][name] = obj
        return Commit(kind, name, old, obj, writer, self.at)


def test_an_owner_of_a_claim_that_is_lost_with_our_write_is_noticed():
    facts = Facts()
    checker = Claims(facts.scene())
    owners = [{"kind": "ConfigMap", "name": "steward", "uid": "s"}]
    held = {"metadata": {"name": "data-x-0", "ownerReferences": owners}}
    checker.commit(facts.put(kinds.CLAIM, held, "data-x-0"))
    checker.commit(facts.put(kinds.CLAIM, {"metadata": {"name": "data-x-0"}}, "data-x-0", OURS))
    assert facts.breaches == ["C3: claim data-x-0 lost an owner that is not ours: {'steward'}"]


def test_owners_that_others_add_just_before_our_write_are_kept():
    between = Fault("between", seconds=40.0, pick=3, kind="PersistentVolumeClaim")
    scale = Fault("scale", at=12.0, value="1")
    scenario = Scenario(seed=4, size=1, claims="Delete", carrier=PODS, faults=(between, scale))
    assert simulate(scenario).breaches == ()


@pytest.mark.parametrize("had_pod", [True, False])
def test_a_claim_that_outlives_its_pod_is_noticed_and_one_without_a_pod_is_not(had_pod: bool):
    facts = Facts()
    scene = replace(facts.scene(), scenario=Scenario(size=1, claims="Delete"))
    checker = Claims(scene)
    checker.commit(facts.put(WORKLOAD, {"metadata": {}, "spec": {"replicas": 1}}, "x"))
    names = ["data-x-0", "data-x-1"]
    for name in names:
        checker.commit(facts.put(kinds.CLAIM, {"metadata": {"name": name}}, name))
    for name in ("x-0", "x-1") if had_pod else ("x-0",):
        checker.commit(Commit(kinds.POD, name, None, {"metadata": {"name": name}}, "", 1.0))
    checker.end()
    noticed = ["C6: claims ['data-x-1'] outlived their groups"]
    assert facts.breaches == (noticed if had_pod else [])
