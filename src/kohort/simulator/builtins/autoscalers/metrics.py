"""
Values of metrics: simulated pods have none, so users set them by annotations.

``sim.kohort.dev/metric-NAME`` is the value of a metric for every pod, or the value of an object or
external metric; ``sim.kohort.dev/load-NAME`` is a total that all ready pods share. An annotation of
an autoscaler holds for all its pods, one of a pod for that pod, and the pod's wins. The value of a
resource may be a share of the request (``70%``). A metric of a container has a name of its own
(``cpu.main``), or that of the resource.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kohort.cluster.quantities import milli_units
from kohort.simulator.builtins.autoscalers.targets import Pod

METRIC = "sim.kohort.dev/metric-"
LOAD = "sim.kohort.dev/load-"
NAME_LENGTH_MAX = 63 - len("metric-")
_AMOUNT_MAX = 2**63 - 1  # of thousandths, as a real controller counts
_ODD = re.compile(r"[^A-Za-z0-9._-]")
_SHARE = re.compile(r"(\d{1,7}(?:\.\d{1,3})?)%")


class UnknownMetric(Exception):
    """The annotation of a metric is missing or cannot be read."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The metric whose value is needed."""

    name: str
    container: str = ""
    is_resource: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The suffixes of annotation keys that may hold it, in order of precedence."""
        own = (f"{self.name}.{self.container}",) if self.container else ()
        return tuple(name_key(name) for name in (*own, self.name))


def name_key(metric: str) -> str:
    """A metric's name as an annotation can have it: other characters become underscores."""
    return _ODD.sub("_", metric)[:NAME_LENGTH_MAX]


def is_share(text: str) -> bool:
    """Whether a text is a percentage of the request, such as 70%."""
    return _SHARE.fullmatch(text) is not None


def is_amount(text: str) -> bool:
    """Whether a text is an amount, such as 350m or 2Gi."""
    try:
        return milli_units(text) >= 0
    except ValueError:
        return False


def find_value(notes: Mapping[str, str], asked: Asked) -> int:
    """The value of an object or external metric, in thousandths."""
    for prefix in (METRIC, LOAD):
        for key in asked.keys:
            if (text := notes.get(f"{prefix}{key}")) is not None:
                return _read_amount(f"{prefix}{key}", text)
    raise UnknownMetric(_explain(asked))


def find_pod_values(notes: Mapping[str, str], asked: Asked, pods: Iterable[Pod]) -> dict[str, int]:
    """The values of a metric for running pods, in thousandths; pods without one are left out."""
    running = [pod for pod in pods if not pod.is_ignored and not pod.is_pending]
    serving = sum(pod.is_ready for pod in running)
    values: dict[str, int] = {}
    for pod in running:
        value = _find_pod_value(notes, asked, pod, serving)
        if value is not None:
            values[pod.name] = value
    if not values and not _is_said(notes, asked):
        raise UnknownMetric(_explain(asked))
    return values


def _find_pod_value(notes: Mapping[str, str], asked: Asked, pod: Pod, serving: int) -> int | None:
    for said in (pod.annotations, notes):
        for key in asked.keys:
            if (text := said.get(f"{METRIC}{key}")) is not None:
                return _read_of_pod(f"{METRIC}{key}", text, asked, pod)
    for key in asked.keys:
        if (text := notes.get(f"{LOAD}{key}")) is not None:
            total = _read_amount(f"{LOAD}{key}", text)
            return total // max(1, serving) if pod.is_ready else 0
    return None


def _is_said(notes: Mapping[str, str], asked: Asked) -> bool:
    return any(f"{prefix}{key}" in notes for prefix in (METRIC, LOAD) for key in asked.keys)


def _read_of_pod(place: str, text: str, asked: Asked, pod: Pod) -> int:
    share = _SHARE.fullmatch(text)
    if share is None or not asked.is_resource:
        return _read_amount(place, text)
    return int(pod.find_request(asked.name, asked.container) * float(share[1]) / 100)


def _read_amount(place: str, text: str) -> int:
    if not is_amount(text):
        raise UnknownMetric(f"the annotation {place} is {text!r}, which is no amount")
    return min(milli_units(text), _AMOUNT_MAX)


def _explain(asked: Asked) -> str:
    return (
        f"it has no value: set the annotation {METRIC}{asked.keys[-1]}, "
        f"or use 'kohort sim metric set'"
    )
