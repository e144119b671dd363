"""The checkers of gangs notice what they are there for."""

from typing import Any

from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.simulation.checkers.checker import Scene
from kohort.simulation.checkers.gang_dialects import ALL, HYPER_NODE, KINDS
from kohort.simulation.checkers.gangs import GangMembers, GangObjects, GangPlacements
from kohort.simulation.checkers.truth import Commit, Group, Marks
from kohort.simulation.leaderworkerset.labels import LABELS, PREFIX, WORKLOAD
from kohort.simulation.leaderworkerset.simulated import LEADER_WORKER_SETS
from kohort.simulation.scenario import LEADER_FIRST, Scenario

VOLCANO, COSCHEDULING = ALL[0].kind, ALL[1].kind
OURS = "kohort-0.1"


class Facts:
    """Objects by hand, in the place of a store."""

    def __init__(self, scenario: Scenario | None = None) -> None:
        self.objects: dict[Any, dict[str, Object]] = {kind: {} for kind in KINDS}
        self.objects |= {kinds.POD: {}, WORKLOAD: {}}
        self.breaches: list[str] = []
        self.at = 100.0
        self.marks = Marks(LABELS)
        self.scenario = scenario or Scenario(gang="volcano", gpus=4)

    def scene(self) -> Scene:
        known = LEADER_WORKER_SETS
        return Scene(self.scenario, known, self, lambda: self.at, self.breaches.append, 1.0)  # type: ignore

    def groups(self) -> list[Group]:
        pods = self.objects[kinds.POD]
        workers = [pod for name, pod in pods.items() if name != "x-0"]
        return [Group(0, pods["x-0"], workers, 2, self.marks)] if "x-0" in pods else []

    def put(self, kind: Any, obj: Object | None, name: str, writer: str = "") -> Commit:
        """Write an object, or delete it, and say so."""
        old = self.objects[kind].pop(name, None)
        if obj is not None:
            self.objects[kind][name] = obj
        if kind == kinds.POD:
            self.marks.note(old, obj, is_user=False)
        return Commit(kind, name, old, obj, writer, self.at)


def make_pod(name: str, node: str = "", gang: str = "g", scheduler: str = "volcano") -> Object:
    notes = {f"{PREFIX}size": "2", "scheduling.k8s.io/group-name": gang}
    gpus = {"requests": {"nvidia.com/gpu": "4"}}
    container = {"name": "engine", "image": "engine:1", "resources": gpus}
    spec: Object = {"schedulerName": scheduler, "containers": [container]}
    spec |= {"nodeName": node} if node else {}
    return {"metadata": {"name": name, "uid": name, "annotations": notes}, "spec": spec}


def make_gang(minimum: int = 2, gpus: str = "8", **more: Any) -> Object:
    owner = {"uid": "x-0", "controller": True}
    spec = {"minMember": minimum, "minResources": {"nvidia.com/gpu": gpus}, **more}
    return {"metadata": {"name": "g", "uid": "g", "ownerReferences": [owner]}, "spec": spec}


def make_domain(tier: int, *nodes: str) -> Object:
    members = [{"type": "Node", "selector": {"exactMatch": {"name": node}}} for node in nodes]
    return {"spec": {"tier": tier, "members": members}}


def test_a_status_that_we_write_is_noticed():
    facts = Facts()
    checker = GangObjects(facts.scene())
    checker.commit(facts.put(VOLCANO, make_gang(), "g"))
    checker.commit(facts.put(VOLCANO, {**make_gang(), "status": {"phase": "x"}}, "g", OURS))
    assert facts.breaches == ["P6: the status of gang g was changed by us"]


def test_a_constraint_that_changes_under_a_placed_member_is_noticed():
    facts = Facts()
    checker = GangObjects(facts.scene())
    checker.commit(facts.put(VOLCANO, make_gang(), "g"))
    checker.commit(facts.put(kinds.POD, make_pod("x-0", "n1"), "x-0"))
    facts.at += 10.0
    hard = {"mode": "hard", "highestTierAllowed": 1}
    checker.commit(facts.put(VOLCANO, make_gang(networkTopology=hard), "g", OURS))
    assert facts.breaches == ["P5: gang g was changed when a member had its node"]


def test_a_worker_that_is_left_over_stands_by_no_constraint_of_the_next_gang():
    facts = Facts()
    checker = GangObjects(facts.scene())
    left = make_pod("x-0-1", "n1")
    left["metadata"]["ownerReferences"] = [{"uid": "gone", "controller": True}]
    checker.commit(facts.put(kinds.POD, left, "x-0-1"))
    facts.at += 10.0
    hard = {"mode": "hard", "highestTierAllowed": 1}
    checker.commit(facts.put(VOLCANO, make_gang(networkTopology=hard), "g", OURS))
    assert facts.breaches == []


def test_wrong_counts_are_noticed():
    facts = Facts()
    checker = GangObjects(facts.scene())
    facts.put(kinds.POD, make_pod("x-0"), "x-0")
    checker.commit(facts.put(VOLCANO, make_gang(minimum=1, gpus="4"), "g", OURS))
    assert [breach[:2] for breach in facts.breaches] == ["P3", "P3"]


def test_a_gang_that_counts_pods_that_wait_for_it_is_noticed():
    facts = Facts(Scenario(gang="volcano", startup=LEADER_FIRST))
    checker = GangObjects(facts.scene())
    facts.put(kinds.POD, make_pod("x-0"), "x-0")
    checker.commit(facts.put(VOLCANO, make_gang(minimum=2), "g", OURS))
    assert facts.breaches == ["P2: gang g waits for 2 pods, of which 1 will come"]


def test_gangs_that_are_missing_or_left_are_noticed():
    facts = Facts()
    checker = GangObjects(facts.scene())
    facts.put(kinds.POD, make_pod("x-1", gang="other"), "x-1")
    facts.put(VOLCANO, make_gang(), "g")
    checker.end()
    assert facts.breaches == [
        "P1: gang other does not exist, and pods name it",
        "P1: gang g exists, and no pod names it",
        "P1: gang g belongs to no workload that exists",
    ]


def test_members_of_different_gangs_and_schedulers_are_noticed():
    facts = Facts()
    checker = GangMembers(facts.scene())
    checker.commit(facts.put(kinds.POD, make_pod("x-0"), "x-0"))
    other = make_pod("x-0-1", gang="h", scheduler="other")
    other["metadata"]["labels"] = {"scheduling.x-k8s.io/pod-group": "h"}
    checker.commit(facts.put(kinds.POD, other, "x-0-1"))
    assert [breach[:2] for breach in facts.breaches] == ["P7", "P4", "P4"]


def test_two_gangs_of_one_leader_are_noticed():
    facts = Facts()
    checker = GangMembers(facts.scene())
    facts.put(kinds.POD, make_pod("x-0"), "x-0")
    checker.commit(facts.put(VOLCANO, make_gang(), "g", OURS))
    checker.commit(facts.put(COSCHEDULING, make_gang(), "h", OURS))
    assert facts.breaches == ["P7: gangs g and h are of one group"]


def test_a_gang_that_starts_by_halves_is_noticed():
    facts = Facts()
    checker = GangPlacements(facts.scene())
    facts.put(VOLCANO, make_gang(), "g")
    facts.put(kinds.POD, make_pod("x-0-1"), "x-0-1")
    checker.commit(facts.put(kinds.POD, make_pod("x-0", "n1"), "x-0"))
    facts.at += 0.1
    checker.commit(facts.put(kinds.POD, make_pod("x-0-1", "n1"), "x-0-1"))
    assert facts.breaches == ["S4: gang g was started by halves"]


def test_a_gang_that_starts_at_one_moment_is_complete():
    facts = Facts()
    checker = GangPlacements(facts.scene())
    facts.put(VOLCANO, make_gang(), "g")
    checker.commit(facts.put(kinds.POD, make_pod("x-0", "n1"), "x-0"))
    checker.commit(facts.put(kinds.POD, make_pod("x-0-1", "n1"), "x-0-1"))
    facts.at += 10.0
    checker.commit(facts.put(kinds.POD, make_pod("x-0-1", "n1"), "x-0-1"))
    assert facts.breaches == []


def test_a_gang_that_stands_wider_than_it_must_is_noticed():
    facts = Facts()
    checker = GangPlacements(facts.scene())
    facts.put(HYPER_NODE, make_domain(1, "n1"), "r1")
    facts.put(HYPER_NODE, make_domain(1, "n2"), "r2")
    hard = {"mode": "hard", "highestTierAllowed": 1}
    facts.put(VOLCANO, make_gang(networkTopology=hard), "g")
    checker.commit(facts.put(kinds.POD, make_pod("x-0", "n1"), "x-0"))
    checker.commit(facts.put(kinds.POD, make_pod("x-0-1", "n2"), "x-0-1"))
    assert facts.breaches == ["S5: gang g stands wider than tier 1: ['n1', 'n2']"]


def test_a_pod_that_is_placed_before_its_gang_exists_is_noticed():
    facts = Facts()
    checker = GangPlacements(facts.scene())
    checker.commit(facts.put(kinds.POD, make_pod("x-0", "n1"), "x-0"))
    assert facts.breaches == ["P2: x-0 was placed before its gang g existed"]


def test_a_pod_that_waits_while_there_is_room_is_a_breach():
    facts = Facts()
    checker = GangMembers(facts.scene())
    facts.put(kinds.POD, make_pod("x-0"), "x-0")
    checker.end()
    assert facts.breaches == ["P2: x-0 of gang g waits, and there is room"]
