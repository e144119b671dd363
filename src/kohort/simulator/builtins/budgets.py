"""
The disruption controller: it writes disruptionsAllowed of each PodDisruptionBudget.

The expected number of pods comes from the replicas of their controllers, not from
the pods that happen to run. A budget that selects no pods allows no disruption, and
neither does one whose expected number cannot be computed.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.conditions import move_to_end
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import BUDGET, DEPLOYMENT, POD, REPLICA_SET, STATEFUL_SET
from kohort.cluster.objects import Kind, Object
from kohort.cluster.selectors import read_label_selector
from kohort.simulator.builtins.amounts import resolve
from kohort.simulator.builtins.ownership import reference
from kohort.simulator.builtins.reconcile_pace import Pace
from kohort.simulator.builtins.selectors import Matches
from kohort.simulator.component import (
    ComponentAction,
    EventRequest,
    Moment,
    ReplaceRequest,
    Step,
    View,
)

# How long a granted eviction counts as a disruption if the pod stays.
DELETION_TIMEOUT = timedelta(minutes=2)
_KNOWN = (DEPLOYMENT, REPLICA_SET, STATEFUL_SET)


class Unexpected(Exception):
    """The expected number of pods cannot be computed."""


class Budgets:
    """The component that writes the status of PodDisruptionBudgets."""

    name = "disruption"
    manager = "kube-controller-manager"

    def __init__(self) -> None:
        self.kinds: tuple[Kind, ...] = (BUDGET, POD, *_KNOWN)
        self._matches = Matches()
        self._pace = Pace()

    def watch_kinds(self, kinds: Iterable[Kind]) -> None:
        """Watch the custom kinds among these, which may control pods and have ``spec.replicas``."""
        extra = tuple(kind for kind in kinds if _is_custom(kind))
        self.kinds = (BUDGET, POD, *_KNOWN, *extra)

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The keys of a changed budget, of a pod's budgets, or of those of a scaled controller."""
        entry = new or old
        assert entry is not None
        if kind == BUDGET:
            key = f"{entry.namespace}/{entry.name}"
            if not old or not new or _asks_for_more(old, new):
                self._pace.hurry(key)
            if new is None:
                self._matches.drop(key)
                return ()
            selector = read_label_selector(new.decode()["spec"].get("selector"))
            self._matches.put(key, selector, view)
            return (key,)
        if kind == POD:
            keys = self._matches.note(old, new)
            return () if old and new and _looks_alike(old, new) else keys
        if old and new and not _asks_for_more(old, new):
            return ()
        return (f"{budget.namespace}/{budget.name}" for budget in view.all(BUDGET, entry.namespace))

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Count the healthy pods of a budget, and write its status if it changed."""
        namespace, _, name = key.partition("/")
        budget = view.find(BUDGET, namespace, name)
        if budget is None:
            return Step()
        rest = self._pace.rest(key, moment)
        if rest > 0:
            return Step(after=rest)
        obj = budget.decode()
        pods = self._matches.pods(key, view)
        self._pace.looked(key, len(pods), moment)
        disrupted, recheck = _believed(obj, pods, moment)
        try:
            expected, desired = self._expect(obj["spec"], pods, view)
            status = _count(budget, pods, disrupted, expected, desired)
            trouble = ""
        except Unexpected as error:
            status = {**(obj.get("status") or {}), "disruptionsAllowed": 0}
            status.pop("conditions", None)
            trouble = str(error)
        old = obj.get("status") or {}
        status["conditions"] = _conditions(old, status, trouble, moment)
        if status == old:
            return Step(after=recheck)
        actions: list[ComponentAction] = [
            ReplaceRequest(BUDGET, {**obj, "status": status}, "status")
        ]
        if not pods:
            about = reference(BUDGET, budget)
            actions.append(EventRequest(about, "Normal", "NoPods", "No matching pods found"))
        return Step(tuple(actions), recheck)

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        """Let the key be reconciled again at once."""
        self._pace.hurry(key)

    def _expect(self, spec: Object, pods: list[StoredObject], view: View) -> tuple[int, int]:
        """The expected number of pods, and the healthy ones that the budget demands."""
        if spec.get("maxUnavailable") is not None:
            expected = self._scale(pods, view)
            allowed = resolve(spec["maxUnavailable"], expected, round_up=True)
            return expected, max(0, expected - allowed)
        least = spec.get("minAvailable")
        if isinstance(least, str):
            expected = self._scale(pods, view)
            return expected, resolve(least, expected, round_up=True)
        return len(pods), int(least or 0)

    def _scale(self, pods: list[StoredObject], view: View) -> int:
        sizes: dict[str, int] = {}
        for pod in pods:
            if pod.controller and pod.controller not in sizes:
                uid, size = self._find_size(pod, view)
                # Pods of several ReplicaSets may share one Deployment, which counts once.
                sizes[pod.controller] = 0
                sizes[uid] = size
        return sum(sizes.values())

    def _find_size(self, child: StoredObject, view: View) -> tuple[str, int]:
        for owner in child.facts.metadata.owner_references:
            if not owner.controller:
                continue
            group = owner.api_version.rpartition("/")[0]
            kind = next((k for k in self.kinds if (k.group, k.name) == (group, owner.kind)), None)
            namespace = child.namespace if kind and kind.namespaced else ""
            found = view.find(kind, namespace, owner.name) if kind else None
            if found is None or found.uid != owner.uid:
                break
            if kind == REPLICA_SET and found.controller:
                return self._find_size(found, view)
            spec = found.decode().get("spec") or {}
            return found.uid, int(spec.get("replicas", 1))
        raise Unexpected(f'found no controllers for pod "{child.name}"')


def _asks_for_more(old: StoredObject, new: StoredObject) -> bool:
    return old.facts.metadata.generation != new.facts.metadata.generation


def _is_custom(kind: Kind) -> bool:
    return "." in kind.group and not kind.group.endswith(".k8s.io")


def _looks_alike(old: StoredObject, new: StoredObject) -> bool:
    return (
        old.uid == new.uid
        and old.labels == new.labels
        and old.controller == new.controller
        and old.facts.is_leaving == new.facts.is_leaving
        and old.facts.is_ready == new.facts.is_ready
    )


def _believed(
    obj: Object, pods: list[StoredObject], moment: Moment
) -> tuple[dict[str, str], float | None]:
    """The granted evictions that may still happen, and when they expire."""
    granted: dict[str, str] = (obj.get("status") or {}).get("disruptedPods") or {}
    believed: dict[str, str] = {}
    waits: list[float] = []
    for pod in pods:
        since = granted.get(pod.name)
        if since is None or pod.facts.is_leaving:
            continue
        left = (datetime.fromisoformat(since) + DELETION_TIMEOUT - moment.wall).total_seconds()
        if left >= 0:
            believed[pod.name] = since
            waits.append(left + 1.0)
    return believed, min(waits, default=None)


def _count(
    budget: StoredObject,
    pods: list[StoredObject],
    disrupted: dict[str, str],
    expected: int,
    desired: int,
) -> Object:
    healthy = sum(
        pod.facts.is_ready and not pod.facts.is_leaving and pod.name not in disrupted
        for pod in pods
    )
    status: Object = {
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "disruptionsAllowed": max(0, healthy - desired) if expected > 0 else 0,
        "expectedPods": expected,
        "observedGeneration": budget.facts.metadata.generation,
    }
    if disrupted:
        status["disruptedPods"] = disrupted
    return status


def _conditions(old: Object, status: Object, trouble: str, moment: Moment) -> list[Object]:
    may_disrupt = not trouble and status["disruptionsAllowed"] > 0
    reason = "SufficientPods" if may_disrupt else "InsufficientPods"
    new = {
        "type": "DisruptionAllowed",
        "status": "True" if may_disrupt else "False",
        "reason": "SyncFailed" if trouble else reason,
        "message": trouble,
        "observedGeneration": status.get("observedGeneration", 0),
    }
    return move_to_end(old.get("conditions") or (), new, moment.stamp)
