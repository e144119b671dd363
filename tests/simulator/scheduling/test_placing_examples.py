"""One rule of placement each, on a handful of nodes."""

import pytest

from kohort.cluster.errors import Conflict
from kohort.cluster.kinds import CLAIM, NAMESPACE, NODE, POD
from kohort.simulator.component import BindRequest
from kohort.simulator.scheduling.scheduler import Scheduler
from scheduling_views import TinyWorld, node, pod

HOST = "kubernetes.io/hostname"


def world(*nodes: dict) -> TinyWorld:
    made = TinyWorld(Scheduler())
    for item in nodes:
        made.put(NODE, item)
    return made


def place(made: TinyWorld, *pods: dict) -> dict[str, str]:
    for item in pods:
        made.put(POD, item)
    made.settle()
    return made.placed()


def required(kind: str, key: str, selector: dict, **more) -> dict:
    term = {"labelSelector": selector, "topologyKey": key, **more}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def node_affinity(*expressions: dict, fields: list | None = None) -> dict:
    term: dict = {"matchExpressions": list(expressions)}
    if fields:
        term = {"matchFields": fields}
    terms = {"nodeSelectorTerms": [term]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def test_equal_nodes_are_taken_by_name_and_then_the_emptier_one():
    made = world(node("b"), node("a"))
    assert place(made, pod("p1"), pod("p2"), pod("p3")) == {"p1": "a", "p2": "b", "p3": "a"}


def test_a_bind_is_followed_by_an_event():
    made = world(node("a"))
    place(made, pod("one"))
    assert made.events() == ["Scheduled: Successfully assigned default/one to a"]


def test_extended_resources_are_counted():
    made = world(node("a", room={"nvidia.com/gpu": "8"}), node("b"))
    placed = place(made, *(pod(f"p{i}", requests={"nvidia.com/gpu": "4"}) for i in range(3)))
    assert list(placed.values()) == ["a", "a"]


def test_an_init_container_that_peaks_counts_and_a_sidecar_adds():
    peak = pod("peak", requests={"cpu": "1"})
    peak["spec"]["initContainers"] = [
        {"name": "side", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}},
        {"name": "init", "resources": {"requests": {"cpu": "7"}}},
    ]
    made = world(node("a", room={"cpu": "8"}))
    assert place(made, pod("first", requests={"cpu": "1m"}), peak) == {"first": "a"}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ({"key": "gen", "operator": "In", "values": ["3"]}, "new"),
        ({"key": "gen", "operator": "NotIn", "values": ["1", "3"]}, "bare"),
        ({"key": "gen", "operator": "DoesNotExist"}, "bare"),
        ({"key": "gen", "operator": "Gt", "values": ["2"]}, "new"),
        ({"key": "gen", "operator": "Lt", "values": ["2"]}, "old"),
    ],
)
def test_each_operator_of_node_affinity(expression: dict, expected: str):
    made = world(node("bare"), node("new", {"gen": "3"}), node("old", {"gen": "1"}))
    assert place(made, pod("p", affinity=node_affinity(expression))) == {"p": expected}


def test_a_node_can_be_asked_for_by_name():
    fields = [{"key": "metadata.name", "operator": "In", "values": ["b"]}]
    made = world(node("a"), node("b"))
    assert place(made, pod("p", affinity=node_affinity(fields=fields))) == {"p": "b"}


def test_a_preferred_node_wins_over_an_emptier_one():
    preference = {"matchExpressions": [{"key": "fast", "operator": "Exists"}]}
    wish = {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": preference}]
    }
    made = world(node("a", room={"cpu": "64"}), node("b", {"fast": ""}))
    assert place(made, pod("p", affinity={"nodeAffinity": wish})) == {"p": "b"}


def test_taints_keep_pods_away_unless_tolerated():
    taint = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
    made = world(node("a", taints=[taint]))
    tolerant = pod("q", tolerations=[{"key": "gpu", "operator": "Exists"}])
    assert place(made, pod("p"), tolerant) == {"q": "a"}


def test_a_cordoned_node_takes_nothing_new():
    made = world(node("a", unschedulable=True))
    assert place(made, pod("p")) == {}
    made.put(NODE, node("a"))
    made.settle()
    assert made.placed() == {"p": "a"}


def test_a_gated_pod_waits_for_its_gate():
    made = world(node("a"))
    assert place(made, pod("p", schedulingGates=[{"name": "quota"}])) == {}
    condition = made.pod("p")["status"]["conditions"][0]
    assert condition["reason"] == "SchedulingGated"
    opened = made.pod("p")
    del opened["spec"]["schedulingGates"]
    assert place(made, opened) == {"p": "a"}


def test_other_schedulers_pods_are_left_alone():
    made = world(node("a"))
    assert place(made, pod("p", schedulerName="somebody-else")) == {}
    assert made.log == []


def test_higher_priority_goes_first():
    made = world(node("a", room={"pods": "1"}))
    assert place(made, pod("low"), pod("high", priority=10)) == {"high": "a"}


def test_pods_that_must_not_meet_stand_on_different_nodes():
    apart = required("podAntiAffinity", HOST, {"matchLabels": {"app": "db"}})
    made = world(node("a"), node("b"))
    placed = place(made, *(pod(f"p{i}", {"app": "db"}, affinity=apart) for i in range(3)))
    assert sorted(placed.values()) == ["a", "b"]


def test_anti_affinity_of_a_placed_pod_binds_the_one_that_comes():
    apart = required("podAntiAffinity", HOST, {"matchLabels": {"noisy": "1"}})
    made = world(node("a"))
    assert place(made, pod("quiet", affinity=apart)) == {"quiet": "a"}
    place(made, pod("loud", {"noisy": "1"}))
    assert "loud" not in made.placed()
    made.remove(POD, "default", "quiet")
    made.settle()
    assert made.placed() == {"loud": "a"}


def test_the_first_of_a_group_starts_where_it_likes_and_the_others_follow():
    near = required("podAffinity", "rack", {"matchLabels": {"group": "g"}})
    made = world(node("a", {"rack": "1"}), node("b", {"rack": "1"}), node("c", {"rack": "2"}))
    placed = place(made, *(pod(f"p{i}", {"group": "g"}, affinity=near) for i in range(4)))
    assert len(placed) == 4
    assert len({made.node(name)["metadata"]["labels"]["rack"] for name in placed.values()}) == 1


def test_a_pod_that_wants_company_waits_for_it():
    near = required("podAffinity", HOST, {"matchLabels": {"app": "cache"}})
    made = world(node("a"), node("b"))
    assert place(made, pod("web", affinity=near)) == {}
    placed = place(made, pod("cache", {"app": "cache"}))
    assert placed["web"] == placed["cache"]


def test_groups_that_exclude_each_other_get_a_rack_each():
    def group(name: str) -> dict:
        own = {"key": "group", "operator": "In", "values": [name]}
        others = [
            {"key": "group", "operator": "Exists"},
            {"key": "group", "operator": "NotIn", "values": [name]},
        ]
        return {
            **required("podAffinity", "rack", {"matchExpressions": [own]}),
            **required("podAntiAffinity", "rack", {"matchExpressions": others}),
        }

    made = world(*(node(f"n{i}", {"rack": f"r{i // 2}"}) for i in range(4)))
    pods = [pod(f"{g}{i}", {"group": g}, affinity=group(g)) for g in "abc" for i in range(3)]
    placed = place(made, *pods)
    racks = {name: f"r{int(host[1:]) // 2}" for name, host in placed.items()}
    assert len(racks) == 6
    assert len({racks[f"a{i}"] for i in range(3)}) == 1
    assert racks["a0"] != racks["b0"]


def test_terms_can_look_into_namespaces_by_label():
    near = required(
        "podAffinity",
        HOST,
        {"matchLabels": {"app": "cache"}},
        namespaceSelector={"matchLabels": {"team": "x"}},
    )
    made = world(node("a"), node("b"))
    other = pod("cache", {"app": "cache"})
    other["metadata"]["namespace"] = "other"
    assert set(place(made, other, pod("web", affinity=near))) == {"cache"}
    made.put(NAMESPACE, {"metadata": {"name": "other", "labels": {"team": "x"}}})
    made.settle()
    assert made.placed()["web"] == made.placed()["cache"]


def test_a_pod_that_failed_while_everything_was_tried_anew_is_not_forgotten():
    made = world(node("a"))
    one = pod("one")
    one["spec"]["nodeSelector"] = {"pool": "x"}
    place(made, one)
    # The first namespace lets it try again; the second comes before it has tried.
    for name in ("first", "second"):
        made.put(NAMESPACE, {"metadata": {"name": name}})
    made.settle()
    made.put(NODE, node("a", labels={"pool": "x"}))
    made.settle()
    assert made.placed() == {"one": "a"}


def test_spreading_keeps_the_skew():
    rule = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "s"}},
    }
    made = world(node("a", {"zone": "1"}), node("b", {"zone": "2"}, room={"pods": "2"}))
    pods = [pod(f"p{i}", {"app": "s"}, topologySpreadConstraints=[rule]) for i in range(8)]
    placed = place(made, *pods)
    assert sorted(placed.values()) == ["a", "a", "a", "b", "b"]


def test_too_few_domains_count_as_an_empty_one():
    rule = {
        "maxSkew": 1,
        "minDomains": 2,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "s"}},
    }
    made = world(node("a", {"zone": "1"}))
    pods = [pod(f"p{i}", {"app": "s"}, topologySpreadConstraints=[rule]) for i in range(2)]
    assert len(place(made, *pods)) == 1
    made.put(NODE, node("b", {"zone": "2"}))
    made.settle()
    assert sorted(made.placed().values()) == ["a", "b"]


def test_a_pod_waits_for_its_claim():
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data-0"}}
    made = world(node("a"))
    assert place(made, pod("p", volumes=[volume])) == {}
    assert 'persistentvolumeclaim "data-0" not found' in made.events()[0]
    made.put(CLAIM, {"metadata": {"name": "data-0"}})
    made.settle()
    assert made.placed() == {"p": "a"}


def test_a_refused_bind_gives_the_room_back():
    scheduler = Scheduler()
    made = TinyWorld(scheduler)
    made.put(NODE, node("a", room={"pods": "1"}))
    made.put(POD, pod("p"))
    step = scheduler.step("queue", made, made.moment())
    bind = step.actions[0]
    assert isinstance(bind, BindRequest)
    assert not scheduler.ledger.index.fits(0, {"pods": 1})
    scheduler.refused("queue", bind, Conflict("somebody was faster"))
    assert scheduler.ledger.index.fits(0, {"pods": 1})
    made.settle()


def test_binds_after_a_refused_one_are_decided_again():
    scheduler = Scheduler()
    made = TinyWorld(scheduler)
    made.put(NODE, node("a"))
    for number in range(4):
        made.put(POD, pod(f"p{number}"))
    binds = [
        a
        for a in scheduler.step("queue", made, made.moment()).actions
        if isinstance(a, BindRequest)
    ]
    made.carry_out(binds[0])
    scheduler.refused("queue", binds[1], Conflict("somebody was faster"))
    made.settle()
    assert set(made.placed()) == {"p0", "p1", "p2", "p3"}


def test_a_finished_pod_gives_its_room_back():
    made = world(node("a", room={"pods": "1"}))
    place(made, pod("one"), pod("two"))
    done = made.pod("one")
    done["status"]["phase"] = "Succeeded"
    assert place(made, done)["two"] == "a"


def test_a_deleted_pod_does_not_hold_up_those_behind_it():
    made = world(node("a", room={"pods": "1"}))
    place(made, *(pod(f"p{i}") for i in range(4)))
    made.remove(POD, "default", "p1")
    made.remove(POD, "default", "p0")
    made.settle()
    assert made.placed() == {"p2": "a"}


def test_host_ports_are_taken_once():
    def server(name: str) -> dict:
        made = pod(name)
        made["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
        return made

    assert list(place(world(node("a")), server("p"), server("q")).values()) == ["a"]


def test_a_pod_with_an_ephemeral_volume_waits_for_its_claim():
    claim = {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}
    one = pod("one")
    one["spec"]["volumes"] = [{"name": "scratch", "ephemeral": claim}]
    made = world(node("a"))
    assert place(made, one) == {}
    made.put(CLAIM, {"metadata": {"name": "one-scratch", "namespace": "default", "uid": "c"}})
    made.settle()
    assert made.placed() == {"one": "a"}
