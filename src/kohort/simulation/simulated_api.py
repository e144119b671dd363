"""
One API for simulations, as a value: how its objects are found, drawn, edited and checked.

Checkers, faults and the harness are the same for all APIs. They ask this value for a workload's
groups, for the policy in its spec, and for the state that it must have at rest.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kohort.apis.api import Api, Settings
from kohort.cluster.objects import Kind, Object

if TYPE_CHECKING:
    from kohort.simulation.checkers.checker import Checker, Scene
    from kohort.simulation.checkers.truth import Group, Truth
    from kohort.simulation.scenario import Scenario
    from kohort.simulator.component import Component


EARLIER = "v0-"  # what the invented earlier version puts before the hash of a revision


@dataclass(frozen=True, slots=True)
class OperatorVersion:
    """What one version of the operator is made of."""

    api: Api
    settings: Settings
    more: tuple[Api, ...] = ()  # further APIs of this operator, which the first one needs

    @property
    def apis(self) -> tuple[Api, ...]:
        """All APIs that this operator serves."""
        return (self.api, *self.more)


@dataclass(frozen=True, slots=True)
class OperatorVersions:
    """The present version, one that might have been before, and one that takes over from it."""

    present: OperatorVersion
    before: OperatorVersion
    after: OperatorVersion


@dataclass(frozen=True, slots=True)
class WorkloadLabels:
    """The labels by which children of a workload are found."""

    owner: str  # on every child: the name of the workload
    revision: str  # on pods and revisions
    place: tuple[str, ...]  # on pods: where each stands
    misplaced: Object  # the same, with values that no pod has
    all_tell: bool = False  # whether every pod has the revision label, or only the leader
    stored: str = ""  # on revisions, where that is another label than on pods

    def revision_of(self, obj: Object) -> str:
        """The revision that an object was made from; empty if no label says so."""
        held: dict[str, str] = obj["metadata"].get("labels") or {}
        return held.get(self.revision, "")

    def stored_of(self, revision: Object) -> str:
        """The key of a stored revision; empty if no label says so."""
        held: dict[str, str] = revision["metadata"].get("labels") or {}
        return held.get(self.stored or self.revision, "")

    def place_of(self, pod: Object) -> list[str]:
        """Where a pod stands, as its labels say."""
        held: dict[str, str] = pod["metadata"].get("labels") or {}
        return [held.get(label, "") for label in self.place]


@dataclass(frozen=True, slots=True)
class StatusFields:
    """The fields of a status that all APIs have under different names."""

    read_ready: Callable[[Object], int]  # how many units a status says to serve
    count_ready: "Callable[[Truth], int]"  # how many of them do
    selector: str  # the status field with an autoscaler's selector; empty: the kind has no scale
    says_over: Callable[[Object], bool]  # whether a status says that a rollout is over
    available: str = "Available"  # the condition that says that all units serve
    # The units of each role that serve, where other controllers count some of them, each in its
    # time: then the counts of a status need not be of one moment.
    count_by_role: "Callable[[Truth], dict[str, int]] | None" = None


@dataclass(frozen=True, slots=True)
class Policy:
    """How many groups a user wants, and how many may be missing, extra and old in a rollout."""

    wanted: int
    unavailable: int
    surge: int
    partition: int

    @property
    def fewest(self) -> int:
        """The groups that must serve."""
        return max(0, self.wanted - self.unavailable)

    @property
    def most(self) -> int:
        """The groups that may exist."""
        return self.wanted + self.surge


def read_budget(rolling: Object, wanted: int) -> tuple[int, int]:
    """
    The units that may be missing and those that may be extra, by a rollout's configuration.

    maxUnavailable in percent rounds down, maxSurge up. One unit may be missing where both are 0: a
    percentage that rounds down to nothing keeps no rollout for ever.
    """
    unavailable, surge = rolling.get("maxUnavailable", 1), rolling.get("maxSurge") or 0
    if isinstance(unavailable, str):
        unavailable = int(unavailable[:-1]) * wanted // 100
    if isinstance(surge, str):
        surge = -(-int(surge[:-1]) * wanted // 100)
    return unavailable or (0 if surge else 1), min(surge, wanted)


Step = tuple[int, int, str]  # how far a rollout has come: partition, count, target


@dataclass(frozen=True, slots=True)
class Template:
    """A user's change of a template."""

    image: str
    notes: Object  # annotations; None: taken away
    pick: int = 0  # which of several templates
    mends: str = ""  # the image that the user knows to be bad, where that is why


@dataclass(frozen=True, slots=True)
class LineView:
    """An ordered list of units that scales as one: the groups, or the instances of a role."""

    name: str
    units: "tuple[Group, ...]"  # those that are not leaving, lowest first
    ordinals: frozenset[int]  # of all that hold a name, those that leave included
    policy: Policy
    rolls: bool  # whether its units are brought to a new template by themselves
    recovers: bool  # whether a member that fails takes its unit of this line along
    is_uniform: bool  # whether all pods of a unit have one revision
    is_inner: bool = False  # whether its units are parts of a group
    role: str = ""
    after: tuple[str, ...] = ()  # roles that it begins and is updated after
    spares_lost: bool = False  # whether a pod that a user deletes takes no other along
    # Whether ordinals are only identities, and a partition keeps so many old units, whichever.
    is_stateless: bool = False
    carried: "Carried | None" = None  # where another controller makes and takes down the units


@dataclass(frozen=True, slots=True)
class Carried:
    """What the operator has written for a role whose units another controller makes."""

    uid: str = ""  # of the object that was written; empty: there is none
    asked: int = 0  # the units that it asks for
    # The ordinals that it lets be updated to what the user asks for now.
    told: frozenset[int] = frozenset()
    contents: object = None  # what the user asks the pods of this role to run


@dataclass(frozen=True, slots=True)
class RuleView:
    """A rule of a user that ties roles together; a skew is a share of a role, or units."""

    roles: tuple[str, ...]
    update_skew: float | int | None = None
    is_together: bool = False  # the skew is of all instances, also of those below a partition
    growth_skew: float | int | None = None
    order: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SpecEdits:
    """The edits of users: each function returns the change of a spec."""

    write_template: "Callable[[Scenario, Object, Template], Object]"
    write_size: Callable[[Object, int], Object]
    write_partition: Callable[[Object, int], Object]
    write_role_scale: Callable[[Object, int, int], Object]  # instances, of which role
    # Another object by which that role is scaled; None: there is none.
    find_scaled: "Callable[[Scenario, int], tuple[Kind, str] | None]" = lambda scenario, pick: None
    # The rollout of a role stopped or let go on, where users can do that.
    write_pause: Callable[[Object, int, bool], Object] = lambda workload, pick, is_paused: {}


@dataclass(frozen=True, slots=True)
class SimulatedApi:
    """One API in simulations."""

    name: str
    kind: Kind
    labels: WorkloadLabels
    status: StatusFields
    versions: OperatorVersions
    checkers: "tuple[Callable[[Scene], Checker], ...]"
    draw: "Callable[[int], Scenario]"
    make_workload: "Callable[[Scenario, bool], Object]"  # whether it is the first
    edits: SpecEdits
    read_policy: Callable[[Object], Policy]
    list_groups: "Callable[[Truth], list[Group]]"
    list_lines: "Callable[[Truth], list[LineView]]"
    is_old: "Callable[[Group, Object], bool]"  # whether a group differs from a spec
    is_in_place: Callable[[Object], bool]  # whether the labels of a pod say what its name says
    find_image: Callable[[Object], str]  # of a spec
    has_old_image: "Callable[[Group, Object], bool]"  # the same for what its containers run
    find_min_ready: Callable[[Object], int]  # seconds that a workload wants its groups to last
    count_gang: "Callable[[Group, Scene], tuple[int, int]]"  # pods waited for, and of all
    list_services: Callable[[Object], tuple[str, ...]]  # those that a pod is found by
    list_free_names: "Callable[[Scenario, Kind, int], list[str]]"  # those that children would have
    find_trouble: "Callable[[Scene], str]"  # what is not as it was asked for
    # Whether groups may have any ordinals; partitions count places then.
    is_sparse: bool
    read_step: "Callable[[Truth, str], Step | None]"  # where a rollout is written down first
    has_gone_back: "Callable[[Truth, str], bool]"
    children: tuple[Kind, ...] = ()  # kinds that only this API makes
    unit_kinds: tuple[Kind, ...] = ()  # of these, those whose writes change units
    others: tuple[Kind, ...] = ()  # kinds that users make besides, before the workload
    make_others: "Callable[[Scenario], list[tuple[Kind, Object]]]" = lambda scenario: []
    list_rules: "Callable[[Truth], list[RuleView]]" = lambda truth: []
    # Whether a running unit can be updated in place to a spec.
    can_follow: "Callable[[Group, Object], bool]" = lambda unit, spec: False
    # Whether an old unit stays, since it cannot follow and its policy forbids making it anew.
    is_kept_old: "Callable[[Group, Object], bool]" = lambda unit, spec: False
    parts: "tuple[Callable[[], Component], ...]" = ()  # of the cluster, that only this API needs
    has_fixed_routes: bool = True  # whether a service leads for ever where it was made to lead
    # Kinds whose objects have random names: checkers do not count them by name.
    uncounted: tuple[Kind, ...] = ()
    has_rollouts: bool = True  # whether a rollout strategy replaces its units
    # Whether the object of a unit has the template of a spec; its pods may still be old.
    is_told: "Callable[[Group, Object], bool]" = lambda unit, spec: True
    # The same API in scenarios where other controllers make units; None: it is the same value.
    carrying: "SimulatedApi | None" = None
    carriers: tuple[Kind, ...] = ()  # the kinds whose controllers make units then
