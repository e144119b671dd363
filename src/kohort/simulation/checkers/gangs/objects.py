"""
P1, P3, P5 and P6: the objects of gangs exist, are right, and do not change once pods have nodes.

A member that got its node less than the operator's patience ago does not count, since the
operator cannot have seen it yet.
"""

from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.gangs.dialects import (
    ALL,
    BY_KIND,
    CONSTRAINTS,
    Words,
    find_node,
    list_members,
)
from kohort.simulation.checkers.truth import Commit, Group, controller_of, is_leaving

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
        """P2, P3: it counts the pods of its own leader's revision, and no more than will come."""
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
        """P1: each gang that is named is there, once, and belongs to an object that exists."""
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
                    self.breach(f"P1: gang {name} belongs to nobody who is there")

    def gone(self) -> None:
        """Gangs go with their workload."""
        left = [name for words in ALL for name in self.truth.objects.get(words.kind, ())]
        if left:
            self.breach(f"P1: gangs {sorted(left)} outlived their workload")

    def _list(self, kind: object) -> list[Object]:
        return list(self.truth.objects.get(kind, {}).values())  # type: ignore[call-overload]
