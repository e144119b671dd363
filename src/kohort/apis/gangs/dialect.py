"""
A dialect, as a value: how gangs are told to one scheduler.

Everything here is pure. A dialect knows no API: it is given an intent, or a pod and
what that pod must be told. New ones come by the entry point ``kohort.gangs``, which
names a ``Dialect`` or a sequence of them: variants of one scheduler, the newest
first, of which the first that the cluster serves is used.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from kohort.apis.gangs.intent import Intent, Membership, Tiers
from kohort.cluster.objects import Kind, Object
from kohort.cluster.permissions import Grant

NONE = "none"  # what an annotation says where no gangs are wanted
# The tier of the narrowest domain that holds all these nodes; None: it cannot be told.
Survey = Callable[[Iterable[str]], int | None]


def _render_nothing(intent: Intent, tiers: Tiers) -> tuple[Object, ...]:
    return ()


def _lose_nothing(intent: Intent, tiers: Tiers) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Dialect:
    """One scheduler's words."""

    name: str  # "volcano"; what flags and annotations say
    scheduler: str  # the schedulerName that it answers to; empty: any
    # Gives the pod with its membership; the pod that comes in is never changed.
    mark: Callable[[Object, Membership, Tiers], Object]
    membership: str  # the annotation or label of pods that holds the gang's name
    kinds: tuple[Kind, ...] = ()  # of the objects that it renders, the gang's own first
    reads: tuple[Kind, ...] = ()  # what else must be known: domains, queues; cluster-scoped
    remedy: str = ""  # what to do where its kinds are not served
    # The objects of one gang, each with namespace, name and owner.
    render: Callable[[Intent, Tiers], tuple[Object, ...]] = _render_nothing
    # The clauses of an intent that this scheduler cannot be told, as sentences.
    find_losses: Callable[[Intent, Tiers], tuple[str, ...]] = _lose_nothing
    # The tiers that objects of ``reads`` declare; without it, those of the settings count.
    read_tiers: Callable[[tuple[Object, ...]], Tiers] | None = None
    # How wide nodes stand, by objects of ``reads`` and the labels of all nodes: looked at once.
    survey: Callable[[tuple[Object, ...], Mapping[str, Mapping[str, str]]], Survey] | None = None
    is_mutable: bool = True  # whether the spec of its objects may be patched
    writes_pod_topology: bool = False  # whether ``mark`` needs queue and pack of the pod
    queue: str = ""  # the annotation or label of workloads that names their queue
    needs: tuple[Kind, ...] = ()  # what else is served where this scheduler is
    # Fields of a rendered spec that come and go with clauses of an intent: they are patched
    # while no member has a node, and what the server does not keep of them is a loss. All
    # other fields count members, and stay as they were made.
    clauses: tuple[str, ...] = ()
    filled: tuple[str, ...] = ("queue",)  # of these: what others may have filled in for us
    skips_best_effort: bool = False  # whether pods that request nothing are placed anywhere
    belongs_to_leader: bool = True  # false: to the workload, and is deleted when nobody names it
    # Whether a pod must be marked before any webhook sees it: then only we can make its pods.
    marks_first: bool = False
    counts_all: bool = False  # whether it waits for all members, so that none may be made later

    def find_gang(self, labels: Mapping[str, str], annotations: Mapping[str, str]) -> str:
        """The gang that a pod with these labels and annotations was made for; empty if none."""
        return annotations.get(self.membership) or labels.get(self.membership) or ""

    def find_queue(self, labels: Mapping[str, str], annotations: Mapping[str, str]) -> str:
        """The queue that a workload with these labels and annotations names; empty if none."""
        return annotations.get(self.queue) or labels.get(self.queue) or ""

    @property
    def grants(self) -> tuple[Grant, ...]:
        """What its objects need, beyond being watched: a create that meets a namesake reads it."""
        verbs = ["get", "create"]
        if self.is_mutable or not self.belongs_to_leader:
            # What belongs to a workload can lose it, and is taken back.
            verbs.append("patch")
        if not self.belongs_to_leader:
            verbs.append("delete")
        return tuple(Grant(kind, tuple(verbs)) for kind in self.kinds)
