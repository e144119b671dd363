"""The metrics of the operator of a laboratory, as values by name and labels."""

import re

from operator_lab import Lab

from kohort.controller.process.measures import Measures

_LINE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')


class LabMetrics:
    """Follows the operator of a laboratory from now on."""

    def __init__(self, lab: Lab) -> None:
        self._measures = Measures(lab.time)
        for controller in lab.operator.controllers:
            self._measures.follow(controller)

    @property
    def text(self) -> str:
        return self._measures.registry.render()

    @property
    def workloads(self) -> int:
        """How many workloads the process remembers for its metrics."""
        return len(self._measures.workloads)

    def sum(self, metric: str, **labels: str) -> float:
        """The sum of all series with these labels; -1 if there is none."""
        found = [
            float(value)
            for name, pairs, value in _LINE.findall(self.text)
            if name == metric and labels.items() <= dict(_LABEL.findall(pairs)).items()
        ]
        return sum(found) if found else -1.0
