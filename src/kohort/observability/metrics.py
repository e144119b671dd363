"""
Metrics: counters, gauges and histograms with labels, in the text form that Prometheus reads.

A series exists once it has been touched. A label without a value is not written, which means the
same to Prometheus. Numbers that are known elsewhere are
read when a scrape comes, by a collector, instead of being copied about.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from math import inf

from kohort.observability.catalogue import Description

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = tuple[str, ...]
Line = tuple[str, Labels, Labels, float]  # name, names of labels, their values, number


class Metric(ABC):
    """One metric with its series; the base class of Gauge, Counter and Histogram."""

    def __init__(self, described: Description) -> None:
        self.described = described
        self.name = described.name
        self.labels = described.labels

    @abstractmethod
    def lines(self) -> Iterator[Line]:
        """All lines of this metric in Prometheus' text form."""


class Gauge(Metric):
    """A number that goes up and down."""

    def __init__(self, described: Description) -> None:
        super().__init__(described)
        self._values: dict[Labels, float] = {}

    def set(self, value: float, *labels: str) -> None:
        """Set the value of a series."""
        self._values[self._check(labels)] = value

    def add(self, amount: float, *labels: str) -> None:
        """Add to the value of a series."""
        key = self._check(labels)
        self._values[key] = self._values.get(key, 0.0) + amount

    def clear(self) -> None:
        """Forget all series."""
        self._values.clear()

    def drop(self, is_gone: Callable[[Labels], bool]) -> None:
        """Forget the series for whose labels the function returns true."""
        for labels in [labels for labels in self._values if is_gone(labels)]:
            del self._values[labels]

    def value(self, *labels: str) -> float:
        """The value of a series; 0 if it was never set."""
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

    def count(self, *labels: str) -> None:
        """Add one to a series."""
        self.add(1.0, *labels)


class Histogram(Metric):
    """Counts of observed numbers that are at most as large as each of some limits."""

    def __init__(self, described: Description) -> None:
        super().__init__(described)
        self._limits = described.limits
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}

    def observe(self, value: float, *labels: str) -> None:
        """Count one observed number."""
        assert len(labels) == len(self.labels), f"{self.name} has the labels {self.labels}"
        counts = self._counts.setdefault(labels, [0] * (len(self._limits) + 1))
        counts[bisect_left(self._limits, value)] += 1
        self._sums[labels] = self._sums.get(labels, 0.0) + value

    def lines(self) -> Iterator[Line]:
        """The buckets of each series, with its sum and its count."""
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

    def counter(self, described: Description) -> Counter:
        """A new counter."""
        made = Counter(described)
        self._metrics.append(made)
        return made

    def gauge(self, described: Description) -> Gauge:
        """A new gauge."""
        made = Gauge(described)
        self._metrics.append(made)
        return made

    def histogram(self, described: Description) -> Histogram:
        """A new histogram of seconds."""
        made = Histogram(described)
        self._metrics.append(made)
        return made

    def collect(self, collector: Collector) -> None:
        """Register a function that gives more samples at every scrape."""
        self._collectors.append(collector)

    def render(self) -> str:
        """All metrics in Prometheus' text form."""
        asked = [metric for collector in self._collectors for metric in collector()]
        blocks = [_render(metric) for metric in (*self._metrics, *asked)]
        return "".join(blocks)


def _render(metric: Metric) -> str:
    lines = [_line(*line) for line in metric.lines()]
    if not lines:
        return ""
    described = metric.described
    head = f"# HELP {metric.name} {described.about}\n# TYPE {metric.name} {described.type}\n"
    return head + "\n".join(lines) + "\n"


def _line(name: str, labels: Labels, values: Labels, number: float) -> str:
    pairs = ",".join(f'{k}="{_escape(v)}"' for k, v in zip(labels, values, strict=True) if v)
    return f"{name}{{{pairs}}} {_show(number)}" if pairs else f"{name} {_show(number)}"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _show(number: float) -> str:
    if number == inf:
        return "+Inf"
    return str(int(number)) if number.is_integer() else repr(number)
