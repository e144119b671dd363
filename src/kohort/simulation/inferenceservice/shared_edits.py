"""
E4: an edit of a model or runtime changes no serving workload of a service that refers to it.

A template may change after the user edited the service, after another client edited the workload,
or while no pod of the service serves. Each write must follow from a spec that the user had
written and that the operator may still have seen.
"""

from collections import deque

from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.simulation.checkers.budget import is_taken
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.truth import Commit, annotations_of, is_ready, labels_of
from kohort.simulation.inferenceservice.labels import FOLLOWS, FORMS, WORKLOAD


class SharedEdits(Checker):
    """The promise that no pods restart for the edit of a runtime or a model."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._wishes: list[float] = []  # when the user asked for something else
        self._made_from: dict[str, set[int]] = {}  # which wishes a workload may be of, by uid
        self._edited: set[str] = set()  # workloads that others changed since
        self._idle: deque[float] = deque()  # moments in which no pod served

    def commit(self, commit: Commit) -> None:
        """Check that an edit by a user explains the change of a workload."""
        if commit.kind == WORKLOAD and _read_wish(commit.old) != _read_wish(commit.new):
            self._wishes.append(commit.at)
        if commit.kind == kinds.POD and not any(map(is_ready, self.truth.pods())):
            self._idle.append(commit.at)
        held = commit.old or commit.new
        if commit.kind not in FORMS or held is None:
            return
        uid = held["metadata"]["uid"]
        is_changed = is_taken(commit) or _read_templates(commit.old) != _read_templates(commit.new)
        if is_changed and not commit.writer:
            self._edited.add(uid)
        elif is_changed:
            self._check(commit, uid)

    def _check(self, commit: Commit, uid: str) -> None:
        before, now = self._made_from.get(uid), self._find_wishes(commit.at)
        is_edited = uid in self._edited
        self._made_from[uid] = now
        self._edited.discard(uid)
        if before is None or is_edited or len(before | now) > 1 or self._may_be_idle(commit.at):
            return
        root = self.truth.workload
        if root is not None and annotations_of(root).get(FOLLOWS) != "true":
            which = f"{commit.kind.name} {commit.name}"
            self.breach(f"E4: {which} changes, and nobody edited the service")

    def _find_wishes(self, at: float) -> set[int]:
        """The wishes, by their places, that stood within the operator's patience."""
        since = at - self.scene.patience
        last = sum(asked < since for asked in self._wishes)
        return set(range(max(0, last - 1), len(self._wishes)))

    def _may_be_idle(self, at: float) -> bool:
        recent = at - self.scene.patience_with_parts
        is_idle = not any(map(is_ready, self.truth.pods()))
        return is_idle or any(moment >= recent for moment in self._idle)


def _read_wish(service: Object | None) -> object:
    if service is None:
        return None
    return service["metadata"]["uid"], service["spec"], labels_of(service), annotations_of(service)


def _read_templates(workload: Object | None) -> Object:
    """What of a workload restarts pods when it changes."""
    spec = {k: v for k, v in ((workload or {}).get("spec") or {}).items() if k != "replicas"}
    if "roles" in spec:
        roles = spec["roles"]
        spec["roles"] = [{k: v for k, v in role.items() if k != "replicas"} for role in roles]
    return spec
