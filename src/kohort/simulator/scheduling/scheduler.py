"""
The scheduler: gives each pod that waits a node, one batch at a time.

It hears of pods and nodes and keeps its ledger up to date at once; a step only
takes pods from the queue. A bind counts as done as soon as it is decided, so the
next pod sees it; when the API refuses it, it is undone. Nothing depends on the
order in which nodes were seen: equal nodes are chosen by name.
"""

from collections.abc import Iterable, Sequence

from kohort.cluster.errors import ClusterError, NotFound
from kohort.cluster.objects import Kind, Object
from kohort.simulator.kinds import CLAIM, NAMESPACE, NODE, POD
from kohort.simulator.scheduling.constraints import (
    find_constraints,
    has_preferences,
    rank,
)
from kohort.simulator.scheduling.demands import Demand, DemandReader
from kohort.simulator.scheduling.explain import explain, explain_claim
from kohort.simulator.scheduling.ledger import Ledger
from kohort.simulator.scheduling.preemption import find_preemption, is_clearing, preempt
from kohort.simulator.scheduling.reading import read_node
from kohort.simulator.scheduling.waiting import WaitingClass, WaitingQueue
from kohort.simulator.steps import Action, Bind, Delete, Emit, Merge, Moment, Step, View
from kohort.simulator.store.entries import Entry

QUEUE = "queue"
GATED = "Scheduling is blocked due to non-empty scheduling gates"
# Each pod is two writes or more, and a step is carried out without a pause.
BATCH_MAX = 10


class Scheduler:
    """Places pods on nodes."""

    name = "scheduler"
    manager = "kube-scheduler"
    kinds: tuple[Kind, ...] = (NODE, NAMESPACE, CLAIM, POD)

    def __init__(self, profiles: Sequence[str] = ("default-scheduler",)) -> None:
        self.ledger = Ledger()
        self._profiles = frozenset(profiles)
        self._reader = DemandReader(self.ledger.book)
        self._queue = WaitingQueue(self.ledger)
        self._pods: dict[str, Demand] = {}
        self._assumed: set[str] = set()
        self._last: tuple[Action, ...] = ()
        self._told: dict[str, tuple[str, str]] = {}  # reason and message last written

    def observe(
        self, kind: Kind, old: Entry | None, new: Entry | None, view: View
    ) -> Iterable[str]:
        """Take a change into the ledger; the queue is looked at if it may help a pod."""
        if kind == POD:
            self._observe_pod(old, new)
        elif kind == NODE:
            self._observe_node(old, new)
        elif kind == NAMESPACE:
            self._observe_namespace(old, new)
        elif new is not None:
            self._queue.claim_came(*new.key)
        self._queue.wake()
        return (QUEUE,) if self._queue else ()

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Place the next pods of the queue."""
        actions: list[Action] = []
        tried = 0
        self._queue.wake()
        while tried < BATCH_MAX and self._queue:
            uid, group = self._queue.pop()
            pod = self._pods.get(uid)
            if pod is not None and not pod.node:
                tried += 1
                actions += self._try(pod, view, moment)
            if group is not None:
                self._queue.advance(group)
            self._queue.wake()
        self._last = tuple(actions)
        return Step(self._last, 0.0 if self._queue else None)

    def refused(self, key: str, action: Action, error: ClusterError) -> None:
        """Undo what the API did not accept, and what was to follow it in the same step."""
        at = next((n for n, known in enumerate(self._last) if known is action), None)
        lost = (action,) if at is None else self._last[at:]
        for other in lost:
            self._undo(other, is_gone=other is action and isinstance(error, NotFound))

    def _undo(self, action: Action, *, is_gone: bool) -> None:
        if isinstance(action, Delete):
            # A victim stays, so the pods that count on its room must try again.
            for uid in self.ledger.reserved():
                self._queue.push(self._pods[uid])
        pod = self._pods.get(action.uid) if isinstance(action, Bind | Merge) else None
        if pod is None:
            return
        self._told.pop(pod.uid, None)
        if isinstance(action, Bind) and pod.uid in self._assumed:
            self._assumed.discard(pod.uid)
            self.ledger.remove(pod)
        if is_gone:
            self._forget(pod.uid)
        elif not pod.node:
            self._queue.push(pod)

    def _observe_pod(self, old: Entry | None, new: Entry | None) -> None:
        if new is None:
            if old is not None:
                self._forget(old.uid)
            return
        if old is not None and old.uid != new.uid:
            self._forget(old.uid)
        facts = new.facts
        known = self._pods.get(new.uid)
        node = facts.spec.node_name if facts.spec else ""
        if facts.phase in ("Succeeded", "Failed"):
            self._forget(new.uid)
        elif not node:
            self._observe_waiting(known, new)
        elif known is None or not self._is_current(known, new, node):
            self._forget(new.uid)
            pod = self._pods[new.uid] = self._reader.read(new)
            self.ledger.place(pod, node)
        else:
            self._assumed.discard(new.uid)
            known.rv = new.rv

    def _is_current(self, pod: Demand, entry: Entry, node: str) -> bool:
        meta = entry.facts.metadata
        return (
            pod.node == node
            and pod.generation == meta.generation
            and pod.is_leaving == (meta.deletion_timestamp is not None)
            and pod.labels == entry.labels
        )

    def _observe_waiting(self, known: Demand | None, new: Entry) -> None:
        pod = self._reader.read(new)
        if known is not None:
            # A bind is under way: the pod stands where it was put.
            same = known.node or (
                (known.generation, known.labels, known.is_leaving, known.is_gated)
                == (pod.generation, pod.labels, pod.is_leaving, pod.is_gated)
                and known.shape is pod.shape
                and known.terms is pod.terms
            )
            if same:
                known.conditions, known.rv = pod.conditions, pod.rv
                self._reader.release(pod)
                return
            self._forget(new.uid)
        if pod.profile not in self._profiles or pod.is_leaving:
            self._reader.release(pod)
            return
        self._pods[pod.uid] = pod
        for condition in pod.conditions:
            if condition.get("type") == "PodScheduled":
                told = condition.get("reason", ""), condition.get("message", "")
                self._told[pod.uid] = told
        self._queue.push(pod)

    def _observe_node(self, old: Entry | None, new: Entry | None) -> None:
        if new is None:
            if old is not None:
                self.ledger.drop_node(old.name)
        else:
            state = read_node(new)
            slot = self.ledger.index.slots.get(state.name)
            if slot is None or self.ledger.index.states[slot] != state:
                self.ledger.put_node(state)

    def _observe_namespace(self, old: Entry | None, new: Entry | None) -> None:
        namespaces = self.ledger.book.namespaces
        if new is None:
            if old is not None:
                namespaces.pop(old.name, None)
        elif namespaces.get(new.name) != new.labels:
            namespaces[new.name] = new.labels
        else:
            return
        self.ledger.book.recount_all()
        self._queue.wake_all()

    def _forget(self, uid: str) -> None:
        pod = self._pods.pop(uid, None)
        self._assumed.discard(uid)
        self._told.pop(uid, None)
        self.ledger.offer(self.ledger.unreserve(uid))
        if pod is None:
            return
        if pod.node:
            self.ledger.remove(pod)
        self._reader.release(pod)

    def _try(self, pod: Demand, view: View, moment: Moment) -> list[Action]:
        if pod.is_gated:
            return self._tell(pod, "SchedulingGated", GATED, moment)
        for claim in pod.claims:
            if view.find(CLAIM, pod.namespace, claim) is None:
                self._queue.wait_for_claim(pod, claim)
                message = explain_claim(claim, len(self.ledger.index.slots))
                return self._tell(pod, "Unschedulable", message, moment)
        group = self._queue.find_class(pod)
        if group is not None and group.is_blocked:
            return self._set_aside(pod, group, moment)
        nominated = self.ledger.unreserve(pod.uid)
        slot = self._choose(pod)
        if slot is None:
            return self._fail(pod, nominated, view, moment)
        node = self.ledger.index.name(slot)
        self.ledger.offer(nominated)
        self.ledger.place(pod, node)
        self._assumed.add(pod.uid)
        assigned = f"Successfully assigned {pod.namespace}/{pod.name} to {node}"
        return [
            Bind(pod.namespace, pod.name, pod.uid, node),
            Emit(pod.about(), "Normal", "Scheduled", assigned),
        ]

    def _choose(self, pod: Demand) -> int | None:
        ledger = self.ledger
        mask = pod.shape.refresh(ledger.index)
        if pod.ports:
            mask &= ~ledger.port_conflicts(pod)
        if not pod.terms.is_empty:
            mask &= find_constraints(pod, ledger).allowed
        else:
            mask &= ~ledger.holders.forbidden(pod)
        if not mask:
            return None
        if not has_preferences(pod, ledger):
            return pod.shape.find_best(mask, ledger.index)
        return pod.shape.find_best(rank(pod, mask, ledger)[0], ledger.index)

    def _fail(self, pod: Demand, nominated: str, view: View, moment: Moment) -> list[Action]:
        """Make room by preemption if possible, and set the pod aside."""
        actions: list[Action] = []
        if nominated and is_clearing(pod, nominated, self.ledger):
            message = self._told.get(pod.uid, ("", ""))[1]
        else:
            self.ledger.offer(nominated)
            nominated = ""
            way = find_preemption(pod, self.ledger)
            message = explain(pod, self.ledger, is_nominated=way is not None)
            if way is not None:
                nominated = way.node
                actions += preempt(pod, way, view, moment)
        others = self.ledger.holders.forbidden(pod) or pod.ports or not pod.terms.is_empty
        group = self._queue.block(pod, message, minds_others=bool(others))
        if nominated:
            self.ledger.reserve(pod, nominated)
        return [*self._set_aside(pod, group, moment, nominated), *actions]

    def _set_aside(
        self, pod: Demand, group: WaitingClass, moment: Moment, nominated: str = ""
    ) -> list[Action]:
        self._queue.park(pod, group)
        return self._tell(pod, "Unschedulable", group.message, moment, nominated)

    def _tell(
        self, pod: Demand, reason: str, message: str, moment: Moment, nominated: str = ""
    ) -> list[Action]:
        if self._told.get(pod.uid) == (reason, message):
            return []
        self._told[pod.uid] = (reason, message)
        patch = _condition_patch(pod, reason, message, moment)
        if nominated:
            patch["status"]["nominatedNodeName"] = nominated
        merge = Merge(POD, pod.namespace, pod.name, patch, "status", pod.uid)
        if reason == "SchedulingGated":
            return [merge]
        return [merge, Emit(pod.about(), "Warning", "FailedScheduling", message)]


def _condition_patch(pod: Demand, reason: str, message: str, moment: Moment) -> Object:
    others = [c for c in pod.conditions if c.get("type") != "PodScheduled"]
    before = next((c for c in pod.conditions if c.get("type") == "PodScheduled"), {})
    changed = before.get("lastTransitionTime") if before.get("status") == "False" else None
    condition: Object = {
        "type": "PodScheduled",
        "status": "False",
        "lastProbeTime": None,
        "lastTransitionTime": changed or moment.stamp,
        "reason": reason,
        "message": message,
    }
    if reason == "Unschedulable" and pod.generation:
        condition["observedGeneration"] = pod.generation
    patch: Object = {"status": {"conditions": [*others, condition]}}
    if others:
        # The list is replaced as a whole, so somebody else's condition must not be lost.
        patch["metadata"] = {"resourceVersion": str(pod.rv)}
    return patch
