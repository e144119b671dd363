"""A workload that waits for a ConfigMap or a Secret says for which one, and what to do."""

import pytest
from scenes import NOW, Scene, ago

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.cluster.objects import Object
from kohort.views.evidence.cluster import ClusterFacts
from kohort.views.evidence.volumes import MissingObject, find_missing
from kohort.views.explain import Explanation, explain
from kohort.views.health import Word
from kohort.views.picture import take_picture

CREATING = {"state": {"waiting": {"reason": "ContainerCreating"}}}
VOLUME = {"name": "files", "configMap": {"name": "settings"}}
WHY = 'MountVolume.SetUp failed for volume "files" : configmap "settings" not found'


def warn(message: str = WHY, uid: str = "llama-3", seconds: float = 60) -> Object:
    return {
        "type": "Warning",
        "reason": "FailedMount",
        "message": message,
        "firstTimestamp": ago(seconds=seconds),
        "lastTimestamp": ago(seconds=0),
        "involvedObject": {"kind": "Pod", "name": "llama-3", "uid": uid},
    }


def unmounted(*conditions: Object, **spec: object) -> Scene:
    unready = {
        "spec": {"volumes": [VOLUME], **spec},
        "status": {"conditions": list(conditions), "containerStatuses": [CREATING]},
    }
    return Scene(unready={"llama-3": unready})


def why(scene: Scene, *events: Object) -> Explanation:
    facts = ClusterFacts(warnings=list(events))
    return explain(take_picture(LEADER_WORKER_SET, scene.sample(), NOW, facts))


def test_a_volume_that_cannot_be_mounted_is_the_cause():
    told = why(unmounted(), warn())
    health = told.row.health
    assert (health.word, health.reason) == (Word.BLOCKED, "FailedMount")
    assert health.message == f"llama-3: {WHY}"
    assert told.commands[:2] == (
        "kubectl create configmap settings --from-file=PATH",
        "kubectl describe pod llama-3",
    )
    assert told.notes == (
        "llama-3 waits for ConfigMap settings in namespace default, and starts by itself once "
        "that is there; a reference may also be made optional",
    )


def test_a_mount_may_fail_once():
    told = why(unmounted(), warn(seconds=3))
    assert told.row.health.word is Word.STARTING


@pytest.mark.parametrize(
    ("scene", "event"),
    [
        (unmounted({"type": "PodReadyToStartContainers", "status": "True"}), warn()),
        (unmounted(volumes=[{"name": "cache", "emptyDir": {}}]), warn()),
        (unmounted(), warn(uid="another")),
    ],
)
def test_a_warning_that_is_over_or_of_another_pod_is_no_cause(scene: Scene, event: Object):
    assert why(scene, event).row.health.word is Word.STARTING


def test_what_the_kubelet_tried_is_told_before_that_it_has_waited_long():
    late = "Unable to attach or mount volumes: unmounted volumes=[files]: timed out"
    assert why(unmounted(), warn(late), warn()).row.health.message == f"llama-3: {WHY}"


def test_a_variable_that_cannot_be_read_is_the_cause():
    message = "couldn't find key url in Secret default/token"
    state = {"waiting": {"reason": "CreateContainerConfigError", "message": message}}
    told = why(Scene(waiting={"llama-3": {"state": state}}))
    assert told.row.health.word is Word.BLOCKED
    assert told.commands[0] == "kubectl edit secret token"
    assert told.notes[0].startswith("llama-3 waits for key url of Secret token in namespace")


def test_a_bad_name_of_an_image_is_answered_with_the_command_that_changes_it():
    message = "Failed to apply default image tag"
    state = {"waiting": {"reason": "InvalidImageName", "message": message}}
    told = why(Scene(waiting={"llama-3": {"state": state}}))
    assert (told.row.health.word, told.row.health.reason) == (Word.BROKEN, "InvalidImageName")
    assert told.commands[0] == "kohort rollout set-image lws/llama engine=IMAGE"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('configmap "a" not found', MissingObject("ConfigMap", "a")),
        ('[secret "b" not found, configmap "a" not found]', MissingObject("Secret", "b")),
        ("couldn't find key k in ConfigMap ns/a", MissingObject("ConfigMap", "a", "k")),
        ("references non-existent config key: k", None),
        ("context deadline exceeded", None),
    ],
)
def test_the_words_of_a_kubelet_name_what_is_missing(text: str, found: MissingObject | None):
    assert find_missing(text) == found
