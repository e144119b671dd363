"""
Why no node fits a pod, in the words of the real scheduler, and how the pod's user learns it.

Filters are applied in its order (cordon, taints, affinity, ports, room, spreading,
other pods) and each node is counted for the first that it fails; a node short of
room is counted for every resource it lacks. The second half of the sentence says
where evicting pods could have helped: not where the pod's own wishes stand against
the node, and not where the node would be too small even if it were empty.

A waiting pod gets the condition PodScheduled and an event FailedScheduling, without repeats. The
last reported message survives a restart of the scheduler, because it stands in the pod's own
condition.
"""

from collections import Counter
from dataclasses import dataclass, field

from kohort.cluster.conditions import drop, find, since
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object
from kohort.placement.nodes import PODS, bits_of
from kohort.simulator.component import ComponentAction, EventRequest, MergeRequest, Moment
from kohort.simulator.scheduling.constraints import find_constraints
from kohort.simulator.scheduling.demands import Demand
from kohort.simulator.scheduling.ledger import Ledger

NO_NODES = "no nodes available to schedule pods"


@dataclass(slots=True)
class FilterSummary:
    """How many nodes failed for which reason, and where eviction might help."""

    reasons: Counter[str] = field(default_factory=Counter)
    hopeful: int = 0  # nodes that fail only because of the pods on them


def explain_claim(claim: str, nodes: int) -> str:
    """The message for a pod whose claim does not exist."""
    return f'0/{nodes} nodes are available: persistentvolumeclaim "{claim}" not found. not found'


def explain(pod: Demand, ledger: Ledger, *, is_nominated: bool = False) -> str:
    """The FailedScheduling message for a pod that fits no node, or waits for its victims."""
    total = len(ledger.index.slots)
    if not total:
        return NO_NODES
    answer = judge(pod, ledger)
    if is_nominated:
        return f"0/{total} nodes are available: {_count(answer.reasons)}."
    hopeful = answer.hopeful.bit_count()
    if pod.may_preempt:
        outlook = Counter(
            {
                "No preemption victims found for incoming pod": hopeful,
                "Preemption is not helpful for scheduling": total - hopeful,
            }
        )
        preemption = f"0/{total} nodes are available: {_count(outlook)}"
    else:
        preemption = "not eligible due to preemptionPolicy=Never"
    return (
        f"0/{total} nodes are available: {_count(answer.reasons)}. "
        f"no new claims to deallocate, preemption: {preemption}."
    )


def judge(pod: Demand, ledger: Ledger) -> FilterSummary:
    """Apply the filters one after the other."""
    index, rule = ledger.index, pod.shape.rule
    answer = FilterSummary()
    left = index.everywhere
    pinned = rule.pinned(index)
    if pinned is not None:
        left = _lose(answer, left, pinned, "node(s) didn't satisfy plugin(s) [NodeAffinity]")
    left = _lose(answer, left, rule.uncordoned(index), "node(s) were unschedulable")
    left = _lose(answer, left, rule.untainted(index), "node(s) had untolerated taint(s)")
    left = _lose(
        answer, left, rule.affine(index), "node(s) didn't match Pod's node affinity/selector"
    )
    taken = left & ledger.port_conflicts(pod)
    answer.hopeful |= taken
    left = _lose(answer, left, ~taken, "node(s) didn't have free ports for the requested pod ports")
    left = _lose_for_room(answer, left, pod, ledger)
    _lose_to_others(answer, left, pod, ledger)
    return answer


def _lose(answer: FilterSummary, left: int, allowed: int, reason: str) -> int:
    lost = (left & ~allowed).bit_count()
    if lost:
        answer.reasons[reason] += lost
    return left & allowed


def _lose_for_room(answer: FilterSummary, left: int, pod: Demand, ledger: Ledger) -> int:
    index, request = ledger.index, pod.shape.request
    kept = left & pod.shape.refresh(index)
    for slot in bits_of(left & ~kept):
        state = index.states[slot]
        assert state is not None
        could_ever = True
        for name, amount in request.items():
            if index.free[slot].get(name, 0) < amount:
                reason = "Too many pods" if name == PODS else f"Insufficient {name}"
                answer.reasons[reason] += 1
                could_ever &= state.allocatable.get(name, 0) >= amount
        if could_ever:
            answer.hopeful |= 1 << slot
    return kept


def _lose_to_others(answer: FilterSummary, left: int, pod: Demand, ledger: Ledger) -> None:
    found = find_constraints(pod, ledger)
    spread = "node(s) didn't match pod topology spread constraints"
    left = _lose(answer, left, found.spread_labelled, f"{spread} (missing required label)")
    answer.hopeful |= left & ~found.spread
    left = _lose(answer, left, found.spread, spread)
    left = _lose(answer, left, found.affinity, "node(s) didn't match pod affinity rules")
    answer.hopeful |= left & ~(found.anti & found.symmetry)
    left = _lose(answer, left, found.anti, "node(s) didn't match pod anti-affinity rules")
    _lose(answer, left, found.symmetry, "node(s) didn't satisfy existing pods anti-affinity rules")


def _count(reasons: Counter[str]) -> str:
    return ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items() if count))


GATED = "Scheduling is blocked due to non-empty scheduling gates"


class PodConditions:
    """The last reported reason and message of each pod."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[str, str]] = {}  # reason and message

    def read_condition(self, pod: Demand) -> None:
        """Read the stored condition of a pod."""
        for condition in pod.conditions:
            if condition.get("type") == "PodScheduled":
                told = condition.get("reason", ""), condition.get("message", "")
                self._told[pod.uid] = told

    def forget(self, uid: str) -> None:
        """Forget a pod that is deleted, or whose condition could not be written."""
        self._told.pop(uid, None)

    def last_message(self, uid: str) -> str:
        """The last message for a pod."""
        return self._told.get(uid, ("", ""))[1]

    def report(
        self, pod: Demand, reason: str, message: str, moment: Moment, nominated: str = ""
    ) -> list[ComponentAction]:
        """The actions that report why a pod waits; none if it is reported already."""
        if self._told.get(pod.uid) == (reason, message):
            return []
        self._told[pod.uid] = (reason, message)
        patch = _condition_patch(pod, reason, message, moment)
        if nominated:
            patch["status"]["nominatedNodeName"] = nominated
        merge = MergeRequest(POD, pod.namespace, pod.name, patch, "status", pod.uid)
        if reason == "SchedulingGated":
            return [merge]
        return [
            merge,
            EventRequest(pod.about(), "Warning", "FailedScheduling", message, pod.profile),
        ]


def _condition_patch(pod: Demand, reason: str, message: str, moment: Moment) -> Object:
    others = drop(pod.conditions, "PodScheduled")
    before = find(pod.conditions, "PodScheduled")
    condition: Object = {
        "type": "PodScheduled",
        "status": "False",
        "lastProbeTime": None,
        "lastTransitionTime": since(before, "False", moment.stamp),
        "reason": reason,
        "message": message,
    }
    if reason == "Unschedulable" and pod.generation:
        condition["observedGeneration"] = pod.generation
    patch: Object = {"status": {"conditions": [*others, condition]}}
    if others:
        # The list is replaced as a whole, so conditions of other writers must not be lost.
        patch["metadata"] = {"resourceVersion": str(pod.rv)}
    return patch
