"""
The intent of one gang, before any dialect renders it: all that a dialect may need.

An API fills it from the group's own revision. A dialect renders it, and reports the
clauses that its scheduler has no way to express.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kohort.cluster.objects import Object
from kohort.model.placement import Gang, Pack


@dataclass(frozen=True, slots=True)
class SubgroupKind:
    """Subgroups of a gang that have the same size and limits."""

    name: str
    key: str  # the label whose values tell one subgroup from the next
    size: int  # members of each
    count: int  # how many of them the gang needs
    selector: Mapping[str, str] = field(default_factory=dict)  # selects the members of all of them
    pack: Pack | None = None
    first: int = 0  # the lowest value of the label; the others follow
    extra: int = 0  # members of the first subgroup beyond its size
    is_everywhere: bool = False  # whether all selected pods have the label
    is_whole: bool = True  # whether all members of a subgroup come at once
    # How many members the gang needs of each subgroup, by the value of the label; 0: they join when
    # there is room. Empty: ``count`` of them in a row, all members of each.
    needs: Mapping[int, int] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each subgroup, as in ``Membership.part``: it ends with the label's value."""
        return tuple(self.minima)

    @property
    def minima(self) -> dict[str, int]:
        """How many members the gang needs of each subgroup, by its name."""
        needs = self.needs or dict.fromkeys(range(self.first, self.first + self.count), self.size)
        found = {f"{self.name}-{value}": needed for value, needed in needs.items()}
        if self.extra and not self.needs:
            found[next(iter(found))] += self.extra
        return found


@dataclass(frozen=True, slots=True)
class Intent:
    """One gang: its members, owner, queue and limits."""

    namespace: str
    name: str
    gang: Gang
    owner: Object  # an ownerReference: the gang is deleted with it
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(
        default_factory=dict
    )  # the workload's, for its scheduler
    requests: Mapping[str, str] = field(default_factory=dict)  # of all members together
    queue: str = ""
    priorities: tuple[str, ...] = ()  # the priority classes of members, each once; "" is none
    schedulers: tuple[str, ...] = ()  # the schedulers that members name, each once
    parts: tuple[SubgroupKind, ...] = ()
    exclusive: str = ""  # the node label whose value no other gang may share
    shapes: int = 1  # how many templates its members are made from
    notes: Mapping[str, str] = field(default_factory=dict)  # annotations of the gang's objects

    @property
    def priority(self) -> str:
        """The priority class that all members share; empty if they differ."""
        return self.priorities[0] if len(self.priorities) == 1 else ""


@dataclass(frozen=True, slots=True)
class Membership:
    """The facts that a dialect writes on one pod of a gang when it is created."""

    gang: str  # the name of the gang
    size: int  # members of the complete group
    index: int  # of the member; 0 is the entry
    queue: str = ""
    part: str = ""  # the name of its subgroup, where there are subgroups
    pack: Pack | None = None
    task: str = ""  # what its scheduler calls members that are alike; empty: nothing


@dataclass(frozen=True, slots=True)
class Tier:
    """One width of network domains, as the cluster names it."""

    number: int
    name: str = ""
    label: str = ""  # the node label whose value tells its domains apart; empty: unknown
    source: str = ""  # the object that declares it, where a workload may choose among several


@dataclass(frozen=True, slots=True)
class Tiers:
    """The tiers of a cluster, as far as the operator knows them."""

    all: tuple[Tier, ...] = ()  # nearest first
    are_known: bool = False  # false: the operator could not read them, so a missing tier is no loss

    def find(self, pack: Pack) -> Tier | None:
        """The tier that a pack names, or None."""
        for tier in self.all:
            if tier.number == pack.tier or (pack.tier_name and tier.name == pack.tier_name):
                return tier
        return None
