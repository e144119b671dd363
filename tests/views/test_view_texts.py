"""What people see of workloads, word for word, at a fixed moment."""

from dataclasses import replace
from datetime import timedelta

from scenes import NOW, Scene, ago, bad_image, crash, make_lws

from kohort.cli.render.explanations import write_explanation, write_history
from kohort.cli.render.tables import write_change, write_table
from kohort.cli.render.trees import write_tree
from kohort.views.explain import explain, suggest_commands
from kohort.views.health import judge
from kohort.views.plain import to_plain
from kohort.views.rollouts import make_history
from kohort.views.table import make_row, make_table, select_blocked
from kohort.views.tree import make_tree


def tree_of(scene: Scene) -> str:
    picture = scene.picture()
    tree = make_tree(picture, suggest_commands(picture, judge(picture)))
    return "\n".join(write_tree(tree, NOW))


def why(scene: Scene, *events: dict) -> str:
    return "\n".join(write_explanation(explain(scene.picture(), events), NOW))


BLOCKED = Scene((1, 1, 1, 2), boundary=3, waiting={"llama-3-2": bad_image()})


def test_healthy_neighbours_stand_in_one_line():
    assert tree_of(Scene()) == (
        "llama  LeaderWorkerSet  ✓ ready 5h   groups 4/4 ready   revision 2 (4/4)\n"
        "\n"
        "  groups 0\N{EN DASH}3   ✓ ready   revision 2   12 members"
    )


def test_a_blocked_rollout_shows_the_member_that_blocks_it():
    assert tree_of(BLOCKED).splitlines() == [
        "llama  LeaderWorkerSet  ! blocked 4m12s   groups 3/4 ready   revision 1 → 2 (1/4)",
        "  ImagePullBackOff: 3 of 4 groups wait for the new revision: 1 group is not ready and "
        "maxUnavailable is 1",
        "  WaitingForMembers: 1 member has not started: llama-3-2",
        '    llama-3-2  ImagePullBackOff: Back-off pulling image "engine:2"',
        "    next: kohort rollout undo lws/llama --to-revision 1    or    "
        "kubectl describe pod llama-3-2",
        "",
        "  groups 0\N{EN DASH}2   ✓ ready    revision 1   9 members",
        "  group  3     ✗ broken   revision 2   3 members, 2 ready",
        "    ✓ llama-3     leader   gpu-03   5m",
        "    ✓ llama-3-1   worker   gpu-03   5m",
        "    ✗ llama-3-2   worker   gpu-03   5m   ImagePullBackOff",
    ]


def test_why_always_has_four_parts():
    event = {
        "type": "Warning",
        "reason": "Failed",
        "message": "Failed to pull image:\n not found",
        "lastTimestamp": ago(seconds=20),
        "involvedObject": {"kind": "Pod", "name": "llama-3-2", "uid": "llama-3-2"},
    }
    assert why(BLOCKED, event).splitlines() == [
        "llama  LeaderWorkerSet  ! blocked 4m12s",
        "  waits     ImagePullBackOff: 3 of 4 groups wait for the new revision: 1 group is not "
        "ready and maxUnavailable is 1",
        '  on        llama-3-2  ImagePullBackOff: Back-off pulling image "engine:2" '
        "(group 3, container engine, on gpu-03)",
        "            event 20s ago: Failed: Failed to pull image: not found",
        "  since     4m12s (2026-01-01T11:55:48Z)",
        "  next      kohort rollout undo lws/llama --to-revision 1",
        "            kubectl describe pod llama-3-2",
        "  rules     strategy budgeted, carrier statefulsets, "
        "maxUnavailable 1, maxSurge 0, partition 0",
        "  docs      docs/reference/reasons.md#imagepullbackoff",
    ]
    told = why(Scene())
    assert [line.split()[0] for line in told.splitlines()[1:]] == [
        "waits",
        "on",
        "since",
        "next",
        "rules",
    ]


def test_a_strategy_is_certain_only_where_the_object_says_it():
    named = {"kohort.dev/rollout-strategy": "compatible"}
    told = why(Scene(lws=make_lws(annotations=named)))
    assert "rules     strategy compatible, carrier statefulsets" in told


def test_a_crash_is_looked_at_before_anything_is_changed():
    scene = Scene((1, 1, 1, 2), boundary=3, waiting={"llama-3-2": crash()})
    assert "next      kubectl logs llama-3-2 -c engine --previous\n" in why(scene)
    assert "CrashLoopBackOff: exit 137, out of memory, 6 restarts" in why(scene)


def test_the_table_has_one_row_for_each_workload():
    pictures = [Scene().picture(), BLOCKED.picture()]
    assert write_table(make_table(pictures), NOW) == [
        "KIND              NAME    READY   UPDATED   REVISION   REASON                      AGE",
        "LeaderWorkerSet   llama   4/4     4/4       2          ready                       5h",
        "LeaderWorkerSet   llama   3/4     1/4       1 → 2      blocked: ImagePullBackOff   5h",
    ]
    assert [row.ready for row in select_blocked(make_table(pictures))] == [3]


def test_of_those_that_need_help_the_longest_waiting_comes_first():
    row = make_row(BLOCKED.picture())
    waits = {"a": timedelta(minutes=1), "b": timedelta(hours=2), "c": None, "d": timedelta(hours=1)}
    rows = [
        replace(row, name=name, health=replace(row.health, since=wait and NOW - wait))
        for name, wait in waits.items()
    ]
    assert [row.name for row in select_blocked(rows)] == ["b", "d", "a", "c"]


def test_a_change_is_told_in_one_line():
    assert write_change(make_row(BLOCKED.picture()), namespaces=True) == (
        "LeaderWorkerSet/default/llama   groups 3/4 ready   revision 1 → 2 (1/4)   "
        'blocked: ImagePullBackOff: llama-3-2: Back-off pulling image "engine:2"'
    )


def test_history_tells_what_changed_and_which_is_wanted():
    history = make_history(Scene((1, 1, 2, 2), boundary=2).picture())
    assert write_history(history, NOW) == [
        "REVISION     GROUPS   SERVED   AGE   CHANGE",
        "1            2        yes      5h    -",
        "2 (wanted)   2        no       10m   workerTemplate.engine.image: engine:1 → engine:2",
    ]


def test_a_revision_that_is_stored_elsewhere_is_named_as_groups_have_it():
    picture = replace(Scene().picture(), revisions=())
    assert picture.reading is not None
    key = picture.reading.workload.revision
    assert make_row(picture).revision == picture.name_revision(key) != "new"


def test_a_revision_that_is_not_stored_yet_is_called_new():
    scene = Scene((2, 2, 2, 2), lws=make_lws("engine:3"))
    assert make_row(scene.picture()).revision == "2 → new"


def test_events_of_namesakes_are_not_evidence():
    """A pod of an earlier set had the same name; its events are about another uid."""
    creating = {"state": {"waiting": {"reason": "ContainerCreating"}}}
    scene = Scene((1, 1, 1, 2), boundary=3, waiting={"llama-3-2": creating})
    events = [
        {
            "type": "Warning",
            "reason": "BackOff",
            "message": "of long ago",
            "lastTimestamp": ago(minutes=minutes),
            "involvedObject": {"kind": "Pod", "name": "llama-3-2", "uid": f"life-{minutes}"},
        }
        for minutes in (1, 2, 3, 4, 50)
    ]
    assert why(scene, *events) == why(scene)
    assert "next      kohort rollout status lws/llama\n" in why(scene)


def test_what_programs_read_holds_no_words_for_nothing():
    told = to_plain(explain(Scene().picture()))
    assert (told["on"], told["commands"], told["events"]) == ([], [], [])
    assert told["rules"]["maxUnavailable"] == 1
    finding = to_plain(explain(BLOCKED.picture()))["on"][0]
    assert (finding["about"], finding["group"]) == ("llama-3-2", 3)
    assert (finding["reason"], finding["container"]) == ("ImagePullBackOff", "engine")
    assert "  on        nothing\n" in why(Scene())
    assert "  next      nothing needs to be done\n" in why(Scene())
