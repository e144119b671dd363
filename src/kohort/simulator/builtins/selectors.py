"""
Compiled label selectors of controllers.

A selector without requirements selects everything; a missing selector selects
nothing, as in the controllers of Kubernetes.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kohort.cluster.objects import Object

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One line of ``matchExpressions``."""

    key: str
    operator: str
    values: frozenset[str]

    def matches(self, labels: Labels) -> bool:
        """Whether the labels meet this requirement."""
        match self.operator:
            case "In":
                return labels.get(self.key) in self.values
            case "NotIn":
                return labels.get(self.key) not in self.values
            case "Exists":
                return self.key in labels
            case "DoesNotExist":
                return self.key not in labels
        return False


@dataclass(frozen=True, slots=True)
class Selector:
    """A compiled label selector."""

    labels: Labels
    requirements: tuple[Requirement, ...] = ()
    is_nothing: bool = False

    def matches(self, labels: Labels) -> bool:
        """Whether an object with these labels is selected."""
        if self.is_nothing:
            return False
        for key, value in self.labels.items():
            if labels.get(key) != value:
                return False
        return all(requirement.matches(labels) for requirement in self.requirements)


def read_selector(raw: Object | None) -> Selector:
    """Compile a ``LabelSelector``."""
    if raw is None:
        return Selector({}, is_nothing=True)
    requirements = tuple(
        Requirement(line["key"], line["operator"], frozenset(line.get("values") or ()))
        for line in raw.get("matchExpressions") or ()
    )
    return Selector(raw.get("matchLabels") or {}, requirements)
