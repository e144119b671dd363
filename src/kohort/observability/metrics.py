"""
Metrics: counters, gauges and histograms with labels, in the text form that Prometheus reads.

A series exists once it has been touched. Numbers that are known elsewhere are
asked for when somebody looks, by a collector, instead of being copied about.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

Labels = tuple[str, ...]
Line = tuple[str, Labels, Labels, float]  # name, names of labels, their values, number


class Metric(ABC):
    """One name with its series; the ground of the kinds below."""

    kind = "untyped"

    def __init__(self, name: str, about: str, labels: Sequence[str] = ()) -> None:
        self.name = name
        self.about = about
        self.labels = tuple(labels)

    @abstractmethod
    def lines(self) -> Iterator[Line]:
        """Everything there is to show."""


class Gauge(Metric):
    """A number that goes up and down."""

    kind = "gauge"

    def __init__(self, name: str, about: str, labels: Sequence[str] = ()) -> None:
        super().__init__(name, about, labels)
        self._values: dict[Labels, float] = {}

    def set(self, value: float, *labels: str) -> None:
        """Say what it is now."""
        self._values[self._check(labels)] = value

    def add(self, amount: float, *labels: str) -> None:
        """Change it by so much."""
        key = self._check(labels)
        self._values[key] = self._values.get(key, 0.0) + amount

    def clear(self) -> None:
        """Forget all series."""
        self._values.clear()

    def value(self, *labels: str) -> float:
        """What it is now; 0 if it was never touched."""
        return self._values.get(labels, 0.0)

    def lines(self) -> Iterator[Line]:
        """One line for each series."""
        for values, number in self._values.items():
            yield self.name, self.labels, values, number

    def _check(self, labels: Labels) -> Labels:
        assert len(labels) == len(self.labels), f"{self.name} has the labels {self.labels}"
        return labels


class Counter(Gauge):
    """A number that only goes up."""

    kind = "counter"

    def count(self, *labels: str) -> None:
        """One more."""
        self.add(1.0, *labels)


class Histogram(Metric):
    """How often a number fell below each of some limits."""

    kind = "histogram"

    def __init__(
        self,
        name: str,
        about: str,
        labels: Sequence[str] = (),
        limits: Sequence[float] = SECONDS,
    ) -> None:
        super().__init__(name, about, labels)
        self._limits = tuple(limits)
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}

    def observe(self, value: float, *labels: str) -> None:
        """Take in one number."""
        assert len(labels) == len(self.labels), f"{self.name} has the labels {self.labels}"
        counts = self._counts.setdefault(labels, [0] * (len(self._limits) + 1))
        counts[bisect_left(self._limits, value)] += 1
        self._sums[labels] = self._sums.get(labels, 0.0) + value

    def lines(self) -> Iterator[Line]:
        """The limits of each series, its sum and its count."""
        names = (*self.labels, "le")
        for values, counts in self._counts.items():
            total = 0
            for limit, count in zip((*self._limits, inf), counts, strict=True):
                total += count
                yield f"{self.name}_bucket", names, (*values, _show(limit)), float(total)
            yield f"{self.name}_sum", self.labels, values, self._sums[values]
            yield f"{self.name}_count", self.labels, values, float(total)


Collector = Callable[[], Iterable[Metric]]


class Registry:
    """All metrics of a process."""

    def __init__(self) -> None:
        self._metrics: list[Metric] = []
        self._collectors: list[Collector] = []

    def counter(self, name: str, about: str, *labels: str) -> Counter:
        """A new counter."""
        made = Counter(name, about, labels)
        self._metrics.append(made)
        return made

    def gauge(self, name: str, about: str, *labels: str) -> Gauge:
        """A new gauge."""
        made = Gauge(name, about, labels)
        self._metrics.append(made)
        return made

    def histogram(self, name: str, about: str, *labels: str) -> Histogram:
        """A new histogram of seconds."""
        made = Histogram(name, about, labels)
        self._metrics.append(made)
        return made

    def collect(self, collector: Collector) -> None:
        """Ask the collector whenever somebody looks."""
        self._collectors.append(collector)

    def render(self) -> str:
        """Everything as text."""
        asked = [metric for collector in self._collectors for metric in collector()]
        blocks = [_render(metric) for metric in (*self._metrics, *asked)]
        return "".join(blocks)


def _render(metric: Metric) -> str:
    lines = [_line(*line) for line in metric.lines()]
    if not lines:
        return ""
    head = f"# HELP {metric.name} {metric.about}\n# TYPE {metric.name} {metric.kind}\n"
    return head + "\n".join(lines) + "\n"


def _line(name: str, labels: Labels, values: Labels, number: float) -> str:
    pairs = ",".join(f'{k}="{_escape(v)}"' for k, v in zip(labels, values, strict=True))
    return f"{name}{{{pairs}}} {_show(number)}" if pairs else f"{name} {_show(number)}"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _show(number: float) -> str:
    if number == inf:
        return "+Inf"
    return str(int(number)) if number.is_integer() else repr(number)
