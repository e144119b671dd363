"""
G1 to G6: a group lives and dies as one.

A leader that the operator deletes must have given a reason: another template, more
groups than wanted, or a member that failed and a policy that asks for it.
"""

from kohort.cluster import kinds
from kohort.cluster.objects import Object, is_leaving
from kohort.simulation.checkers.budget import is_taken
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.truth import Commit, Group, controller_of, is_ready, restarts_of
from kohort.simulation.scenario import AFTER_START, BAD_IMAGE, KEEP, LEADER_FIRST

# With these, another client than the operator may have pods deleted.
DELETING = (
    "node-loss",
    "scale-child",
    "delete-child",
    "recreate",
    "strip-label",
    "restart-set",
    "set-image",
    "swap-set",
    "relabel",
    "orphan",
)


class Groups(Checker):
    """The promises about members of groups."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        # The operator cannot know of failures that happened while none of its processes ran.
        self._remembers = scene.has_one_process
        self._was_ready: set[str] = set()  # leaders that were ready once
        self._formed: dict[str, float] = {}  # leaders, and when their group was last whole
        self._before: dict[str, Group] = {}
        self._wishes: list[tuple[float, Object]] = []  # specs, and until when they held

    def commit(self, commit: Commit) -> None:
        """Check the members, the start and the deletion of groups that a write concerns."""
        if commit.kind == self.simulated.kind and commit.old is not None:
            self._remember_wish(commit, commit.old)
        if commit.kind == kinds.STATEFUL_SET and commit.old is None and commit.new is not None:
            self._check_start(commit.new)
        if commit.kind == kinds.POD:
            self._follow(commit)

    def _remember_wish(self, commit: Commit, old: Object) -> None:
        if commit.new is None or commit.new["spec"] != old["spec"]:
            self._wishes.append((commit.at, old["spec"]))

    def _follow(self, commit: Commit) -> None:
        # A group that was whole before this write has been whole until now.
        for uid, group in self._before.items():
            if _is_formed(group):
                self._formed[uid] = commit.at
        if is_taken(commit) and (commit.writer or self._is_ours(commit)):
            self._check_deletion(commit)
        new = commit.new
        if new is not None and commit.old is None and self._place_of(new)[1] != "0":
            self._check_start(new)
        groups = self.truth.groups()
        for group in groups:
            if is_ready(group.leader):
                self._was_ready.add(group.uid)
            self._check_members(group)
        self._before = {group.uid: group for group in groups}

    def _check_members(self, group: Group) -> None:
        if len(group.revisions) > 1:
            self.breach(f"G1: group {group.ordinal} has two revisions")
        moved = self.truth.marks.moved
        if not group.is_ready or any(pod["metadata"]["uid"] in moved for pod in group.members):
            return
        places = sorted(self._place_of(pod)[1] for pod in group.members)
        if places != sorted(str(place) for place in range(group.size)):
            self.breach(f"G6: group {group.ordinal} has the places {places}")
        if any(self._place_of(p)[0] != str(group.ordinal) for p in group.members):
            self.breach(f"G6: a member of group {group.ordinal} names another group")

    def _place_of(self, pod: Object) -> tuple[str, str]:
        """The group and the index that a pod's labels name."""
        group, index = self.simulated.labels.place_of(pod)
        return group, index

    def _check_start(self, child: Object) -> None:
        """G5: with the startup policy LeaderReady, workers come after their leader was ready."""
        leader = controller_of(child)
        if self.scene.scenario.startup != LEADER_FIRST or leader not in self._before:
            return
        if leader not in self._was_ready:
            self.breach(f"G5: {child['metadata']['name']} was made before its leader was ready")

    def _is_ours(self, commit: Commit) -> bool:
        """Whether a StatefulSet deleted a leader because of the operator, and no other client."""
        return not commit.is_user and not self.scene.scenario.has(*DELETING)

    def _check_deletion(self, commit: Commit) -> None:
        """G3, A5: a whole group of the current template stays; nothing of ours deletes it."""
        assert commit.old is not None
        group = self._before.get(commit.old["metadata"]["uid"])
        workload = self.truth.workload
        if group is None or workload is None or is_leaving(workload):
            return
        scene = self.scene
        since = commit.at - (scene.patience if commit.writer else scene.patience_with_parts)
        specs = [workload["spec"], *(spec for until, spec in self._wishes if until >= since)]
        if not group.revision or any(self.simulated.is_old(group, spec) for spec in specs):
            return
        if self.scene.scenario.may_roll_alike or self.is_forgotten(group):
            return
        wanted = min(self.simulated.read_policy({"spec": spec}).wanted for spec in specs)
        if group.ordinal >= wanted or controller_of(group.leader) not in self._owners():
            return
        policy = self.scene.scenario.restart
        if policy == KEEP or group.uid not in self.truth.hurt:
            promise = "A5" if self._has_gone_back() else "G3"
            text = f"group {group.ordinal} was deleted, and nothing was wrong with it"
            self.breach(f"{promise}: {text}")
        elif policy == AFTER_START and self._formed.get(group.uid, -1.0) < since:
            self.breach(f"G4: group {group.ordinal} was deleted while it was still forming")

    def _has_gone_back(self) -> bool:
        """Whether the last template never served, and the user has returned to an earlier one."""
        images = [self.simulated.find_image(spec) for _, spec in self._wishes]
        return BAD_IMAGE in images

    def _owners(self) -> set[str]:
        """The uids of the objects that may own leaders now."""
        found = (self.truth.workload, self.truth.leader_set)
        return {obj["metadata"]["uid"] for obj in found if obj is not None}

    def end(self) -> None:
        """G2: no group keeps running with a failed member, unless its restart policy says so."""
        if self.scene.scenario.restart == KEEP:
            return
        for group in self.truth.groups():
            has_restarted = any(restarts_of(pod) for pod in (group.leader, *group.workers))
            if has_restarted or (self._remembers and group.uid in self.truth.hurt):
                self.breach(f"G2: group {group.ordinal} lives on after a member failed")


def _is_formed(group: Group) -> bool:
    """Whether all members have started; one that is on its way out since has started, too."""
    members = [group.leader, *group.workers]
    phases = [(pod.get("status") or {}).get("phase") for pod in members]
    return len(members) == group.size and "Pending" not in phases and None not in phases
