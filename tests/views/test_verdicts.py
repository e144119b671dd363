"""The verdict with its cause: crashes, dead nodes, refused pods, a silent operator."""

from datetime import timedelta

import pytest
from scenes import NOW, Scene, ago, crash, make_lws

from kohort.apis.carriers.failures import write_failures
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.leaderworkerset.revision import key_of
from kohort.cli.render.explanations import write_explanation
from kohort.cluster.objects import Object
from kohort.model.observed import Crash, Failure
from kohort.views.evidence.cluster import (
    GONE,
    ClusterFacts,
    NodeState,
    OperatorState,
    read_lease,
    read_node,
)
from kohort.views.explain import Explanation, explain
from kohort.views.health import Word, judge
from kohort.views.picture import take_picture
from kohort.views.tree import make_tree

ENDED = {"terminated": {"exitCode": 1, "reason": "Error"}}
DEAD = NodeState(is_ready=False, since=NOW - timedelta(minutes=7))


def why(scene: Scene, facts: ClusterFacts) -> Explanation:
    return explain(take_picture(LEADER_WORKER_SET, scene.sample(), NOW, facts))


def between_crashes(restarts: int) -> Object:
    """A container that runs again after a crash, and is not ready."""
    return {"restartCount": restarts, "state": {"running": {}}, "lastState": ENDED, "ready": False}


def test_a_crash_loop_stays_broken_between_two_crashes():
    backing_off = {**crash(), "lastState": ENDED, "restartCount": 2}
    scenes = [Scene(waiting={"llama-3-1": state}) for state in (backing_off, between_crashes(3))]
    told = [judge(scene.picture()) for scene in scenes]
    assert [health.word for health in told] == [Word.BROKEN, Word.BROKEN]
    assert {(health.reason, health.message) for health in told} == {
        ("CrashLoopBackOff", "llama-3-1: container engine: exit 1, Error")
    }
    commands = explain(scenes[1].picture()).commands
    assert commands[0] == "kubectl logs llama-3-1 -c engine --previous"


def test_a_pod_that_cannot_start_is_named_before_one_of_its_group_that_crashes():
    """A leader may crash because a worker does not come; its name comes first all the same."""
    pulling = {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "unknown"}}}
    waiting = {"llama-3": between_crashes(4), "llama-3-2": pulling}
    told = explain(Scene(waiting=waiting).picture())
    assert [found.about for found in told.on] == ["llama-3-2", "llama-3"]
    assert told.row.health.reason == "ImagePullBackOff"
    assert told.commands[0] == "kubectl describe pod llama-3-2"


def test_one_crash_is_named_and_needs_no_help():
    told = explain(Scene(waiting={"llama-3-1": between_crashes(1)}).picture())
    assert told.row.health.word is Word.STARTING
    assert (told.on[0].reason, told.on[0].container) == ("Restarted", "engine")
    assert told.on[0].message == "exit 1, Error, 1 restart"


def test_a_container_that_is_ready_again_is_not_blamed_for_its_last_crash():
    sidecar = {
        "name": "sidecar",
        "restartCount": 0,
        "state": {"waiting": {"reason": "PodInitializing"}},
    }
    again = {"name": "engine", "restartCount": 5, "ready": True, "lastState": ENDED}
    body = {"status": {"containerStatuses": [again, sidecar]}}
    assert judge(Scene(unready={"llama-3-1": body}).picture()).word is Word.STARTING


class Dying(Scene):
    """A worker on a node that is gone; its leader is deleted in the foreground, and waits."""

    def pod(self, group: int, index: int) -> Object:
        pod = super().pod(group, index)
        if group == 3 and index < 2:
            pod["metadata"]["deletionTimestamp"] = ago(minutes=5)
            pod["metadata"]["finalizers"] = [] if index else ["foregroundDeletion"]
            pod["spec"]["nodeName"] = "gpu-09" if index else "gpu-03"
        return pod


@pytest.mark.parametrize(("node", "words"), [(DEAD, "is not ready"), (GONE, "was deleted")])
def test_a_deletion_is_followed_to_the_pod_on_the_dead_node(node: NodeState, words: str):
    told = why(Dying(), ClusterFacts({"gpu-09": node}))
    health = told.row.health
    assert (health.word, health.reason) == (Word.BLOCKED, "NodeNotReady")
    assert health.message == (
        f"llama-3-1: it is being deleted and cannot end: its node gpu-09 {words}"
    )
    assert [finding.about for finding in told.on] == ["llama-3-1"]
    assert told.commands[-1] == "kubectl delete pod llama-3-1 --force --grace-period=0"
    assert "only if the node is off" in told.notes[0]


def test_a_leader_that_is_deleted_in_the_foreground_names_what_it_waits_for():
    picture = take_picture(LEADER_WORKER_SET, Dying().sample(), NOW, ClusterFacts({"gpu-09": DEAD}))
    leader = next(trouble for trouble in picture.troubles if trouble.member == "llama-3")
    assert not leader.is_stuck
    assert leader.message == "it is being deleted, and waits for llama-3-1 and 1 more"
    assert picture.stuck[0].since == DEAD.since


def test_without_the_right_to_read_nodes_the_worker_is_still_the_one_that_is_blamed():
    told = why(Dying(), ClusterFacts())
    assert [finding.about for finding in told.on] == ["llama-3-1"]
    assert told.on[0].reason == "Terminating"


def test_a_node_that_does_not_answer_is_named_before_its_pods_are_evicted():
    told = why(Scene(unready={"llama-3-1": {}}), ClusterFacts({"gpu-03": DEAD}))
    assert (told.row.health.word, told.since) == (Word.BLOCKED, DEAD.since)
    assert told.commands[0] == "kubectl describe node gpu-03"


def test_nodes_are_read_with_the_moment_at_which_they_fell_silent():
    condition = {"type": "Ready", "status": "Unknown", "lastTransitionTime": ago(minutes=7)}
    assert read_node({"status": {"conditions": [condition]}}) == DEAD


class Refused(Scene):
    """The leader set may make no pod."""

    def pods(self) -> list[Object]:
        return []

    def sets(self) -> list[Object]:
        return [self.leader_set()]


def refuse(uid: str) -> Object:
    return {
        "type": "Warning",
        "reason": "FailedCreate",
        "message": 'pods "llama-0" is forbidden: no PriorityClass with name x was found',
        "firstTimestamp": ago(minutes=2),
        "lastTimestamp": ago(seconds=5),
        "involvedObject": {"kind": "StatefulSet", "name": "llama", "uid": uid},
    }


def test_pods_that_may_not_be_made_are_named_with_the_reason():
    told = why(Refused(), ClusterFacts(warnings=[refuse("set")]))
    health = told.row.health
    assert (health.word, health.reason) == (Word.BLOCKED, "FailedCreate")
    assert "no PriorityClass with name x was found" in health.message
    assert health.since == NOW - timedelta(minutes=2)
    assert told.commands[0] == "kubectl describe statefulset llama"


def test_a_refusal_that_is_told_at_each_try_is_as_old_as_the_first():
    """The operator tells of each try anew; the last one may be a second ago."""
    tries = [
        {**refuse("root"), "firstTimestamp": ago(seconds=s), "lastTimestamp": ago(seconds=s)}
        for s in (40, 20, 1)
    ]
    health = why(Refused(), ClusterFacts(warnings=tries)).row.health
    assert (health.word, health.since) == (Word.BLOCKED, NOW - timedelta(seconds=40))


def test_the_refusals_of_a_namesake_are_not_ours():
    health = why(Refused(), ClusterFacts(warnings=[refuse("another")])).row.health
    assert health.word is Word.STARTING


def test_a_refusal_that_is_over_is_not_told():
    health = why(Scene(), ClusterFacts(warnings=[refuse("set")])).row.health
    assert health.word is Word.READY


def scaled(**more: object) -> Scene:
    """A user has changed the object, and the status is of the generation before."""
    lws = make_lws()
    lws["metadata"]["generation"] = 3
    lws["metadata"]["managedFields"] = [{"manager": "kubectl", "time": ago(minutes=5)}]
    return Scene(lws=lws)


def operator(renewed: timedelta, holder: str = "a") -> ClusterFacts:
    return ClusterFacts(operator=OperatorState("lws-system/lease", NOW - renewed, 15.0, holder))


def test_a_change_that_a_dead_operator_has_not_seen_is_named_with_the_lease():
    told = why(scaled(), operator(timedelta(minutes=4)))
    health = told.row.health
    assert (health.word, health.reason) == (Word.BLOCKED, "OperatorSilent")
    assert health.message == (
        "the operator has not seen generation 3, only 2: its lease lws-system/lease was renewed "
        "last at 2026-01-01T11:56:00Z"
    )
    assert told.since == NOW - timedelta(minutes=4)
    assert told.commands == ("kubectl get pods,lease/lease -n lws-system", "kohort controller")


def test_an_operator_that_gave_its_lease_back_is_silent_at_once():
    health = why(scaled(), operator(timedelta(seconds=3), holder="")).row.health
    assert "was given back after it was renewed at" in health.message


def test_an_operator_that_lives_is_given_time():
    health = why(scaled(), operator(timedelta(seconds=3))).row.health
    assert (health.word, health.reason) == (Word.UPDATING, "NotSeen")


def test_without_a_lease_the_time_of_the_change_decides():
    health = why(scaled(), ClusterFacts()).row.health
    assert (health.word, health.since) == (Word.BLOCKED, NOW - timedelta(minutes=5))
    fresh = scaled()
    fresh.lws["metadata"]["managedFields"][0]["time"] = ago(seconds=5)
    assert why(fresh, ClusterFacts()).row.health.word is Word.UPDATING


def test_a_dead_operator_that_has_nothing_to_do_is_no_trouble():
    assert why(Scene(), operator(timedelta(minutes=4))).row.health.word is Word.READY


def test_a_lease_is_read_as_it_is_written():
    spec = {"renewTime": "2026-01-01T11:56:00.000000Z", "leaseDurationSeconds": 15}
    lease = {"metadata": {"name": "lease", "namespace": "lws-system"}, "spec": spec}
    assert read_lease(lease) == operator(timedelta(minutes=4), holder="").operator
    assert read_lease({"spec": {}}) is None


def test_a_tree_shows_the_verdict_that_why_shows():
    facts = ClusterFacts({"gpu-09": DEAD})
    picture = take_picture(LEADER_WORKER_SET, Dying().sample(), NOW, facts)
    assert make_tree(picture).row == explain(picture).row


class Crashing(Scene):
    """A group that was made anew after crashes; the pods of it that crashed are gone."""

    count: int = 3
    seconds: float = 5.0

    def stored(self) -> list[Object]:
        made = super().stored()
        crash = Crash("llama-3-1", "engine", 1, "Error")
        at = NOW.timestamp() - self.seconds
        failure = Failure(3, key_of(made[1]), "an earlier one", self.count, at, crash)
        made[1]["metadata"]["annotations"] = {labels.RESTARTS: write_failures([failure])}
        return made


STARTING = {"state": {"waiting": {"reason": "ContainerCreating"}}}


@pytest.mark.parametrize(
    ("scene", "word"),
    [
        (Crashing(waiting={"llama-3-1": STARTING}), Word.BROKEN),
        (Crashing((1, 1, 1, 2), boundary=3, waiting={"llama-3-1": STARTING}), Word.BLOCKED),
    ],
)
def test_crashes_are_remembered_over_recreated_pods(scene: Scene, word: Word):
    told = explain(scene.picture())
    assert (told.row.health.word, told.row.health.reason) == (word, "CrashLoopBackOff")
    assert told.row.health.message == "llama-3-1: container engine: exit 1, Error"
    finding = told.on[0]
    assert (finding.about, finding.container) == ("llama-3-1", "engine")
    assert finding.message == "exit 1, Error, group restarted 3 times in a row"
    assert told.commands[0] == "kubectl logs llama-3-1 -c engine -f"


def test_a_group_that_is_ready_for_a_moment_between_crashes_is_still_broken():
    scene = Crashing()
    assert judge(scene.picture()).word is Word.READY  # for four minutes, by its pods
    for pod in (pods := scene.pods()):
        pod["status"]["conditions"][0]["lastTransitionTime"] = ago(seconds=2)
    scene.pods = lambda: pods  # type: ignore[method-assign]
    assert judge(scene.picture()).word is Word.BROKEN


def test_one_crash_of_a_group_that_was_made_anew_is_named_and_raises_no_alarm():
    scene = Crashing(waiting={"llama-3-1": STARTING})
    scene.count = 1
    told = explain(scene.picture())
    assert told.row.health.word is Word.STARTING
    assert told.on[0].reason == "Restarted"


@pytest.mark.parametrize(
    ("message", "subject", "command"),
    [
        (
            "StatefulSet llama exists and belongs to Model x",
            "StatefulSet llama",
            "statefulset llama",
        ),
        ("pod llama-0 exists and has no owner", "pod llama-0", "pod llama-0"),
    ],
)
def test_a_name_that_is_taken_is_tried_again_when_it_is_free(message, subject, command):
    stalled = {"type": "Stalled", "status": "True", "observedGeneration": 2}
    text = f"{message}: delete it, or choose another name for this LeaderWorkerSet"
    lws = make_lws(conditions=[{**stalled, "reason": "NameTaken", "message": text}])
    lws["metadata"]["namespace"] = "prod"
    told = explain(take_picture(LEADER_WORKER_SET, Scene(lws=lws).sample(), NOW))
    assert told.commands == (f"kubectl delete {command} -n prod",)
    assert f"delete {subject} only if it is not needed" in told.notes[0]
    lines = write_explanation(told, NOW)
    assert f"  on        {subject}: it is tried again by itself when that is gone" in lines


def test_what_the_operator_tells_of_a_child_is_no_second_cause():
    cause = refuse("set")
    repeated = {**refuse("root"), "message": f"StatefulSet llama: {cause['message']}"}
    repeated["lastTimestamp"] = ago(seconds=1)
    facts = ClusterFacts(warnings=[cause, repeated])
    picture = take_picture(LEADER_WORKER_SET, Refused().sample(), NOW, facts)
    told = explain(picture, [cause, repeated])
    assert [finding.about for finding in told.on] == ["StatefulSet llama"]
    assert told.events == ()


def test_a_crash_loop_is_as_old_as_the_condition_that_tells_of_it():
    held = {"type": "Blocked", "status": "True", "lastTransitionTime": ago(minutes=9)}
    since = {}
    for reason in ("CrashLoopBackOff", "ImagePullBackOff"):
        lws = make_lws(conditions=[{**held, "reason": reason}])
        since[reason] = judge(Crashing(waiting={"llama-3-1": STARTING}, lws=lws).picture()).since
    assert since["CrashLoopBackOff"] == NOW - timedelta(minutes=9)
    assert since["ImagePullBackOff"] == NOW - timedelta(seconds=5)


REFUSAL = {"type": "Stalled", "status": "True", "observedGeneration": 2, "reason": "Refused"}


@pytest.mark.parametrize(
    ("scene", "facts"),
    [
        (Dying(), ClusterFacts({"gpu-09": DEAD})),
        (Refused(), ClusterFacts(warnings=[refuse("set")])),
        (Crashing(waiting={"llama-3-1": STARTING}), ClusterFacts()),
        (Crashing((1, 1, 1, 2), boundary=3, waiting={"llama-3-1": STARTING}), ClusterFacts()),
        (Refused(lws=make_lws(conditions=[{**REFUSAL, "message": "no"}])), ClusterFacts()),
        (scaled(), operator(timedelta(minutes=4))),
    ],
)
def test_why_is_headed_by_the_reason_that_the_table_shows(scene: Scene, facts: ClusterFacts):
    told = why(scene, facts)
    assert told.row.health.word.needs_help
    assert told.waits.partition(": ")[0] == told.row.health.reason
