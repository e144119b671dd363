"""
P2, P4 and P7: which pods are in a gang, and that no pod waits in it for ever.

All members of a group are in the same gang of one scheduler, from their first moment.
When all faults are over there is room for all pods, so a pod that has no node then waits
for another that waits for it.
"""

from kohort.cluster import kinds
from kohort.simulation.checkers.checker import Checker
from kohort.simulation.checkers.gangs.dialects import (
    ALL,
    BY_KIND,
    find_node,
    find_words,
    list_names,
)
from kohort.simulation.checkers.truth import Commit, Group, controller_of


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
