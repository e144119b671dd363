"""The checkers of rollouts and of the status notice what they are there for."""

from typing import Any

import pytest

from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.simulation.checkers.budget import Budget
from kohort.simulation.checkers.checker import Scene
from kohort.simulation.checkers.ordinals import Partition
from kohort.simulation.checkers.status import Status
from kohort.simulation.checkers.trust import Lasting
from kohort.simulation.checkers.truth import Commit, Group, Marks
from kohort.simulation.faulty_cluster import Request
from kohort.simulation.leaderworkerset.labels import KEY, LABELS, OWNER, WORKLOAD
from kohort.simulation.leaderworkerset.simulated import LEADER_WORKER_SETS
from kohort.simulation.scenario import FOREIGN_IMAGE, Scenario

OURS = "kohort-0.1"


class Facts:
    """A leader set and leaders without workers by hand, in the place of a store."""

    def __init__(self) -> None:
        self.objects: dict[Any, dict[str, Object]] = {
            kind: {}
            for kind in (WORKLOAD, kinds.POD, kinds.STATEFUL_SET, kinds.CONTROLLER_REVISION)
        }
        self.breaches: list[str] = []
        self.at = 0.0
        self.silent_since: float | None = None
        self.seen: float | None = None  # None: all until now
        self.marks = Marks(LABELS)
        self.hurt: set[str] = set()
        self.views: dict[str, dict[Any, int]] = {OURS: {}}

    def scene(self) -> Scene:
        return Scene(
            Scenario(size=1),
            LEADER_WORKER_SETS,
            self,  # type: ignore
            lambda: self.at,
            self.breaches.append,
            patience=1.0,
            lags=1.0,
            silent_since=lambda: self.silent_since,
        )

    @property
    def workload(self) -> Object | None:
        return self.objects[WORKLOAD].get("x")

    @property
    def leader_set(self) -> Object | None:
        return self.objects[kinds.STATEFUL_SET].get("x")

    def find_seen(self, writer: str) -> float:
        return self.at if self.seen is None else self.seen

    def groups(self) -> list[Group]:
        pods = sorted(self.objects[kinds.POD].items())
        staying = [(name, pod) for name, pod in pods if "deletionTimestamp" not in pod["metadata"]]
        return [Group(int(name[2:]), pod, [], 1, self.marks) for name, pod in staying]

    def put(self, kind: Any, name: str, obj: Object | None, writer: str = "") -> Commit:
        """Write an object, or delete it, and say so."""
        old = self.objects[kind].pop(name, None)
        if obj is not None:
            self.objects[kind][name] = obj
        if kind == kinds.POD:
            self.marks.note(old, obj, is_user=False)
        return Commit(kind, name, old, obj, writer, self.at)


def make_workload(groups: int = 3, partition: int = 0, version: int = 1) -> Object:
    rolling = {"rollingUpdateConfiguration": {"partition": partition, "maxUnavailable": 1}}
    metadata = {"name": "x", "uid": "x", "resourceVersion": str(version), "annotations": {}}
    return {"metadata": metadata, "spec": {"replicas": groups, "rolloutStrategy": rolling}}


def make_leader(ordinal: int, revision: str, life: int = 1, **more: Any) -> Object:
    metadata = {"name": f"x-{ordinal}", "uid": f"x-{ordinal}.{life}", **more}
    ready = [{"type": "Ready", "status": "True"}]
    return {
        "metadata": {**metadata, "labels": {KEY: revision, OWNER: "x"}},
        "spec": {"containers": [{"image": revision}]},
        "status": {"conditions": ready},
    }


def make_set(partition: int, revision: str, replicas: int = 3) -> Object:
    strategy = {"rollingUpdate": {"partition": partition}}
    return {
        "metadata": {"name": "x", "uid": "set", "labels": {KEY: revision, OWNER: "x"}},
        "spec": {"replicas": replicas, "updateStrategy": strategy},
        "status": {"currentRevision": "1", "updateRevision": revision},
    }


def start(checker: Any, facts: Facts, partition: int = 0, *, kept: int = 3) -> None:
    """Three groups of revision 1 that have served for a minute, and a set that keeps some."""
    checker.commit(facts.put(WORKLOAD, "x", make_workload(partition=partition)))
    for ordinal in range(3):
        checker.commit(facts.put(kinds.POD, f"x-{ordinal}", make_leader(ordinal, "1")))
    checker.commit(facts.put(kinds.STATEFUL_SET, "x", make_set(0, "1")))
    checker.commit(facts.put(kinds.STATEFUL_SET, "x", make_set(kept, "2"), OURS))
    facts.at = 60.0


@pytest.mark.parametrize("partition", [0, 1])
def test_an_old_group_that_the_partition_keeps_and_that_is_taken_down_is_noticed(partition: int):
    facts = Facts()
    checker = Partition(facts.scene())
    start(checker, facts, partition)
    going = make_leader(0, "1", deletionTimestamp="now")
    checker.commit(facts.put(kinds.POD, "x-0", going))
    assert facts.breaches == ["A4: group 0 is old, and the partition keeps it"] * partition


@pytest.mark.parametrize("revision", ["1", "2"])
def test_a_group_that_comes_back_below_the_partition_as_another_is_noticed(revision: str):
    facts = Facts()
    checker = Partition(facts.scene())
    start(checker, facts, partition=1)
    facts.hurt.add("x-0.1")
    checker.commit(facts.put(kinds.POD, "x-0", None))
    checker.commit(facts.put(kinds.POD, "x-0", make_leader(0, revision, 2)))
    noticed = ["A4: group 0 is below the partition and came back as another"]
    assert facts.breaches == (noticed if revision == "2" else [])


@pytest.mark.parametrize("seconds", [1.0, 5.0])
def test_a_revision_that_was_ready_for_a_moment_and_pays_for_the_next_group_is_noticed(
    seconds: float,
):
    facts = Facts()
    checker = Lasting(facts.scene())
    start(checker, facts)
    checker.commit(facts.put(kinds.STATEFUL_SET, "x", make_set(2, "2"), OURS))
    checker.commit(facts.put(kinds.POD, "x-2", None))
    checker.commit(facts.put(kinds.POD, "x-2", make_leader(2, "2", 2)))
    facts.at += seconds
    checker.commit(facts.put(kinds.STATEFUL_SET, "x", make_set(1, "2"), OURS))
    noticed = ["A8: groups [1] given up, and no group of 2 has lasted"]
    assert facts.breaches == (noticed if seconds < 3 else [])


@pytest.mark.parametrize("since", [None, 30.0, 59.5])
def test_a_group_that_is_given_up_while_the_webhook_is_silent_is_noticed(since: float | None):
    facts = Facts()
    checker = Budget(facts.scene())
    start(checker, facts)
    facts.silent_since = since
    checker.commit(facts.put(kinds.STATEFUL_SET, "x", make_set(2, "2"), OURS))
    noticed = ["A3: (3, 3) to (2, 3) gives groups up, and our webhook is silent since 30.00 s"]
    assert facts.breaches == (noticed if since == 30.0 else [])


@pytest.mark.parametrize(("seen", "version"), [(7, 7), (7, 8), (6, 7)])
def test_a_status_that_changes_nothing_is_noticed_if_its_writer_could_know(seen: int, version: int):
    facts = Facts()
    checker = Status(facts.scene())
    facts.put(WORKLOAD, "x", make_workload(version=7))
    facts.views[OURS] = {WORKLOAD: seen}
    request = Request("patch/status", WORKLOAD, "x", OURS)
    checker.request(request)
    checker.answer(request, version)
    noticed = ["T6: a status was sent that changes nothing"]
    assert facts.breaches == (noticed if (seen, version) == (7, 7) else [])


@pytest.mark.parametrize("seen", [59.0, 61.0])
def test_a_group_that_is_edited_while_a_step_is_on_its_way_was_not_given_up(seen: float):
    facts = Facts()
    checker = Budget(facts.scene())
    start(checker, facts)
    for ordinal in (1, 2):
        checker.commit(facts.put(kinds.POD, f"x-{ordinal}", None))
        checker.commit(facts.put(kinds.POD, f"x-{ordinal}", make_leader(ordinal, "2", 2)))
    checker.commit(facts.put(kinds.STATEFUL_SET, "x", make_set(1, "2"), OURS))
    facts.at = 60.5
    facts.marks.relabelled.add("x-2.2")
    checker.commit(facts.put(kinds.POD, "x-2", make_leader(2, "", 2)))
    facts.at, facts.seen = 62.0, seen
    checker.commit(facts.put(kinds.STATEFUL_SET, "x", make_set(0, "2"), OURS))
    noticed = ["A3: (1, 3) to (0, 3) leaves 1 groups that serve, 2 are promised"]
    assert facts.breaches == (noticed if seen > 60.5 else [])


@pytest.mark.parametrize("seen", [69.0, 71.0])
def test_a_group_that_fails_again_unseen_has_lasted_for_who_decides(seen: float):
    facts = Facts()
    checker = Lasting(facts.scene())
    start(checker, facts)
    checker.commit(facts.put(kinds.STATEFUL_SET, "x", make_set(2, "2"), OURS))
    checker.commit(facts.put(kinds.POD, "x-2", make_leader(2, "2", 2)))
    crashed = make_leader(2, "2", 2)
    crashed["status"] = {"containerStatuses": [{"restartCount": 1}]}
    checker.commit(facts.put(kinds.POD, "x-2", crashed))
    checker.commit(facts.put(kinds.POD, "x-2", None, OURS))
    checker.commit(facts.put(kinds.POD, "x-2", make_leader(2, "2", 3)))
    for facts.at, is_ready in ((70.0, False), (71.5, True)):
        leader = make_leader(2, "2", 3)
        leader["status"] = leader["status"] if is_ready else {}
        checker.commit(facts.put(kinds.POD, "x-2", leader))
    facts.at, facts.seen = 75.0, seen
    checker.commit(facts.put(kinds.STATEFUL_SET, "x", make_set(1, "2"), OURS))
    noticed = ["A9: groups [1] given up, but group 2 has not lasted since it failed 1 times"]
    assert facts.breaches == (noticed if seen > 70.0 else [])


@pytest.mark.parametrize("image", ["1", FOREIGN_IMAGE])
def test_a_group_of_a_foreign_template_is_not_recreated_for_its_failure(image: str):
    facts = Facts()
    checker = Lasting(facts.scene())
    start(checker, facts)
    checker.commit(facts.put(kinds.STATEFUL_SET, "x", make_set(0, "1"), OURS))
    for life in (2, 3):
        leader, crashed = make_leader(2, "1", life), make_leader(2, "1", life)
        crashed["status"] = {"containerStatuses": [{"restartCount": 1}]}
        for pod in (leader, crashed):
            pod["spec"] = {"containers": [{"image": image}]}
        for pod, writer in ((leader, ""), (crashed, ""), (None, OURS)):
            checker.commit(facts.put(kinds.POD, "x-2", pod, writer))
    noticed = ["G9: group 2 was recreated for the 2. time in a row after 0.0 s"]
    assert facts.breaches == (noticed if image == "1" else [])
