"""What is played to the checkers reaches them: who wrote, in which order, and what was wrong."""

from typing import Any

import pytest
from audit_log import Asked, AuditLog
from checker_replay import judge
from watch_record import Record

from kohort.cluster.kinds import POD, STATEFUL_SET
from kohort.cluster.objects import Object
from kohort.simulation.leaderworkerset.labels import GROUP, INDEX, KEY, OWNER, WORKLOAD
from kohort.simulation.leaderworkerset.manifests import make_workload
from kohort.simulation.scenario import Scenario, make_template

NAMESPACE, NOW = "try", "2026-01-01T00:00:00Z"
READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


class Story:
    """What happens in a namespace, version by version."""

    def __init__(self, tmp_path) -> None:
        path = tmp_path / "audit.log"
        path.touch()
        self.record, self.audit = Record(), AuditLog(path)
        self._version = 0

    def observe(self, kind: Any, change: str, obj: Object, *, by_operator: bool = False) -> None:
        """Let one change happen."""
        self._version += 1
        metadata = {**obj["metadata"], "resourceVersion": str(self._version)}
        self.record.note(kind, change, {**obj, "metadata": metadata})
        if by_operator:
            self.audit.written.add(str(self._version))

    def breaches(self) -> list[str]:
        """What the checkers say."""
        return judge(self.record, self.audit, NAMESPACE).breaches


@pytest.fixture
def story(tmp_path) -> Story:
    """Three groups of one pod that serve, of which one may be missing."""
    told = Story(tmp_path)
    told.observe(WORKLOAD, "ADDED", workload("engine:1"))
    told.observe(STATEFUL_SET, "ADDED", leader_set(0, "one"), by_operator=True)
    for group in range(3):
        told.observe(POD, "ADDED", leader(group))
    return told


def workload(image: str) -> Object:
    made = make_workload(Scenario(groups=3, size=1))
    made["metadata"] |= {"uid": "root", "generation": 1}
    made["spec"]["leaderWorkerTemplate"]["workerTemplate"] = make_template(image)
    return made


def leader_set(partition: int, key: str) -> Object:
    labels = {OWNER: "x", KEY: key}
    metadata = {"name": "x", "uid": "set", "labels": labels, **owned_by("root")}
    strategy = {"rollingUpdate": {"partition": partition}}
    return {"metadata": metadata, "spec": {"replicas": 3, "updateStrategy": strategy}}


def leader(group: int, **more: Any) -> Object:
    labels = {OWNER: "x", INDEX: "0", GROUP: str(group), KEY: "one"}
    metadata = {"name": f"x-{group}", "uid": f"pod-{group}", "labels": labels, **more}
    spec = {"containers": [{"name": "engine", "image": "engine:1"}]}
    return {"metadata": {**metadata, **owned_by("set")}, "spec": spec, "status": READY}


def owned_by(uid: str) -> Object:
    return {"ownerReferences": [{"uid": uid, "controller": True}]}


def test_a_budget_that_is_kept_is_no_breach(story: Story):
    story.observe(WORKLOAD, "MODIFIED", workload("engine:2"))
    story.observe(STATEFUL_SET, "MODIFIED", leader_set(3, "two"), by_operator=True)
    story.observe(STATEFUL_SET, "MODIFIED", leader_set(2, "two"), by_operator=True)
    story.observe(POD, "MODIFIED", leader(2, deletionTimestamp=NOW))
    assert not story.breaches()


def test_a_step_that_releases_too_many_groups_is_found(story: Story, monkeypatch):
    monkeypatch.setattr("checker_replay.PATIENCE_SECONDS", 0.0)
    story.observe(STATEFUL_SET, "MODIFIED", leader_set(3, "two"), by_operator=True)
    story.observe(STATEFUL_SET, "MODIFIED", leader_set(1, "two"), by_operator=True)
    assert [breach[:2] for breach in story.breaches()] == ["A3"]


@pytest.mark.parametrize(("patience", "breaches"), [(5.0, []), (0.0, ["A3"])])
def test_a_step_is_not_judged_by_what_became_ready_a_moment_before(
    story: Story, monkeypatch, patience: float, breaches: list[str]
):
    monkeypatch.setattr("checker_replay.PATIENCE_SECONDS", patience)
    for group in range(3):
        story.observe(POD, "MODIFIED", {**leader(group), "status": {"phase": "Running"}})
    story.observe(STATEFUL_SET, "MODIFIED", leader_set(3, "two"), by_operator=True)
    for group in range(3):
        story.observe(POD, "MODIFIED", leader(group))
    story.observe(STATEFUL_SET, "MODIFIED", leader_set(0, "two"), by_operator=True)
    assert [breach[:2] for breach in story.breaches()] == breaches


def test_groups_that_go_beyond_the_budget_are_found(story: Story, monkeypatch):
    monkeypatch.setattr("checker_replay.PATIENCE_SECONDS", 0.0)
    story.observe(STATEFUL_SET, "MODIFIED", leader_set(1, "two"), by_operator=True)
    for group in (2, 1):
        story.observe(POD, "MODIFIED", leader(group, deletionTimestamp=NOW))
    assert "A2" in {breach[:2] for breach in story.breaches()}


@pytest.mark.parametrize("who", ["operator", "user"])
def test_a_healthy_group_is_deleted_by_people_only(story: Story, who: str):
    leaving = leader(1, deletionTimestamp=NOW)
    story.observe(POD, "MODIFIED", leaving, by_operator=who == "operator")
    if who == "user":
        story.audit.written_by_outsiders.add(story.record.in_order()[-1].version)
    found = {breach[:2] for breach in story.breaches()}
    assert ("G3" in found) == (who == "operator")


@pytest.mark.parametrize("manager", ["lws", "kubectl-rollout", "kubectl-set"])
def test_a_set_that_kubectl_edited_may_cost_groups_of_the_same_template(story: Story, manager: str):
    edited = leader_set(0, "one")
    edited["metadata"]["managedFields"] = [{"manager": manager}]
    story.observe(STATEFUL_SET, "MODIFIED", edited)
    story.observe(POD, "MODIFIED", leader(1, deletionTimestamp=NOW), by_operator=True)
    found = {breach[:2] for breach in story.breaches()}
    assert ("G3" in found) == (manager == "lws")


def test_changes_are_played_by_version_not_as_they_were_heard(story: Story):
    story.observe(STATEFUL_SET, "MODIFIED", leader_set(3, "two"), by_operator=True)
    seen = story.record.in_order()
    late = Record()
    for each in reversed(seen):
        late.note(each.kind, each.type, each.obj)
    assert [s.version for s in late.in_order()] == [s.version for s in seen]
    assert [s.at for s in late.in_order()] == sorted(s.at for s in late.in_order())


def test_a_delete_by_name_alone_is_found(story: Story):
    story.audit.asked = [Asked("delete", "pods", NAMESPACE, "x-1", "", 0.0)]
    (breach,) = story.breaches()
    assert breach.startswith("R3: Pod x-1 is deleted by name alone\n")
