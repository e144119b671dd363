"""What the scenarios about edits would find wrong, on stories told by hand."""

from typing import Any

from drift_scenarios import FOREIGN, OURS, find_false_counts, find_shortfalls
from watch_record import Seen

from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.labels import KIND as LWS
from kohort.cluster.kinds import POD, STATEFUL_SET
from kohort.cluster.objects import Kind, Object

READY = {"conditions": [{"type": "Ready", "status": "True"}]}
EDITED = [{"manager": "kubectl-set"}]


class Story:
    """Four groups of two that serve, and what becomes of them, second by second."""

    def __init__(self) -> None:
        self.changes: list[Seen] = []
        for group in range(4):
            for index in range(2):
                self.observe(POD, "ADDED", member(group, index))

    def observe(self, kind: Kind, change: str, obj: Object, at: float = 0.0) -> None:
        """Let one change happen."""
        metadata = {**obj["metadata"], "resourceVersion": str(len(self.changes) + 1)}
        self.changes.append(Seen(kind, change, {**obj, "metadata": metadata}, at))

    def edit(self, partition: int) -> None:
        """The edited leader set, with a partition that is the operator's answer unless it is 0."""
        strategy = {"rollingUpdate": {"partition": partition}}
        metadata = {"name": "x", "uid": "set", "managedFields": EDITED}
        spec = {"updateStrategy": strategy}
        self.observe(STATEFUL_SET, "MODIFIED", {"metadata": metadata, "spec": spec})

    def take(self, *groups: int) -> None:
        """Leaders go."""
        for group in groups:
            self.observe(POD, "DELETED", member(group, 0))


def member(group: int, index: int, image: str = OURS) -> Object:
    name = f"x-{group}" + f"-{index}" * (index > 0)
    marks = {labels.GROUP_INDEX: str(group), labels.WORKER_INDEX: str(index)}
    spec: Any = {"containers": [{"name": "engine", "image": image}]}
    metadata = {"name": name, "uid": f"{name}-{image}", "labels": marks}
    return {"metadata": metadata, "spec": spec, "status": READY}


def workload(updated: int) -> Object:
    return {"metadata": {"name": "x", "uid": "root"}, "status": {"updatedReplicas": updated}}


def test_what_the_set_took_before_the_answer_is_not_held_against_the_operator():
    story = Story()
    story.edit(0)
    story.take(3, 2)
    story.edit(4)
    assert not find_shortfalls(story.changes)


def test_a_group_that_goes_after_the_answer_is_a_shortfall():
    story = Story()
    story.edit(0)
    story.take(3)
    story.edit(4)
    story.take(2)
    assert find_shortfalls(story.changes) == ["12: 2 groups serve, 3 must"]


def test_groups_that_came_back_must_stay():
    story = Story()
    story.edit(0)
    story.take(3, 2)
    story.edit(4)
    story.observe(POD, "ADDED", member(2, 0))
    story.take(2)
    assert find_shortfalls(story.changes) == ["14: 2 groups serve, 3 must"]


def test_an_edit_without_an_answer_is_found():
    story = Story()
    story.edit(0)
    story.take(3, 2, 1)
    assert find_shortfalls(story.changes) == ["the partition was never raised, so nobody was kept"]


def test_a_status_that_counts_a_foreign_group_for_long_is_false():
    story = Story()
    story.take(3)
    story.observe(POD, "ADDED", member(3, 0, FOREIGN), 10.0)
    story.observe(LWS, "MODIFIED", workload(4), 12.0)
    assert not find_false_counts(story.changes)
    story.observe(LWS, "MODIFIED", workload(3), 16.0)
    assert not find_false_counts(story.changes)
    story.observe(LWS, "MODIFIED", workload(4), 17.0)
    assert find_false_counts(story.changes) == ["13: 4 updated, 1 are of another image"]
