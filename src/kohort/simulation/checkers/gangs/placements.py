"""
S4 and S5: a gang is complete or not started, and stands no wider than it must.

The members of a gang get their nodes one after the other, at one moment. If some have
theirs and time passes before enough of the others have, it was started by halves: that
is allowed only where a bind was refused, or where a member was lost and the scheduler
did not know it yet. A bind never takes a gang that stands within its limit out of it.
"""

from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.gangs.dialects import (
    BY_KIND,
    HYPER_NODE,
    Words,
    find_node,
    find_words,
    list_members,
)
from kohort.simulation.checkers.truth import Commit, is_leaving

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
