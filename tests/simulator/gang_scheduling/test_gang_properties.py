"""For any history of a small cluster: gangs are whole, near enough, and placed when they can be."""

from collections import defaultdict
from typing import Any

from gang_builders import GPU, node, pod
from gang_world import SOFT, GangWorld, hard
from hypothesis import given, settings
from hypothesis import strategies as st
from test_gang_order import exclusive

from kohort.apis.gangs.dialects.volcano import POD_GROUP
from kohort.cluster.errors import Conflict
from kohort.cluster.kinds import NODE, POD
from kohort.placement.amounts import read_amounts
from kohort.simulator.component import BindRequest, ComponentAction
from kohort.simulator.scheduling.scheduler import Scheduler

RACKS = [["n0", "n1"], ["n2", "n3"]]
NODES = [name for rack in RACKS for name in rack]
LIMITS = {"free": None, "hard1": hard(1), "hard2": hard(2), "soft": SOFT}
HIGHEST = {"hard1": 1, "hard2": 2}


def rack_of(name: str) -> int:
    return int(name[1:]) // 2


def width(nodes: set[str]) -> int:
    """The tier of the smallest domain that holds these nodes."""
    return 1 if len({rack_of(name) for name in nodes}) <= 1 else 2


class Watched(GangWorld):
    """A world that checks each bind, and each step after its last one."""

    def __init__(self) -> None:
        nodes = (node(name, 4, {"rack": f"r{rack_of(name)}"}) for name in NODES)
        super().__init__(*nodes)
        self.declare_racks(*RACKS)
        self.gangs: dict[str, tuple[int, str]] = {}
        self.refusals: list[int] = []

    def add(self, name: str, size: int, minimum: int, gpus: int, limit: str) -> None:
        spec = {"networkTopology": LIMITS[limit]} if LIMITS.get(limit) else {}
        self.gangs[name] = (minimum, limit)
        self.group(name, minimum, **spec)
        members = (
            exclusive(name, size, gpus)
            if limit == "exclusive"
            else [pod(f"{name}-{at}", gpus, group=name) for at in range(size)]
        )
        for member in members:
            self.put(POD, member)

    def carry_out(self, action: ComponentAction) -> None:
        if isinstance(action, BindRequest):
            found = self.pod(action.name)
            assert not found["spec"].get("schedulingGates")
            assert not self.node(action.node)["spec"].get("unschedulable")
        super().carry_out(action)

    def _step(self, key: str) -> None:
        """One step; a bind of it may be refused, and then nothing after it happens."""
        del self._keys[key]
        self._timers.pop(key, None)
        step = self.component.step(key, self, self.moment())
        binds = [action for action in step.actions if isinstance(action, BindRequest)]
        refused = self.refusals.pop() if self.refusals and binds else None
        bad = binds[refused % len(binds)] if refused is not None else None
        for action in step.actions:
            if action is bad:
                self.component.refused(key, action, Conflict("refused"))
                self._keys[key] = None
                return
            self.log.append(action)
            self.carry_out(action)
        if bad is None and binds:
            self.check_whole({action.name.split("-")[0] for action in binds})
        if step.after is not None:
            self._timers[key] = self.elapsed + step.after

    def check_whole(self, names: set[str]) -> None:
        for name in names & set(self.gangs):
            assert len(self.standing(name)) >= self.gangs[name][0], f"{name} started by halves"

    def standing(self, name: str) -> dict[str, str]:
        return {p: at for p, at in self.where(name).items() if at in self.names()}

    def names(self) -> set[str]:
        return {entry.name for entry in self.all(NODE)}


gangs = st.tuples(
    st.just("add"),
    st.integers(2, 5),
    st.sampled_from([0, 0, 1, 2]),
    st.sampled_from([0, 2, 2, 3, 4]),
    st.sampled_from(["free", "hard1", "hard1", "hard2", "soft", "exclusive", "exclusive"]),
)
changes = st.one_of(
    st.tuples(st.just("remove"), st.integers(0, 30)),
    st.tuples(st.just("again"), st.integers(0, 30)),
    st.tuples(st.just("more"), st.integers(0, 30)),
    st.tuples(st.just("cordon"), st.sampled_from(NODES)),
    st.tuples(st.just("lose"), st.sampled_from(NODES)),
    st.tuples(st.just("refuse"), st.integers(0, 4)),
)
ops = st.lists(st.one_of(gangs, changes), min_size=4, max_size=14).map(
    lambda drawn: sorted(drawn[:2], key=lambda op: op[0] != "add") + drawn[2:]
)


def run_steps(history: list[tuple[Any, ...]], *, refuses: bool = True) -> Watched:
    made = Watched()
    for at, (what, *how) in enumerate(history):
        if what == "add":
            size, fewer, gpus, limit = how
            made.add(f"g{at}", size, max(1, size - fewer), gpus, limit)
        elif what in ("remove", "again", "more"):
            change_pod(made, what, how[0], at)
        elif what == "cordon":
            known = made.find(NODE, "", how[0])
            if known is not None:
                raw = known.decode()
                raw["spec"]["unschedulable"] = not raw["spec"].get("unschedulable")
                made.put(NODE, raw)
        elif what == "lose":
            toggle(made, how[0])
        elif what == "refuse" and refuses:
            made.refusals.append(how[0])
        made.settle(60)
    return made


def change_pod(made: Watched, what: str, which: int, at: int) -> None:
    """A pod goes, comes again under its name, or gets company in its gang."""
    pods = sorted(entry.name for entry in made.all(POD))
    if not pods:
        return
    old = made.pod(pods[which % len(pods)])
    spec = {key: value for key, value in old["spec"].items() if key != "nodeName"}
    meta = {key: value for key, value in old["metadata"].items() if key != "uid"}
    if what == "more":
        meta["name"] = f"{meta['name'].split('-')[0]}-more{at}"
    else:
        made.remove(POD, "default", meta["name"])
    if what != "remove":
        made.put(POD, {**old, "metadata": meta, "spec": spec, "status": {}})


def toggle(made: Watched, name: str) -> None:
    """A node is lost with its pods, or comes back."""
    if made.find(NODE, "", name) is None:
        made.put(NODE, node(name, 4, {"rack": f"r{rack_of(name)}"}))
        return
    made.remove(NODE, "", name)
    for victim, at in made.placed().items():
        if at == name:
            made.remove(POD, "default", victim)


def free_rooms(made: Watched) -> dict[str, dict[str, int]]:
    """What is left of each node, counted from the objects."""
    rooms = {e.name: read_amounts(e.decode()["status"]["allocatable"]) for e in made.all(NODE)}
    for entry in made.all(POD):
        raw = entry.decode()
        room = rooms.get(raw["spec"].get("nodeName", ""))
        if room is not None:
            for name, amount in requests_of(raw).items():
                room[name] -= amount
    return rooms


def requests_of(raw: dict[str, Any]) -> dict[str, int]:
    return {**read_amounts(raw["spec"]["containers"][0]["resources"]["requests"]), "pods": 1}


@settings(max_examples=60)
@given(ops)
def test_the_ledger_is_what_counting_the_objects_gives(history):
    made = run_steps(history)
    index = made.scheduler.ledger.index
    kept = {name: index.free[slot] for name, slot in index.slots.items()}
    assert kept == free_rooms(made)
    assert all(amount >= 0 for room in kept.values() for amount in room.values())
    again = Scheduler()
    again.watch_kinds([POD_GROUP])
    for kind in (NODE, POD):
        for entry in made.all(kind):
            again.observe(kind, None, entry, made)
    for tally in made.scheduler.ledger.book.all():
        twins = [
            t for t in again.ledger.book.all() if (t.matcher, t.key) == (tally.matcher, tally.key)
        ]
        fresh = made.scheduler.ledger.book.fresh(tally)
        assert all(again.ledger.book.fresh(twin).counts == fresh.counts for twin in twins)


@settings(max_examples=60)
@given(ops)
def test_members_stand_as_near_as_they_must(history):
    made = run_steps(history)
    holders = defaultdict(set)
    for name, (_, limit) in made.gangs.items():
        nodes = set(made.standing(name).values())
        if nodes and limit in HIGHEST:
            assert width(nodes) <= HIGHEST[limit]
        if limit == "exclusive":
            assert len({rack_of(at) for at in nodes}) <= 1
            for at in nodes:
                holders[rack_of(at)].add(name)
    assert all(len(groups) == 1 for groups in holders.values())


@settings(max_examples=60)
@given(ops)
def test_a_gang_that_could_be_placed_is_placed(history):
    made = run_steps(history, refuses=False)
    rooms = free_rooms(made)
    cordoned = {e.name for e in made.all(NODE) if e.decode()["spec"].get("unschedulable")}
    for name, (minimum, limit) in made.gangs.items():
        waiting = [e.decode() for e in made.all(POD) if e.name.startswith(f"{name}-")]
        waiting = [raw for raw in waiting if not raw["spec"].get("nodeName")]
        fresh = not made.standing(name) and len(waiting) >= minimum
        if (
            fresh
            and limit in LIMITS
            and "kept for" not in made.reason(waiting[0]["metadata"]["name"])
        ):
            ask = requests_of(waiting[0]).get(GPU, 0)
            slots = {
                at: room[GPU] // ask if ask else room["pods"]
                for at, room in rooms.items()
                if at not in cordoned
            }
            assert not could_hold(slots, minimum, HIGHEST.get(limit, 2))


def could_hold(slots: dict[str, int], minimum: int, highest: int) -> bool:
    domains = [set(rack) for rack in RACKS] if highest == 1 else [set(NODES)]
    return any(sum(slots.get(name, 0) for name in domain) >= minimum for domain in domains)


@settings(max_examples=40)
@given(ops)
def test_histories_repeat_themselves_and_end_in_rest(history):
    first, second = run_steps(history), run_steps(history)
    assert first.log == second.log
    assert first.settle(3600) == []


def test_the_checks_can_fail():
    made = Watched()
    made.gangs["g"] = (2, "free")
    made.put(POD, {**pod("g-0", group="g"), "spec": {**pod("g-0")["spec"], "nodeName": "n0"}})
    try:
        made.check_whole({"g"})
    except AssertionError:
        return
    raise AssertionError("half a gang was not noticed")
