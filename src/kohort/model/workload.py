"""
Workload: the spec of the user's object, the same for every API.

A workload is an ordered set of groups, a group is one complete serving replica
of all roles, a role is a kind of instance, and an instance is the set of members
(pods) that live and die together as one engine, its entry member first.
"""

from dataclasses import dataclass

from kohort.model.placement import NO_PLACEMENT, PlacementPolicy
from kohort.model.policies import (
    NO_RECOVERY,
    Amendment,
    RecoveryPolicy,
    RolloutPolicy,
    Rule,
    Startup,
    Victims,
)
from kohort.model.reasons import Blocker
from kohort.model.units import GROUPS, Line, Reach


@dataclass(frozen=True, slots=True)
class Part:
    """Members of an instance that start together, after the members of other parts."""

    name: str
    size: int = 1
    after: tuple[str, ...] = ()  # parts that have to be ready before this part starts


@dataclass(frozen=True, slots=True)
class Role:
    """A kind of instance: how many of them a group has, and how many members each has."""

    instances: int = 1
    size: int = 1
    name: str = ""  # empty where an API has a single role without a name
    revision: str = ""  # the revision that its instances should reach
    rollout: RolloutPolicy | None = None  # None: its instances roll with their group
    recovery: RecoveryPolicy = NO_RECOVERY
    startup: Startup = Startup.TOGETHER
    after: tuple[str, ...] = ()  # roles that have to be ready before this role starts
    victims: Victims = Victims.HIGHEST
    reach: Reach = Reach.ANY
    amendment: Amendment = Amendment.NEVER
    is_ordered: bool = False  # the operator makes and deletes instances one at a time, in order
    parts: tuple[Part, ...] = ()  # of each instance, where its members start in an order
    # What the role lacks: it neither begins nor is updated before the user has provided it.
    obstacle: Blocker | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """One object of a serving API, reduced to what planning needs."""

    namespace: str
    name: str
    uid: str
    generation: int
    groups: int
    roles: tuple[Role, ...]
    revision: str  # the revision that all units should reach
    rollout: RolloutPolicy
    recovery: RecoveryPolicy = NO_RECOVERY
    startup: Startup = Startup.TOGETHER
    placement: PlacementPolicy = NO_PLACEMENT
    is_leaving: bool = False
    victims: Victims = Victims.HIGHEST
    reach: Reach = Reach.SUFFIX
    rules: tuple[Rule, ...] = ()
    has_rollout: bool = True  # false: groups stay, and only their roles roll
    amendment: Amendment = Amendment.NEVER  # of groups
    # The API has no groups: the object itself is the only one, and no message names it.
    is_one_group: bool = False

    def find_role(self, name: str) -> Role | None:
        """The role of that name, if the spec still has it."""
        return next((role for role in self.roles if role.name == name), None)

    def name_line(self, line: Line) -> str:
        """A line in words, as far as it has to be told from others; empty if it is the only one."""
        if line == GROUPS or not self.is_one_group:
            return str(line)
        return f"role {line.role}" if len(self.roles) > 1 else ""

    @property
    def group_size(self) -> int:
        """Members of a complete group."""
        return sum(role.instances * role.size for role in self.roles)
