"""
A dialect, as a value: how the operator describes gangs to one scheduler.

Everything here is pure. A dialect knows no API: it gets an intent, or a pod and its
membership of a gang. Plugins add dialects by the entry point ``kohort.gangs``, which
names a ``Dialect`` or a sequence of them: variants for one scheduler, the newest
first, of which the first that the cluster serves is used.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kohort.apis.gangs.intent import Intent, Membership, Tiers
from kohort.cluster.objects import Kind, Object
from kohort.cluster.permissions import Grant

NONE = "none"  # the value of the annotation where the user wants no gangs
# The tier of the narrowest domain that holds all these nodes; None: unknown.
Survey = Callable[[Iterable[str]], int | None]


def _render_nothing(intent: Intent, tiers: Tiers) -> tuple[Object, ...]:
    return ()


def _judge_nothing(
    obj: Object, queues: Mapping[str, Object], nodes: Sequence[Object]
) -> Iterator[str]:
    yield from ()


def _lose_nothing(intent: Intent, tiers: Tiers) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Dialect:
    """How the operator describes gangs to one scheduler."""

    name: str  # "volcano"; the name in flags and annotations
    scheduler: str  # its schedulerName; empty: any scheduler
    # Returns the pod with its membership; the given pod is never changed.
    mark: Callable[[Object, Membership, Tiers], Object]
    membership: str  # the annotation or label of pods that holds the gang's name
    kinds: tuple[Kind, ...] = ()  # of the objects that it renders, the gang's own first
    reads: tuple[Kind, ...] = ()  # other kinds to read: domains, queues; cluster-scoped
    remedy: str = ""  # how the user gets its kinds served
    # The objects of one gang, each with namespace, name and owner.
    render: Callable[[Intent, Tiers], tuple[Object, ...]] = _render_nothing
    # The clauses of an intent that this scheduler has no way to express, as sentences.
    find_losses: Callable[[Intent, Tiers], tuple[str, ...]] = _lose_nothing
    # The tiers that objects of ``reads`` declare; without it, the tiers of the settings count.
    read_tiers: Callable[[tuple[Object, ...]], Tiers] | None = None
    # How far apart nodes are, from objects of ``reads`` and the labels of all nodes; read once.
    survey: Callable[[tuple[Object, ...], Mapping[str, Mapping[str, str]]], Survey] | None = None
    is_mutable: bool = True  # whether the spec of its objects may be patched
    writes_pod_topology: bool = False  # whether ``mark`` needs queue and pack of the pod
    queue: str = ""  # the annotation or label of workloads that names their queue
    queues: Kind | None = None  # the kind of its queues
    # What keeps a gang's object in its queue, as sentences; from the object, the queues by name,
    # and all nodes that the user may see.
    judge_queue: Callable[[Object, Mapping[str, Object], Sequence[Object]], Iterator[str]] = (
        _judge_nothing
    )
    needs: tuple[Kind, ...] = ()  # other kinds that a cluster with this scheduler serves
    # Fields of a rendered spec that come and go with clauses of an intent. The operator patches
    # those of a LeaderWorkerSet or RoleBasedGroup while no member has a node, those of a
    # ModelServing always, and reports those of a LeaderWorkerSet that the API server drops. Of a
    # gang of a RoleBasedGroup it takes none away but the priority: no other clause comes from it.
    clauses: tuple[str, ...] = ()
    # Fields of a rendered spec that count members. Those of a LeaderWorkerSet stay as they were
    # created (P3); those of the other APIs follow the roles. A clause may count, too.
    counts: tuple[str, ...] = ("minMember", "minResources", "subGroupPolicy", "subGroups")
    filled: tuple[str, ...] = ("queue",)  # clauses that other clients may fill in for us
    skips_best_effort: bool = False  # whether pods without requests are placed anywhere
    belongs_to_leader: bool = True  # false: the workload owns it; deleted when no pod names it
    # Whether pods must be marked before any webhook sees them: then only we can create them.
    marks_first: bool = False
    counts_all: bool = False  # whether it waits for all members, so that none may come later

    def find_gang(self, labels: Mapping[str, str], annotations: Mapping[str, str]) -> str:
        """The gang that a pod with these labels and annotations was made for; empty if none."""
        return annotations.get(self.membership) or labels.get(self.membership) or ""

    def find_queue(self, labels: Mapping[str, str], annotations: Mapping[str, str]) -> str:
        """The queue that a workload with these labels and annotations names; empty if none."""
        return annotations.get(self.queue) or labels.get(self.queue) or ""

    @property
    def grants(self) -> tuple[Grant, ...]:
        """The RBAC rights for its objects beyond watching; a create of a taken name reads it."""
        verbs = ["get", "create"]
        if self.is_mutable or not self.belongs_to_leader:
            # An object whose owner is a workload can be orphaned, and is then adopted.
            verbs.append("patch")
        if not self.belongs_to_leader:
            verbs.append("delete")
        return tuple(Grant(kind, tuple(verbs)) for kind in self.kinds)
