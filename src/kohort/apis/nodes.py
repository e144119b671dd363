"""
The nodes of a cluster at one moment, as a value that nothing changes afterwards.

One value serves all workloads until a node changes, so it is compared by identity: how wide nodes
stand, which a scheduler's objects and the labels of all nodes say together, is found once for
each of them.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from kohort.apis.gangs.dialect import Dialect, Survey
from kohort.cluster.objects import Object


class Nodes(Mapping[str, Any]):
    """The facts of all nodes, by name."""

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
    """The objects that one scheduler knows tiers by."""

    __slots__ = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__


NO_NODES = Nodes()


def measure_span(
    dialect: Dialect, objects: TierObjects, nodes: Nodes, names: Iterable[str]
) -> int | None:
    """The tier of the narrowest domain that holds the nodes of these names; None: not known."""
    listed = tuple(names)
    if not objects or dialect.survey is None or not all(name in nodes for name in listed):
        return None
    return _survey(dialect, objects, nodes)(listed)


@lru_cache(maxsize=4)
def _survey(dialect: Dialect, objects: TierObjects, nodes: Nodes) -> Survey:
    assert dialect.survey is not None
    return dialect.survey(objects, {name: node.metadata.labels for name, node in nodes.items()})
