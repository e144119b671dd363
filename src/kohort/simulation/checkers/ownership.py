"""C1 to C5: children have a living owner, and the operator touches no other's objects."""

from kohort.cluster import kinds
from kohort.cluster.objects import Object, is_leaving, labels_of
from kohort.simulation.checkers.budget import is_taken
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.truth import Commit, controller_of, owners_of
from kohort.simulation.scenario import NAME


class Ownership(Checker):
    """The promises about owners and revisions."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._ours: set[str] = set()  # uids of all that was ever ours

    def commit(self, commit: Commit) -> None:
        """Check that the operator changes and deletes only objects of its own workload."""
        new, old = commit.new, commit.old
        # Before what is written makes it ours.
        was_ours = old is not None and self._is_ours(old)
        if new is not None and (
            commit.kind == self.simulated.kind or controller_of(new) in self._ours
        ):
            self._ours.add(new["metadata"]["uid"])
        if commit.kind == kinds.SERVICE and is_taken(commit) and not commit.is_user:
            self._check_service(commit)
        if not commit.writer or old is None:
            return
        if commit.kind in self.truth.children and not was_ours:
            how = "deleted" if is_taken(commit) else "changed"
            self.breach(f"C3: {commit.kind.name} {commit.name} is not ours and was {how}")
        if commit.kind == kinds.CONTROLLER_REVISION:
            self._check_revision(commit)

    def _is_ours(self, child: Object) -> bool:
        """Whether a child belongs to the workload, or to no object and bears its labels."""
        owner = controller_of(child)
        was_ours = child["metadata"]["uid"] in self._ours or self._is_named(child)
        was_ours = was_ours or bool(owners_of(child) & self._ours)
        return owner in self._ours or (not owner and was_ours)

    def _is_named(self, child: Object) -> bool:
        return labels_of(child).get(self.simulated.labels.owner) == NAME

    def _check_service(self, commit: Commit) -> None:
        """C5: a Service stays while its owner exists and a pod is reached through it."""
        assert commit.old is not None
        alive = {
            obj["metadata"]["uid"]
            for kind in (self.simulated.kind, kinds.POD, *self.simulated.children)
            for obj in self.truth.objects[kind].values()
            if not is_leaving(obj)
        }
        if not owners_of(commit.old) & alive:
            return
        for pod in self.truth.pods():
            if commit.name in self.simulated.list_services(pod) and not is_leaving(pod):
                name = pod["metadata"]["name"]
                self.breach(f"C5: service {commit.name} was deleted while {name} has it")
                return

    def _check_revision(self, commit: Commit) -> None:
        """C4: the revision of a living group stays; leftovers of a deleted group may go."""
        assert commit.old is not None
        revision_of, stored_of = self.simulated.labels.revision_of, self.simulated.labels.stored_of
        key = stored_of(commit.old)
        if not key or (commit.new is not None and stored_of(commit.new) == key):
            return
        if controller_of(commit.old) not in self._holders():
            return
        for pod in (pod for group in self.truth.groups() for pod in group.members):
            if revision_of(pod) == key:
                name = pod["metadata"]["name"]
                self.breach(f"C4: revision {commit.name} was put away while {name} has it")
                return

    def _holders(self) -> set[str]:
        """Whom revisions belong to: the workload, or a part of it that has its own."""
        held = [self.truth.workload] if self.truth.workload else []
        for kind in self.simulated.children:
            held += self.truth.objects[kind].values()
        return {obj["metadata"]["uid"] for obj in held}

    def end(self) -> None:
        """C1: every child has an owner that exists."""
        alive = {
            obj["metadata"]["uid"] for held in self.truth.objects.values() for obj in held.values()
        }
        for kind in self.truth.children:
            for name, child in self.truth.objects[kind].items():
                owner = controller_of(child)
                if owner and owner not in alive:
                    self.breach(f"C1: {kind.name} {name} has an owner that is gone")
