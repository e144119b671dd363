"""The checkers of instances judge by what was asked for, and excuse no more than that."""

from types import SimpleNamespace
from typing import Any

import pytest

from kohort.cluster import kinds
from kohort.cluster.objects import Object, is_leaving
from kohort.simulation.checkers.checker import Scene
from kohort.simulation.checkers.instances import Instances
from kohort.simulation.checkers.kept_units import list_hopeless
from kohort.simulation.checkers.truth import Commit, Group, Marks, Truth
from kohort.simulation.instanceset.labels import LABELS
from kohort.simulation.modelserving.groups import ServingGroup
from kohort.simulation.rolebasedgroup.groups import RoleUnit
from kohort.simulation.roleinstance import units
from kohort.simulation.scenario import FLEETING_IMAGE, Scenario
from kohort.simulation.simulated_api import LineView, Policy


def make_spec(size: int) -> Object:
    template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {"components": [{"name": "main", "size": size, "template": template}]}


def make_pod(name: str, **more: Any) -> Object:
    owners = [{"uid": "x", "controller": True}]
    types = ("Ready", "RoleInstanceReady", "InPlaceUpdateReady")
    return {
        "metadata": {"name": name, "uid": name, "labels": {}, "ownerReferences": owners, **more},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
        "status": {"conditions": [{"type": each, "status": "True"} for each in types]},
    }


@pytest.mark.parametrize(
    ("pods", "observed", "ready"), [(3, 1, 1), (2, 1, 1), (1, 1, 0), (3, 2, 0), (2, 2, 1)]
)
def test_an_instance_is_ready_by_the_spec_before_until_the_next_is_observed(
    monkeypatch: pytest.MonkeyPatch, pods: int, observed: int, ready: int
):
    monkeypatch.setattr("kohort.simulation.rolebasedgroup.groups.GATES", ("Ready",))
    metadata = {"name": "x", "uid": "x", "generation": 2}
    status = {"observedGeneration": observed}
    held = [make_pod(f"x-main-{index}") for index in range(pods)]
    truth: Any = SimpleNamespace(
        workload={"metadata": metadata, "spec": make_spec(2), "status": status},
        specs={1: make_spec(3), 2: make_spec(2)},
        marks=Marks(LABELS),
        pods=lambda: held,
    )
    assert units.count_ready(truth) == ready


@pytest.mark.parametrize(
    ("names", "can_follow"),
    [
        (["x-main-0", "x-main-1"], True),
        (["x-main-1"], False),
        (["x-main-1", "x-main-2"], False),
    ],
)
def test_an_instance_can_follow_with_just_the_pods_that_are_wanted(
    names: list[str], can_follow: bool
):
    instance = {"metadata": {"name": "x", "uid": "x"}, "spec": make_spec(2)}
    truth: Any = SimpleNamespace(marks=Marks(LABELS))
    unit = RoleUnit("a", instance, [make_pod(name) for name in names], truth, ordinal=0)
    assert units.can_follow(unit, make_spec(2)) == can_follow


def find_hopeless_with_a_fleeting_role(first: dict[str, str]) -> int:
    """How many kept groups can never serve: of one, of whose roles one does not last."""

    def make_role(name: str, image: str) -> list[Group]:
        pod = make_pod(name)
        pod["spec"]["containers"][0]["image"] = image
        return [Group(0, pod, [], 1, Marks(LABELS))]

    roles = {"a": make_role("x-0-a-0-0", FLEETING_IMAGE), "b": make_role("x-0-b-0-0", "engine:1")}
    group = ServingGroup(0, roles, [], Marks(LABELS))
    view = LineView("groups", (group,), frozenset(), Policy(1, 1, 0, 1), True, True, True)
    truth: Any = SimpleNamespace(
        workload={"spec": {}},
        lines=lambda: [view],
        first=first,
        simulated=SimpleNamespace(
            is_old=lambda unit, spec: True, is_kept_old=lambda unit, spec: False
        ),
    )
    return len(list_hopeless(truth))


@pytest.mark.parametrize(("first", "is_hopeless"), [(FLEETING_IMAGE, True), ("engine:1", False)])
def test_a_kept_group_never_serves_by_one_role_unless_that_ran_a_better_template(
    first: str, is_hopeless: bool
):
    known = {"x-0-a-0-0": first, "x-0-b-0-0": "engine:1"}
    assert find_hopeless_with_a_fleeting_role(known) == is_hopeless


def test_a_pod_of_an_earlier_object_is_judged_by_the_image_that_it_runs():
    assert find_hopeless_with_a_fleeting_role({"x-0-b-0-0": "engine:1"}) == 1


def note_end(finalizers: list[str]) -> Truth:
    """The truth after a workload that made a pod has gone, and the pod was written again."""
    truth = Truth.__new__(Truth)
    pod = make_pod("x-0")
    truth.first, truth.specs, truth.former = {}, {}, set()
    truth.objects = {kinds.POD: {"x-0": pod}}
    truth._note_image("x-0", pod)
    truth._note_spec({"metadata": {"finalizers": finalizers}}, None)
    truth._note_image("x-0", pod)
    return truth


def test_what_pods_ran_that_went_with_their_object_was_not_given_to_the_next():
    assert note_end([]).first == {}


def test_what_orphans_ran_was_given_to_the_object_that_adopts_them():
    assert note_end(["orphan"]).first == {"x-0": "i"}


@pytest.mark.parametrize(("partition", "image"), [(0, FLEETING_IMAGE), (1, "engine:1")])
def test_what_a_unit_ran_as_an_edit_began_to_keep_it_was_given_to_it(partition: int, image: str):
    pod = make_pod("x-a-0")
    pod["metadata"]["labels"] = {LABELS.owner: "x"}
    pod["spec"]["containers"][0]["image"] = FLEETING_IMAGE
    old, new = ({"metadata": {"name": "x"}, "spec": {"paused": paused}} for paused in (False, True))
    unit = Group(0, pod, [], 1, Marks(LABELS))
    truth = Truth.__new__(Truth)
    simulated: Any = SimpleNamespace(kind=kinds.SERVICE, labels=LABELS, is_old=lambda *_: True)
    truth.simulated = simulated
    truth.objects = {kinds.SERVICE: {"x": old}, kinds.POD: {"x-a-0": pod}}
    policy = Policy(1, 1, 0, partition)
    truth._lines = [LineView("role a", (unit,), frozenset(), policy, True, True, True)]
    truth.first, truth.former = {"x-a-0": "engine:1"}, set()
    truth._note_free(old, new)
    assert truth.first == {"x-a-0": image}


class Line:
    """Units of one pod by hand, of an API whose ordinals need not be dense."""

    def __init__(self, wanted: int, **old: bool) -> None:
        self.old, self.policy = old, Policy(wanted, 0, 0, 0)
        self.pods = {name: make_pod(name) for name in old}
        self.breaches: list[str] = []
        self.seen = 0.5  # the units served before it
        metadata = {"name": "x", "uid": "x"}
        self.workload: Object = {"metadata": metadata, "spec": {}}
        simulated: Any = SimpleNamespace(
            kind=kinds.SERVICE,
            unit_kinds=(),
            is_sparse=True,
            is_in_place=lambda pod: True,
            is_old=lambda unit, spec: old[unit.uid],
        )
        truth: Any = SimpleNamespace(
            workload=self.workload,
            lines=self.lines,
            find_seen=lambda writer: self.seen,
            marks=Marks(LABELS),
        )
        self.checker = Instances(self._make_scene(simulated, truth))
        self.checker.is_forgotten = lambda unit: False  # type: ignore
        self.checker.commit(Commit(kinds.SERVICE, "x", None, self.workload, "", 0.0))

    def _make_scene(self, simulated: Any, truth: Any) -> Scene:
        return Scene(
            Scenario(size=1),
            simulated,
            truth,
            lambda: 1.0,
            self.breaches.append,
            patience=1.0,
            lags=1.0,
        )

    def lines(self) -> list[LineView]:
        found = [
            SimpleNamespace(
                uid=name,
                ordinal=place,
                leader=pod,
                workers=[],
                members=[pod],
                revisions={"a"},
                is_ready=True,
                is_edited=False,
                size=1,
            )
            for place, (name, pod) in enumerate(self.pods.items())
            if not is_leaving(pod)
        ]
        units: Any = tuple(found)
        return [LineView("groups", units, frozenset(), self.policy, True, True, False)]

    def delete(self, name: str, at: float = 1.0) -> None:
        old = self.pods[name]
        new = make_pod(name, deletionTimestamp="2026-01-02T03:04:05Z")
        self.pods[name] = new
        self.checker.commit(Commit(kinds.POD, name, old, new, "kohort-0.1", at))


def test_one_plan_may_replace_an_old_unit_and_scale_a_new_one_away():
    line = Line(1, a=True, b=False)
    line.delete("a")
    line.delete("b")
    assert line.breaches == []


def test_a_unit_is_not_scaled_away_after_another_one_was():
    line = Line(1, a=False, b=False)
    line.delete("a")
    line.delete("b")
    assert line.breaches == ["G3: b was deleted without a reason (groups: unit 1)"]


def test_a_unit_is_not_scaled_away_for_a_replaced_one_that_the_operator_has_seen_leave():
    line = Line(1, a=True, b=False)
    line.delete("a", at=1.0)
    line.seen = 2.0
    line.delete("b", at=2.0)
    assert line.breaches == ["G3: b was deleted without a reason (groups: unit 1)"]


def test_a_unit_is_not_taken_down_because_another_one_is_replaced():
    line = Line(2, a=True, b=False)
    line.delete("a")
    line.delete("b")
    assert line.breaches == ["G3: b was deleted without a reason (groups: unit 1)"]
