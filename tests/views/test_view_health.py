"""Which word a workload gets, and since when."""

from datetime import UTC, datetime, timedelta

import pytest
from scenes import NOW, Scene, ago, bad_image, make_lws

from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.revision import key_of, make_revision
from kohort.apis.leaderworkerset.verbs import VERBS
from kohort.apis.user_edits import restart_templates
from kohort.views.ages import find_time, write_age
from kohort.views.explain import explain, suggest_commands
from kohort.views.health import Word, judge
from kohort.views.rollouts import find_changes, find_former
from kohort.views.troubles import find_trouble


def word_of(scene: Scene) -> Word:
    return judge(scene.picture()).word


def pending(since: str, **spec) -> dict:
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/8 nodes are available: 8 Insufficient nvidia.com/gpu.",
        "lastTransitionTime": since,
    }
    return {"status": {"conditions": [condition], "phase": "Pending"}, "spec": spec}


def test_a_member_that_merely_starts_blocks_nothing():
    creating = {"state": {"waiting": {"reason": "ContainerCreating"}}}
    waiting = {"llama-3-1": creating}
    assert word_of(Scene((1, 1, 1, 2), boundary=3, waiting=waiting)) is Word.UPDATING
    assert word_of(Scene(waiting=waiting)) is Word.STARTING


def test_a_broken_member_blocks_a_rollout_and_breaks_what_stands():
    waiting = {"llama-3-1": bad_image()}
    assert word_of(Scene((1, 1, 1, 2), boundary=3, waiting=waiting)) is Word.BLOCKED
    assert word_of(Scene(waiting=waiting)) is Word.BROKEN


def test_a_broken_old_group_does_not_block_a_rollout_that_can_replace_it():
    waiting = {"llama-3-1": bad_image()}
    assert word_of(Scene((1, 1, 1, 1), boundary=4, waiting=waiting)) is Word.UPDATING


def test_a_member_that_no_node_fits_blocks_after_a_moment():
    fresh, old = pending(ago(seconds=3)), pending(ago(minutes=3))
    assert word_of(Scene(unready={"llama-3-1": fresh})) is Word.STARTING
    scene = Scene(unready={"llama-3-1": old})
    health = judge(scene.picture())
    assert (health.word, health.reason) == (Word.BLOCKED, "Unschedulable")
    assert health.since == NOW - timedelta(minutes=3)
    assert "Insufficient nvidia.com/gpu" in explain(scene.picture()).on[0].message


def test_a_scheduler_that_does_not_answer_is_named():
    pod = {
        "metadata": {"name": "x", "creationTimestamp": ago(minutes=1)},
        "spec": {"schedulerName": "volcano"},
        "status": {"phase": "Pending"},
    }
    trouble = find_trouble(pod, 0, NOW)
    assert trouble is not None and trouble.is_stuck
    assert trouble.reason == "WaitingForScheduler"
    assert trouble.message == "the scheduler volcano has not looked at it yet: does it run?"


def test_a_gate_is_named():
    gated = {**pending(ago(minutes=3), schedulingGates=[{"name": "kueue.x-k8s.io/topology"}])}
    told = explain(Scene(unready={"llama-3-1": gated}).picture())
    assert told.on[0].reason == "SchedulingGated"
    assert "kueue.x-k8s.io/topology" in told.on[0].message


def test_a_pod_that_does_not_end_is_a_trouble():
    pod = Scene().pod(0, 1)
    pod["metadata"]["deletionTimestamp"] = ago(minutes=5)
    found = find_trouble(pod, 0, NOW)
    assert found is not None
    assert (found.reason, found.is_stuck) == ("Terminating", True)


def test_a_stalled_workload_says_what_was_refused():
    told = {
        "type": "Stalled",
        "status": "True",
        "reason": "Refused",
        "message": "the quota forbids it",
        "observedGeneration": 2,
        "lastTransitionTime": ago(minutes=1),
    }
    picture = Scene(lws=make_lws(conditions=[told])).picture()
    health = judge(picture)
    assert (health.word, health.message) == (Word.STALLED, "the quota forbids it")
    assert "kubectl edit leaderworkersets.leaderworkerset.x-k8s.io llama" in suggest_commands(
        picture, health
    )


def test_an_object_without_a_plan_asks_for_the_operator():
    scene = Scene(revisions=())
    scene.sets = lambda: []  # type: ignore[method-assign]
    picture = scene.picture()
    assert judge(picture).reason == "NotPlanned"
    assert "kohort controller" in explain(picture).commands[0]


def test_a_paused_rollout_says_how_it_goes_on():
    lws = VERBS.hold(make_lws(), 3, "")
    assert judge(Scene((1, 1, 1, 2), boundary=3, lws=lws).picture()).word is Word.PAUSED
    assert judge(Scene(boundary=3, lws=lws).picture()).word is Word.READY
    waits = Scene((1, 1, 1, 1), boundary=4, lws=VERBS.hold(make_lws(), 2, "")).picture()
    assert judge(waits).word is Word.PAUSED
    assert explain(waits).commands == ("kohort rollout resume lws/llama",)


def test_a_hold_gives_back_the_partition_it_found():
    lws = make_lws()
    lws["spec"]["rolloutStrategy"] = {"rollingUpdateConfiguration": {"partition": 1}}
    held = VERBS.hold(lws, 3, "")
    assert held["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]["partition"] == 3
    rolling = VERBS.release(held, "")["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]
    assert rolling == {"partition": 1}
    assert VERBS.list_held(held) == ("",)
    assert VERBS.list_held(VERBS.release(held, "")) == ()


def test_going_back_and_restarting_change_the_template_only():
    picture = Scene().picture()
    former = find_former(picture)
    assert former is not None
    back = VERBS.go_back(picture.root, former, "")
    assert [(c.old, c.new) for c in find_changes(picture.root["spec"], back["spec"])] == [
        ("engine:2", "engine:1")
    ]
    again = restart_templates(VERBS, picture.root, "2026-01-01T00:00:00Z")
    assert [c.new for c in find_changes(picture.root["spec"], again["spec"])] == [
        "2026-01-01T00:00:00Z"
    ]


def test_images_come_first_and_named_items_are_compared_by_name():
    old = {"env": [{"name": "A", "value": "1"}], "containers": [{"name": "c", "image": "x:1"}]}
    new = {
        "env": [{"name": "B", "value": "2"}, {"name": "A", "value": "3"}],
        "containers": [{"name": "c", "image": "x:2"}],
    }
    assert [str(change) for change in find_changes(old, new)] == [
        "containers.c.image: x:1 → x:2",
        "env.A.value: 1 → 3",
        "env.B.value: 2 (new)",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (59, "59s"), (60, "1m"), (252, "4m12s"), (3900, "1h5m"), (180_000, "2d2h")],
)
def test_ages_are_short(seconds: int, text: str):
    assert write_age(NOW - timedelta(seconds=seconds), NOW) == text


def test_stamps_of_any_precision_are_read():
    assert find_time("2026-01-01T00:00:00.123456Z") == datetime(2026, 1, 1, 0, 0, 0, 123456, UTC)
    assert find_time("yesterday") is None


def test_an_undo_goes_to_the_newest_revision_that_served():
    """1 served, 2 was aborted, 3 never came up, 4 is the template of 1 again, 5 is wanted."""
    scene = Scene((2,) * 4)
    images = {1: "engine:1", 3: "engine:3", 4: "engine:1", 5: "engine:2"}
    made = [make_revision(make_lws(image), number) for number, image in images.items()]
    for stored in (made[0], made[2]):
        stored["metadata"]["annotations"] = {labels.SERVED: "true"}
    scene.stored = lambda: made  # type: ignore[method-assign]
    scene.key = lambda number: key_of(made[-1])  # type: ignore[method-assign]
    former = find_former(scene.picture())
    assert former is not None
    assert former.number == 4


def test_where_nothing_served_nothing_is_recommended():
    scene = Scene((2,) * 4, waiting={"llama-0": bad_image(), "llama-1": bad_image()})
    made = [make_revision(make_lws(f"engine:{n}"), n) for n in (1, 2)]
    scene.stored = lambda: made  # type: ignore[method-assign]
    told = explain(scene.picture())
    assert told.row.health.word is Word.BROKEN
    assert not any("undo" in command for command in told.commands)


def test_a_stall_of_an_earlier_generation_is_over():
    told = {
        "type": "Stalled",
        "status": "True",
        "reason": "Refused",
        "message": "the quota forbids it",
        "observedGeneration": 1,
        "lastTransitionTime": ago(minutes=1),
    }
    assert word_of(Scene(lws=make_lws(conditions=[told]))) is Word.READY


def test_an_undo_passes_over_the_same_content_under_another_key():
    """A revision may be stored twice: once under the key that another version gave it."""
    scene = Scene()
    first, target = scene.stored()
    again = make_revision(make_lws("engine:2"), 2)
    again["metadata"].update(name="again", annotations={labels.SERVED: "true"})
    again["metadata"]["labels"][labels.REVISION] = "another"
    target["revision"] = 3
    stored = [first, again, target]
    scene.stored = lambda: stored  # type: ignore[method-assign]
    scene.key = lambda number: key_of(stored[0 if number == 1 else 2])  # type: ignore[method-assign]
    former = find_former(scene.picture())
    assert former is not None
    assert former.number == 1
