"""
The StatefulSet controller: pods with stable names, created, replaced and deleted in order.

A step looks at one set, the pods and revisions that it controls, and the claims
of its pods, each through a cache of its own. It never trusts that two caches
agree: a create that meets a pod is a success and changes nothing, and a delete
names the pod that was seen. A set that is being deleted only keeps its status;
its pods are the garbage collector's.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.errors import ClusterError, Conflict
from kohort.cluster.kinds import CLAIM, CONTROLLER_REVISION, POD, STATEFUL_SET
from kohort.cluster.objects import Kind, Object, name_of
from kohort.cluster.selectors import LabelSelector, read_label_selector
from kohort.simulator.builtins.ownership import Orphans, adopt, controllers, reference, release
from kohort.simulator.builtins.reconcile_pace import Pace
from kohort.simulator.builtins.statefulsets import plan, pods, revisions
from kohort.simulator.builtins.statefulsets.pods import Renderer, identity_patch
from kohort.simulator.builtins.statefulsets.revisions import History
from kohort.simulator.builtins.statefulsets.spec import (
    POD_NAME_LABEL,
    Member,
    Roster,
    SetSpec,
    parent_name,
    read_set,
)
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


def count_status(
    spec: SetSpec, members: Sequence[Member], history: History, replaced: int
) -> Object:
    """The status to report; zero counts are left out where the API leaves them out."""
    staying = [member.revision for member in members if not member.is_leaving]
    ready = [member for member in members if member.is_ready]
    current = max(0, staying.count(history.current) - replaced)
    updated = staying.count(history.update)
    current_revision = history.current
    if spec.is_rolling and updated == len(ready) == len(members) == spec.replicas:
        current, current_revision = updated, history.update
    counts = {
        "observedGeneration": spec.entry.facts.metadata.generation,
        "readyReplicas": len(ready),
        "currentReplicas": current,
        "updatedReplicas": updated,
    }
    return {
        "replicas": len(members),
        "availableReplicas": sum(member.seconds_left == 0.0 for member in ready),
        **{name: count for name, count in counts.items() if count},
        "currentRevision": current_revision,
        "updateRevision": history.update,
        "collisionCount": history.collisions,
    }


_BLOCKED_RETRY_SECONDS = 5.0
_QUICK_SIZE_MAX = 20_000


class StatefulSets:
    """The StatefulSet controller as a component."""

    name = "statefulsets"
    manager = "kube-controller-manager"
    kinds: tuple[Kind, ...] = (STATEFUL_SET, POD, CONTROLLER_REVISION, CLAIM)

    def __init__(self, *, honours_max_unavailable: bool = False) -> None:
        self._honours_max_unavailable = honours_max_unavailable
        self._orphans = Orphans()
        self._ledger = revisions.Ledger()
        self._roster = Roster()
        self._pace = Pace()
        self._selectors: dict[str, LabelSelector] = {}
        self._failures: dict[str, list[str]] = {}

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The keys of a changed set, of the object's controller, or of sets that may adopt it."""
        entry = new or old
        assert entry is not None
        if kind == STATEFUL_SET:
            if new is None:
                self._selectors.pop(entry.uid, None)
            if not old or not new or _asks_for_more(old, new):
                self._pace.hurry(_key(entry))
            return (_key(entry),)
        if kind == CLAIM:
            return _sets_of_claim(entry)
        self._orphans.note(kind, old, new)
        if new is None:
            self._ledger.forget(entry)
            self._roster.forget(entry)
        keys = controllers(STATEFUL_SET.name, old, new)
        if new is not None and not new.controller:
            keys.update(self._possible_owners(new, view))
        return keys

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Reconcile one StatefulSet."""
        namespace, _, name = key.partition("/")
        entry = view.find(STATEFUL_SET, namespace, name)
        if entry is None:
            self._failures.pop(key, None)
            return Step()
        rest = self._pace.rest(key, moment)
        if rest > 0:
            return Step(after=rest)
        spec = read_set(entry, honours_max_unavailable=self._honours_max_unavailable)
        memory = _Memory(self._orphans, self._ledger, self._roster)
        visit = _Visit(spec, view, moment, memory)
        step = visit.run(self._failures.pop(key, ()))
        # An ordered set waits for single pods, so it is never slowed down; nor is one that
        # is only begun, as long as a look at it is quick.
        is_quick = spec.is_ordered or (visit.is_cut and visit.size <= _QUICK_SIZE_MAX)
        self._pace.looked(key, 0 if is_quick else visit.size, moment)
        return step

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        """Keep the reason why a pod could not be made, for an event at the next step."""
        self._pace.hurry(key)
        if isinstance(action, CreateRequest) and not isinstance(error, Conflict):
            what = "Claim" if action.kind == CLAIM else "Pod"
            text = f"Create {what} {name_of(action.obj)} in StatefulSet {key.partition('/')[2]}"
            self._failures.setdefault(key, []).append(f"{text} failed error: {error.message}")

    def _possible_owners(self, child: StoredObject, view: View) -> Iterator[str]:
        for entry in view.all(STATEFUL_SET, child.namespace):
            selector = self._selectors.get(entry.uid)
            if selector is None:
                # A set's selector never changes, so it is read once.
                selector = read_label_selector(entry.decode()["spec"].get("selector"))
                self._selectors[entry.uid] = selector
            if selector.matches(child.labels):
                yield _key(entry)


@dataclass(frozen=True, slots=True)
class _Memory:
    """The component's caches of parsed objects."""

    orphans: Orphans
    ledger: revisions.Ledger
    roster: Roster


class _Visit:
    """One reconcile of one StatefulSet."""

    def __init__(self, spec: SetSpec, view: View, moment: Moment, memory: _Memory) -> None:
        self._spec = spec
        self._view = view
        self._moment = moment
        self._memory = memory
        self._about = reference(STATEFUL_SET, spec.entry)
        self._actions: list[ComponentAction] = []
        self.size = 0
        self.is_cut = False

    def run(self, failures: Iterable[str]) -> Step:
        """Compute all actions for the set."""
        spec = self._spec
        is_leaving = spec.entry.facts.is_leaving
        for failure in failures:
            self._warn(failure)
        members = self._members(may_adopt=not is_leaving)
        self.size = len(members)
        history = revisions.plan_history(spec, self._revisions(), self._memory.ledger, self._view)
        decided, blocked = plan.Plan(), {}
        if not is_leaving:
            self._actions.extend(history.actions)
            blocked = self._blocked_ordinals(members)
            decided = plan.plan_pods(spec, members, history.update, blocked)
            self.is_cut = decided.is_cut
            self._carry_out(decided, history)
        self._report(count_status(spec, members, history, decided.replaced))
        if not is_leaving:
            used = (member.revision for member in members)
            self._actions.extend(revisions.truncate(spec, history, used))
        return Step(tuple(self._actions), self._next_look(members, bool(blocked)))

    def _members(self, *, may_adopt: bool) -> list[Member]:
        spec, roster = self._spec, self._memory.roster
        found: list[Member] = []
        for pod in self._view.owned(POD, spec.entry.uid):
            member = roster.find(spec, pod, self._moment)
            if member is not None:
                found.append(member)
            elif may_adopt:
                self._actions.append(release(POD, pod, spec.entry.uid))
        if may_adopt:
            for pod in self._memory.orphans.find(POD, spec.entry.namespace, self._view):
                member = roster.find(spec, pod, self._moment)
                if member is not None and not member.is_leaving:
                    self._actions.append(adopt(POD, pod, spec.owner))
                    found.append(member)
        found.sort(key=lambda member: member.ordinal)
        return found

    def _revisions(self) -> list[StoredObject]:
        spec = self._spec
        orphans = self._memory.orphans.find(CONTROLLER_REVISION, spec.entry.namespace, self._view)
        adoptable = [entry for entry in orphans if spec.selector.matches(entry.labels)]
        return [*self._view.owned(CONTROLLER_REVISION, spec.entry.uid), *adoptable]

    def _blocked_ordinals(self, members: list[Member]) -> dict[int, str]:
        """Ordinals whose pod cannot be created now: a claim is in deletion, or a name is taken."""
        spec = self._spec
        present = {member.ordinal for member in members}
        blocked: dict[int, str] = {}
        missing = (o for o in range(spec.start, spec.end) if o not in present)
        for ordinal in islice(missing, plan.MAKE_MAX):
            name = f"{spec.name}-{ordinal}"
            claim = pods.find_blocker(spec, name, self._view)
            if claim is not None:
                blocked[ordinal] = f"pvc {claim.name} is being deleted"
            elif self._is_taken(name):
                blocked[ordinal] = f'pods "{name}" already exists'
            if ordinal in blocked:
                self._warn(
                    f"Create Pod {name} in StatefulSet {spec.name} failed error: {blocked[ordinal]}"
                )
            if spec.is_ordered:
                break
        return blocked

    def _is_taken(self, name: str) -> bool:
        pod = self._view.find(POD, self._spec.entry.namespace, name)
        return pod is not None and pod.controller != self._spec.entry.uid

    def _carry_out(self, decided: plan.Plan, history: revisions.History) -> None:
        renderer = Renderer(self._spec, history)
        has_claims = bool(self._spec.claim_templates)
        for member in decided.keep:
            if has_claims or member.entry.labels.get(POD_NAME_LABEL) != member.entry.name:
                self._mend(member)
        for member in decided.leaving:
            # Even if a user deleted it: a pod that is not wanted takes its claims with it.
            self._actions.extend(pods.plan_retention(self._spec, member, self._view))
        for ordinal in decided.make:
            pod = renderer.render(ordinal)
            name = name_of(pod)
            self._make_claims(name)
            self._actions.append(CreateRequest(POD, pod))
            self._emit("SuccessfulCreate", f"Create Pod {name}")
        for member in decided.remove:
            pod_entry = member.entry
            self._actions.append(
                DeleteRequest(POD, pod_entry.namespace, pod_entry.name, pod_entry.uid)
            )
            self._emit("SuccessfulDelete", f"Delete Pod {pod_entry.name}")

    def _mend(self, member: Member) -> None:
        pod = member.entry
        if member.is_pending:
            self._make_claims(pod.name)
        self._actions.extend(pods.plan_retention(self._spec, member, self._view))
        if pod.labels.get(POD_NAME_LABEL) != pod.name:
            patch = identity_patch(pod.name, member.ordinal)
            self._actions.append(MergeRequest(POD, pod.namespace, pod.name, patch, uid=pod.uid))
            self._emit("SuccessfulUpdate", f"Update Pod {pod.name}")

    def _make_claims(self, pod_name: str) -> None:
        spec = self._spec
        for claim in pods.render_claims(spec, pod_name):
            if self._view.find(CLAIM, spec.entry.namespace, name_of(claim)) is None:
                self._actions.append(CreateRequest(CLAIM, claim))
                text = f"Create Claim {name_of(claim)} Pod {pod_name} in StatefulSet {spec.name}"
                self._actions.append(
                    EventRequest(self._about, "Normal", "SuccessfulCreate", f"{text} success")
                )

    def _emit(self, reason: str, what: str) -> None:
        message = f"{what} in StatefulSet {self._spec.name} successful"
        self._actions.append(EventRequest(self._about, "Normal", reason, message))

    def _warn(self, message: str) -> None:
        self._actions.append(EventRequest(self._about, "Warning", "FailedCreate", message))

    def _report(self, status: Object) -> None:
        if status != self._spec.status:
            obj = {**self._spec.obj, "status": status}
            self._actions.append(ReplaceRequest(STATEFUL_SET, obj, "status"))

    def _next_look(self, members: list[Member], is_blocked: bool) -> float | None:
        waits = [member.seconds_left for member in members if member.seconds_left]
        if is_blocked:
            waits.append(_BLOCKED_RETRY_SECONDS)
        return min(waits, default=None)


def _asks_for_more(old: StoredObject, new: StoredObject) -> bool:
    one, other = old.facts, new.facts
    return one.metadata.generation != other.metadata.generation or (
        one.is_leaving != other.is_leaving
    )


def _key(entry: StoredObject) -> str:
    return f"{entry.namespace}/{entry.name}"


def _sets_of_claim(claim: StoredObject) -> set[str]:
    """The sets that wait for a claim: named by it, or by the pod that it goes with."""
    keys = set()
    for owner in claim.facts.metadata.owner_references:
        parent = parent_name(owner.name) if owner.kind == POD.name else owner.name
        if parent and owner.kind in {POD.name, STATEFUL_SET.name}:
            keys.add(f"{claim.namespace}/{parent}")
    return keys
