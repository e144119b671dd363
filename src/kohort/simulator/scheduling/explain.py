"""
Why no node fits a pod, in the words of the real scheduler.

Filters are applied in its order (cordon, taints, affinity, ports, room, spreading,
other pods) and each node is counted for the first that it fails; a node short of
room is counted for every resource it lacks. The second half of the sentence says
where evicting pods could have helped: not where the pod's own wishes stand against
the node, and not where the node would be too small even if it were empty.
"""

from collections import Counter
from dataclasses import dataclass, field

from kohort.placement.nodes import PODS, bits_of
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
