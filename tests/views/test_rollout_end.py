"""When ``kohort rollout status`` says that a rollout is over."""

from datetime import timedelta

import pytest
from scenes import LEADER_WORKER_SET, NOW, Scene, ago, make_lws
from test_verdicts import Refused, refuse

from kohort.cli.commands.workloads import status
from kohort.cli.exits import Exit, Failure
from kohort.views.evidence.cluster import ClusterFacts
from kohort.views.health import Word, judge
from kohort.views.picture import Picture, take_picture


def follow(scene: Scene) -> int | None:
    return status._Watcher(is_json=False)._judge(scene.picture())


def test_it_is_over_when_all_groups_are_ready_and_nothing_moves():
    assert follow(Scene()) is Exit.DONE


def test_it_is_not_over_while_surge_is_still_given_back(capsys):
    scene = Scene((2, 2, 2, 2, 2))
    assert judge(scene.picture()).word is Word.READY
    assert follow(scene) is None


def make_taken(second: int) -> Picture:
    """A name that another object held when the operator tried last."""
    text = "StatefulSet llama exists and has no owner: delete it"
    stalled = {"type": "Stalled", "status": "True", "observedGeneration": 2, "message": text}
    scene = Scene(lws=make_lws(conditions=[{**stalled, "reason": "Refused"}]))
    return take_picture(LEADER_WORKER_SET, scene.sample(), NOW + timedelta(seconds=second))


def make_refused(second: int) -> Picture:
    """Pods that the server refused five seconds before the first look."""
    facts = ClusterFacts(warnings=[refuse("set")])
    return take_picture(
        LEADER_WORKER_SET, Refused().sample(), NOW + timedelta(seconds=second), facts
    )


@pytest.mark.parametrize("make", [make_taken, make_refused])
def test_a_verdict_of_the_last_try_is_no_end_while_the_cluster_tries_again(make, capsys):
    watcher = status._Watcher(is_json=False)
    assert [watcher._judge(make(second)) for second in (0, 1, 2, 30)] == [None] * 4
    assert watcher._judge(Scene().picture()) is Exit.DONE


@pytest.mark.parametrize("make", [make_taken, make_refused])
@pytest.mark.parametrize(("seconds", "is_patient"), [((0, 36, 37), True), ((0, 1), False)])
def test_a_verdict_that_stays_is_the_end(make, seconds, is_patient, capsys):
    watcher = status._Watcher(is_json=False, is_patient=is_patient)
    for second in seconds[:-1]:
        assert watcher._judge(make(second)) is None
    with pytest.raises(Failure) as ended:
        watcher._judge(make(seconds[-1]))
    assert ended.value.code is Exit.BLOCKED


def test_a_refusal_that_was_seen_to_happen_again_is_the_end(capsys):
    watcher = status._Watcher(is_json=False)
    assert watcher._judge(make_refused(0)) is None
    again = {**refuse("set"), "lastTimestamp": ago(seconds=-3)}
    later, facts = NOW + timedelta(seconds=4), ClusterFacts(warnings=[again])
    picture = take_picture(LEADER_WORKER_SET, Refused().sample(), later, facts)
    assert watcher._judge(picture) is None
    with pytest.raises(Failure):
        watcher._judge(picture)
