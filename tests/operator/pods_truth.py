"""What is true of groups that are carried by pods, at every stored version of every pod."""

from dataclasses import dataclass, field
from typing import Any

from operator_lab import Lab, make_lws

from kohort.apiserver.store.entries import ChangeType, Event
from kohort.cluster import kinds
from kohort.cluster.objects import Object

PREFIX = "leaderworkerset.sigs.k8s.io/"
PODS = {"kohort.dev/carrier": "pods"}


def make(groups: int = 2, size: int = 3, **more: Any) -> Object:
    """A LeaderWorkerSet that is carried by pods."""
    annotations = {**PODS, **more.pop("annotations", {})}
    return make_lws(groups=groups, size=size, annotations=annotations, **more)


def names(lab: Lab) -> list[str]:
    """The names of all pods."""
    return sorted(p["metadata"]["name"] for p in lab.all(kinds.POD))


def uids(lab: Lab) -> dict[str, str]:
    """The uid of each pod."""
    return {p["metadata"]["name"]: p["metadata"]["uid"] for p in lab.all(kinds.POD)}


def images(lab: Lab) -> dict[str, str]:
    """The image of each leader."""
    pods = [p for p in lab.all(kinds.POD) if is_leader(p)]
    return {p["metadata"]["name"]: p["spec"]["containers"][0]["image"] for p in pods}


def writes(lab: Lab) -> dict[tuple[str, str], int]:
    """What the operator has written but for status and events."""
    aside = ("LeaderWorkerSet/status", "Event")
    return {key: count for key, count in lab.cluster.writes.items() if key[1] not in aside}


def owner_of(obj: Object) -> str:
    """The uid of the controller."""
    refs = obj["metadata"].get("ownerReferences") or ()
    return next((ref["uid"] for ref in refs if ref.get("controller")), "")


def is_leader(pod: Object) -> bool:
    return pod["metadata"]["labels"].get(f"{PREFIX}worker-index") == "0"


def is_serving(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]


@dataclass
class PodTruth:
    """All pods at every version: how many groups existed, and how many of them served."""

    lab: Lab
    pods: dict[str, Object] = field(default_factory=dict)
    fewest_ready: int = 10**6
    most_groups: int = 0
    is_on: bool = False

    def __post_init__(self) -> None:
        bucket = self.lab.api.registry.of(kinds.POD).bucket
        self.lab.api.store.subscribe(bucket, self._on_pod)

    def _on_pod(self, event: Event) -> None:
        pod = event.entry.decode()
        if event.change is ChangeType.DELETED:
            self.pods.pop(pod["metadata"]["name"], None)
        else:
            self.pods[pod["metadata"]["name"]] = pod
        if self.is_on:
            leaders = [p for p in self.pods.values() if is_leader(p)]
            staying = [p for p in leaders if "deletionTimestamp" not in p["metadata"]]
            self.most_groups = max(self.most_groups, len(staying))
            self.fewest_ready = min(self.fewest_ready, sum(map(self._is_ready, staying)))

    def _is_ready(self, leader: Object) -> bool:
        size = int(leader["metadata"]["annotations"][f"{PREFIX}size"])
        uid = leader["metadata"]["uid"]
        workers = [p for p in self.pods.values() if owner_of(p) == uid]
        return sum(map(is_serving, [leader, *workers])) == size
