"""
Gang scheduling as a part of the scheduler: it observes gangs, and runs sessions.

It shares the ledger with single pods, and runs in the same component. Where the kinds of
a scheduler are not served, pods that name it wait, and their condition says why. If
nothing has changed, it writes nothing.
"""

from collections.abc import Callable, Iterable, Sequence

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.kinds import CLAIM, PRIORITY_CLASS
from kohort.cluster.objects import Kind
from kohort.simulator.component import BindRequest, ComponentAction, EventRequest, Moment, View
from kohort.simulator.scheduling.demands import Demand
from kohort.simulator.scheduling.explain import GATED, PodConditions, explain_claim
from kohort.simulator.scheduling.gangs.adapters import GROUPS, GroupName, is_watched
from kohort.simulator.scheduling.gangs.fairness import Kept
from kohort.simulator.scheduling.gangs.queues import read_queue
from kohort.simulator.scheduling.gangs.requests import KUEUE, SCHEDULERS, VOLCANO, GangKey, GangSpec
from kohort.simulator.scheduling.gangs.roster import Gang, Roster
from kohort.simulator.scheduling.gangs.session import Outcome, Session
from kohort.simulator.scheduling.gangs.statuses import (
    describe_failure,
    describe_missing,
    write_status,
)
from kohort.simulator.scheduling.gangs.units import (
    NOT_ENOUGH_RESOURCES,
    NOT_ENOUGH_TASKS,
    Refusal,
)
from kohort.simulator.scheduling.ledger import Ledger

# A step ends after so many binds, so that other components run; no gang is split by it.
BINDS_MAX = 64
# Members of a gang are created one after the other. Missing members are reported only after
# a while, as by a scheduler that runs once a second.
PATIENCE_SECONDS = 1.0
UNSCHEDULABLE = "Unschedulable"


class GangScheduling:
    """All gangs, and the sessions in which they are placed."""

    def __init__(
        self, ledger: Ledger, conditions: PodConditions, assume: Callable[[Demand], None]
    ) -> None:
        self.roster = Roster()
        self._session = Session(ledger, self.roster)
        self._ledger = ledger
        self._conditions = conditions
        self._assume = assume
        self._served: frozenset[GroupName] = frozenset()
        self._active: dict[GangKey, Gang] = {}
        self._is_woken = False
        self._incomplete: dict[GangKey, float] = {}  # until when a gang may lack members
        self._priorities: dict[str, int] = {}
        self._number = 0

    def watch(self, kinds: Sequence[Kind]) -> tuple[Kind, ...]:
        """Note the served kinds; returns those to watch."""
        watched = tuple(kind for kind in kinds if is_watched(kind))
        self._served = frozenset((kind.group, kind.name) for kind in watched)
        self._session.queues.is_served = ("scheduling.volcano.sh", "Queue") in self._served
        self.wake()
        return watched

    def is_served(self, dialect: str) -> bool:
        """Whether gangs of a dialect can exist here."""
        if dialect == KUEUE:
            return True
        return any(GROUPS[name][0] == dialect for name in self._served if name in GROUPS)

    def has_scheduler(self, profile: str) -> bool:
        """Whether this cluster simulates the scheduler of that name."""
        return profile not in SCHEDULERS or self.is_served(SCHEDULERS[profile])

    @property
    def has_work(self) -> bool:
        """Whether a session would have gangs to try."""
        may_help = self._is_woken and bool(self.roster.hungry)
        return may_help or bool(self._active or self.roster.changed)

    def find_delay(self, moment: Moment) -> float | None:
        """The seconds until the next session without an event; None: never."""
        waits = (until - moment.elapsed for until in self._incomplete.values())
        return min((wait for wait in waits if wait > 0), default=None)

    def wake(self) -> None:
        """Try waiting gangs in the next session, since something changed."""
        self._is_woken = True

    def list_kept_from(self, pod: Demand) -> list[Kept]:
        """The nodes that are kept for gangs, which a single pod may not use."""
        return self._session.fairness.list_kept_from(pod)

    def observe(self, kind: Kind, old: StoredObject | None, new: StoredObject | None) -> None:
        """Note a change of a PodGroup, a queue, a domain or a PriorityClass."""
        entry = new or old
        assert entry is not None
        if kind == PRIORITY_CLASS:
            self._observe_priority(old, new)
        elif (kind.group, kind.name) in GROUPS:
            self._observe_group(kind, old, new)
            return
        elif kind.name == "Queue":
            if new is not None:
                self._session.queues.known[entry.name] = read_queue(new.decode())
            else:
                self._session.queues.known.pop(entry.name, None)
        elif new is not None:
            self._session.domains.put(kind, new.decode())
        else:
            self._session.domains.drop(kind, entry.name)
        self.wake()

    def _observe_priority(self, old: StoredObject | None, new: StoredObject | None) -> None:
        if new is not None:
            self._priorities[new.name] = int(new.decode().get("value") or 0)
        elif old is not None:
            self._priorities.pop(old.name, None)
        for gang in self.roster.gangs.values():
            self._rank(gang)

    def _observe_group(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None
    ) -> None:
        read = GROUPS[(kind.group, kind.name)][1]
        if new is None:
            if old is not None:
                self.roster.drop(read(old.decode(), kind).key)
            return
        spec = read(new.decode(), kind)
        if old is not None and old.uid != new.uid:
            self.roster.drop(spec.key)
        gang = self.roster.put(spec)
        gang.admitted = gang.admitted or spec.status.get("phase") in ("Inqueue", "Running")
        self._rank(gang)

    def _rank(self, gang: Gang) -> None:
        spec = gang.object
        gang.priority = self._priorities.get(spec.priority_class, 0) if spec else 0
        gang.touch()

    def step(self, view: View, moment: Moment) -> list[ComponentAction]:
        """Run one session, or the next part of it."""
        self._number += 1
        touched = dict.fromkeys(self.roster.changed)
        for key in touched:
            gang = self.roster.gangs.get(key)
            if gang is None:
                self._drop(key)
            else:
                self._session.update(gang)
                self._active[key] = gang
        for key, until in self._incomplete.items():
            if moment.elapsed >= until and key in self.roster.hungry:
                self._active[key] = self.roster.hungry[key]
        if self._is_woken:
            self._is_woken = False
            self._session.wake()
            self._active.update(self.roster.hungry)
        actions: list[ComponentAction] = []
        binds = 0
        for gang in sorted(self._active.values(), key=lambda gang: gang.order):
            if binds >= BINDS_MAX:
                break
            del self._active[gang.key]
            touched[gang.key] = None
            done = self._try(gang, view, moment)
            binds += sum(isinstance(action, BindRequest) for action in done)
            actions += done
        for key in touched:
            actions += self._write(self.roster.gangs.get(key), moment)
            self.roster.changed.pop(key, None)
        return actions

    def _drop(self, key: GangKey) -> None:
        self._active.pop(key, None)
        self._session.queues.drop(key)
        self._incomplete.pop(key, None)
        if self._session.forget(key):
            self.wake()

    def retry(self, uid: str) -> None:
        """Try a pod again, since its bind or eviction was refused."""
        gang = self.roster.find(uid) or self._find_by_object(uid)
        if gang is not None:
            self._session.wake()
            self._active[gang.key] = gang

    def _find_by_object(self, uid: str) -> Gang | None:
        gangs: Iterable[Gang] = self.roster.gangs.values()
        return next((g for g in gangs if g.object is not None and g.object.uid == uid), None)

    def _try(self, gang: Gang, view: View, moment: Moment) -> list[ComponentAction]:
        actions: list[ComponentAction] = []
        for pod in sorted(gang.waiting.values(), key=lambda pod: pod.order):
            if pod.is_gated:
                actions += self._conditions.report(pod, "SchedulingGated", GATED, moment)
        spec = gang.spec
        outcome = self._place(gang, spec, view)
        for pod, node in sorted(outcome.placed, key=lambda pair: pair[0].order):
            self._assume(pod)
            assigned = f"Successfully assigned {pod.namespace}/{pod.name} to {node}"
            actions.append(BindRequest(pod.namespace, pod.name, pod.uid, node))
            actions.append(EventRequest(pod.about(), "Normal", "Scheduled", assigned, pod.profile))
        return [*actions, *self._emit(gang, spec, outcome.refusal, moment)]

    def _place(self, gang: Gang, spec: GangSpec | None, view: View) -> Outcome:
        if spec is None:
            missing = describe_missing(gang.key, is_served=self.is_served(gang.key.dialect))
            return Outcome(refusal=Refusal(NOT_ENOUGH_TASKS, missing))
        objection = self._session.find_objection(gang, spec)
        pods = gang.candidates()
        if not pods or objection is not None:
            return Outcome(refusal=objection if pods else None)
        for pod in pods:
            for claim in pod.claims:
                if view.find(CLAIM, pod.namespace, claim) is None:
                    message = explain_claim(claim, len(self._ledger.index.slots))
                    return Outcome(refusal=Refusal(NOT_ENOUGH_TASKS, message))
        return self._session.place(gang, spec)

    def _emit(
        self, gang: Gang, spec: GangSpec | None, refusal: Refusal | None, moment: Moment
    ) -> list[ComponentAction]:
        """Report to waiting pods why they wait, and keep it for the gang's status."""
        gang.reason = gang.message = ""
        is_tried = refusal is not None and refusal.reason == NOT_ENOUGH_RESOURCES
        is_done = spec is not None and gang.count() >= spec.minimum
        if (is_done or not is_tried) and self._session.forget(gang.key):
            self.wake()
        if refusal is None or is_tried:
            self._incomplete.pop(gang.key, None)
        elif moment.elapsed < self._find_patience(gang, moment):
            return []
        if refusal is None:
            return []
        message = refusal.message
        if spec is not None and refusal.reason == NOT_ENOUGH_TASKS:
            gang.reason, gang.message = refusal.reason, message
        elif spec is not None:
            message = describe_failure(gang, spec, message)
            if gang.count() < spec.minimum:
                gang.reason, gang.message = refusal.reason, message
        actions: list[ComponentAction] = []
        for pod in gang.candidates():
            actions += self._conditions.report(pod, UNSCHEDULABLE, message, moment)
        return actions

    def _find_patience(self, gang: Gang, moment: Moment) -> float:
        """Until when a gang's missing members are not reported.

        The end is stored and not the beginning: a difference of times is rounded, and a session at
        just that time would neither report the gang nor be followed by another one.
        """
        return self._incomplete.setdefault(gang.key, moment.elapsed + PATIENCE_SECONDS)

    def _write(self, gang: Gang | None, moment: Moment) -> list[ComponentAction]:
        if gang is None or gang.object is None:
            return []
        spec = gang.object
        domain = ""
        if spec.key.dialect == VOLCANO and spec.is_constrained:
            layout = self._session.domains.layout(spec.domains)
            common = layout.forest.find_common(pod.node for pod in gang.standing())
            domain = "" if common is None else layout.forest.names[common]
        session = f"00000000-0000-4000-8000-{self._number:012x}"
        return write_status(gang, spec, domain, session, moment.stamp)
