"""
Checkers of gangs: their objects, their members, and where these are placed.

P1, P3, P5 and P6: the objects of gangs exist, are right, and do not change once pods have nodes.
A member that got its node less than the operator's patience ago does not count, since the
operator cannot have seen it yet.

P2, P4 and P7: all members of a group are in the same gang of one scheduler, from their first
moment. When all faults are over there is room for all pods, so a pod that has no node then waits
for another that waits for it.

S4 and S5: a gang is complete or not started, and stands no wider than it must. The members of a
gang get their nodes one after the other, at one moment. If some have theirs and time passes
before enough of the others have, it was started by halves: that is allowed only where a bind was
refused, or where a member was lost and the scheduler did not know it yet. A bind never takes a
gang that stands within its limit out of it.
"""

from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object, is_leaving
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.gang_dialects import (
    ALL,
    BY_KIND,
    CONSTRAINTS,
    HYPER_NODE,
    Words,
    find_node,
    find_words,
    list_members,
    list_names,
)
from kohort.simulation.checkers.truth import Commit, Group, controller_of

GPU = "nvidia.com/gpu"


class GangObjects(Checker):
    """The promises about the objects of gangs."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._bound: dict[str, float] = {}  # pods with a node, and since when

    def commit(self, commit: Commit) -> None:
        """Compare the object of a gang, as it was written, with the gang's members."""
        new = commit.new
        if commit.kind == kinds.POD and new is not None and find_node(new):
            self._bound.setdefault(new["metadata"]["uid"], commit.at)
        words = BY_KIND.get(commit.kind)
        if words is None or new is None or not commit.writer:
            return
        old = commit.old
        if old is not None and old.get("status") != new.get("status"):
            self.breach(f"P6: the status of gang {commit.name} was changed by us")
        if old is None or old["spec"] != new["spec"]:
            self._check_counts(words, new)
            self._check_constraint(words, old, new)

    def _check_counts(self, words: Words, gang: Object) -> None:
        """P2, P3: a gang counts the pods of its leader's revision, and no more than will exist."""
        group = self._find_group(words, gang)
        if group is None:
            return
        name, spec = gang["metadata"]["name"], gang["spec"]
        minimum = words.find_minimum(spec)
        most, size = self.simulated.count_gang(group, self.scene)
        if minimum > most:
            self.breach(f"P2: gang {name} waits for {minimum} pods, of which {most} will come")
        elif minimum != most:
            self.breach(f"P3: gang {name} is of {minimum} pods, its group of {most}")
        asked = (group.leader["spec"]["containers"][0].get("resources") or {}).get("requests") or {}
        wanted = int(asked.get(GPU, 0)) * size
        found = (spec.get("minResources") or {}).get(GPU)
        if found is not None and int(found) != wanted:
            self.breach(f"P3: gang {name} asks for {found} devices, its group for {wanted}")

    def _find_group(self, words: Words, gang: Object) -> Group | None:
        """The group whose gang it is; one of the workload is of the group that names it."""
        owner, name = controller_of(gang), gang["metadata"]["name"]
        for group in self.truth.groups():
            leader = group.leader
            if owner == group.uid or (words.find_name(leader) == name and owner != group.uid):
                return group if words.find_name(leader) == name else None
        return None

    def _is_owned(self, pod: Object) -> bool:
        """Whether a member has an owner that exists; others are leftovers of an earlier gang."""
        owners = (self.simulated.kind, kinds.STATEFUL_SET, kinds.POD)
        held = (obj for kind in owners for obj in self.truth.objects.get(kind, {}).values())
        owner = controller_of(pod)
        return not owner or any(obj["metadata"]["uid"] == owner for obj in held)

    def _check_constraint(self, words: Words, old: Object | None, new: Object) -> None:
        """P5: the topology that placed members obey stays; a lost object is made without one."""
        before = {key: (old or {"spec": {}})["spec"].get(key) for key in CONSTRAINTS}
        after = {key: new["spec"].get(key) for key in CONSTRAINTS}
        if before == after:
            return
        name = new["metadata"]["name"]
        since = self.scene.now() - self.scene.patience
        members = filter(self._is_owned, list_members(self.truth, words, name))
        if any(self._bound.get(pod["metadata"]["uid"], since) < since for pod in members):
            how = "changed" if old is not None else "made again with a limit"
            self.breach(f"P5: gang {name} was {how} when a member had its node")

    def end(self) -> None:
        """P1: each gang that a pod names exists once, and its owner exists."""
        truth = self.truth
        alive = {
            p["metadata"]["uid"] for k in (kinds.POD, self.simulated.kind) for p in self._list(k)
        }
        for words in ALL:
            named = {words.find_name(pod) for pod in self._list(kinds.POD)} - {""}
            held = truth.objects.get(words.kind, {})
            for name in sorted(named - set(held)):
                self.breach(f"P1: gang {name} does not exist, and pods name it")
            for name in sorted(set(held) - named):
                self.breach(f"P1: gang {name} exists, and no pod names it")
            for name, gang in held.items():
                if controller_of(gang) not in alive or is_leaving(gang):
                    self.breach(f"P1: gang {name} belongs to no workload that exists")

    def gone(self) -> None:
        """Gangs go with their workload."""
        left = [name for words in ALL for name in self.truth.objects.get(words.kind, ())]
        if left:
            self.breach(f"P1: gangs {sorted(left)} outlived their workload")

    def _list(self, kind: object) -> list[Object]:
        return list(self.truth.objects.get(kind, {}).values())  # type: ignore[call-overload]


MOMENT_SECONDS = 0.005  # what is done at once takes some turns of the loop
SLACK_SECONDS = 1.0
LONG_AGO = -1e9
# With these, binds are refused or come after their gang has changed.
_BY_HALVES = ("partial-bind", "late-bind")
_Key = tuple[Kind, str]


class GangPlacements(Checker):
    """The promises of the scheduler that places gangs."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._started: dict[_Key, tuple[float, frozenset[str]]] = {}  # by halves so far
        self._edited: dict[_Key, float] = {}  # gangs, and when they last changed or went
        self._lost: dict[_Key, float] = {}  # gangs, and when a member last left
        self._moved = LONG_AGO  # when domains last changed
        self._is_strict = not scene.scenario.has(*_BY_HALVES)

    def commit(self, commit: Commit) -> None:
        """Compare the nodes of a gang's members with the topology of the gang's object."""
        if not self.scene.scenario.gang:
            return
        self._check_started(commit.at)
        if commit.kind == HYPER_NODE:
            self._moved = commit.at
        elif commit.kind in BY_KIND and commit.old is not None:
            if commit.new is None or commit.new["spec"] != commit.old["spec"]:
                self._edited[commit.kind, commit.name] = commit.at
        elif commit.kind == kinds.POD:
            self._note_loss(commit)
            was_placed = commit.old is not None and find_node(commit.old)
            if commit.new is not None and find_node(commit.new) and not was_placed:
                self._check_bind(commit, commit.new)

    def _note_loss(self, commit: Commit) -> None:
        found = find_words(commit.old) if commit.old is not None else None
        if found is not None and (commit.new is None or is_leaving(commit.new)):
            self._lost[found[0].kind, found[1]] = commit.at

    def _check_bind(self, commit: Commit, pod: Object) -> None:
        found = find_words(pod)
        if found is None:
            return
        words, name = found
        gang = self.truth.objects[words.kind].get(name)
        if gang is None:
            if commit.at - self._edited.get((words.kind, name), LONG_AGO) > self._delay:
                self.breach(f"P2: {commit.name} was placed before its gang {name} existed")
            return
        members = [each for each in list_members(self.truth, words, name) if find_node(each)]
        if len(members) < words.find_minimum(gang["spec"]):
            uids = frozenset(each["metadata"]["uid"] for each in members)
            at = self._started.get((words.kind, name), (commit.at, uids))[0]
            self._started[words.kind, name] = (at, uids)
        else:
            self._started.pop((words.kind, name), None)
        self._check_limit(words, gang, pod, members)

    @property
    def _delay(self) -> float:
        """For how long the scheduler may not have seen what changed."""
        return self.scene.lags + SLACK_SECONDS

    def _check_started(self, now: float) -> None:
        for key, (since, uids) in list(self._started.items()):
            if now - since <= MOMENT_SECONDS:
                continue
            del self._started[key]
            pods = self.truth.objects[kinds.POD].values()
            staying = {pod["metadata"]["uid"] for pod in pods if not is_leaving(pod)}
            is_whole = uids <= staying and key[1] in self.truth.objects[key[0]]
            has_lost = self._lost.get(key, LONG_AGO) >= since - self._delay
            if is_whole and self._is_strict and not has_lost:
                self.breach(f"S4: gang {key[1]} was started by halves")

    def _check_limit(self, words: Words, gang: Object, pod: Object, members: list[Object]) -> None:
        """S5: within a hard limit, unless it or the domains were changed just now."""
        name = gang["metadata"]["name"]
        since = self.scene.now() - self._delay
        edited = self._edited.get((words.kind, name), LONG_AGO)
        limit = gang["spec"].get("networkTopology") or {}
        tier = limit.get("highestTierAllowed")
        if limit.get("mode") != "hard" or tier is None or max(self._moved, edited) >= since:
            return
        uid = pod["metadata"]["uid"]
        others = {find_node(each) for each in members if each["metadata"]["uid"] != uid}
        nodes = others | {find_node(pod)}
        if self._fits(others, tier) and not self._fits(nodes, tier):
            self.breach(f"S5: gang {name} stands wider than tier {tier}: {sorted(nodes)}")

    def _fits(self, nodes: set[str], tier: int) -> bool:
        """Whether one domain of that tier or a nearer one holds all these nodes."""
        domains = self.truth.objects[HYPER_NODE]
        return not nodes or any(
            nodes <= self._nodes_of(name)
            for name, domain in domains.items()
            if domain["spec"]["tier"] <= tier
        )

    def _nodes_of(self, name: str) -> set[str]:
        domain = self.truth.objects[HYPER_NODE].get(name)
        found: set[str] = set()
        for member in domain["spec"]["members"] if domain else ():
            other = member["selector"]["exactMatch"]["name"]
            found |= {other} if member["type"] == "Node" else self._nodes_of(other)
        return found


class GangMembers(Checker):
    """The promises about the members of gangs."""

    def commit(self, commit: Commit) -> None:
        """Compare a new pod with the others of its group, a new gang with those of others."""
        new = commit.new
        if new is None or commit.old is not None or not self.scene.scenario.gang:
            return
        if commit.kind == kinds.POD:
            uid = new["metadata"]["uid"]
            for group in self.truth.groups():
                if any(pod["metadata"]["uid"] == uid for pod in group.members):
                    self._check_group(group)
        elif commit.kind in BY_KIND and commit.writer:
            self._check_rivals(commit)

    def _check_group(self, group: Group) -> None:
        named = [tuple(list_names(pod)) for pod in group.members]
        if any(len(each) > 1 for each in named):
            self.breach(f"P7: a member of group {group.ordinal} is in two gangs")
        if len(set(named)) > 1:
            self.breach(f"P4: members of group {group.ordinal} are in different gangs")
        schedulers = {pod["spec"].get("schedulerName") for pod in group.members}
        if any(named) and len(schedulers) > 1:
            self.breach(f"P4: members of group {group.ordinal} have different schedulers")

    def _check_rivals(self, commit: Commit) -> None:
        """P7: one leader has one gang, whatever flags the operator had before."""
        assert commit.new is not None
        owner = controller_of(commit.new)
        leaders = {pod["metadata"]["uid"] for pod in self.truth.objects[kinds.POD].values()}
        for words in ALL:
            for name, gang in self.truth.objects.get(words.kind, {}).items():
                is_other = (words.kind, name) != (commit.kind, commit.name)
                if is_other and owner in leaders and controller_of(gang) == owner:
                    self.breach(f"P7: gangs {name} and {commit.name} are of one group")

    def end(self) -> None:
        """P2: no pod waits while there is room."""
        for pod in self.truth.objects[kinds.POD].values():
            found = find_words(pod)
            if found is not None and not find_node(pod):
                name = pod["metadata"]["name"]
                self.breach(f"P2: {name} of gang {found[1]} waits, and there is room")
