"""
The forest of topology domains: which nodes are near each other, and at which tier.

Domains are nested; tiers count from near to far, and what a tier means is up to
the labels or objects that declare it. Above all of them stands one root, the whole cluster, whose
tier is one more than the highest, or 1 when there are no domains. Nodes that no
domain has hang on the root. What makes it no forest (two parents, a circle, a child
as wide as its parent) is kept as errors, and the rest is built without it.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from kohort.cluster.node_labels import HOST
from kohort.placement.hypernodes import HyperNode, Labels, NodeFinder

# The name of the root of all domains; no object can have it, since it is no DNS name.
ROOT_NAME = "<cluster-top-hypernode>"
ROOT = 0


class Forest:
    """Domains by number; the root is number 0. Never changed once it is built."""

    def __init__(
        self,
        domains: Iterable[HyperNode],
        parents: Mapping[str, str],
        homes: Mapping[str, str],
        errors: Iterable[str] = (),
    ) -> None:
        declared = sorted(domains, key=lambda d: (d.tier, d.name))
        top = max((domain.tier for domain in declared), default=0) + 1
        self.names = (ROOT_NAME, *(domain.name for domain in declared))
        self.tiers = (top, *(domain.tier for domain in declared))
        self.tier_names = ("", *(domain.tier_name for domain in declared))
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self.parents = tuple(self.numbers.get(parents.get(n, ""), ROOT) for n in self.names)
        self.errors = tuple(errors)
        self._homes = {node: self.numbers[home] for node, home in homes.items()}
        self._chains = tuple(self._find_chain(number) for number in range(len(self.names)))

    def _find_chain(self, domain: int) -> tuple[int, ...]:
        chain = [domain]
        while chain[-1] != ROOT:
            chain.append(self.parents[chain[-1]])
        return tuple(chain)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The direct children of each domain."""
        found: list[list[int]] = [[] for _ in self.names]
        for domain, parent in enumerate(self.parents):
            if domain != ROOT:
                found[parent].append(domain)
        return tuple(tuple(sorted(under, key=lambda d: self.names[d])) for under in found)

    @cached_property
    def at_tier(self) -> dict[int, tuple[int, ...]]:
        """The domains of each tier, by name; tiers rise."""
        found: dict[int, list[int]] = {}
        for domain in sorted(range(len(self.names)), key=lambda d: (self.tiers[d], self.names[d])):
            found.setdefault(self.tiers[domain], []).append(domain)
        return {tier: tuple(domains) for tier, domains in found.items()}

    @property
    def top(self) -> int:
        """The tier of the root."""
        return self.tiers[ROOT]

    def chain_of(self, domain: int) -> tuple[int, ...]:
        """A domain and its ancestors, up to the root."""
        return self._chains[domain]

    def chain(self, node: str) -> tuple[int, ...]:
        """The domains of a node, the nearest first."""
        return self._chains[self._homes.get(node, ROOT)]

    def find_common(self, nodes: Iterable[str]) -> int | None:
        """The smallest domain that holds all these nodes; none without nodes."""
        return self.join(self._homes.get(node, ROOT) for node in nodes)

    def join(self, domains: Iterable[int]) -> int | None:
        """The smallest domain that holds all these domains."""
        common: int | None = None
        for domain in domains:
            if common is None:
                common = domain
            elif common not in self._chains[domain]:
                above = set(self._chains[domain])
                common = next(d for d in self._chains[common] if d in above)
        return common

    def is_within(self, domain: int, outer: int) -> bool:
        """Whether a domain is another one or lies in it."""
        return outer in self._chains[domain]

    def find_tier(self, name: str) -> int | None:
        """The tier of that name; where several have it, the highest."""
        found = [t for t, known in zip(self.tiers, self.tier_names, strict=True) if known == name]
        return max(found, default=None) if name else None

    def name_of_tier(self, tier: int) -> str:
        """The name of a tier; its number if it has no name."""
        if tier == self.top:
            return "the whole cluster"
        named = sorted({self.tier_names[d] for d in self.at_tier.get(tier, ())} - {""})
        return f"tier {tier} ({named[0]})" if named else f"tier {tier}"


def build_forest(hypernodes: Iterable[HyperNode], nodes: Labels) -> Forest:
    """The forest that HyperNodes declare over the nodes of a cluster."""
    everything = list(hypernodes)
    declared = {hypernode.name: hypernode for hypernode in everything if not hypernode.error}
    finder = NodeFinder(nodes)
    parents, errors = _find_parents(declared)
    errors = [*(hypernode.error for hypernode in everything if hypernode.error), *errors]
    claims: dict[str, list[str]] = {}
    for name in sorted(declared):
        for node in sorted(set(finder.find(declared[name]))):
            claims.setdefault(node, []).append(name)
    homes = {}
    for node, claimants in claims.items():
        home, error = _find_home(node, claimants, declared, parents)
        homes[node] = home
        errors += [error] if error else []
    return Forest(declared.values(), parents, homes, [*errors, *finder.errors])


def _find_parents(declared: Mapping[str, HyperNode]) -> tuple[dict[str, str], list[str]]:
    parents: dict[str, str] = {}
    errors: list[str] = []
    for name in sorted(declared):
        outer = declared[name]
        for child in dict.fromkeys(outer.inner):
            inner = declared.get(child)
            if inner is None:
                continue
            if child in parents:
                errors.append(f"HyperNode {child} belongs to both {parents[child]} and {name}")
            elif _is_above(child, name, parents):
                errors.append(f"HyperNodes {child} and {name} hold each other")
            elif inner.tier >= outer.tier:
                errors.append(
                    f"HyperNode {child} of tier {inner.tier} "
                    f"cannot belong to {name} of tier {outer.tier}"
                )
            else:
                parents[child] = name
    return parents, errors


def _is_above(name: str, below: str, parents: Mapping[str, str]) -> bool:
    at: str | None = below
    while at is not None:
        if at == name:
            return True
        at = parents.get(at)
    return False


def _find_home(
    node: str, claimants: list[str], declared: Mapping[str, HyperNode], parents: Mapping[str, str]
) -> tuple[str, str]:
    """The nearest domain of a node, and an error if its domains are not nested."""
    nearest = min(claimants, key=lambda name: (declared[name].tier, name))
    for other in claimants:
        if not _is_above(other, nearest, parents):
            return nearest, f"node {node} belongs to both {nearest} and {other}"
    return nearest, ""


def build_label_forest(
    keys: Sequence[str], nodes: Labels, titles: Mapping[str, str] | None = None
) -> Forest:
    """The forest of nested node labels, the broadest first; the narrowest is tier 1.

    A label for each single node is tier 0, so that racks are tier 1 with or without it.
    Tiers are called by their label, or by the title that is given for it.
    """
    titles = titles or {}
    highest = len(keys) - (1 if HOST in keys[-1:] else 0)
    domains: dict[str, HyperNode] = {}
    parents: dict[str, str] = {}
    homes: dict[str, str] = {}
    for node in sorted(nodes):
        path = ""
        for depth, key in enumerate(keys):
            value = nodes[node].get(key)
            if not value:
                break
            inner = f"{path}/{value}" if path else value
            if inner not in domains:
                domains[inner] = HyperNode(inner, highest - depth, titles.get(key, key))
            parents[inner] = path
            homes[node] = path = inner
    return Forest(domains.values(), parents, homes)
