"""The verdict that the operator itself takes, as its condition and its event tell it."""

from scenes import NOW, Scene

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.cluster.objects import find_condition
from kohort.controller.blocked_condition import HealthReport, HealthReporter, Warnings
from kohort.planning.plan import plan
from kohort.views.health import BLOCKED, Word


def rule(scene: Scene) -> HealthReport:
    snapshot = scene.sample().snapshot
    reading = LEADER_WORKER_SET.read_checked(snapshot)
    decided = plan(reading.workload, reading.observed, NOW.timestamp())
    judge = HealthReporter(LEADER_WORKER_SET, None)  # type: ignore[arg-type]
    return judge.rule(snapshot, reading, decided, Warnings(), NOW)


def test_the_operator_never_says_of_itself_that_it_does_not_run():
    scene = Scene(revisions=())
    scene.sets = lambda: []  # type: ignore[method-assign]
    ruling = rule(scene)
    assert (ruling.health.word, ruling.health.reason) == (Word.STARTING, "NotPlanned")
    assert "operator" not in ruling.health.message
    assert find_condition({"status": ruling.status}, BLOCKED) is None
    assert ruling.list_events(scene.lws) == ()


def test_the_operator_does_not_miss_itself_where_it_has_not_reported_a_generation_yet():
    scene = Scene()
    scene.lws["metadata"]["generation"] = 3
    scene.lws["metadata"]["managedFields"] = [{"time": "2026-01-01T11:00:00Z"}]
    assert rule(scene).health.word is Word.READY
