"""
The decision of an autoscaler: the replicas of its target, and the conditions about it.

Of several metrics the highest count is taken; if some have no value, the others may raise
the count and never lower it. The decision is a value. It knows no clock and sends no request.

Stabilization windows and scaling policies limit how fast an autoscaler changes replicas. Counts
that were proposed within a window hold a change back: the highest one holds a decrease, the
lowest one an increase. Policies bound the change within their periods. Times are seconds of the
cluster's clock, given from outside.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import ceil

from kohort.cluster.objects import Object
from kohort.cluster.quantities import parse_quantity
from kohort.simulator.builtins.autoscalers.proposals import (
    NoProposal,
    Proposal,
    Situation,
    Tolerance,
    propose,
)

DOWN_WINDOW_SECONDS = 300
_KEPT_SECONDS = 3600.0  # no window and no period is longer
_FIRST_REPLICAS = 4  # without behavior, so many are always allowed, or twice as many
_HIGHER = "recent recommendations were higher than current one, applying the highest recent"
_LOWER = "recent recommendations were lower than current one, applying the lowest recent"
_TOO_FAST = "the desired replica count is {how} faster than the maximum scale rate"
_WITHIN = ("DesiredWithinRange", "the desired count is within the acceptable range")
_TOO_FEW = ("TooFewReplicas", "the desired replica count is less than the minimum replica count")
_TOO_MANY = ("TooManyReplicas", "the desired replica count is more than the maximum replica count")

_Stamped = tuple[tuple[float, int], ...]


@dataclass(frozen=True, slots=True)
class History:
    """Past proposals and changes of replicas, each with its time."""

    proposed: _Stamped = ()
    added: _Stamped = ()
    removed: _Stamped = ()

    def note_proposal(self, replicas: int, now: float) -> "History":
        """The history with one more proposal, and without entries that are too old."""
        return replace(self, proposed=_keep(self.proposed, now, replicas))

    def note_change(self, before: int, after: int, now: float) -> "History":
        """The history with one more change of the target."""
        if after > before:
            return replace(self, added=_keep(self.added, now, after - before))
        return replace(self, removed=_keep(self.removed, now, before - after))


def _keep(stamped: _Stamped, now: float, value: int) -> _Stamped:
    return (*(pair for pair in stamped if pair[0] > now - _KEPT_SECONDS), (now, value))


@dataclass(frozen=True, slots=True)
class Limited:
    """A limited count, and the reason of the limit."""

    replicas: int
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Wish:
    """The replicas that metrics propose, and their bounds."""

    replicas: int
    current: int
    least: int
    most: int


def stabilize(wish: Wish, behavior: Object | None, history: History, now: float) -> Limited:
    """The count after stabilization over recent proposals."""
    if behavior is None:
        recent = [count for at, count in history.proposed if at >= now - DOWN_WINDOW_SECONDS]
        highest = max([wish.replicas, *recent])
        return _explain_window(wish, highest, is_up=False)
    up = _window(behavior.get("scaleUp"), 0)
    down = _window(behavior.get("scaleDown"), DOWN_WINDOW_SECONDS)
    lowest = min([wish.replicas, *(c for at, c in history.proposed if at > now - up)])
    highest = max([wish.replicas, *(c for at, c in history.proposed if at > now - down)])
    replicas = min(max(wish.current, lowest), highest)
    return _explain_window(wish, replicas, is_up=wish.replicas >= wish.current)


def _window(rules: Object | None, default: int) -> int:
    found = (rules or {}).get("stabilizationWindowSeconds")
    return default if found is None else int(found)


def _explain_window(wish: Wish, replicas: int, *, is_up: bool) -> Limited:
    if replicas == wish.replicas:
        return Limited(replicas, "ReadyForNewScale", "recommended size matches current size")
    if is_up:
        return Limited(replicas, "ScaleUpStabilized", f"{_LOWER} recommendation")
    return Limited(replicas, "ScaleDownStabilized", f"{_HIGHER} recommendation")


def limit(wish: Wish, behavior: Object | None, history: History, now: float) -> Limited:
    """The count that limits and policies allow."""
    if behavior is None:
        fastest = max(2 * wish.current, _FIRST_REPLICAS)
        return _bound(wish, wish.least, fastest)
    if wish.replicas > wish.current:
        rules = behavior.get("scaleUp") or {}
        fastest = max(_find_limit(rules, wish.current, history, now, is_up=True), wish.current)
        return _bound(wish, None, fastest)
    if wish.replicas < wish.current:
        rules = behavior.get("scaleDown") or {}
        slowest = min(_find_limit(rules, wish.current, history, now, is_up=False), wish.current)
        if wish.least < slowest:
            if wish.replicas < slowest:
                return Limited(slowest, "ScaleDownLimit", _TOO_FAST.format(how="decreasing"))
        elif wish.replicas < wish.least:
            return Limited(wish.least, *_TOO_FEW)
    return Limited(wish.replicas, *_WITHIN)


def _bound(wish: Wish, least: int | None, fastest: int) -> Limited:
    most = min(wish.most, fastest)
    if least is not None and wish.replicas < least:
        return Limited(least, *_TOO_FEW)
    if wish.replicas <= most:
        return Limited(wish.replicas, *_WITHIN)
    if wish.most > fastest:
        return Limited(most, "ScaleUpLimit", _TOO_FAST.format(how="increasing"))
    return Limited(most, *_TOO_MANY)


def _find_limit(rules: Object, current: int, history: History, now: float, *, is_up: bool) -> int:
    """The furthest count that the policies of one direction allow."""
    choice = rules.get("selectPolicy", "Max")
    if choice == "Disabled":
        return current
    limits = [
        _limit_of(policy, current, history, now, is_up=is_up)
        for policy in rules.get("policies") or ()
    ]
    widest = max if is_up else min
    narrowest = min if is_up else max
    return (narrowest if choice == "Min" else widest)(limits, default=current)


def _limit_of(policy: Object, current: int, history: History, now: float, *, is_up: bool) -> int:
    period, value = int(policy["periodSeconds"]), int(policy["value"])
    added, removed = _sum(history.added, now - period), _sum(history.removed, now - period)
    start = current - added + removed
    if policy["type"] == "Pods":
        return start + value if is_up else start - value
    return ceil(start * (1 + value / 100)) if is_up else int(start * (1 - value / 100))


def _sum(stamped: Iterable[tuple[float, int]], since: float) -> int:
    return sum(change for at, change in stamped if at > since)


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
