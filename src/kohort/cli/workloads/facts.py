"""
This is where commands read facts beside a workload's own objects: nodes, warnings, lease.

Nothing is read for workloads that are ready. A user who may not read nodes, events or the
lease gets a verdict without them, as far as it can be given.
"""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

import orjson

from kohort.apis.home import Home
from kohort.cluster.errors import ClusterError, NotFound
from kohort.cluster.http import HttpCluster
from kohort.cluster.kinds import EVENT, LEASE, NODE
from kohort.cluster.objects import Object
from kohort.cluster.port import Address, Selection
from kohort.views.evidence.cluster import (
    GONE,
    ClusterFacts,
    NodeState,
    OperatorState,
    read_lease,
    read_node,
)
from kohort.views.health import Word, judge
from kohort.views.picture import Picture, take_picture

_NODES_MAX = 50  # read one by one; more troubled nodes add nothing to a verdict


async def complete(cluster: HttpCluster, pictures: Sequence[Picture]) -> list[Picture]:
    """The pictures with the facts that those need which are not ready."""
    needing = [p for p in pictures if judge(p).word is not Word.READY or p.is_moving]
    if not needing:
        return list(pictures)
    facts, operators = await asyncio.gather(
        _read_facts(cluster, needing), _read_operators(cluster, {p.api.home for p in needing})
    )
    # Each upstream controller has a lease of its own, and one may be silent while others are not.
    by_home = {home: replace(facts, operator=found) for home, found in operators.items()}
    return [take_picture(p.api, p.sample, p.now, by_home.get(p.api.home, facts)) for p in pictures]


async def _read_facts(cluster: HttpCluster, needing: Sequence[Picture]) -> ClusterFacts:
    """The nodes and warnings that concern the workloads which are not ready."""
    nodes = dict.fromkeys(t.node for p in needing for t in p.troubles if t.node)
    namespaces = {p.namespace for p in needing}
    found, warnings = await asyncio.gather(
        _read_nodes(cluster, list(nodes)[:_NODES_MAX]),
        _read_warnings(cluster, namespaces.pop() if len(namespaces) == 1 else ""),
    )
    return ClusterFacts(found, warnings)


async def _read_operators(
    cluster: HttpCluster, homes: Collection[Home]
) -> dict[Home, OperatorState | None]:
    found = await asyncio.gather(*(_read_operator(cluster, home) for home in homes))
    return dict(zip(homes, found, strict=True))


async def _read_nodes(cluster: HttpCluster, names: Iterable[str]) -> dict[str, NodeState]:
    async def read(name: str) -> tuple[str, NodeState | None]:
        try:
            return name, read_node(await cluster.read(Address(NODE, "", name)))
        except NotFound:
            return name, GONE
        except ClusterError:
            return name, None

    found = await asyncio.gather(*(read(name) for name in names))
    return {name: state for name, state in found if state is not None}


async def _read_warnings(cluster: HttpCluster, namespace: str) -> list[Object]:
    with suppress(ClusterError):
        listing = await cluster.list(Selection(EVENT, namespace, fields="type=Warning"))
        return [orjson.loads(raw) for raw in listing.items]
    return []


async def _read_operator(cluster: HttpCluster, home: Home) -> OperatorState | None:
    with suppress(ClusterError):
        return read_lease(await cluster.read(Address(LEASE, home.namespace, home.lease)))
    return None
