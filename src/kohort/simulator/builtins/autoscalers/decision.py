"""
The decision of an autoscaler: the replicas of its target, and the conditions about it.

Of several metrics the highest count is taken; if some have no value, the others may raise
the count and never lower it. The decision is a value. It knows no clock and sends no request.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from kohort.cluster.objects import Object
from kohort.cluster.quantities import parse_quantity
from kohort.simulator.builtins.autoscalers.limits import History, Wish, limit, stabilize
from kohort.simulator.builtins.autoscalers.proposals import (
    NoProposal,
    Proposal,
    Situation,
    Tolerance,
    propose,
)

_BILLION = 10**9
_TOLERANCE_MAX = 10**9  # larger than any ratio of a metric to its target


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition, without its time."""

    type: str
    is_true: bool
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Decision:
    """The new replicas, and what the status and the event say."""

    replicas: int | None = None  # None: the target stays as it is
    reason: str = ""  # why the replicas change
    conditions: tuple[Condition, ...] = ()
    metrics: list[Object] | None = None  # the current values of the metrics
    warnings: tuple[tuple[str, str], ...] = ()  # reason and message
    is_known: bool = True  # whether the replicas could be computed
    history: History = field(default_factory=History)


def read_tolerance(spec: Object) -> Tolerance:
    """How far from its target a metric may be, up and down."""
    behavior = spec.get("behavior") or {}

    def of(side: str) -> float:
        amount = (behavior.get(side) or {}).get("tolerance")
        return (
            0.1
            if amount is None
            else min(parse_quantity(amount), _TOLERANCE_MAX * _BILLION) / _BILLION
        )

    return Tolerance(of("scaleDown"), of("scaleUp"))


def decide(spec: Object, situation: Situation, history: History, now: float) -> Decision:
    """The decision of an autoscaler with this spec; ``now`` is the cluster's clock in seconds."""
    current = situation.wanted
    least, most = spec.get("minReplicas", 1), spec["maxReplicas"]
    if not history.proposed:
        history = history.note_proposal(current, now)
    if current == 0 and least != 0:
        why = "scaling is disabled since the replica count of the target is zero"
        condition = Condition("ScalingActive", False, "ScalingDisabled", why)
        return Decision(conditions=(condition,), history=history)
    if current > most:
        reason = "Current number of replicas above Spec.MaxReplicas"
        return Decision(most, reason, history=history.note_change(current, most, now))
    if current < least:
        reason = "Current number of replicas below Spec.MinReplicas"
        return Decision(least, reason, history=history.note_change(current, least, now))
    found = [propose(metric, situation) for metric in spec.get("metrics") or ()]
    return _decide_by_metrics(spec, found, Wish(0, current, least, most), history, now)


def _decide_by_metrics(
    spec: Object,
    found: Sequence[Proposal | NoProposal],
    wish: Wish,
    history: History,
    now: float,
) -> Decision:
    proposals = [one for one in found if isinstance(one, Proposal)]
    silent = [one for one in found if isinstance(one, NoProposal)]
    metrics = [one.status if isinstance(one, Proposal) else {"type": ""} for one in found]
    warnings = tuple((one.reason, one.why) for one in silent)
    highest = max(proposals, key=lambda one: one.replicas, default=None)
    if highest is None or (silent and highest.replicas < wish.current):
        return _give_up(silent, len(found), metrics, history)
    name = f"the HPA was able to successfully calculate a replica count from {highest.name}"
    active = Condition("ScalingActive", True, "ValidMetricFound", name)
    reason = ""
    if highest.replicas > wish.current:
        reason = f"{highest.name} above target"
    elif highest.replicas < wish.current:
        reason = "All metrics below target"
    behavior = spec.get("behavior")
    asked = Wish(highest.replicas, wish.current, wish.least, wish.most)
    steady = stabilize(asked, behavior, history, now)
    history = history.note_proposal(highest.replicas, now)
    bounded = Wish(steady.replicas, wish.current, wish.least, wish.most)
    allowed = limit(bounded, behavior, history, now)
    is_limited = allowed.replicas != steady.replicas
    conditions = (
        active,
        Condition("AbleToScale", True, steady.reason, steady.message),
        Condition("ScalingLimited", is_limited, allowed.reason, allowed.message),
    )
    if allowed.replicas == wish.current:
        return Decision(None, "", conditions, metrics, warnings, history=history)
    history = history.note_change(wish.current, allowed.replicas, now)
    return Decision(allowed.replicas, reason, conditions, metrics, warnings, history=history)


def _give_up(
    silent: Sequence[NoProposal], count: int, metrics: list[Object], history: History
) -> Decision:
    first = silent[0]
    why = f"the HPA was unable to compute the replica count: {first.why}"
    summary = (
        f"invalid metrics ({len(silent)} invalid out of {count}), first error is: "
        f"{first.about}: {first.why}"
    )
    return Decision(
        conditions=(Condition("ScalingActive", False, first.reason, why),),
        metrics=metrics,
        warnings=(
            *((one.reason, one.why) for one in silent),
            ("FailedComputeMetricsReplicas", summary),
        ),
        is_known=False,
        history=history,
    )
