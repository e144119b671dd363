"""
The Deployment controller: one ReplicaSet for each template, and rollouts between them.

It only ever writes ReplicaSets and its own Deployment; pods are the business of
the ReplicaSets. Each write to a ReplicaSet names the version that was seen, so
that a decision made on an old cache is refused instead of breaking the budget.
"""

from collections.abc import Iterable, Iterator

import orjson

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import DEPLOYMENT, POD, REPLICA_SET
from kohort.cluster.objects import Kind, Object, annotations_of, labels_of
from kohort.cluster.selectors import read_label_selector
from kohort.simulator.builtins.deployments import sizes
from kohort.simulator.builtins.deployments.progress import Reporter
from kohort.simulator.builtins.deployments.spec import (
    DESIRED,
    HASH_LABEL,
    MAXIMUM,
    REVISION,
    REVISION_HISTORY,
    Generation,
    Rollout,
    bare_template,
    read_generation,
    read_rollout,
)
from kohort.simulator.builtins.names import hash_template
from kohort.simulator.builtins.ownership import Orphans, adopt, controllers, reference, release
from kohort.simulator.builtins.readiness import FINISHED
from kohort.simulator.component import (
    ComponentAction,
    CreateRequest,
    DeleteRequest,
    EventRequest,
    MergeRequest,
    Moment,
    ReplaceRequest,
    Step,
    View,
)

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_NOT_COPIED = frozenset({_LAST_APPLIED, REVISION, REVISION_HISTORY, DESIRED, MAXIMUM})


class Deployments:
    """The Deployment controller as a component."""

    name = "deployments"
    manager = "kube-controller-manager"
    kinds: tuple[Kind, ...] = (DEPLOYMENT, REPLICA_SET, POD)

    def __init__(self) -> None:
        self._orphans = Orphans()
        self._failures: dict[str, str] = {}

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The key of a changed Deployment, or of the one that controls the ReplicaSet."""
        entry = new or old
        assert entry is not None
        if kind == DEPLOYMENT:
            return (f"{entry.namespace}/{entry.name}",)
        if kind == POD:
            # Recreate waits for the last old pod to go; nothing else looks at pods.
            return _deployments_of_pod(entry, view) if new is None else ()
        self._orphans.note(kind, old, new)
        keys = controllers(DEPLOYMENT.name, old, new)
        if new is not None and not new.controller:
            for candidate in view.all(DEPLOYMENT, new.namespace):
                selector = read_label_selector(candidate.decode()["spec"].get("selector"))
                if selector.matches(new.labels):
                    keys.add(f"{candidate.namespace}/{candidate.name}")
        return keys

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Reconcile one Deployment."""
        namespace, _, name = key.partition("/")
        entry = view.find(DEPLOYMENT, namespace, name)
        failure = self._failures.pop(key, "")
        if entry is None:
            return Step()
        visit = _Visit(read_rollout(entry), view, moment)
        if failure:
            visit.warn(failure)
        visit.claim(self._orphans)
        return visit.run()

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        """Keep the reason why a ReplicaSet could not be made, for an event."""
        if isinstance(action, CreateRequest):
            name = action.obj["metadata"]["name"]
            self._failures[key] = f'Failed to create new replica set "{name}": {error.message}'


def _deployments_of_pod(pod: StoredObject, view: View) -> Iterator[str]:
    for key in controllers(REPLICA_SET.name, pod):
        namespace, _, name = key.partition("/")
        owner = view.find(REPLICA_SET, namespace, name)
        yield from controllers(DEPLOYMENT.name, owner)


class _Visit:
    """One reconcile of one Deployment."""

    def __init__(self, rollout: Rollout, view: View, moment: Moment) -> None:
        self._rollout = rollout
        self._view = view
        self._moment = moment
        self._about = reference(DEPLOYMENT, rollout.entry)
        self._actions: list[ComponentAction] = []
        self._new: Generation | None = None
        self._old: list[Generation] = []
        self._is_created = False
        self._collisions: int | None = rollout.status.get("collisionCount")

    def warn(self, message: str) -> None:
        """Emit a warning that a ReplicaSet could not be created."""
        self._actions.append(EventRequest(self._about, "Warning", "ReplicaSetCreateError", message))

    def claim(self, orphans: Orphans) -> None:
        """Find the Deployment's ReplicaSets and tell the new one from the old."""
        rollout = self._rollout
        may_adopt = not rollout.entry.facts.is_leaving
        mine: list[StoredObject] = []
        for entry in self._view.owned(REPLICA_SET, rollout.entry.uid):
            if rollout.selector.matches(entry.labels):
                mine.append(entry)
            elif may_adopt:
                self._actions.append(release(REPLICA_SET, entry, rollout.entry.uid))
        if may_adopt:
            for entry in orphans.find(REPLICA_SET, rollout.entry.namespace, self._view):
                if rollout.selector.matches(entry.labels) and not entry.facts.is_leaving:
                    # The next step counts it, when the cache shows the adoption.
                    self._actions.append(adopt(REPLICA_SET, entry, rollout.owner))
        wanted = bare_template(rollout.obj)
        for generation in sorted(map(read_generation, mine), key=lambda g: (g.created, g.name)):
            if self._new is None and bare_template(generation.obj) == wanted:
                self._new = generation
            else:
                self._old.append(generation)

    def run(self) -> Step:
        """Scale, roll, clean up old ReplicaSets and write the status, as the state demands."""
        rollout = self._rollout
        judges_progress = False
        if not rollout.entry.facts.is_leaving:
            everyone = [*self._old, *([self._new] if self._new else [])]
            if rollout.is_paused or sizes.is_resized(rollout, everyone):
                sizes.resize(rollout, self._new, self._old)
            else:
                judges_progress = True
                self._roll()
            self._write_generations(forces_annotations=not judges_progress)
        reporter = Reporter(rollout, self._new, self._old, self._moment, self._collisions)
        status = reporter.report(judges_progress=judges_progress, is_created=self._is_created)
        if self._may_clean_up(reporter, judges_progress):
            self._clean_up()
        self._write(status)
        return Step(tuple(self._actions), reporter.seconds_to_deadline())

    def _roll(self) -> None:
        if self._rollout.is_rolling:
            if self._new is None:
                self._make_new()
            if self._new is not None and not self._is_created:
                sizes.roll(self._rollout, self._new, self._old)
        elif not sizes.recreate(self._old) and not self._old_pods_run():
            if self._new is None:
                self._make_new()
            if self._new is not None:
                self._new.size = self._rollout.replicas

    def _old_pods_run(self) -> bool:
        for generation in self._old:
            if generation.status.get("replicas", 0):
                return True
            assert generation.entry is not None
            for pod in self._view.owned(POD, generation.entry.uid):
                if pod.facts.phase not in FINISHED:
                    return True
        return False

    def _make_new(self) -> None:
        rollout = self._rollout
        template: Object = orjson.loads(orjson.dumps(rollout.obj["spec"]["template"]))
        digest = hash_template(template, self._collisions or 0)
        name = f"{rollout.name}-{digest}"
        if self._view.find(REPLICA_SET, rollout.entry.namespace, name) is not None:
            # Another ReplicaSet has the name: hash with another seed, once the status says so.
            self._collisions = (self._collisions or 0) + 1
            return
        size = sizes.first_size(rollout, self._old)
        obj = self._render(name, digest, template, size)
        self._new = Generation(obj, None, name, size, self._moment.stamp)
        self._is_created = True
        self._actions.append(CreateRequest(REPLICA_SET, obj))
        if size:
            self._emit(f"Scaled up replica set {name} from 0 to {size}")

    def _render(self, name: str, digest: str, template: Object, size: int) -> Object:
        rollout = self._rollout
        labels = {**labels_of(template), HASH_LABEL: digest}
        template["metadata"] = {**(template.get("metadata") or {}), "labels": labels}
        given = rollout.obj["spec"].get("selector") or {}
        matched = {**(given.get("matchLabels") or {}), HASH_LABEL: digest}
        spec: Object = {
            "replicas": size,
            "selector": {**given, "matchLabels": matched},
            "template": template,
        }
        if rollout.min_ready:
            spec["minReadySeconds"] = rollout.min_ready
        annotations = {**self._copied_annotations(), REVISION: str(self._next_revision())}
        return {
            "apiVersion": REPLICA_SET.api_version,
            "kind": REPLICA_SET.name,
            "metadata": {
                "name": name,
                "namespace": rollout.entry.namespace,
                "labels": dict(labels),
                "annotations": {**annotations, **self._size_annotations()},
                "ownerReferences": [rollout.owner],
            },
            "spec": spec,
        }

    def _copied_annotations(self) -> dict[str, str]:
        given = annotations_of(self._rollout.obj)
        return {key: value for key, value in given.items() if key not in _NOT_COPIED}

    def _size_annotations(self) -> dict[str, str]:
        return {DESIRED: str(self._rollout.replicas), MAXIMUM: str(self._rollout.maximum)}

    def _next_revision(self) -> int:
        return max((g.revision for g in self._old), default=0) + 1

    def _write_generations(self, *, forces_annotations: bool) -> None:
        for generation in [*self._old, *([self._new] if self._new else [])]:
            if generation.entry is None or generation.entry.facts.is_leaving:
                continue
            is_scaled = generation.size != generation.was_size
            annotations: dict[str, str] = {}
            spec: Object = {"replicas": generation.size} if is_scaled else {}
            if is_scaled or (forces_annotations and generation.size > 0):
                annotations |= self._size_annotations()
            if generation is self._new:
                annotations |= self._copied_annotations() | self._revision_annotations(generation)
                if generation.obj["spec"].get("minReadySeconds", 0) != self._rollout.min_ready:
                    spec["minReadySeconds"] = self._rollout.min_ready
            self._write_generation(generation, annotations, spec)

    def _revision_annotations(self, generation: Generation) -> dict[str, str]:
        number = self._next_revision()
        if generation.revision >= number:
            return {}
        annotations = {REVISION: str(number)}
        if generation.revision:
            # Going back to an old generation: keep the numbers that it had before.
            history = generation.annotations.get(REVISION_HISTORY, "")
            past = [*filter(None, history.split(",")), str(generation.revision)]
            annotations[REVISION_HISTORY] = ",".join(past[-100:])
        return annotations

    def _write_generation(
        self, generation: Generation, annotations: dict[str, str], spec: Object
    ) -> None:
        entry = generation.entry
        assert entry is not None
        known = generation.annotations
        changed = {key: value for key, value in annotations.items() if known.get(key) != value}
        if not changed and not spec:
            return
        patch: Object = {"metadata": {"resourceVersion": str(entry.rv)}}
        if changed:
            patch["metadata"]["annotations"] = changed
            generation.obj["metadata"]["annotations"] = {**known, **changed}
        if spec:
            patch["spec"] = spec
        self._actions.append(
            MergeRequest(REPLICA_SET, entry.namespace, entry.name, patch, uid=entry.uid)
        )
        before, after = generation.was_size, generation.size
        if before != after:
            direction = "up" if after > before else "down"
            self._emit(f"Scaled {direction} replica set {entry.name} from {before} to {after}")

    def _may_clean_up(self, reporter: Reporter, judges_progress: bool) -> bool:
        if self._rollout.entry.facts.is_leaving:
            return False
        if judges_progress:
            return reporter.is_complete(self._rollout.status)
        return self._rollout.is_paused

    def _clean_up(self) -> None:
        spare = sorted(self._old, key=lambda g: (g.revision, g.created))
        excess = max(0, len(spare) - self._rollout.history_limit)
        for generation in spare[:excess]:
            entry = generation.entry
            assert entry is not None
            is_seen = generation.status.get("observedGeneration", 0) >= (
                entry.facts.metadata.generation
            )
            is_empty = generation.was_size == 0 and not generation.status.get("replicas", 0)
            if is_seen and is_empty and not entry.facts.is_leaving:
                self._actions.append(
                    DeleteRequest(REPLICA_SET, entry.namespace, entry.name, entry.uid)
                )

    def _write(self, status: Object) -> None:
        """Write the status together with the revision annotation, so that no generation rises."""
        rollout = self._rollout
        obj = {**rollout.obj, "status": status}
        revision = self._new.annotations.get(REVISION) if self._new else None
        if revision and not rollout.entry.facts.is_leaving:
            annotations = {**annotations_of(rollout.obj), REVISION: revision}
            obj["metadata"] = {**rollout.obj["metadata"], "annotations": annotations}
        if obj != rollout.obj:
            self._actions.append(ReplaceRequest(DEPLOYMENT, obj, "status"))

    def _emit(self, message: str) -> None:
        self._actions.append(EventRequest(self._about, "Normal", "ScalingReplicaSet", message))
