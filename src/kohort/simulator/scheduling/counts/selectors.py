"""
Label selectors, as the scheduler compiles and compares them.

A selector is a value: two terms that say the same share one tally. A selector
with an exclusion (``NotIn``) can be split, because the pods that match it are
the pods that match the rest less those that have one of the values. That keeps
a thousand terms "all pods but those of my own group" from each counting all pods.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kohort.cluster.objects import Object


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on one label."""

    key: str
    operator: str  # In, NotIn, Exists or DoesNotExist
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels satisfy the requirement; an absent label satisfies ``NotIn``."""
        value = labels.get(self.key)
        if self.operator == "In":
            return value is not None and value in self.values
        if self.operator == "NotIn":
            return value is None or value not in self.values
        return (value is not None) == (self.operator == "Exists")


@dataclass(frozen=True, slots=True)
class Selector:
    """A selector matches if all its requirements do; without any it matches everything."""

    requirements: tuple[Requirement, ...] = ()
    matches_nothing: bool = False

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels satisfy every requirement."""
        if self.matches_nothing:
            return False
        return all(requirement.matches(labels) for requirement in self.requirements)

    def with_requirements(self, extra: Iterable[Requirement]) -> "Selector":
        """The selector with more requirements."""
        merged = {*self.requirements, *extra}
        return replace(self, requirements=tuple(sorted(merged, key=_order)))

    def split_exclusion(self) -> tuple["Selector", Requirement | None]:
        """The selector without one exclusion, and that exclusion turned into its opposite."""
        for requirement in self.requirements:
            if requirement.operator == "NotIn":
                rest = tuple(r for r in self.requirements if r is not requirement)
                return replace(self, requirements=rest), replace(requirement, operator="In")
        return self, None


NOTHING = Selector(matches_nothing=True)
EVERYTHING = Selector()


@dataclass(frozen=True, slots=True)
class Scope:
    """The namespaces of a term: by name, or by their labels."""

    names: frozenset[str]
    selector: Selector = NOTHING

    def admits(self, namespace: str, namespaces: Mapping[str, Mapping[str, str]]) -> bool:
        """Whether pods of that namespace count; ``namespaces`` holds the labels of each."""
        if namespace in self.names:
            return True
        return self.selector is not NOTHING and self.selector.matches(namespaces.get(namespace, {}))


@dataclass(frozen=True, slots=True)
class Matcher:
    """The pods that a term selects; several terms together select the pods that match all."""

    pairs: tuple[tuple[Scope, Selector], ...]

    def matches(
        self,
        namespace: str,
        labels: Mapping[str, str],
        namespaces: Mapping[str, Mapping[str, str]],
    ) -> bool:
        """Whether the matcher selects a pod with these labels."""
        return all(
            selector.matches(labels) and scope.admits(namespace, namespaces)
            for scope, selector in self.pairs
        )


def read_selector(raw: Object | None) -> Selector:
    """Compile a label selector; none at all matches nothing, an empty one everything."""
    if raw is None:
        return NOTHING
    wanted = [
        Requirement(key, "In", frozenset({value}))
        for key, value in (raw.get("matchLabels") or {}).items()
    ]
    wanted += [_read_requirement(item) for item in raw.get("matchExpressions") or ()]
    return EVERYTHING.with_requirements(wanted)


def _read_requirement(raw: dict[str, Any]) -> Requirement:
    return Requirement(raw["key"], raw["operator"], frozenset(raw.get("values") or ()))


def _order(requirement: Requirement) -> tuple[str, str, tuple[str, ...]]:
    return requirement.key, requirement.operator, tuple(sorted(requirement.values))
