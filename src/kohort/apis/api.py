"""
An API, as a value: everything that makes one foreign API different from the others.

The controller knows no API. It fills a snapshot from its caches, asks the API to
read it, plans, asks the API to render the plan, carries that out, and writes the
status that the API makes of the report. All functions here are pure.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from kohort.apis.conversion import Convert, Define
from kohort.apis.definitions.shapes import shape_of
from kohort.apis.gangs.dialect import NONE, Dialect
from kohort.apis.gangs.intent import Tiers
from kohort.apis.group_cache import GroupCache
from kohort.apis.home import OWN_HOME, Home, UnservedKind
from kohort.apis.losses import Loss, Remaining
from kohort.apis.nodes import NO_NODES, Nodes, TierObjects, measure_span
from kohort.apis.put_backs import PutBacks
from kohort.apis.references import Projection, Reference
from kohort.cluster.actions import Action
from kohort.cluster.errors import KohortError
from kohort.cluster.fields import FieldError
from kohort.cluster.objects import Kind, Object, namespace_of
from kohort.cluster.permissions import Grant
from kohort.cluster.port import Address
from kohort.model.observed import Observed
from kohort.model.plans import Plan
from kohort.model.reasons import Notice
from kohort.model.workload import Workload

Key = tuple[str, str]  # namespace and name of a workload


class InvalidWorkload(KohortError):
    """A workload that cannot be planned as it stands: the user sees a condition; no retry."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Watched:
    """A kind of child object that an API has, and how the operator finds its workload."""

    kind: Kind
    decode: Callable[[bytes], Any]  # returns a value that has ``metadata``
    labels: str = ""  # only objects that match this selector are watched
    owners: Callable[[Any], tuple[Key, ...]] = lambda child: ()  # the workloads it may belong to
    remedy: str = ""  # how the user gets the kind served; empty: every cluster serves it
    is_needed: bool = True  # false: the API also works on a cluster that does not serve the kind
    is_remembered: bool = False  # the snapshot also has those that were deleted of late


@dataclass(frozen=True, slots=True)
class Settings:
    """The flags that the operator was started with."""

    strategy: str = "budgeted"  # empty: no flags known; what the operator recorded counts
    carrier: str = "statefulsets"
    gangs: tuple[Dialect, ...] = ()  # dialects in use, the default first; empty: no gangs
    tiers: Tiers = field(default_factory=Tiers)  # for dialects that know tiers by labels of nodes
    has_usual: bool = True  # whether the first dialect also serves objects that name no dialect
    lacks_gangs: bool = False  # whether the cluster is known to have no scheduler of gangs
    patches_pods: bool = True  # whether to patch new counts and missing keys into running pods
    beside: tuple[Object, ...] = field(default=(), compare=False)  # read because a webhook needs it

    @property
    def are_given(self) -> bool:
        """Whether an operator's flags are known; a command that only reads objects has none."""
        return bool(self.strategy)

    @property
    def gang_kinds(self) -> frozenset[Kind]:
        """The kinds of all objects by which schedulers learn of gangs."""
        return frozenset(kind for dialect in self.gangs for kind in dialect.kinds)

    def list_beside(self, kind: Kind) -> tuple[Object, ...]:
        """The objects of one kind, in any of its versions, that were read for a webhook."""
        named = (found for found in self.beside if found.get("kind") == kind.name)
        return tuple(f for f in named if f["apiVersion"].rpartition("/")[0] == kind.group)

    def find_dialect(self, name: str) -> Dialect | None:
        """The dialect that an object names, or the default one; None: the object gets no gang."""
        if not name:
            return self.gangs[0] if self.gangs and self.has_usual else None
        return next((d for d in self.gangs if d.name == name != NONE), None)


DEFAULTS = Settings()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """
    A workload and its children, as the caches have them at one moment.

    It does not change: what the caches and the controller learn later is in the next snapshot.
    """

    root: Object
    children: Mapping[Kind, tuple[Any, ...]]
    nodes: Nodes = NO_NODES
    # Members that are gone, by incarnation.
    lost: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()  # fields that the API server did not keep
    settings: Settings = DEFAULTS
    absent: Mapping[Kind, str] = field(default_factory=dict)  # kinds not served, with the remedy
    unserved: frozenset[Kind] = frozenset()  # kinds not served that the API does without
    # Groups as the last reconcile read them: a cache that saves time and changes no result.
    group_cache: GroupCache[Any] = field(default_factory=GroupCache)
    tiers: Mapping[str, Tiers] = field(default_factory=dict)  # by the name of the dialect
    # What the tiers were read from; without dialects whose objects the operator cannot see.
    tier_objects: Mapping[str, TierObjects] = field(default_factory=dict)
    # Fields of gang objects that the API server dropped, of kinds that the operator has written.
    pruned: Mapping[Kind, frozenset[str]] = field(default_factory=dict)
    # Status fields with a wrong type: the root lacks them, and the next write removes them.
    stray: tuple[str, ...] = ()
    put_backs: Mapping[Address, PutBacks] = field(default_factory=dict)
    refused: frozenset[Address] = frozenset()  # objects that the API server keeps us from deleting
    # Objects that the workload names and does not own, by kind, as far as they exist.
    references: Mapping[Kind, tuple[Any, ...]] = field(default_factory=dict)
    # Children that were deleted of late, of kinds that are remembered; the latest come last.
    deleted: Mapping[Kind, tuple[Any, ...]] = field(default_factory=dict)
    # The children of all workloads, of kinds that hold what only one of them may have.
    beside: Mapping[Kind, tuple[Any, ...]] = field(default_factory=dict)
    # What this reconcile created for a workload that has no status yet: its first status counts it.
    made: tuple[Object, ...] = ()

    def find_node_labels(self, name: str) -> Mapping[str, str] | None:
        """The labels of a node; None if the cache does not have the node."""
        node = self.nodes.get(name)
        found: Mapping[str, str] | None = None if node is None else node.metadata.labels
        return found

    def measure(self, dialect: Dialect, names: Iterable[str]) -> int | None:
        """The tier of the narrowest domain with all these nodes; None if tiers are unknown."""
        objects = self.tier_objects.get(dialect.name, TierObjects())
        return measure_span(dialect, objects, self.nodes, names)

    def tiers_of(self, dialect: Dialect) -> Tiers:
        """The tiers that a dialect can express."""
        return self.tiers.get(dialect.name, self.settings.tiers)

    def find_put_backs(self, kind: Kind, name: str) -> PutBacks:
        """How often we restored an object of this workload lately."""
        return self.put_backs.get(Address(kind, namespace_of(self.root), name), PutBacks())

    def all(self, kind: Kind) -> tuple[Any, ...]:
        """The children of one kind."""
        return self.children.get(kind, ())


M_co = TypeVar("M_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Reading(Generic[M_co]):
    """A snapshot translated into the model, and what the carrier remembers until it renders."""

    workload: Workload
    observed: Observed
    memory: M_co
    due: tuple[float, ...] = ()  # when to plan again though nothing happens, in epoch seconds


@dataclass(frozen=True, slots=True)
class ExecutionSummary:
    """The result of a plan: actions done, actions refused with the error, status written or not."""

    done: tuple[Action, ...] = ()
    failed: tuple[tuple[Action, str], ...] = ()
    is_reported: bool = False  # the status was written


@dataclass(frozen=True, slots=True)
class MissingMember:
    """A member that should exist and is not in the cache; it may have lost its label."""

    address: Address
    restore: Callable[[Object], tuple[Action, ...]]  # what to do about the object of that name


@dataclass(frozen=True, slots=True)
class AdmissionProbe:
    """A pod created with dryRun, to see whether admission lets it pass."""

    kind: Kind
    namespace: str
    obj: Object
    is_admitted: Callable[[Object], bool]  # whether the answer bears the marks of our admission
    missing: Callable[[], Iterable[MissingMember]] = tuple  # a few that sets do not create


@dataclass(frozen=True, slots=True)
class StoredRevision:
    """A stored revision as users know it: a number, and the part of the spec that it stores."""

    number: int
    key: str  # the revision key that its groups carry
    name: str  # of the object that stores it
    created: str  # a timestamp
    content: Object  # the part of the spec that makes the revision
    has_served: bool = False  # all groups were ready on it


def _call_member(index: int) -> str:
    return "leader" if index == 0 else "worker"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserVerbs:
    """How users read and change objects of an API; each change returns the changed object."""

    role_of: Callable[[int], str] = _call_member  # the word for a member, by its place
    carrier_of: Callable[[Object, Settings], str] = lambda root, settings: "pods"
    list_revisions: Callable[[Snapshot], tuple[StoredRevision, ...]]  # lowest number first
    # The functions below take the name of a role; an empty name means the whole object.
    go_back: Callable[[Object, StoredRevision, str], Object]
    hold: Callable[[Object, int, str], Object]  # units below the boundary keep their revision
    release: Callable[[Object, str], Object]
    finish: Callable[[Object, str], Object]  # no partition and no pause holds any unit back
    list_templates: Callable[[Object, str], dict[str, Object]]  # with containers, by their field
    put_template: Callable[[Object, str, Object], Object]  # (…, field, template)
    list_held: Callable[[Object], tuple[str, ...]]  # roles that are held; "" for the whole object
    list_roles: Callable[[Object], tuple[str, ...]] = lambda root: ()  # empty: without names
    # Parts of pod templates that are laid over a template, and may name an image, too.
    list_patches: Callable[[Object, str], dict[str, Object]] = lambda root, role: {}
    cannot_pause: str = ""  # why no rollout can be held back, as the end of a sentence
    no_revisions: str = ""  # why none are stored and what to do instead, as the end of a sentence
    # Roles that may only be updated in place, where the planner sees no roles.
    list_in_place_only: Callable[[Object], tuple[str, ...]] = lambda root: ()
    # How many pods of one unit of a role are made from each pod template, by its field.
    count_pods: Callable[[Object, str], dict[str, int]] = lambda root, role: {}


@dataclass(frozen=True, slots=True)
class StatusVerdict:
    """The health of an object without groups, read from its status: a word of ``views.health``."""

    word: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class AdmissionResult:
    """The answer of admission for an object: its new form, errors and warnings."""

    obj: Object | None = None
    errors: tuple[FieldError, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # facts that ask for no change, sent as warnings
    refusal: str = ""  # a sentence for the user, where no single field is wrong


@dataclass(frozen=True, slots=True)
class Webhook:
    """One webhook that an API needs, under the name and path of the upstream project."""

    name: str
    path: str
    kind: Kind
    operations: tuple[str, ...]
    # Takes the object, the old object and the settings.
    handle: Callable[[Object, Object | None, Settings], AdmissionResult]
    selector: Object | None = None  # objectSelector
    mutates: bool = False
    # Other objects that the webhook reads to judge an object; ``Settings.beside`` then holds them.
    # An address without a name stands for all objects of its kind in its namespace.
    find_beside: Callable[[Object, Settings], tuple[Address, ...]] = lambda obj, settings: ()
    namespaces: Object | None = None  # namespaceSelector
    reinvocation: str = "Never"  # reinvocationPolicy, of a mutating webhook
    configuration: str = ""  # its webhook configuration, where it is not the one of its home


@dataclass(frozen=True, slots=True)
class Delegation:
    """How to forecast an API whose workloads other controllers run."""

    # A workload as its own controller leaves it when all its pods are ready.
    make_ready: Callable[[Kind, Object], Object]
    # The next workload that an autoscaler will scale, with its new replicas, and why.
    scale: Callable[[Mapping[Kind, Mapping[str, Object]]], tuple[Kind, Object, str] | None]
    list_strategies: Callable[[], tuple[str, ...]]
    put_strategy: Callable[[Object, str], Object]  # the object as one that asks for a strategy


@dataclass(frozen=True, slots=True)
class Api:
    """One foreign API."""

    kind: Kind
    short_name: str
    watched: tuple[Watched, ...]
    members: Kind  # the kind of its members, such as Pod
    read: Callable[[Snapshot], Reading[Any]]  # raises InvalidWorkload
    render: Callable[[Snapshot, Reading[Any], Plan], tuple[Action, ...]]
    write_status: Callable[[Snapshot, Reading[Any], Plan, str], Object]  # (…, now) -> status
    list_events: Callable[[Snapshot, Reading[Any], Plan, ExecutionSummary], tuple[Notice, ...]]
    # Where a deleted member belonged to.
    find_lost: Callable[[Any, Remaining], Loss | None] = lambda member, remaining: None
    # Fields that a status has from its first write on, even if the object cannot be planned.
    start_status: Callable[[Object], Object] = lambda root: {}
    is_partial: Callable[[Object, Object], bool] = lambda root, status: False  # it may wait
    has_conditions: bool = True  # false: its definition has none, so ours are not written
    # False: its conditions have no observedGeneration, and the API server would drop ours.
    has_condition_generations: bool = True
    # The health of an object without groups; None: it follows from groups and members.
    read_verdict: Callable[[Object], StatusVerdict | None] = lambda root: None
    # Decisions about a workload that are not in the plan, each as a sentence for users.
    list_decisions: Callable[[Reading[Any]], tuple[str, ...]] = lambda reading: ()
    # The strategy that runs a workload, by which metrics count; empty: the API has no strategies.
    name_strategy: Callable[[Reading[Any]], str] = lambda reading: ""
    # The status of an object that cannot be planned, without the condition that says so: (…, now).
    write_error: Callable[[Snapshot, InvalidWorkload, str], Object] = lambda snapshot, error, now: (
        dict(snapshot.root.get("status") or {})
    )
    webhooks: tuple[Webhook, ...] = ()
    home: Home = OWN_HOME
    scheduler: str = ""  # schedulerName of pods where the user sets none; empty: the default
    unserved: tuple[UnservedKind, ...] = ()  # kinds whose controller an install would replace
    # The CustomResourceDefinitions, each made afresh; that of the kind itself comes first.
    definitions: tuple[Define, ...] = (dict,)
    convert: Convert | None = None  # needed where a definition has several versions
    writes: tuple[Grant, ...] = ()  # the RBAC rights of its actions, beyond those of its watches
    # The labels of its workloads; other objects of its kind are children of another API.
    selector: str = ""
    # False: a child of another workload, although its labels match.
    is_workload: Callable[[Object], bool] = lambda root: True
    verbs: UserVerbs | None = None  # None: users cannot act on it through our commands
    # Makes a dry-run pod; None: its members need no admission by us.
    make_probe: Callable[[Snapshot], AdmissionProbe | None] = lambda snapshot: None
    # Makes a StatefulSet controller that backs off try again; empty if no member is missing.
    wake: Callable[[Snapshot, str], tuple[Action, ...]] = lambda snapshot, now: ()
    references: tuple[Reference, ...] = ()  # kinds of objects that workloads refer to by name
    # Of a stored workload: the kinds of which it has to know all objects that the process watches.
    find_shared: Callable[[bytes], tuple[Kind, ...]] = lambda raw: ()
    # Children in the snapshot whose status the operator writes: (…, now).
    list_projections: Callable[[Snapshot, Reading[Any], Plan, str], tuple[Projection, ...]] = (
        lambda snapshot, reading, plan, now: ()
    )
    # Fields that Kohort adds to the spec, each with the annotation to set where a CRD drops it.
    additions: dict[str, str] = field(default_factory=dict)
    watch_gangs: Callable[[Kind, str], Watched] | None = None  # of all kinds: (kind, remedy)
    deletes_gangs: bool = False  # whether the operator deletes them: no pod owns them
    heeds_tiers: Callable[[Any], bool] = lambda root: False  # whether tiers concern a workload
    delegation: Delegation | None = None  # None: its units are planned here
    find_open_misfit: Callable[[Object], str] = lambda root: ""  # in fields without a type

    def definition(self) -> Object:
        """The CustomResourceDefinition of its own kind, made afresh."""
        return self.definitions[0]()

    def read_checked(self, snapshot: Snapshot) -> Reading[Any]:
        """The snapshot translated into the model; raises InvalidWorkload, and nothing else."""
        misfit = self.find_misfit(snapshot.root)
        if misfit:
            raise InvalidWorkload("Malformed", f"{misfit}: mend the object, or delete it")
        return self.read(snapshot)

    def find_misfit(self, root: Object) -> str:
        """The first field of metadata or spec with a wrong type, or that is missing; or nothing."""
        shape = shape_of(self.definitions[0], self.kind.version)
        return shape.find_misfit(root) or self.find_open_misfit(root)

    def find_stray(self, root: Object) -> tuple[Object, tuple[str, ...]]:
        """The object without status fields of a wrong type, and the names of these fields."""
        status = root.get("status")
        if not isinstance(status, dict | None):
            return {**root, "status": {}}, ()
        stray = shape_of(self.definitions[0], self.kind.version).find_status_misfits(root)
        if not stray:
            return root, ()
        kept = {name: value for name, value in (status or {}).items() if name not in stray}
        return {**root, "status": kept}, stray

    def watched_with(self, settings: Settings) -> tuple[Watched, ...]:
        """The kinds that an operator with these settings watches."""
        if self.watch_gangs is None:
            return self.watched
        # Dialects may share a kind; it is watched once.
        kinds = {kind: d.remedy for d in reversed(settings.gangs) for kind in reversed(d.kinds)}
        own = {watched.kind for watched in self.watched}
        found = (self.watch_gangs(k, remedy) for k, remedy in kinds.items() if k not in own)
        return (*self.watched, *found)

    def writes_with(self, settings: Settings) -> tuple[Grant, ...]:
        """The RBAC rights that the actions of an operator with these settings need."""
        gangs = settings.gangs if self.watch_gangs is not None else ()
        gone = {k: Grant(k, ("delete",)) for d in gangs for k in d.kinds if self.deletes_gangs}
        return (*self.writes, *(grant for d in gangs for grant in d.grants), *gone.values())

    def reads_with(self, settings: Settings) -> tuple[Kind, ...]:
        """The kinds that an operator with these settings reads to learn the cluster's tiers."""
        gangs = settings.gangs if self.watch_gangs is not None else ()
        return tuple(dict.fromkeys(k for d in gangs if d.read_tiers for k in d.reads))
