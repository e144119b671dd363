"""
The common form of a gang's requirements, into which every scheduler's objects are read.

A key names a gang, whether its object exists or not. Limits are kept as they were
asked for; what they mean is known only once the domains are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kohort.cluster.objects import Kind, Object
from kohort.cluster.selectors import EVERYTHING, LabelSelector
from kohort.placement.amounts import Amounts
from kohort.placement.forest import Forest
from kohort.placement.units import Window

DomainSource = tuple[str, ...]  # where domains come from: their sort, and what tells which
HYPERNODES: DomainSource = ("hypernodes",)
NOWHERE = Window(-1, -1)  # stands for an unknown tier


@dataclass(frozen=True, slots=True, order=True)
class GangKey:
    """The key of a gang: dialect, namespace and name."""

    dialect: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Limit:
    """How near to each other the nodes of members must or should be."""

    is_hard: bool
    tier: int | None = None
    tier_name: str = ""
    preferred: str = ""  # the tier that is tried first; nearer ones are skipped
    is_strict: bool = False  # whether nothing fits an unknown tier; else everything does

    def resolve(self, forest: Forest) -> Window | None:
        """The tiers to search; None: no domain is needed."""
        lowest = forest.find_tier(self.preferred) if self.preferred else 0
        if not self.is_hard:
            return None if lowest is None else Window(lowest, forest.top)
        highest = forest.find_tier(self.tier_name) if self.tier_name else self.tier
        if highest is None:
            return NOWHERE if self.is_strict else None
        return Window(min(lowest or 0, highest), highest)


@dataclass(frozen=True, slots=True)
class SubgroupPolicy:
    """A policy that divides selected pods into subgroups by labels."""

    name: str
    keys: tuple[str, ...]
    size: int = 1
    needed: int = 0
    selector: LabelSelector = EVERYTHING
    limit: Limit | None = None


@dataclass(frozen=True, slots=True)
class GangSpec:
    """The requirements of one gang."""

    key: GangKey
    minimum: int
    kind: Kind | None = None  # of the object behind it, if there is one
    uid: str = ""
    created: str = ""
    queue: str = ""
    priority_class: str = ""
    resources: Amounts | None = None  # the resources that its queue must have before it is admitted
    minima: Mapping[str, int] = field(default_factory=dict)  # members of each role
    limit: Limit | None = None
    domains: DomainSource = HYPERNODES
    policies: tuple[SubgroupPolicy, ...] = ()
    is_uniform: bool = False  # whether all members must have one priority
    annotations: Mapping[str, str] = field(default_factory=dict)
    status: Object = field(default_factory=dict)

    @property
    def is_constrained(self) -> bool:
        """Whether the gang, or a subgroup, needs a domain."""
        return self.limit is not None or any(policy.limit for policy in self.policies)

    def about(self) -> Object:
        """The gang's object, as an event refers to it."""
        assert self.kind is not None
        metadata = {"name": self.key.name, "namespace": self.key.namespace, "uid": self.uid}
        return {
            "apiVersion": self.kind.api_version,
            "kind": self.kind.name,
            "metadata": metadata,
        }
