"""
The queue: which pod is tried next, and which pods need not be tried.

Pods wait in order of priority, age and name. When one fails, its whole class
(pods that would fail in the same way) is set aside, and only the first of them
is tried again when something changed that can help: room on a node that the
class accepts, a pod that one of its tallies counts, a claim, a namespace. The
next one is tried when the first was placed. So a change costs one attempt for
each class that waits, however many pods do. The message of those behind the
first is the one from the last time they were looked at.
"""

import heapq

from kohort.simulator.scheduling.demands import Demand
from kohort.simulator.scheduling.ledger import Ledger

Order = tuple[int, str, str, str]
ClassKey = tuple[object, ...]


class WaitingClass:
    """Pods that would all fail for the same reason."""

    __slots__ = ("is_blocked", "key", "message", "minds_others", "pods", "sample", "uids")

    def __init__(self, key: ClassKey) -> None:
        self.key = key
        self.is_blocked = False
        self.message = ""
        self.minds_others = False
        self.sample: Demand | None = None
        self.pods: list[tuple[Order, str]] = []
        self.uids: set[str] = set()  # of those pods that still wait


class WaitingQueue:
    """Pods to try, and pods that wait for a change."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._active: list[tuple[Order, str]] = []
        self._queued: set[str] = set()
        self._heads: dict[str, WaitingClass] = {}
        self._classes: dict[ClassKey, WaitingClass] = {}
        self._parked: dict[str, WaitingClass] = {}  # by the uid of a pod
        self._for_claim: dict[tuple[str, str], set[Demand]] = {}

    def push(self, pod: Demand) -> None:
        """Try a pod soon."""
        if pod.uid not in self._queued:
            self._queued.add(pod.uid)
            heapq.heappush(self._active, (pod.order, pod.uid))

    def pop(self) -> tuple[str, WaitingClass | None]:
        """The uid of the pod to try next, and the class that it tries for."""
        _, uid = heapq.heappop(self._active)
        self._queued.discard(uid)
        return uid, self._heads.pop(uid, None)

    def __bool__(self) -> bool:
        return bool(self._active)

    def find_class(self, pod: Demand) -> WaitingClass | None:
        """The class of a pod, if others of it wait."""
        return self._classes.get(self._key(pod)) if self._classes else None

    def block(self, pod: Demand, message: str, *, minds_others: bool) -> WaitingClass:
        """Let a class wait, since this pod of it failed."""
        key = self._key(pod)
        found = self._classes.setdefault(key, WaitingClass(key))
        found.is_blocked, found.message, found.sample = True, message, pod
        found.minds_others = minds_others
        self._listen(found, wants=True)
        return found

    def park(self, pod: Demand, group: WaitingClass) -> None:
        """Add a pod to a waiting class."""
        heapq.heappush(group.pods, (pod.order, pod.uid))
        self._unpark(pod.uid)
        self._parked[pod.uid] = group
        group.uids.add(pod.uid)

    def _unpark(self, uid: str) -> WaitingClass | None:
        group = self._parked.pop(uid, None)
        if group is not None:
            group.uids.discard(uid)
        return group

    def forget(self, pod: Demand) -> None:
        """Remove a deleted pod, and its class if no other pod of it waits."""
        group = self._unpark(pod.uid)
        if group is not None and group.is_blocked and not group.uids:
            group.pods.clear()
            self._unblock(group)
        for claim in pod.claims:
            waiting = self._for_claim.get((pod.namespace, claim), set())
            waiting.discard(pod)
            if not waiting:
                self._for_claim.pop((pod.namespace, claim), None)

    def advance(self, group: WaitingClass) -> None:
        """Try the next pod of a class, since the first was placed or deleted."""
        if not group.is_blocked:
            self._unblock(group)

    def wait_for_claim(self, pod: Demand, claim: str) -> None:
        """Let a pod wait for a claim."""
        self._for_claim.setdefault((pod.namespace, claim), set()).add(pod)

    def claim_came(self, namespace: str, claim: str) -> None:
        """Try the pods that waited for a claim."""
        for pod in self._for_claim.pop((namespace, claim), ()):
            self.push(pod)

    def wake_all(self) -> None:
        """Try all waiting classes again."""
        for group in list(self._classes.values()):
            self._unblock(group)

    def wake(self) -> None:
        """Try the classes again that the latest changes may help."""
        ledger = self._ledger
        freed, ledger.freed = ledger.freed, 0
        woken, ledger.book.woken = ledger.book.woken, set()
        if not freed and not woken:
            return
        for group in [group for group in self._classes.values() if group.is_blocked]:
            if group.key in woken or (freed and self._may_profit(group, freed)):
                self._unblock(group)

    def _may_profit(self, group: WaitingClass, freed: int) -> bool:
        assert group.sample is not None
        rule = group.sample.shape.rule
        return group.minds_others or bool(rule.allowed(self._ledger.index) & freed)

    def _unblock(self, group: WaitingClass) -> None:
        """Let the first of a class try; the others stay until it succeeds."""
        group.is_blocked = False
        if not group.pods:
            # The same pods may have failed again since, and wait in a class of their own.
            if self._classes.get(group.key) is group:
                del self._classes[group.key]
                self._listen(group, wants=False)
            return
        item = heapq.heappop(group.pods)
        if self._parked.get(item[1]) is group:
            self._unpark(item[1])
        self._heads[item[1]] = group
        if item[1] not in self._queued:
            self._queued.add(item[1])
            heapq.heappush(self._active, item)

    def _listen(self, group: WaitingClass, *, wants: bool) -> None:
        """Subscribe a class to its tallies, or end that."""
        assert group.sample is not None
        terms = group.sample.terms
        for tally in (*terms.affinity, *(spread.tally for spread in terms.spreads)):
            if wants:
                tally.listeners.add(group.key)
            else:
                tally.listeners.discard(group.key)

    def _key(self, pod: Demand) -> ClassKey:
        """A key of the facts that decide where a pod fits; of labels, those that selectors read."""
        named = self._ledger.book.label_keys
        labels: tuple[tuple[str, str], ...] = ()
        if named:
            labels = tuple(sorted(item for item in pod.labels.items() if item[0] in named))
        who = pod.namespace, pod.profile, pod.priority
        return pod.shape, pod.terms, who, pod.ports, labels
