"""
The common form of a gang's requirements, and the gang that a pod belongs to.

The objects of every scheduler are read into this form. A key names a gang, whether its object
exists or not. Limits are kept as they were asked for; what they mean is known only once the
domains are.

A pod names its gang by its scheduler's labels or fields. A pod that names one in the words of
another scheduler is in none: that scheduler would not see it either.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kohort.apis.gangs.dialects import coscheduling, kai, koordinator, kueue, volcano
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
    size: int = 1  # 0: its members are placed one by one, once the gang has its minimum
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
    is_closed: bool = False  # whether members outside all policies neither count nor are placed
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


VOLCANO, COSCHEDULING, KOORDINATOR = "volcano", "coscheduling", "koordinator"
KAI, KUBERNETES, KUEUE = "kai", "kubernetes", "kueue"
DEFAULT_SCHEDULER = "default-scheduler"
# The scheduler that answers for each dialect; others come with the default one.
SCHEDULERS = {
    volcano.VOLCANO.scheduler: VOLCANO,
    coscheduling.COSCHEDULING.scheduler: COSCHEDULING,
    koordinator.KOORDINATOR.scheduler: KOORDINATOR,
    kai.KAI.scheduler: KAI,
}
_LEGACY_VOLCANO = "scheduling.volcano.sh/group-name"
_LEGACY_KOORDINATOR = "pod-group.scheduling.sigs.k8s.io/name"
_ROLE = "volcano.sh/task-spec"

Words = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Naming:
    """The labels and annotations that name a pod's gang in one dialect; the first found counts."""

    annotations: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    def find(self, annotations: Words, labels: Words) -> str:
        """The name of the gang; empty if the pod names none."""
        for held, keys in ((annotations, self.annotations), (labels, self.labels)):
            for key in keys:
                if held.get(key):
                    return held[key]
        return ""


_NAMINGS = {
    VOLCANO: Naming((volcano.GROUP_NAME, _LEGACY_VOLCANO)),
    COSCHEDULING: Naming(labels=(coscheduling.POD_GROUP_LABEL,)),
    KOORDINATOR: Naming(
        (koordinator.GANG_NAME,),
        (koordinator.POD_GROUP_LABEL, coscheduling.POD_GROUP_LABEL, _LEGACY_KOORDINATOR),
    ),
    KAI: Naming((kai.GROUP_NAME,)),
    KUEUE: Naming(labels=(kueue.GROUP_NAME,)),
}


def find_gang(
    scheduler: str, namespace: str, annotations: Words, labels: Words, native: str
) -> GangKey | None:
    """The gang of a pod; ``native`` is the group in its spec."""
    if scheduler == DEFAULT_SCHEDULER:
        if native:
            return GangKey(KUBERNETES, namespace, native)
        dialect = KUEUE
    else:
        dialect = SCHEDULERS.get(scheduler, "")
    naming = _NAMINGS.get(dialect)
    name = naming.find(annotations, labels) if naming else ""
    return GangKey(dialect, namespace, name) if name else None


def speaks(scheduler: str, dialect: str) -> bool:
    """Whether a scheduler places the gangs of a dialect."""
    if scheduler == DEFAULT_SCHEDULER:
        return dialect in (KUBERNETES, KUEUE)
    return SCHEDULERS.get(scheduler) == dialect


def find_role(annotations: Words, labels: Words) -> str:
    """The role of a pod in its gang; empty if it has none."""
    return annotations.get(_ROLE) or labels.get(_ROLE) or ""
