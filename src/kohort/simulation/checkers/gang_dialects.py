"""
How pods and gangs of each scheduler are read, for the checkers.

Nothing of the operator's own dialects is used here: labels, annotations and fields are written
down again as the schedulers read them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object, annotations_of, is_leaving, labels_of
from kohort.simulation.checkers.truth import Truth

HYPER_NODE = Kind("topology.volcano.sh", "v1alpha1", "HyperNode", "hypernodes", namespaced=False)
# What says where the members of a gang may stand.
CONSTRAINTS = ("networkTopology", "schedulingConstraints")


@dataclass(frozen=True, slots=True)
class Words:
    """One scheduler's words."""

    kind: Kind  # of its gangs
    scheduler: str  # empty: any
    find_name: Callable[[Object], str]  # the gang that a pod names
    find_minimum: Callable[[Object], int]  # of the spec of a gang

    def find_gang(self, pod: Object) -> str:
        """The gang that this scheduler sees a pod in; empty if none."""
        named = pod["spec"].get("schedulerName", "")
        return self.find_name(pod) if self.scheduler in ("", named) else ""


def _find_native(pod: Object) -> str:
    name: str = (pod["spec"].get("schedulingGroup") or {}).get("podGroupName", "")
    return name


ALL = (
    Words(
        Kind("scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups"),
        "volcano",
        lambda pod: annotations_of(pod).get("scheduling.k8s.io/group-name", ""),
        lambda spec: spec.get("minMember", 0),
    ),
    Words(
        Kind("scheduling.x-k8s.io", "v1alpha1", "PodGroup", "podgroups"),
        "scheduler-plugins-scheduler",
        lambda pod: labels_of(pod).get("scheduling.x-k8s.io/pod-group", ""),
        lambda spec: spec.get("minMember", 0),
    ),
    Words(
        Kind("scheduling.k8s.io", "v1alpha2", "PodGroup", "podgroups"),
        "",
        _find_native,
        lambda spec: spec["schedulingPolicy"]["gang"]["minCount"],
    ),
)
BY_KIND = {words.kind: words for words in ALL}
KINDS = (*BY_KIND, HYPER_NODE)


def list_members(truth: Truth, words: Words, name: str) -> list[Object]:
    """The pods that stay and that this scheduler sees in a gang."""
    pods = truth.objects[kinds.POD].values()
    return [pod for pod in pods if not is_leaving(pod) and words.find_gang(pod) == name]


def find_words(pod: Object) -> tuple[Words, str] | None:
    """The scheduler that sees a pod in a gang, and the gang."""
    for words in ALL:
        name = words.find_gang(pod)
        if name:
            return words, name
    return None


def list_names(pod: Object) -> Iterator[tuple[Kind, str]]:
    """Every gang that a pod names, in all dialects."""
    for words in ALL:
        name = words.find_name(pod)
        if name:
            yield words.kind, name


def find_node(pod: Object) -> str:
    """The node that a pod was given; empty if none."""
    name: str = pod["spec"].get("nodeName", "")
    return name
