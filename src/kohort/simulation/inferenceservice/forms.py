"""
What an InferenceService should have, and what it has: workloads, pods, and pods of its Services.

A service takes one of two forms: a workload for each component, or one RoleBasedGroup of all
components. The checkers read what it has from stored objects, by owners and labels.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object, annotations_of, is_leaving, labels_of
from kohort.simulation.checkers.truth import Truth, controller_of, is_ready
from kohort.simulation.inferenceservice.labels import (
    COMPONENT,
    FORMS,
    GROUP,
    INSTANCE,
    LEADERS,
    MODE,
    ONE_GROUP,
    ROLE_SET,
)
from kohort.simulation.inferenceservice.scenarios import list_components
from kohort.simulation.scenario import NAME

# The kinds of owners between a pod and its workload.
_OWNERS = (kinds.REPLICA_SET, kinds.STATEFUL_SET, INSTANCE, ROLE_SET, *FORMS)


def is_one_group(service: Object) -> bool:
    """Whether a service asks for one group of all components."""
    return annotations_of(service).get(MODE) == ONE_GROUP


def size_of(component: Object) -> int:
    """The pods of one instance of a component."""
    worker = component.get("worker")
    return 1 + int(worker.get("size", 1)) if worker else 1


def least_of(component: Object) -> int:
    """The fewest replicas that a user asks for."""
    return max(1, int(component.get("minReplicas", 1)))


def list_wanted(service: Object) -> set[tuple[Kind, str]]:
    """The workloads that a service should have."""
    spec = service["spec"]
    if is_one_group(service):
        return {(GROUP, NAME)}
    return {
        (LEADERS, f"lws-{NAME}-{name}")
        if size_of(spec[name]) > 1
        else (kinds.DEPLOYMENT, f"{NAME}-{name}")
        for name in list_components(spec)
    }


def list_forms(truth: Truth) -> set[tuple[Kind, str]]:
    """The workloads that exist."""
    return {(kind, name) for kind in FORMS for name in truth.objects[kind]}


def find_owners(truth: Truth) -> dict[str, str]:
    """The owner of each object between workload and pod, by uid."""
    return {
        obj["metadata"]["uid"]: controller_of(obj)
        for kind in _OWNERS
        for obj in truth.objects[kind].values()
    }


def belongs_to(pod: Object, uid: str, owners: Mapping[str, str], pods: Mapping[str, str]) -> bool:
    """Whether a pod belongs to a workload, over any number of owners."""
    held = controller_of(pod)
    while held:
        if held == uid:
            return True
        held = owners.get(held) or pods.get(held, "")
    return False


def list_pods(truth: Truth, component: str) -> list[Object]:
    """The pods of a component that are not leaving."""
    return [
        pod
        for pod in truth.pods()
        if labels_of(pod).get(COMPONENT) == component and not is_leaving(pod)
    ]


def selector_of(service: Object | None) -> dict[str, str]:
    """The selector of a Service."""
    found: dict[str, str] = ((service or {}).get("spec") or {}).get("selector") or {}
    return found


@dataclass(frozen=True, slots=True)
class ReadyPods:
    """The pods that served from a moment on, with their labels and whom they belong to."""

    at: float
    labels: tuple[Mapping[str, str], ...] = ()
    pods: tuple[Object, ...] = field(default=(), repr=False)

    def count(self, selector: Mapping[str, str], without: frozenset[str] = frozenset()) -> int:
        """How many of them a selector finds, but for some that are named by uid."""
        if not selector:
            return 0
        return sum(
            selector.items() <= held.items() and pod["metadata"]["uid"] not in without
            for held, pod in zip(self.labels, self.pods, strict=True)
        )

    def components(self) -> Iterator[str]:
        """The components that have at least one."""
        return (held.get(COMPONENT, "") for held in self.labels)


def note_ready(truth: Truth, at: float) -> ReadyPods:
    """The pods that serve now."""
    pods = tuple(pod for pod in truth.pods() if is_ready(pod))
    return ReadyPods(at, tuple(labels_of(pod) for pod in pods), pods)
