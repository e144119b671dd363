"""
The nodes of a cluster at one moment, as an immutable value.

One value serves all workloads until a node changes, and is compared by identity. So the
distances between nodes, which follow from a scheduler's objects and the labels of all nodes, are
computed once for each value.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from kohort.apis.gangs.dialect import Dialect, Survey
from kohort.cluster.objects import Object


class Nodes(Mapping[str, Any]):
    """The cached facts of all nodes, by name."""

    __slots__ = ("_facts",)
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(self, facts: Mapping[str, Any] | None = None) -> None:
        self._facts = dict(facts or {})

    def __getitem__(self, name: str) -> Any:
        return self._facts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)


class TierObjects(tuple[Object, ...]):
    """The objects in which one scheduler declares tiers, such as HyperNodes."""

    __slots__ = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__


NO_NODES = Nodes()


def measure_span(
    dialect: Dialect, objects: TierObjects, nodes: Nodes, names: Iterable[str]
) -> int | None:
    """The tier of the narrowest domain that holds these nodes; None: unknown."""
    listed = tuple(names)
    if not objects or dialect.survey is None or not all(name in nodes for name in listed):
        return None
    return _survey(dialect, objects, nodes)(listed)


@lru_cache(maxsize=4)
def _survey(dialect: Dialect, objects: TierObjects, nodes: Nodes) -> Survey:
    assert dialect.survey is not None
    return dialect.survey(objects, {name: node.metadata.labels for name, node in nodes.items()})
