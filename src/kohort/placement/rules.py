"""
Node rules of a pod: node selector, node affinity and tolerations.

A rule is shared by all pods that write the same three things, so its masks are
computed once for each version of the node index, not once for each pod.
"""

from dataclasses import dataclass
from typing import Any

from kohort.cluster.objects import Object
from kohort.placement.nodes import NodeIndex, Taint

UNSCHEDULABLE = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")


@dataclass(frozen=True, slots=True)
class Toleration:
    """A toleration of a pod."""

    key: str
    operator: str
    value: str
    effect: str

    def covers(self, taint: Taint) -> bool:
        """Whether it tolerates a taint."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        if self.operator == "Exists":
            return True
        return bool(self.key) and self.value == taint.value


def read_tolerations(raw: list[Object] | None) -> tuple[Toleration, ...]:
    """The tolerations of a pod."""
    return tuple(
        Toleration(
            item.get("key", ""),
            item.get("operator") or "Equal",
            item.get("value", ""),
            item.get("effect", ""),
        )
        for item in raw or ()
    )


class NodeRule:
    """The nodes that a pod accepts, and those that it prefers."""

    def __init__(
        self,
        selector: dict[str, str],
        affinity: Object,
        tolerations: tuple[Toleration, ...],
    ) -> None:
        self.selector = selector
        self.tolerations = tolerations
        required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
        self.terms: list[Object] | None = None
        if required is not None:
            self.terms = required.get("nodeSelectorTerms") or []
        self.preferred: list[Object] = (
            affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or []
        )
        self._version = -1
        self._affine = 0
        self._untainted = 0
        self._uncordoned = 0
        self._preferences: list[tuple[int, int]] = []
        self._avoided: list[int] = []

    def allowed(self, index: NodeIndex) -> int:
        """All nodes that the pod accepts."""
        self._refresh(index)
        return self._affine & self._untainted & self._uncordoned

    def affine(self, index: NodeIndex) -> int:
        """The nodes that match selector and affinity."""
        self._refresh(index)
        return self._affine

    def untainted(self, index: NodeIndex) -> int:
        """The nodes without a taint that the pod does not tolerate."""
        self._refresh(index)
        return self._untainted

    def uncordoned(self, index: NodeIndex) -> int:
        """The nodes that are not cordoned, or whose cordon the pod tolerates."""
        self._refresh(index)
        return self._uncordoned

    def preferences(self, index: NodeIndex) -> list[tuple[int, int]]:
        """Preferred affinity: weights, each with the nodes that match."""
        self._refresh(index)
        return self._preferences

    def avoided(self, index: NodeIndex) -> list[int]:
        """For each PreferNoSchedule taint that is not tolerated, its nodes."""
        self._refresh(index)
        return self._avoided

    def pinned(self, index: NodeIndex) -> int | None:
        """The nodes that every affinity term names by ``metadata.name``, if all do."""
        if not self.terms:
            return None
        mask = 0
        for term in self.terms:
            fields = [f for f in term.get("matchFields") or () if f.get("operator") == "In"]
            if not fields:
                return None
            mask |= _field_mask(fields, index)
        return mask

    def _refresh(self, index: NodeIndex) -> None:
        if self._version == index.version:
            return
        self._version = index.version
        self._affine = self._find_affine(index)
        self._untainted = index.everywhere
        self._avoided = []
        for taint, mask in index.with_taint.items():
            if any(t.covers(taint) for t in self.tolerations):
                continue
            if taint.effect == "PreferNoSchedule":
                self._avoided.append(mask)
            else:
                self._untainted &= ~mask
        cordon_is_fine = any(t.covers(UNSCHEDULABLE) for t in self.tolerations)
        self._uncordoned = index.everywhere & ~(0 if cordon_is_fine else index.cordoned)
        self._preferences = [
            (int(item["weight"]), term_mask(item.get("preference") or {}, index))
            for item in self.preferred
        ]

    def _find_affine(self, index: NodeIndex) -> int:
        mask = index.everywhere
        for key, value in self.selector.items():
            mask &= index.with_value.get(key, {}).get(value, 0)
        if self.terms is not None:
            either = 0
            for term in self.terms:
                either |= term_mask(term, index)
            mask &= either
        return mask


def term_mask(term: Object, index: NodeIndex) -> int:
    """The nodes that match one node selector term; an empty term matches none."""
    expressions: list[Object] = term.get("matchExpressions") or []
    fields: list[Object] = term.get("matchFields") or []
    if not expressions and not fields:
        return 0
    mask = _field_mask(fields, index)
    for expression in expressions:
        mask &= _expression_mask(expression, index)
    return mask


def _field_mask(fields: list[Object], index: NodeIndex) -> int:
    mask = index.everywhere
    for field in fields:
        named = 0
        for name in field.get("values") or ():
            slot = index.slots.get(name)
            named |= 0 if slot is None else 1 << slot
        mask &= named if field.get("operator") == "In" else ~named
    return mask


def _expression_mask(expression: dict[str, Any], index: NodeIndex) -> int:
    key, operator = expression["key"], expression["operator"]
    values: list[str] = expression.get("values") or []
    having = index.with_key.get(key, 0)
    if operator == "Exists":
        return having
    if operator == "DoesNotExist":
        return index.everywhere & ~having
    if operator in ("Gt", "Lt"):
        return _compared_mask(key, operator, values, index)
    found = 0
    for value in values:
        found |= index.with_value.get(key, {}).get(value, 0)
    return found if operator == "In" else index.everywhere & ~found


def _compared_mask(key: str, operator: str, values: list[str], index: NodeIndex) -> int:
    bound = _find_integer(values[0]) if len(values) == 1 else None
    mask = 0
    if bound is None:
        return mask
    for value, having in index.with_value.get(key, {}).items():
        number = _find_integer(value)
        if number is not None and (number > bound if operator == "Gt" else number < bound):
            mask |= having
    return mask


def _find_integer(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None
