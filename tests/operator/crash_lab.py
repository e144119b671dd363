"""Images that crash, and what is true of the groups that run them, whatever carries these."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from operator_lab import LWS, Lab, make_lws, set_image

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apiserver.store.entries import ChangeType, Event
from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.planning.plan import plan
from kohort.simulator.stages import CRASH_AFTER, CRASH_EXIT_CODE, CRASH_TIMES

PREFIX = "leaderworkerset.sigs.k8s.io/"
NOTES = "/spec/leaderWorkerTemplate/workerTemplate/metadata"
# A pod of this image is ready half a second after its start, and ends a second later.
CRASHING = {CRASH_AFTER: "1500ms", CRASH_EXIT_CODE: "3"}


@dataclass
class Watch:
    """The groups of a set at every stored version of a pod."""

    lab: Lab
    groups: int = 4
    size: int = 2
    pods: dict[str, Object] = field(default_factory=dict)
    fewest: int = 10**6  # groups that served at the worst moment
    made: list[tuple[int, str]] = field(default_factory=list)  # ordinal and image of leaders

    def __post_init__(self) -> None:
        for pod in self.lab.all(kinds.POD):
            self.pods[pod["metadata"]["name"]] = pod
        bucket = self.lab.api.registry.of(kinds.POD).bucket
        self.lab.api.store.subscribe(bucket, self._on_pod)

    def _on_pod(self, event: Event) -> None:
        pod = event.entry.decode()
        name = pod["metadata"]["name"]
        if event.change is ChangeType.DELETED:
            self.pods.pop(name, None)
        else:
            self.pods[name] = pod
        if event.change is ChangeType.ADDED and name.count("-") == 1:
            self.made.append((int(name[2:]), image_of(pod)))
        self.fewest = min(self.fewest, len(self.serving()))

    def serving(self) -> set[int]:
        """The groups of which all pods are ready and none is leaving."""
        names = {i: [f"x-{i}", *(f"x-{i}-{j}" for j in range(1, self.size))] for i in range(9)}
        return {i for i, group in names.items() if all(map(self._serves, group))}

    def images(self) -> Counter[str]:
        """How many groups there are of each image."""
        return Counter(image_of(p) for name, p in self.pods.items() if name.count("-") == 1)

    def restarts(self, image: str) -> Counter[int]:
        """How often each group was made of an image after the first time."""
        made = Counter(ordinal for ordinal, of in self.made if of == image)
        return Counter({ordinal: count - 1 for ordinal, count in made.items()})

    def _serves(self, name: str) -> bool:
        pod = self.pods.get(name)
        if pod is None or "deletionTimestamp" in pod["metadata"]:
            return False
        conditions = (pod.get("status") or {}).get("conditions") or ()
        return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


async def open_set(lab: Lab, **more: Any) -> Watch:
    """Four groups of two that serve, one may be missing and one may be extra."""
    rollout = {"maxUnavailable": 1, "maxSurge": 1}
    await lab.apply(make_lws(groups=4, size=2, rollout=rollout, **more))
    await lab.until(lab.is_available)
    return Watch(lab)


async def roll_crashing(lab: Lab, image: str = "engine:2", times: int = 0, **notes: str) -> None:
    """Roll to an image that becomes ready and crashes a second later."""
    annotations = {**CRASHING, **notes}
    if times:
        annotations[CRASH_TIMES] = str(times)
    crashing = {"op": "add", "path": NOTES, "value": {"annotations": annotations}}
    await lab.edit("x", set_image(image), crashing)


async def roll_good(lab: Lab, image: str = "engine:3") -> None:
    """Roll to an image that works."""
    await lab.edit("x", set_image(image), {"op": "add", "path": NOTES, "value": {}})


def image_of(pod: Object) -> str:
    return str(pod["spec"]["containers"][0]["image"])


def find_blockers(lab: Lab) -> dict[str, str]:
    """What the plan of this moment waits for, with its sentence."""
    controller, key = lab.operator.controllers[0], (lab.namespace, "x")
    root = controller.roots.find(key)
    assert root is not None
    reading = LEADER_WORKER_SET.read(controller.gather(key, root))
    found = plan(reading.workload, reading.observed, lab.clock.now().timestamp())
    return {blocker.reason: blocker.message for blocker in found.report.blockers}


def own_events(lab: Lab) -> int:
    """How many events the operator has told about sets, repetitions among them."""
    found = [e for e in lab.all(kinds.EVENT) if e["involvedObject"]["kind"] == LWS.name]
    return sum((e.get("series") or e).get("count") or 1 for e in found)


async def crash_once(lab: Lab, name: str) -> None:
    """Let the containers of a pod crash once."""
    notes = {CRASH_AFTER: "100ms", CRASH_TIMES: "1"}
    pod = lab.find(kinds.POD, name)
    assert pod is not None
    value = {**pod["metadata"].get("annotations", {}), **notes}
    change = {"op": "add", "path": "/metadata/annotations", "value": value}
    await lab.edit(name, change, kind=kinds.POD)


def plain_writes(lab: Lab) -> int:
    """What the operator has written."""
    return sum(lab.cluster.writes.values())
