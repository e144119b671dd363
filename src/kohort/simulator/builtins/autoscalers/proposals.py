"""
The number of replicas that one metric proposes.

The count follows the ratio of a metric's value to its target, over the pods that work. Pods without
a value count against the direction of the change: as idle when the count would rise, as busy when
it would fall. A ratio near one changes nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from kohort.cluster.objects import Object
from kohort.cluster.quantities import milli_units, write_quantity
from kohort.simulator.builtins.autoscalers.metrics import (
    Asked,
    UnknownMetric,
    find_pod_values,
    find_value,
)
from kohort.simulator.builtins.autoscalers.targets import MissingRequest, Pod

REPLICAS_MAX = 2**31 - 1  # and the largest utilization in a status
_NO_PODS = "no pods returned by selector while calculating replica count"
_NO_VALUES = "did not receive metrics for targeted pods (pods might be unready)"
_NO_GOAL = "neither a value target nor an average value target was set"
_MILLION = 10**6


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far the ratio of metric to target may be from one without a change of replicas."""

    down: float = 0.1
    up: float = 0.1

    def covers(self, ratio: float) -> bool:
        """Whether a ratio causes no change."""
        return 1.0 - self.down <= ratio <= 1.0 + self.up


@dataclass(frozen=True, slots=True)
class Situation:
    """The target's replicas and pods, and the autoscaler's annotations."""

    wanted: int  # replicas that the target asks for
    found: int  # replicas that it has
    pods: Sequence[Pod] = ()
    notes: Mapping[str, str] = field(default_factory=dict)  # annotations of the autoscaler
    tolerance: Tolerance = Tolerance()


@dataclass(frozen=True, slots=True)
class Proposal:
    """The replicas that one metric proposes, and its status."""

    replicas: int
    name: str
    status: Object


@dataclass(frozen=True, slots=True)
class NoProposal:
    """A metric without a value, and why."""

    reason: str
    why: str
    about: str  # the metric's name in the summary of several


class _Unknown(Exception):
    """The replicas cannot be computed."""


def propose(metric: Object, situation: Situation) -> Proposal | NoProposal:
    """The replicas that a metric proposes."""
    kind = metric["type"]
    read, about = _KINDS[kind]
    source: Object = metric[kind[0].lower() + kind[1:]]
    try:
        return read(source, situation)
    except _Unknown as error:
        name = source.get("container") or source.get("name") or _name(source)
        return NoProposal(f"FailedGet{kind}Metric", str(error), about.format(name=name))


def _name(source: Object) -> str:
    name: str = (source.get("metric") or {}).get("name", "")
    return name


def _propose_resource(source: Object, situation: Situation) -> Proposal:
    return _of_resource("Resource", "resource", source, situation)


def _propose_container(source: Object, situation: Situation) -> Proposal:
    return _of_resource("ContainerResource", "containerResource", source, situation)


def _of_resource(kind: str, field: str, source: Object, situation: Situation) -> Proposal:
    name, container = source["name"], source.get("container", "")
    target = source["target"]
    is_share = target.get("averageValue") is None
    try:
        values = find_pod_values(
            situation.notes, Asked(name, container, is_resource=True), situation.pods
        )
        measure: _Share | _Average
        if is_share:
            requests = {pod.name: pod.find_request(name, container) for pod in situation.pods}
            measure = _Share(target["averageUtilization"], requests)
        else:
            measure = _Average(milli_units(target["averageValue"]))
        replicas, seen = _count(values, measure, situation, is_processor=name == "cpu")
    except (UnknownMetric, MissingRequest, _Unknown) as error:
        what = "utilization" if is_share else "usage"
        unable = f"unable to get metrics for resource {name}: "
        why = f"{unable}{error}" if isinstance(error, UnknownMetric) else str(error)
        raise _Unknown(f"failed to get {name} {what}: {why}") from None
    shown = {"name": name, **({"container": container} if container else {})}
    current = seen.show(is_binary=name == "memory")
    within = " container" if container and is_share else ""
    title = f"{name}{within} resource"
    title += " utilization (percentage of request)" if is_share else ""
    return Proposal(replicas, title, {"type": kind, field: {**shown, "current": current}})


def _propose_pods(source: Object, situation: Situation) -> Proposal:
    name = _name(source)
    try:
        values = find_pod_values(situation.notes, Asked(name), situation.pods)
    except UnknownMetric as error:
        raise _Unknown(f"unable to get metric {name}: {error}") from None
    measure = _Average(milli_units(source["target"]["averageValue"]))
    replicas, seen = _count(values, measure, situation)
    status = {"metric": source["metric"], "current": seen.show()}
    return Proposal(replicas, f"pods metric {name}", {"type": "Pods", "pods": status})


def _propose_object(source: Object, situation: Situation) -> Proposal:
    name, described = _name(source), source["describedObject"]
    where = f"{described['kind']} {described['name']}"
    try:
        value = find_value(situation.notes, Asked(name))
    except UnknownMetric as error:
        raise _Unknown(f"unable to get metric {name} of {where}: {error}") from None
    target = source["target"]
    kind = target.get("type")
    goal = target.get("averageValue" if (is_average := kind == "AverageValue") else "value")
    if goal is None or kind == "Utilization":
        raise _Unknown(f"invalid object metric source: {_NO_GOAL}")
    replicas, current = (_per_pod if is_average else _for_all)(value, goal, situation)
    status = {"describedObject": described, "metric": source["metric"], "current": current}
    selector = source["metric"].get("selector")
    title = f"{described['kind']} metric {name}"
    title = f"external metric {name}({show_selector(selector)})" if is_average else title
    return Proposal(replicas, title, {"type": "Object", "object": status})


def _propose_external(source: Object, situation: Situation) -> Proposal:
    name, selector = _name(source), source["metric"].get("selector")
    try:
        value = find_value(situation.notes, Asked(name))
    except UnknownMetric as error:
        raise _Unknown(f"unable to get external metric {name}: {error}") from None
    target = source["target"]
    if (average := target.get("averageValue")) is not None:
        replicas, current = _per_pod(value, average, situation)
    else:
        replicas, current = _for_all(value, target["value"], situation)
    title = f"external metric {name}({show_selector(selector)})"
    status = {"metric": source["metric"], "current": current}
    return Proposal(replicas, title, {"type": "External", "external": status})


def _per_pod(value: int, goal: Any, situation: Situation) -> tuple[int, Object]:
    """The proposal of a single value with an average target for each pod."""
    goal, found = milli_units(goal), situation.found
    replicas = found
    if found == 0 or not situation.tolerance.covers(value / (goal * found)):
        replicas = _bound(value / goal)
    return replicas, {"averageValue": _show(ceil(value / max(1, found)))}


def _for_all(value: int, goal: Any, situation: Situation) -> tuple[int, Object]:
    """The proposal of a single value with a target for all pods together."""
    ratio, shown = value / milli_units(goal), {"value": _show(value)}
    if situation.wanted == 0:
        return _bound(ratio), shown
    if situation.tolerance.covers(ratio):
        return situation.wanted, shown
    if not situation.pods:
        raise _Unknown(f"unable to calculate ready pods: {_NO_PODS}")
    return _bound(ratio * sum(pod.is_ready for pod in situation.pods)), shown


def _bound(replicas: float) -> int:
    return min(ceil(min(replicas, REPLICAS_MAX)), REPLICAS_MAX)


@dataclass(frozen=True, slots=True)
class _Seen:
    """The usage of a target's pods."""

    ratio: float
    average: int
    share: int | None = None

    def show(self, *, is_binary: bool = False) -> Object:
        """The usage as a status shows it."""
        shown: Object = {"averageValue": _show(self.average, is_binary=is_binary)}
        return shown if self.share is None else {"averageUtilization": self.share, **shown}


@dataclass(frozen=True, slots=True)
class _Share:
    """A utilization target: usage as a percentage of requests."""

    goal: int
    requests: Mapping[str, int]

    def read_value(self, values: Mapping[str, int]) -> _Seen:
        """What these pods show."""
        used = sum(values.values())
        requested = sum(self.requests[name] for name in values)
        if requested == 0:
            raise _Unknown("no metrics returned matched known pods")
        share = min(used * 100 // requested, REPLICAS_MAX)
        return _Seen(share / self.goal, used // len(values), share)

    def guess_busy(self, name: str) -> int:
        """What a pod of which nothing is known would show if it were busy."""
        return self.requests[name] * max(100, self.goal) // 100


@dataclass(frozen=True, slots=True)
class _Average:
    """An average-value target: an amount for each pod."""

    goal: int

    def read_value(self, values: Mapping[str, int]) -> _Seen:
        """What these pods show."""
        average = sum(values.values()) // len(values)
        return _Seen(average / self.goal, average)

    def guess_busy(self, name: str) -> int:
        """What a pod of which nothing is known would show if it were busy."""
        return self.goal


def _count(
    given: dict[str, int],
    measure: _Share | _Average,
    situation: Situation,
    *,
    is_processor: bool = False,
) -> tuple[int, _Seen]:
    """The replicas that the usage of pods demands, and that usage."""
    if not situation.pods:
        raise _Unknown(_NO_PODS)
    pods = [pod for pod in situation.pods if not pod.is_ignored]
    new = {p.name for p in pods if p.is_pending or (is_processor and p.is_starting)}
    missing = {pod.name for pod in pods if not pod.is_pending and pod.name not in given}
    new -= missing
    values = {pod.name: given[pod.name] for pod in pods if pod.name in given.keys() - new}
    if not values:
        raise _Unknown(_NO_VALUES)
    seen = measure.read_value(values)
    working = len(values)
    rises = seen.ratio > 1.0
    if not missing and not (new and rises):
        if situation.tolerance.covers(seen.ratio):
            return situation.wanted, seen
        return _bound(seen.ratio * working), seen
    if seen.ratio < 1.0:
        values |= {name: measure.guess_busy(name) for name in missing}
    elif rises:
        values |= dict.fromkeys(missing | new, 0)
    return _count_again(seen, measure.read_value(values), len(values), situation), seen


def _count_again(seen: _Seen, guessed: _Seen, pods: int, situation: Situation) -> int:
    """The count with assumed usage for some pods, which may slow a change but not reverse it."""
    turns = (seen.ratio - 1.0) * (guessed.ratio - 1.0) < 0
    if turns or situation.tolerance.covers(guessed.ratio):
        return situation.wanted
    replicas = _bound(guessed.ratio * pods)
    if (guessed.ratio < 1.0 and replicas > situation.wanted) or (
        guessed.ratio > 1.0 and replicas < situation.wanted
    ):
        return situation.wanted
    return replicas


def _show(thousandths: int, *, is_binary: bool = False) -> str:
    return write_quantity(thousandths * _MILLION, is_binary=is_binary)


def show_selector(selector: Object | None) -> str:
    """A label selector as Go prints it, which is how conditions name metrics."""
    if selector is None:
        return "nil"
    labels = "".join(f"{k}: {v}," for k, v in sorted((selector.get("matchLabels") or {}).items()))
    lines = "".join(
        f"LabelSelectorRequirement{{Key:{line['key']},Operator:{line['operator']},"
        f"Values:[{' '.join(line.get('values') or ())}],}},"
        for line in selector.get("matchExpressions") or ()
    )
    expressions = f"[]LabelSelectorRequirement{{{lines}}}"
    pairs = f"map[string]string{{{labels}}}"
    return f"&LabelSelector{{MatchLabels:{pairs},MatchExpressions:{expressions},}}"


_Propose = Callable[[Object, Situation], Proposal]
_KINDS: dict[str, tuple[_Propose, Any]] = {
    "Resource": (_propose_resource, "failed to get {name} resource metric value"),
    "ContainerResource": (_propose_container, "failed to get {name} container metric value"),
    "Pods": (_propose_pods, "failed to get pods metric value"),
    "Object": (_propose_object, "failed to get object metric value"),
    "External": (_propose_external, "failed to get {name} external metric value"),
}
