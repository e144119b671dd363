"""
Requests: what each scheduler's words for a gang come down to.

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
NOWHERE = Window(-1, -1)  # no domain has such a tier


@dataclass(frozen=True, slots=True, order=True)
class GangKey:
    """A gang, by the dialect that speaks of it."""

    dialect: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Limit:
    """How near to each other members must or should stand."""

    is_hard: bool
    tier: int | None = None
    tier_name: str = ""
    preferred: str = ""  # the tier that is tried first; nearer ones are not looked for
    is_strict: bool = False  # whether nothing fits a tier that nobody knows; else all does

    def resolve(self, forest: Forest) -> Window | None:
        """The tiers that come into question; none: no domain is looked for."""
        lowest = forest.find_tier(self.preferred) if self.preferred else 0
        if not self.is_hard:
            return None if lowest is None else Window(lowest, forest.top)
        highest = forest.find_tier(self.tier_name) if self.tier_name else self.tier
        if highest is None:
            return NOWHERE if self.is_strict else None
        return Window(min(lowest or 0, highest), highest)


@dataclass(frozen=True, slots=True)
class SubgroupPolicy:
    """Subgroups that are made alike: which pods, told apart by which labels."""

    name: str
    keys: tuple[str, ...]
    size: int = 1
    needed: int = 0
    selector: LabelSelector = EVERYTHING
    limit: Limit | None = None


@dataclass(frozen=True, slots=True)
class GangSpec:
    """One gang as it was asked for."""

    key: GangKey
    minimum: int
    kind: Kind | None = None  # of the object behind it, if there is one
    uid: str = ""
    created: str = ""
    queue: str = ""
    priority_class: str = ""
    resources: Amounts | None = None  # what must be there before it is let in
    minima: Mapping[str, int] = field(default_factory=dict)  # members of each role
    limit: Limit | None = None
    domains: DomainSource = HYPERNODES
    policies: tuple[SubgroupPolicy, ...] = ()
    is_uniform: bool = False  # whether all members must have one priority
    annotations: Mapping[str, str] = field(default_factory=dict)
    status: Object = field(default_factory=dict)

    @property
    def is_constrained(self) -> bool:
        """Whether some domain is looked for."""
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
