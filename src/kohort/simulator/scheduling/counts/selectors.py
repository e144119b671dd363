"""
The pods that a term selects: label selectors with the namespaces in which they count.

A selector is a value: two terms that say the same share one tally. A selector
with an exclusion (``NotIn``) can be split, because the pods that match it are
the pods that match the rest less those that have one of the values. That keeps
a thousand terms "all pods but those of my own group" from each counting all pods.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from kohort.cluster.selectors import NOTHING, LabelSelector, Requirement


def narrow(selector: LabelSelector, extra: Iterable[Requirement]) -> LabelSelector:
    """The selector with more requirements, all in one order, so that equal terms are equal."""
    merged = {*selector.requirements, *extra}
    return replace(selector, requirements=tuple(sorted(merged, key=_order)))


def split_exclusion(selector: LabelSelector) -> tuple[LabelSelector, Requirement | None]:
    """The selector without one exclusion, and that exclusion turned into its opposite."""
    for requirement in selector.requirements:
        if requirement.operator == "NotIn":
            rest = tuple(r for r in selector.requirements if r is not requirement)
            return replace(selector, requirements=rest), replace(requirement, operator="In")
    return selector, None


def _order(requirement: Requirement) -> tuple[str, str, tuple[str, ...]]:
    return requirement.key, requirement.operator, requirement.values


@dataclass(frozen=True, slots=True)
class Scope:
    """The namespaces of a term: by name, or by their labels."""

    names: frozenset[str]
    selector: LabelSelector = NOTHING

    def admits(self, namespace: str, namespaces: Mapping[str, Mapping[str, str]]) -> bool:
        """Whether pods of that namespace count; ``namespaces`` holds the labels of each."""
        if namespace in self.names:
            return True
        return self.selector is not NOTHING and self.selector.matches(namespaces.get(namespace, {}))


@dataclass(frozen=True, slots=True)
class Matcher:
    """The pods that a term selects; several terms together select the pods that match all."""

    pairs: tuple[tuple[Scope, LabelSelector], ...]

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
