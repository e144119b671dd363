"""What ``kohort why`` says of a gang that waits."""

from dataclasses import replace

from scenes import NOW, Scene, ago, make_lws
from topology_scenes import make_hypernodes, make_nodes, make_pod

from kohort.apis.gangs.dialects.volcano import GROUP_NAME, POD_GROUP, QUEUE, VOLCANO
from kohort.cli.render.explanations import write_explanation, write_finding
from kohort.cli.render.trees import write_tree
from kohort.cluster.objects import Object
from kohort.model.placement import Pack, PlacementPolicy, Strength
from kohort.views.explain import explain
from kohort.views.health import Word, judge
from kohort.views.picture import Picture
from kohort.views.topology.gangs import Evidence, explain_gangs, find_dialects
from kohort.views.tree import make_tree

HARD = Pack(Strength.HARD, 1)
GANG = "llama-0-abc"


class Gangs(Scene):
    """One group of three that waits together: each asks for eight GPUs."""

    def pod(self, group: int, index: int) -> Object:
        pod = super().pod(group, index)
        pod["metadata"]["annotations"][GROUP_NAME] = GANG
        pod["spec"] = {**make_pod("x")["spec"], "schedulerName": "volcano"}
        return pod


def take(pack: Pack | None = HARD) -> Picture:
    names = ("llama-0", "llama-0-1", "llama-0-2")
    picture = Gangs((2,), unready={name: {} for name in names}, lws=make_lws(groups=1)).picture()
    assert picture.reading is not None
    workload = replace(picture.reading.workload, placement=PlacementPolicy(pack))
    return replace(picture, reading=replace(picture.reading, workload=workload))


def gather(group: Object | None, queue: Object | None = None, **more) -> Evidence:
    groups = {GANG: group} if group is not None else {}
    given = {
        "nodes": make_nodes(),
        "pods": [make_pod("other", "gpu-02")],
        "hypernodes": make_hypernodes(),
        "objects": {POD_GROUP: groups, QUEUE: {"default": queue or {"status": {"state": "Open"}}}},
        "dialects": (VOLCANO,),
    }
    return Evidence(**{**given, **more})


def make_group(phase: str = "Inqueue", message: str = "", **spec) -> Object:
    conditions = [{"type": "Unschedulable", "status": "True", "message": message}]
    status = {"phase": phase, "conditions": conditions if message else []}
    return {"metadata": {"name": GANG}, "spec": {"minMember": 3, **spec}, "status": status}


def test_the_best_domain_of_each_tier_is_told_and_what_it_lacks():
    lines = explain_gangs(take(), gather(make_group(message="3/3 tasks unschedulable")))
    assert lines[0] == (
        f"group 0: PodGroup {GANG}; phase Inqueue; its scheduler says: 3/3 tasks unschedulable"
    )
    text = "\n".join(lines)
    assert "3 of 3 members wait for a node" in text
    assert "tier 1 (rack): 2 of 3 fit into rack-0" in text
    assert "8 nvidia.com/gpu" in text


def test_without_hypernodes_labels_of_nodes_give_the_tiers():
    bare = gather(make_group(), hypernodes=())
    named = "\n".join(explain_gangs(take(Pack(Strength.HARD, tier_name="rack")), bare))
    assert "tier 1 (rack): 2 of 3 fit into" in named
    nearest = "\n".join(explain_gangs(take(Pack(Strength.HARD, 0)), bare))
    assert "tier 0 (hostname): 1 of 3 fit into" in nearest
    assert "No domain has the tier" not in named + nearest


def test_what_members_say_already_is_not_said_twice():
    said = take().troubles[0].message
    lines = explain_gangs(take(), gather(make_group(message=said)))
    assert lines[0] == f"group 0: PodGroup {GANG}; phase Inqueue"


def test_the_answer_says_that_mode_soft_would_place_the_gang():
    assert "mode soft would place it" in explain_gangs(take(), gather(make_group()))[-1]
    soft = explain_gangs(take(Pack(Strength.SOFT, 1)), gather(make_group()))
    assert "mode soft" not in "\n".join(soft)


def test_a_group_that_was_lost_is_missed():
    line = explain_gangs(take(), gather(None))[0]
    assert line.startswith(f"group 0: PodGroup {GANG}; it does not exist")
    line = explain_gangs(take(), gather(None, objects={}))[0]
    assert "podgroups.scheduling.volcano.sh is not served" in line


def test_a_closed_or_missing_queue_is_named():
    closed = explain_gangs(take(), gather(make_group("Pending"), {"status": {"state": "Closed"}}))
    assert "queue default is Closed and admits no gang" in closed[0]
    absent = explain_gangs(take(), gather(make_group("Pending", queue="gold")))
    assert "queue gold does not exist" in absent[0]


def test_room_is_not_counted_while_the_queue_holds_the_gang():
    closed = gather(make_group("Pending"), {"status": {"state": "Closed"}})
    assert len(explain_gangs(take(), closed)) == 1


def test_a_scheduler_that_does_not_know_the_gang_is_named():
    other = replace(VOLCANO, scheduler="vulcan")
    line = explain_gangs(take(), gather(make_group(), dialects=(other,)))[0]
    assert "members name scheduler volcano and not vulcan: does it know such gangs?" in line


def test_too_much_for_the_queue_or_for_the_cluster_is_told():
    group = make_group("Pending", minResources={"nvidia.com/gpu": "24"})
    queue = {"spec": {"capability": {"nvidia.com/gpu": "16"}}}
    line = explain_gangs(take(), gather(group, queue))[0]
    assert "asks for 24 nvidia.com/gpu, more than queue default may have" in line
    group = make_group("Pending", minResources={"nvidia.com/gpu": "80"})
    assert "more than the cluster has" in explain_gangs(take(), gather(group))[0]


def test_a_gang_that_waits_behind_others_reads_that_they_were_promised_the_rest():
    told = {"type": "Unschedulable", "status": "True", "message": "resource in cluster is overused"}
    group = make_group("Pending", minResources={"nvidia.com/gpu": "2"})
    group["status"]["conditions"] = [told]
    [line] = explain_gangs(take(), gather(group))
    assert "what is left of the cluster is promised to groups that were let in before" in line
    group["status"]["phase"] = "Inqueue"
    assert "promised" not in " ".join(explain_gangs(take(), gather(group)))


def test_a_user_who_may_not_list_nodes_reads_that_room_was_not_counted():
    lines = explain_gangs(take(), gather(make_group(), nodes=(), are_nodes_seen=False))
    assert lines[-1] == "nodes may not be read, so room was not counted"


def test_what_may_not_be_seen_is_not_said_to_be_missing():
    hidden = gather(None, objects={POD_GROUP: None})
    lines = explain_gangs(take(), hidden)
    assert lines[0] == f"group 0: PodGroup {GANG}; which may not be read"
    assert "There is room at" in lines[-1]
    queueless = {POD_GROUP: {GANG: make_group()}, QUEUE: None}
    assert " queue " not in explain_gangs(take(), gather(None, objects=queueless))[0]


def test_a_member_that_only_waits_for_the_others_is_blocked_and_not_broken():
    """Volcano calls a pod Schedulable that has room while its gang has none."""
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Schedulable",
        "lastTransitionTime": ago(minutes=3),
    }
    waiting = {"spec": {"nodeName": ""}, "status": {"conditions": [condition]}}
    health = judge(Scene(unready={"llama-3-1": waiting}).picture())
    assert (health.word, health.reason) == (Word.BLOCKED, "Schedulable")


def test_nothing_is_said_where_no_gang_waits():
    assert find_dialects(Scene().picture(), (VOLCANO,)) == ()
    assert explain_gangs(Scene().picture(), gather(None)) == ()


def lose(message: str) -> Picture:
    condition = {
        "type": "TopologyDegraded",
        "status": "True",
        "reason": "ClauseLost",
        "message": message,
        "lastTransitionTime": ago(seconds=3),
    }
    return Scene(lws=make_lws(conditions=[condition])).picture()


def test_lost_clauses_stand_below_the_workload_and_do_not_make_it_younger():
    lines = write_tree(make_tree(lose("no HyperNode has tier 9")), NOW)
    assert lines[0].startswith("llama  LeaderWorkerSet  ✓ ready 5h ")
    assert lines[1] == "  TopologyDegraded: no HyperNode has tier 9"


def test_lost_clauses_stand_among_the_notes():
    told = explain(lose("no HyperNode has tier 9"), (), ("group 0: waits",))
    lines = write_explanation(told, NOW)
    assert "  notes     TopologyDegraded: no HyperNode has tier 9" in lines
    assert "  gang      group 0: waits" in lines


HEAD = "4/4 tasks in gang unschedulable: pod group is not ready"
TIERS = "; tier 0 (host): 1 of 4 fit into gpu-00; tier 1 (rack): 2 of 4 fit into rack-0"


def refuse(message: str, *gangs: str) -> list[str]:
    """What ``on`` says of a member that is refused with that message, now and a while ago."""
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": message,
        "lastTransitionTime": ago(minutes=3),
    }
    waiting = {"spec": {"nodeName": ""}, "status": {"conditions": [condition]}}
    events = [
        make_event("FailedScheduling", "1/1 tasks", ago(minutes=3)),
        make_event("FailedScheduling", message, ago(minutes=2)),
        make_event("Preempted", "by another", ago(minutes=1)),
    ]
    told = explain(Scene(unready={"llama-3-1": waiting}).picture(), events, gangs)
    return [line for finding in told.on for line in write_finding(finding, NOW)]


def make_event(reason: str, message: str, seen: str) -> Object:
    about = {"kind": "Pod", "name": "llama-3-1", "uid": "llama-3-1"}
    given = {"reason": reason, "message": message, "lastTimestamp": seen}
    return {"type": "Warning", **given, "involvedObject": about}


def test_events_do_not_say_again_what_the_member_says():
    assert refuse(HEAD) == [
        f"llama-3-1  Unschedulable: {HEAD} (group 3)",
        "event 1m ago: Preempted: by another",
    ]


def test_tiers_are_left_to_the_gang_if_it_goes_through_them():
    first = refuse(HEAD + TIERS, "tier 1 (topology.kohort.dev/rack): 2 of 4 fit")[0]
    assert first == f"llama-3-1  Unschedulable: {HEAD}; tier by tier below, under gang (group 3)"


def test_tiers_stand_where_the_gang_does_not_go_through_them():
    assert refuse(HEAD + TIERS)[0].endswith(f"{HEAD}{TIERS} (group 3)")
    assert refuse(HEAD + TIERS, "There is room at tier 1 (rack)")[0].endswith(f"{TIERS} (group 3)")


def test_a_queue_that_is_too_small_is_told_of_a_gang_that_is_in_it():
    group = make_group("Inqueue", minResources={"nvidia.com/gpu": "24"})
    queue = {"spec": {"capability": {"nvidia.com/gpu": "16"}}}
    (line,) = explain_gangs(take(), gather(group, queue))
    assert line.endswith("queue default may have: raise its capability, or name another")


def test_a_queue_that_is_full_is_named_instead_of_room_that_it_may_not_use():
    full = make_group(message="2/2 tasks in gang unschedulable; queue resource quota insufficient")
    (line,) = explain_gangs(take(), gather(full))
    assert "queue default may not have so much more: raise its capability" in line


def test_how_many_members_are_waited_for_is_what_the_stored_gang_says():
    picture = take()
    assert picture.reading is not None
    (group,) = picture.reading.observed.groups
    larger = replace(picture.reading.observed, groups=(replace(group, size=6),))
    picture = replace(picture, reading=replace(picture.reading, observed=larger))
    told = explain_gangs(picture, gather(make_group(minMember=5)))
    assert "3 of 6 members do not exist yet, and the gang is placed only when 5 do" in told
    told = explain_gangs(picture, gather(make_group(minMember=6)))
    assert "3 of 6 members do not exist yet, and the gang is placed only when all do" in told
    assert "do not exist yet" not in "".join(explain_gangs(picture, gather(make_group())))
