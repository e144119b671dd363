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
from kohort.apis.nodes import NO_NODES, Nodes, TierObjects, measure_span
from kohort.apis.references import Projection, Reference
from kohort.cluster.actions import Action
from kohort.cluster.errors import KohortError
from kohort.cluster.fields import FieldError
from kohort.cluster.objects import Kind, Object
from kohort.cluster.permissions import Grant
from kohort.cluster.port import Address
from kohort.model.observed import Group, Observed
from kohort.model.plans import Plan
from kohort.model.reasons import Notice
from kohort.model.workload import Workload

Key = tuple[str, str]  # namespace and name of a workload


class InvalidWorkload(KohortError):
    """A workload that cannot be planned as it stands: becomes a condition, is not retried."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Watched:
    """A kind of child that an API has, and how it is found."""

    kind: Kind
    decode: Callable[[bytes], Any]  # gives something with ``metadata``
    labels: str = ""  # only objects that match this selector are watched
    owners: Callable[[Any], tuple[Key, ...]] = lambda child: ()  # the workloads it may belong to
    remedy: str = ""  # what to do where the kind is not served; empty: every cluster serves it
    is_needed: bool = True  # false: where it is not served, the API does without


@dataclass(frozen=True, slots=True)
class Settings:
    """What the operator was told when it was started."""

    strategy: str = "budgeted"  # empty: nobody was told anything; what is written down counts
    carrier: str = "statefulsets"
    gangs: tuple[Dialect, ...] = ()  # those in use, the usual one first; none: no gangs are made
    tiers: Tiers = field(default_factory=Tiers)  # for dialects that know tiers by labels of nodes
    has_usual: bool = True  # whether the first dialect is for objects that name none
    # The objects that a webhook asked to see beside the one it judges, as far as they exist.
    beside: tuple[Object, ...] = field(default=(), compare=False)

    @property
    def are_given(self) -> bool:
        """Whether this is what an operator was told; a reader has no flags."""
        return bool(self.strategy)

    @property
    def gang_kinds(self) -> frozenset[Kind]:
        """The kinds of all objects that gangs are told by."""
        return frozenset(kind for dialect in self.gangs for kind in dialect.kinds)

    def list_beside(self, kind: Kind) -> tuple[Object, ...]:
        """The objects of one kind, in any of its versions, that a webhook asked to see."""
        named = (found for found in self.beside if found.get("kind") == kind.name)
        return tuple(f for f in named if f["apiVersion"].rpartition("/")[0] == kind.group)

    def find_dialect(self, name: str) -> Dialect | None:
        """The dialect that an object asks for by name, or the usual one; None: no gang."""
        if not name:
            return self.gangs[0] if self.gangs and self.has_usual else None
        return next((d for d in self.gangs if d.name == name != NONE), None)


DEFAULTS = Settings()


@dataclass(frozen=True, slots=True)
class PutBacks:
    """How often an object was put back of late, since another client edits it, and when last."""

    count: int = 0
    seconds_ago: float = 0.0
    why: str = ""  # what the last one was about

    @property
    def is_recent(self) -> bool:
        """Whether the next edit may be on its way: nothing is given up meanwhile."""
        return self.quiet_seconds > 0

    @property
    def quiet_seconds(self) -> float:
        """How long nothing is given up yet: ten seconds, and doubling up to five minutes."""
        return self._left(10.0 * 2 ** min(self.count - 1, 10))

    @property
    def pause_seconds(self) -> float:
        """How long to wait before the next one: none the first time, then doubling."""
        return self._left(2.0 ** min(self.count - 1, 10))

    @property
    def may_repeat(self) -> bool:
        """Whether the object may be put back now."""
        return self.pause_seconds <= 0

    def _left(self, seconds: float) -> float:
        return max(0.0, min(seconds, 300.0) - self.seconds_ago) if self.count else 0.0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """
    A workload and its children, as the caches have them at one moment.

    It is all values: what the caches and the controller learn later is in the next one.
    """

    root: Object
    children: Mapping[Kind, tuple[Any, ...]]
    nodes: Nodes = NO_NODES
    lost: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # members gone, by incarnation
    dropped: frozenset[str] = frozenset()  # fields that the server did not keep
    settings: Settings = DEFAULTS
    absent: Mapping[Kind, str] = field(default_factory=dict)  # kinds not served, and what to do
    unserved: frozenset[Kind] = frozenset()  # kinds not served that the API does without
    # Groups as the last reconcile read them: it saves time and says nothing.
    group_cache: GroupCache[Group] = field(default_factory=GroupCache)
    tiers: Mapping[str, Tiers] = field(default_factory=dict)  # by the name of the dialect
    # What those were read from; a dialect whose objects cannot be seen is not there.
    tier_objects: Mapping[str, TierObjects] = field(default_factory=dict)
    # Fields that the server did not keep of objects of gangs; a kind of which nothing was
    # written yet is not there.
    pruned: Mapping[Kind, frozenset[str]] = field(default_factory=dict)
    # Fields of the stored status that have a wrong type: not in the root, and to be removed.
    stray: tuple[str, ...] = ()
    put_backs: Mapping[Address, PutBacks] = field(default_factory=dict)
    # What the workload names and does not own, by kind, as far as it exists.
    references: Mapping[Kind, tuple[Any, ...]] = field(default_factory=dict)

    def find_node_labels(self, name: str) -> Mapping[str, str] | None:
        """The labels of a node; None where it is not known."""
        node = self.nodes.get(name)
        found: Mapping[str, str] | None = None if node is None else node.metadata.labels
        return found

    def measure(self, dialect: Dialect, names: Iterable[str]) -> int | None:
        """The tier of the narrowest domain that holds these nodes; None where it is not known."""
        objects = self.tier_objects.get(dialect.name, TierObjects())
        return measure_span(dialect, objects, self.nodes, names)

    def tiers_of(self, dialect: Dialect) -> Tiers:
        """The tiers that a dialect can speak of."""
        return self.tiers.get(dialect.name, self.settings.tiers)

    def find_put_backs(self, kind: Kind, name: str) -> PutBacks:
        """How often an object of this workload was put back of late."""
        metadata = self.root["metadata"]
        return self.put_backs.get(Address(kind, metadata.get("namespace", ""), name), PutBacks())

    def all(self, kind: Kind) -> tuple[Any, ...]:
        """The children of one kind."""
        return self.children.get(kind, ())


M_co = TypeVar("M_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Reading(Generic[M_co]):
    """A snapshot in the words of the model, and what the carrier remembers until it renders."""

    workload: Workload
    observed: Observed
    memory: M_co


@dataclass(frozen=True, slots=True)
class ExecutionSummary:
    """What came of a plan: what was done, what was refused with which words, what was reported."""

    done: tuple[Action, ...] = ()
    failed: tuple[tuple[Action, str], ...] = ()
    is_reported: bool = False  # the status was written


@dataclass(frozen=True, slots=True)
class MissingMember:
    """A member that ought to exist and is not seen; it may lack the label by which it is."""

    address: Address
    restore: Callable[[Object], tuple[Action, ...]]  # what to do about the object of that name


@dataclass(frozen=True, slots=True)
class AdmissionProbe:
    """A pod created with dryRun, to see whether admission lets it pass."""

    kind: Kind
    namespace: str
    obj: Object
    is_admitted: Callable[[Object], bool]  # whether the answer bears the marks of our admission
    missing: Callable[[], Iterable[MissingMember]] = tuple  # a few that sets do not make


@dataclass(frozen=True, slots=True)
class StoredRevision:
    """A stored revision as people know it: a number to name it by, and what it asked for."""

    number: int
    key: str  # what groups of that revision carry
    name: str  # of the object that stores it
    created: str  # a timestamp
    content: Object  # the part of the spec that makes the revision
    has_served: bool = False  # all groups were ready on it


@dataclass(frozen=True, slots=True)
class UserVerbs:
    """How an API looks to people, and how it takes their orders: each gives the changed object."""

    role_of: Callable[[int], str]  # the word for a member, by its place in the group
    carrier_of: Callable[[Object, Settings], str]
    list_revisions: Callable[[Snapshot], tuple[StoredRevision, ...]]  # lowest number first
    # Those below take the name of a role; an empty one means the whole object.
    go_back: Callable[[Object, StoredRevision, str], Object]
    hold: Callable[[Object, int, str], Object]  # units below the boundary keep their revision
    release: Callable[[Object, str], Object]
    # The pod templates of an object that hold containers, by the name of their field.
    list_templates: Callable[[Object, str], dict[str, Object]]
    put_template: Callable[[Object, str, Object], Object]  # (…, field, template)
    list_held: Callable[[Object], tuple[str, ...]]  # roles that are held; "" for the whole object
    list_roles: Callable[[Object], tuple[str, ...]] = lambda root: ()  # none: they have no names
    # Parts of pod templates that are laid over a template, and may name an image, too.
    list_patches: Callable[[Object, str], dict[str, Object]] = lambda root, role: {}


@dataclass(frozen=True, slots=True)
class StatusVerdict:
    """How an object that has no groups is, by its status: a word of ``views.health``, and why."""

    word: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class AdmissionResult:
    """What admission says of an object: its new form, what is wrong, and what to warn of."""

    obj: Object | None = None
    errors: tuple[FieldError, ...] = ()
    warnings: tuple[str, ...] = ()
    refusal: str = ""  # a sentence, where no field is to blame


@dataclass(frozen=True, slots=True)
class Webhook:
    """One webhook that an API needs, by the names that its clients know."""

    name: str
    path: str
    kind: Kind
    operations: tuple[str, ...]
    handle: Callable[
        [Object, Object | None, Settings], AdmissionResult
    ]  # (object, old object, settings)
    selector: Object | None = None  # objectSelector
    mutates: bool = False
    # What else has to be read to judge an object; the settings then hold it as ``beside``.
    # An address without a name stands for all objects of its kind in its namespace.
    find_beside: Callable[[Object, Settings], tuple[Address, ...]] = lambda obj, settings: ()
    namespaces: Object | None = None  # namespaceSelector
    reinvocation: str = "Never"  # of one that changes objects
    configuration: str = ""  # its webhook configuration, where that is not its home's


@dataclass(frozen=True, slots=True)
class Api:
    """One foreign API."""

    kind: Kind
    short_name: str
    watched: tuple[Watched, ...]
    members: Kind  # the kind of its members
    # The workload and the incarnation that a member belonged to, when it has gone.
    find_lost: Callable[[Any, Callable[[Kind, Key], Any]], tuple[Key, str] | None]
    read: Callable[[Snapshot], Reading[Any]]  # raises InvalidWorkload
    render: Callable[[Snapshot, Reading[Any], Plan], tuple[Action, ...]]
    write_status: Callable[[Snapshot, Reading[Any], Plan, str], Object]  # (…, now) -> status
    list_events: Callable[[Snapshot, Reading[Any], Plan, ExecutionSummary], tuple[Notice, ...]]
    # What a status has from its first write on, even that of an object which cannot be planned.
    start_status: Callable[[Object], Object] = lambda root: {}
    has_conditions: bool = True  # false: its definition has no room for them, ours included
    # How an object without groups is; None: groups and members say so.
    read_verdict: Callable[[Object], StatusVerdict | None] = lambda root: None
    # What was decided about a workload that no plan says, each in a sentence for people.
    list_decisions: Callable[[Reading[Any]], tuple[str, ...]] = lambda reading: ()
    # The status of an object that cannot be planned, before the condition that says so: (…, now).
    write_error: Callable[[Snapshot, InvalidWorkload, str], Object] = lambda snapshot, error, now: (
        dict(snapshot.root.get("status") or {})
    )
    webhooks: tuple[Webhook, ...] = ()
    home: Home = OWN_HOME
    scheduler: str = ""  # that its pods name unless the user says otherwise; empty: the default
    unserved: tuple[UnservedKind, ...] = ()  # what an install must not take a controller from
    # The CustomResourceDefinitions, each made afresh; that of the kind itself comes first.
    definitions: tuple[Define, ...] = (dict,)
    convert: Convert | None = None  # needed where a definition has several versions
    writes: tuple[Grant, ...] = ()  # what its actions need, beyond what it watches
    verbs: UserVerbs | None = None  # None: people cannot act on it through us
    # None: its members need no admission by us, so nothing has to be asked.
    make_probe: Callable[[Snapshot], AdmissionProbe | None] = lambda snapshot: None
    # Wakes whoever makes members and has given up for a while; empty if none is missing.
    wake: Callable[[Snapshot, str], tuple[Action, ...]] = lambda snapshot, now: ()
    references: tuple[Reference, ...] = ()  # kinds of objects that workloads name
    # Children whose status is ours to write: (…, now), with those that the snapshot has.
    list_projections: Callable[[Snapshot, Reading[Any], Plan, str], tuple[Projection, ...]] = (
        lambda snapshot, reading, plan, now: ()
    )
    # Fields of the spec that are ours, such as ``roles[].placement``, each with the annotation
    # that serves where it is dropped.
    additions: dict[str, str] = field(default_factory=dict)
    # How the objects of its gangs are found, whatever their kind.
    watch_gangs: Callable[[Kind, str], Watched] | None = None  # (kind, remedy)
    heeds_tiers: Callable[[Any], bool] = lambda root: False  # whether a change of tiers matters

    def definition(self) -> Object:
        """The CustomResourceDefinition of its own kind, made afresh."""
        return self.definitions[0]()

    def read_checked(self, snapshot: Snapshot) -> Reading[Any]:
        """The snapshot in the words of the model; raises InvalidWorkload, and nothing else."""
        misfit = self.find_misfit(snapshot.root)
        if misfit:
            raise InvalidWorkload("Malformed", f"{misfit}: mend the object, or delete it")
        return self.read(snapshot)

    def find_misfit(self, root: Object) -> str:
        """What about metadata and spec has another shape than the definition says; or nothing."""
        return shape_of(self.definitions[0], self.kind.version).find_misfit(root)

    def find_stray(self, root: Object) -> tuple[Object, tuple[str, ...]]:
        """The object without fields of the status that cannot be read, and their names."""
        status = root.get("status")
        if not isinstance(status, dict | None):
            return {**root, "status": {}}, ()
        stray = shape_of(self.definitions[0], self.kind.version).find_status_misfits(root)
        if not stray:
            return root, ()
        kept = {name: value for name, value in (status or {}).items() if name not in stray}
        return {**root, "status": kept}, stray

    def watched_with(self, settings: Settings) -> tuple[Watched, ...]:
        """What is watched where the operator was told this."""
        if self.watch_gangs is None:
            return self.watched
        # Dialects may share a kind; it is watched once.
        kinds = {kind: d.remedy for d in reversed(settings.gangs) for kind in reversed(d.kinds)}
        own = {watched.kind for watched in self.watched}
        found = (self.watch_gangs(k, remedy) for k, remedy in kinds.items() if k not in own)
        return (*self.watched, *found)

    def writes_with(self, settings: Settings) -> tuple[Grant, ...]:
        """What its actions need where the operator was told this."""
        if self.watch_gangs is None:
            return self.writes
        return (*self.writes, *(grant for d in settings.gangs for grant in d.grants))

    def reads_with(self, settings: Settings) -> tuple[Kind, ...]:
        """What is read of the cluster to know its tiers, where the operator was told this."""
        if self.watch_gangs is None:
            return ()
        return tuple(dict.fromkeys(k for d in settings.gangs if d.read_tiers for k in d.reads))
