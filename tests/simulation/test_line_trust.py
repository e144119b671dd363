"""The checkers of units that do not last, and of the budget of units, notice what they should."""

from typing import Any

import pytest

from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.line_trust import LineTrust
from kohort.simulation.checkers.lines import LineBudget
from kohort.simulation.checkers.truth import Commit, Group, Marks
from kohort.simulation.modelserving.groups import ServingGroup, list_lines
from kohort.simulation.modelserving.labels import KEY, LABELS, OWNER, WORKLOAD
from kohort.simulation.modelserving.simulated import MODEL_SERVINGS
from kohort.simulation.scenario import Scenario

OURS = "kohort-0.1"
READY = {"conditions": [{"type": "Ready", "status": "True"}]}
CRASHED = {"containerStatuses": [{"restartCount": 1}]}


class Facts:
    """Three groups of one pod each by hand, in the place of a store."""

    def __init__(
        self,
        min_ready: int = 0,
        recovery: str = "RoleRecreate",
        checker: type[Checker] = LineTrust,
    ) -> None:
        self.pods_held: dict[str, Object] = {}
        self.breaches: list[str] = []
        self.at, self.marks = 0.0, Marks(LABELS)
        self.workload: Object = make_workload("engine:1", min_ready, recovery)
        self.checker = checker(self.scene())
        self.write(WORKLOAD, "x", None, self.workload)
        for ordinal in range(3):
            self.put(ordinal, "engine:1", 1)
        self.at = 60.0

    def scene(self) -> Scene:
        more = {"patience": 1.0, "lags": 1.0}
        truth: Any = self
        now, breach = (lambda: self.at), self.breaches.append
        return Scene(Scenario(api="ms"), MODEL_SERVINGS, truth, now, breach, **more)

    def find_seen(self, writer: str) -> float:
        return self.at

    def pods(self) -> list[Object]:
        return list(self.pods_held.values())

    def groups(self) -> list[Group]:
        roles = self.workload["spec"]["template"]["roles"]
        found: dict[int, list[Group]] = {}
        for name, pod in sorted(self.pods_held.items()):
            _, group, _, instance, _ = name.split("-")
            one = Group(int(instance), pod, [], 1, self.marks)
            found.setdefault(int(group), []).append(one)
        return [ServingGroup(o, {"a": own}, roles, self.marks) for o, own in found.items()]

    def lines(self) -> list[Any]:
        truth: Any = self
        return list_lines(truth)

    def write(self, kind: Any, name: str, old: Object | None, new: Object | None, by: str = ""):
        self.checker.commit(Commit(kind, name, old, new, by, self.at))

    def roll(self) -> None:
        old, self.workload = self.workload, make_workload("engine:2", *read_workload(self.workload))
        self.write(WORKLOAD, "x", old, self.workload)
        self.at += 1

    def resize(self, instances: int) -> None:
        """The user asks for so many instances in each group."""
        old, (role,) = self.workload, self.workload["spec"]["template"]["roles"]
        template = {"roles": [{**role, "replicas": instances}]}
        self.workload = {**old, "spec": {**old["spec"], "template": template}}
        self.write(WORKLOAD, "x", old, self.workload)

    def apply_again(self, seconds: float) -> None:
        """Pods stay while their workload is away, and one becomes ready meanwhile."""
        held, self.workload = self.workload, None  # type: ignore[assignment]
        self.write(WORKLOAD, "x", held, None)
        self.put(0, "engine:1", 1, {})
        self.put(0, "engine:1", 1)
        self.at += seconds
        self.workload = {**held, "metadata": {**held["metadata"], "uid": "y"}}
        self.write(WORKLOAD, "x", None, self.workload)

    def put(
        self, ordinal: int, image: str, life: int, status: Object = READY, instance: int = 0
    ) -> None:
        name = f"x-{ordinal}-a-{instance}-0"
        pod = make_pod(name, image, life, status)
        old, self.pods_held[name] = self.pods_held.get(name), pod
        self.marks.note(old, pod, is_user=False)
        self.write(kinds.POD, name, old, pod)

    def take(self, ordinal: int) -> None:
        """The operator deletes a pod."""
        name = f"x-{ordinal}-a-0-0"
        self.write(kinds.POD, name, self.pods_held.pop(name), None, OURS)


def make_workload(image: str, min_ready: int, recovery: str) -> Object:
    template = {"spec": {"containers": [{"image": image}]}}
    role = {"name": "a", "replicas": 1, "workerReplicas": 0, "entryTemplate": template}
    notes = {"kohort.dev/min-ready-seconds": str(min_ready)}
    metadata = {"name": "x", "uid": "x", "annotations": notes}
    spec = {"replicas": 3, "recoveryPolicy": recovery, "template": {"roles": [role]}}
    return {"metadata": metadata, "spec": spec}


def read_workload(workload: Object) -> tuple[int, str]:
    seconds = workload["metadata"]["annotations"]["kohort.dev/min-ready-seconds"]
    return int(seconds), workload["spec"]["recoveryPolicy"]


def make_pod(name: str, image: str, life: int, status: Object) -> Object:
    labels = {OWNER: "x", KEY: image}
    return {
        "metadata": {"name": name, "uid": f"{name}.{life}", "labels": labels},
        "spec": {"containers": [{"image": image}]},
        "status": status,
    }


@pytest.mark.parametrize("has_served", [False, True])
def test_a_unit_is_excused_from_the_budget_only_if_it_crashed_after_it_served(has_served: bool):
    """A crash from which it recovered before it served leads to no restart."""
    facts = Facts(recovery="ServingGroupRecreate", checker=LineBudget)
    end = {"restartCount": 1, "lastState": {"terminated": {"exitCode": 1}}}
    for status in [{}, READY] if has_served else [{}]:
        facts.put(2, "engine:1", 2, status)
    facts.put(2, "engine:1", 2, {"containerStatuses": [end]})
    facts.put(2, "engine:1", 2, {**READY, "containerStatuses": [end]})
    facts.at += 60
    facts.roll()
    facts.take(1)
    facts.take(2)
    noticed = "A3: groups: unit 2 given up leaves 1 that serve, 2 are promised"
    assert (noticed in facts.breaches) is not has_served


def test_a_group_that_had_gone_may_come_back_by_the_spec_that_was_seen():
    facts = Facts(checker=LineBudget)
    facts.resize(2)
    facts.take(0)
    facts.at += 1
    facts.resize(1)
    facts.at += 0.5
    for instance in (0, 1):
        facts.put(0, "engine:1", 2, {}, instance)
    assert facts.breaches == []
    facts.at += 2
    facts.put(0, "engine:1", 2, READY, 1)
    assert facts.breaches == ["A1: group 0 role a: 2 exist, 1 are allowed"]


@pytest.mark.parametrize("seconds", [1.0, 5.0])
def test_a_template_that_was_ready_for_a_moment_and_pays_for_the_next_group_is_noticed(
    seconds: float,
):
    facts = Facts()
    facts.roll()
    facts.take(2)
    facts.put(2, "engine:2", 2)
    facts.at += seconds
    facts.take(1)
    noticed = ["A8: groups: unit 1 given up, and no unit of the new template has lasted"]
    assert facts.breaches == (noticed if seconds < 3 else [])


@pytest.mark.parametrize("seconds", [5.0, 9.0])
def test_a_group_that_was_ready_for_too_short_a_time_and_pays_for_the_next_is_noticed(
    seconds: float,
):
    facts = Facts(min_ready=8)
    facts.roll()
    facts.take(2)
    facts.put(2, "engine:2", 2)
    facts.at += seconds
    facts.take(1)
    noticed = ["A8: groups: unit 1 given up, 1 have lasted for 8 s and 2 are promised"]
    assert facts.breaches == (noticed if seconds < 8 else [])


@pytest.mark.parametrize("was_ready", [True, False])
@pytest.mark.parametrize("seconds", [1.0, 4.0])
def test_a_group_lasts_from_when_it_became_ready_though_its_workload_was_away(
    seconds: float, was_ready: bool
):
    facts = Facts(min_ready=8)
    if not was_ready:
        facts.put(0, "engine:1", 1, {})
    facts.apply_again(seconds=4)
    facts.roll()
    facts.at += seconds
    facts.take(2)
    noticed = ["A8: groups: unit 2 given up, 1 have lasted for 8 s and 2 are promised"]
    assert facts.breaches == (noticed if seconds < 3 else [])


@pytest.mark.parametrize("recovery", ["RoleRecreate", "ServingGroupRecreate"])
@pytest.mark.parametrize("seconds", [5.0, 11.0])
def test_a_rollout_that_goes_on_after_a_failure_is_noticed(recovery: str, seconds: float):
    facts = Facts(recovery=recovery)
    facts.roll()
    facts.take(2)
    facts.put(2, "engine:2", 2, CRASHED)
    facts.at += 1
    facts.take(2)
    facts.put(2, "engine:2", 3)
    facts.at += seconds
    facts.take(1)
    who = "groups: unit 2" if recovery == "ServingGroupRecreate" else "group 2 role a: unit 0"
    text = f"but {who} has not lasted since it failed 1 times"
    assert facts.breaches == ([f"A9: groups: unit 1 given up, {text}"] if seconds < 10 else [])


@pytest.mark.parametrize("waited", [2.0, 9.5])
def test_a_unit_that_fails_again_and_is_made_anew_too_soon_is_noticed(waited: float):
    facts = Facts()
    for life, seconds in ((2, 0.0), (3, waited)):
        facts.put(2, "engine:1", life, CRASHED)
        facts.at += seconds
        facts.take(2)
    text = "group 2 role a: unit 0 was made anew for the 2. time in a row after 2.0 s"
    assert facts.breaches == ([f"G9: {text}"] if waited < 9 else [])
