"""
The scheduler: gives each pod that waits a node, one batch at a time.

It applies each change of pods and nodes to its ledger at once; a step only takes pods
from the queue. A bind counts as done as soon as it is decided, so the next pod sees it;
when the API refuses it, it is undone. Nothing depends on the order in which nodes were
seen: equal nodes are chosen by name.

Pods that name a gang are placed by ``gangs``, in the same ledger: with two ledgers the
same room could be used twice. Gangs have a key of their own, and a step of theirs ends
after a number of binds, so that other components run.
"""

from collections.abc import Iterable, Sequence

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.errors import ClusterError, NotFound
from kohort.cluster.kinds import CLAIM, NAMESPACE, NODE, POD, PRIORITY_CLASS
from kohort.cluster.objects import Kind
from kohort.simulator.component import (
    BindRequest,
    ComponentAction,
    DeleteRequest,
    EventRequest,
    MergeRequest,
    Moment,
    Step,
    View,
)
from kohort.simulator.scheduling.constraints import (
    find_constraints,
    has_preferences,
    rank,
)
from kohort.simulator.scheduling.demands import Demand, DemandReader
from kohort.simulator.scheduling.explain import GATED, PodConditions, explain, explain_claim
from kohort.simulator.scheduling.gangs.component import GangScheduling
from kohort.simulator.scheduling.gangs.requests import SCHEDULERS
from kohort.simulator.scheduling.gangs.statuses import describe_absence
from kohort.simulator.scheduling.ledger import Ledger
from kohort.simulator.scheduling.node_facts import read_node
from kohort.simulator.scheduling.preemption import find_preemption, is_clearing, preempt
from kohort.simulator.scheduling.queue import WaitingClass, WaitingQueue
from kohort.simulator.scheduling.scheduler_faults import LOOK_AGAIN_SECONDS, SchedulerFaults

QUEUE, GANGS = "queue", "gangs"
PROFILES = ("default-scheduler", *SCHEDULERS)
# A step runs without a pause, and each pod needs two writes or more.
BATCH_MAX = 10


class Scheduler:
    """Places pods on nodes."""

    name = "scheduler"
    manager = "kube-scheduler"
    kinds: tuple[Kind, ...] = (NODE, NAMESPACE, CLAIM, PRIORITY_CLASS, POD)

    def __init__(self, stands_in_for: Sequence[str] = ()) -> None:
        # Other schedulers whose pods this one places one by one if they are not simulated.
        self._stands_in_for = frozenset(stands_in_for)
        self.ledger = Ledger()
        self._profiles = frozenset(PROFILES)
        self._reader = DemandReader(self.ledger.book)
        self._queue = WaitingQueue(self.ledger)
        self._pods: dict[str, Demand] = {}
        self._assumed: set[str] = set()
        self._last: dict[str, tuple[ComponentAction, ...]] = {}
        self._conditions = PodConditions()
        self._gangs = GangScheduling(self.ledger, self._conditions, self._assume)
        self.faults = SchedulerFaults()
        self._strays: dict[str, Demand] = {}  # pods whose scheduler is not simulated
        # Whether nodes kept for a gang are free again, after which single pods must be tried.
        self._is_released = False

    def watch_kinds(self, kinds: Sequence[Kind]) -> None:
        """Note the served kinds, among which may be those of gangs."""
        self.kinds = (*Scheduler.kinds, *self._gangs.watch(kinds))
        for pod in self._strays.values():
            self._queue.push(pod)
        self._strays.clear()

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """Apply a change to the ledger; returns a key if a waiting pod may fit now."""
        if kind == POD:
            self._observe_pod(old, new)
        elif kind == NODE:
            self._observe_node(old, new)
        elif kind == NAMESPACE:
            self._observe_namespace(old, new)
        elif kind != CLAIM:
            self._gangs.observe(kind, old, new)
        elif new is not None:
            self._queue.claim_came(*new.key)
            self._gangs.wake()
        self._wake()
        keys = (QUEUE, GANGS) if self._gangs.has_work else (QUEUE,)
        return keys if self._queue else keys[1:]

    def _wake(self) -> None:
        """Wake waiting pods and gangs, since room was freed."""
        if self.ledger.freed or self.ledger.book.woken:
            self._gangs.wake()
        self._queue.wake()

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Place the next pods of the queue, or the next gangs."""
        self._wake()
        if self.faults.is_away:
            return Step((), LOOK_AGAIN_SECONDS)
        if key == GANGS:
            return self._step_gangs(view, moment)
        self._last[key] = tuple(self._step_singles(view, moment))
        return Step(self._last[key], 0.0 if self._queue else None)

    def _step_singles(self, view: View, moment: Moment) -> list[ComponentAction]:
        actions: list[ComponentAction] = []
        tried = 0
        while tried < BATCH_MAX and self._queue:
            uid, group = self._queue.pop()
            pod = self._pods.get(uid)
            if pod is not None and not pod.node:
                tried += 1
                actions += self._try(pod, view, moment)
            if group is not None:
                self._queue.advance(group)
            self._wake()
        return actions

    def _step_gangs(self, view: View, moment: Moment) -> Step:
        """Place the next gangs, unless a simulated fault stops that."""
        faults = self.faults
        if moment.elapsed < faults.resumes_at:
            return Step((), faults.resumes_at - moment.elapsed)
        decided = self._gangs.step(view, moment)
        done = faults.lose_binds(decided, lambda bind: self._undo(bind, is_gone=False))
        self._last[GANGS] = done
        if len(done) < len(decided):
            faults.resumes_at = moment.elapsed + LOOK_AGAIN_SECONDS
            return Step(done, LOOK_AGAIN_SECONDS)
        if self.ledger.freed:
            self._wake()
            self._is_released = True
        if self._is_released:
            done = self._last[GANGS] = (*done, *self._step_singles(view, moment))
            self._is_released = bool(self._queue)
        has_more = self._gangs.has_work or self._is_released
        return Step(done, 0.0 if has_more else self._gangs.find_delay(moment))

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        """Undo a refused action, and the later ones of its step."""
        last = self._last.get(key, ())
        at = next((n for n, known in enumerate(last) if known is action), None)
        lost = (action,) if at is None else last[at:]
        for other in lost:
            self._undo(other, is_gone=other is action and isinstance(error, NotFound))

    def _undo(self, action: ComponentAction, *, is_gone: bool) -> None:
        if isinstance(action, DeleteRequest):
            self._gangs.roster.doom(action.uid, is_doomed=False)
            # A victim stays, so the pods that count on its room must try again.
            for node in self.ledger.reserved():
                self.ledger.offer(node)
        if not isinstance(action, BindRequest | MergeRequest):
            return
        pod = self._pods.get(action.uid)
        self._gangs.retry(action.uid)
        if pod is None:
            return
        self._conditions.forget(pod.uid)
        if isinstance(action, BindRequest) and pod.uid in self._assumed:
            self._assumed.discard(pod.uid)
            self.ledger.remove(pod)
        if is_gone:
            self._forget(pod.uid)
        elif not pod.node:
            self._line_up(pod)

    def _observe_pod(self, old: StoredObject | None, new: StoredObject | None) -> None:
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
            self._finish(known, new)
        elif not node:
            self._observe_waiting(known, new)
        elif known is None or not self._is_current(known, new, node):
            self._forget(new.uid)
            pod = self._pods[new.uid] = self._reader.read(new)
            self.ledger.place(pod, node)
            if pod.gang is not None:
                self._gangs.roster.place(pod)
        else:
            self._assumed.discard(new.uid)
            known.rv = new.rv
        self._gangs.roster.note_phase(new.uid, facts.phase)

    def _finish(self, known: Demand | None, new: StoredObject) -> None:
        """Free the room of an ended pod, and note its outcome in its gang."""
        if known is None and self._gangs.roster.knows(new.uid):
            return
        pod = known or self._reader.read(new)
        gang = pod.gang
        if known is None:
            self._reader.release(pod)
        self._forget(new.uid)
        if gang is not None:
            self._gangs.roster.finish(new.uid, gang, new.facts.phase)

    def _is_current(self, pod: Demand, entry: StoredObject, node: str) -> bool:
        meta = entry.facts.metadata
        return (
            pod.node == node
            and pod.generation == meta.generation
            and pod.is_leaving == (meta.deletion_timestamp is not None)
            and pod.labels == entry.labels
        )

    def _observe_waiting(self, known: Demand | None, new: StoredObject) -> None:
        pod = self._reader.read(new)
        if known is not None:
            # A bind is under way: the pod stands where it was put.
            same = known.node or (
                (known.generation, known.labels, known.is_leaving, known.is_gated, known.gang)
                == (pod.generation, pod.labels, pod.is_leaving, pod.is_gated, pod.gang)
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
        self._conditions.read_condition(pod)
        self._line_up(pod)

    def _line_up(self, pod: Demand) -> None:
        """Add a pod to the queue, or to its gang."""
        if pod.gang is not None:
            self._gangs.roster.wait(pod)
        else:
            self._queue.push(pod)

    def _observe_node(self, old: StoredObject | None, new: StoredObject | None) -> None:
        if new is None:
            if old is not None:
                self.ledger.drop_node(old.name)
        else:
            state = read_node(new)
            slot = self.ledger.index.slots.get(state.name)
            if slot is None or self.ledger.index.states[slot] != state:
                self.ledger.put_node(state)

    def _observe_namespace(self, old: StoredObject | None, new: StoredObject | None) -> None:
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
        self._strays.pop(uid, None)
        self._conditions.forget(uid)
        self._gangs.roster.leave(uid)
        self.ledger.offer(self.ledger.unreserve(uid))
        if pod is None:
            return
        if pod.node:
            self.ledger.remove(pod)
        self._queue.forget(pod)
        self._reader.release(pod)

    def _try(self, pod: Demand, view: View, moment: Moment) -> list[ComponentAction]:
        is_here = self._gangs.has_scheduler(pod.profile) or pod.profile in self._stands_in_for
        if not is_here:
            self._strays[pod.uid] = pod
            return self._conditions.report(
                pod, "Unschedulable", describe_absence(pod.profile), moment
            )
        if pod.is_gated:
            return self._conditions.report(pod, "SchedulingGated", GATED, moment)
        for claim in pod.claims:
            if view.find(CLAIM, pod.namespace, claim) is None:
                self._queue.wait_for_claim(pod, claim)
                message = explain_claim(claim, len(self.ledger.index.slots))
                return self._conditions.report(pod, "Unschedulable", message, moment)
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
        self._assume(pod)
        assigned = f"Successfully assigned {pod.namespace}/{pod.name} to {node}"
        return [
            BindRequest(pod.namespace, pod.name, pod.uid, node),
            EventRequest(pod.about(), "Normal", "Scheduled", assigned, pod.profile),
        ]

    def _assume(self, pod: Demand) -> None:
        """Count a pod as placed before its bind is confirmed."""
        self._assumed.add(pod.uid)

    def _choose(self, pod: Demand) -> int | None:
        ledger = self.ledger
        mask = pod.shape.refresh(ledger.index)
        if pod.ports:
            mask &= ~ledger.port_conflicts(pod)
        if not pod.terms.is_empty:
            mask &= find_constraints(pod, ledger).allowed
        else:
            mask &= ~ledger.holders.forbidden(pod)
        mask &= ~self._find_closed(pod)
        if not mask:
            return None
        if not has_preferences(pod, ledger):
            return pod.shape.find_best(mask, ledger.index)
        return pod.shape.find_best(rank(pod, mask, ledger)[0], ledger.index)

    def _find_closed(self, pod: Demand) -> int:
        """The nodes that are kept for gangs, and closed to the pod."""
        mask = 0
        for kept in self._gangs.list_kept_from(pod):
            mask |= kept.mask
        return mask

    def _explain(self, pod: Demand, *, is_nominated: bool) -> str:
        for kept in self._gangs.list_kept_from(pod):
            if kept.mask & pod.shape.refresh(self.ledger.index):
                return kept.describe()
        return explain(pod, self.ledger, is_nominated=is_nominated)

    def _fail(
        self, pod: Demand, nominated: str, view: View, moment: Moment
    ) -> list[ComponentAction]:
        """Preempt if possible, and let the pod wait."""
        actions: list[ComponentAction] = []
        if nominated and is_clearing(pod, nominated, self.ledger):
            message = self._conditions.last_message(pod.uid)
        else:
            self.ledger.offer(nominated)
            nominated = ""
            closed = self._find_closed(pod)
            way = find_preemption(pod, self.ledger, self._gangs.roster, closed)
            message = self._explain(pod, is_nominated=way is not None)
            if way is not None:
                nominated = way.node
                actions += preempt(pod, way, view, moment)
                for victim in way.victims:
                    self._gangs.roster.doom(victim.uid)
        others = self.ledger.holders.forbidden(pod) or pod.ports or not pod.terms.is_empty
        group = self._queue.block(pod, message, minds_others=bool(others))
        if nominated:
            self.ledger.reserve(pod, nominated)
        return [*self._set_aside(pod, group, moment, nominated), *actions]

    def _set_aside(
        self, pod: Demand, group: WaitingClass, moment: Moment, nominated: str = ""
    ) -> list[ComponentAction]:
        self._queue.park(pod, group)
        return self._conditions.report(pod, "Unschedulable", group.message, moment, nominated)
