"""Scenes: a LeaderWorkerSet and its children as a server would list them, at a fixed moment."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.leaderworkerset.revision import key_of, make_revision
from kohort.cluster.kinds import CONTROLLER_REVISION, POD, STATEFUL_SET
from kohort.cluster.objects import Object, labels_of, name_of
from kohort.views.picture import Picture, take_picture
from kohort.views.samples import Sample, gather

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
SIZE = 3


def ago(**time: float) -> str:
    return (NOW - timedelta(**time)).strftime("%Y-%m-%dT%H:%M:%SZ")


def make_lws(image: str = "engine:2", groups: int = 4, **more: Any) -> Object:
    container = {"name": "engine", "image": image}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {
            "name": "llama",
            "namespace": "default",
            "uid": "root",
            "generation": 2,
            "creationTimestamp": ago(hours=5),
            "annotations": more.get("annotations", {}),
        },
        "spec": {
            "replicas": groups,
            "networkConfig": {"subdomainPolicy": "Shared"},
            "leaderWorkerTemplate": {
                "size": SIZE,
                "workerTemplate": {"spec": {"containers": [container]}},
            },
        },
        "status": {"observedGeneration": 2, "conditions": more.get("conditions", [])},
    }


def own(uid: str, kind: str = "StatefulSet") -> list[Object]:
    return [{"kind": kind, "name": "owner", "uid": uid, "controller": True}]


@dataclass
class Scene:
    """Groups 0, 1, … of which each is at a revision (1 or 2) and whole, or has a waiting member."""

    revisions: tuple[int, ...] = (2, 2, 2, 2)
    boundary: int = 0
    waiting: dict[str, Object] = field(default_factory=dict)  # container state by pod
    unready: dict[str, Object] = field(default_factory=dict)  # more of a pod's body, by pod
    lws: Object = field(default_factory=make_lws)

    def picture(self) -> Picture:
        return take_picture(LEADER_WORKER_SET, self.sample(), NOW)

    def sample(self) -> Sample:
        children = {
            POD: [orjson.dumps(pod) for pod in self.pods()],
            STATEFUL_SET: [orjson.dumps(found) for found in self.sets()],
            CONTROLLER_REVISION: [orjson.dumps(found) for found in self.stored()],
        }
        return gather(LEADER_WORKER_SET, [orjson.dumps(self.lws)], children)[0]

    def stored(self) -> list[Object]:
        made = [make_revision(make_lws(f"engine:{n}"), n) for n in (1, 2)]
        for number, revision in enumerate(made):
            revision["metadata"]["creationTimestamp"] = ago(minutes=300 - 290 * number)
        made[0]["metadata"]["annotations"] = {labels.SERVED: "true"}
        return made

    def key(self, number: int) -> str:
        return key_of(self.stored()[number - 1])

    def pods(self) -> list[Object]:
        return [self.pod(g, i) for g in range(len(self.revisions)) for i in range(SIZE)]

    def pod(self, group: int, index: int) -> Object:
        name = f"llama-{group}-{index}" if index else f"llama-{group}"
        marks = {
            labels.NAME: "llama",
            labels.GROUP_INDEX: str(group),
            labels.WORKER_INDEX: str(index),
            labels.REVISION: self.key(self.revisions[group]),
        }
        return {
            "metadata": {
                "name": name,
                "namespace": "default",
                "uid": name,
                "labels": marks,
                "annotations": {labels.SIZE: str(SIZE)},
                "creationTimestamp": ago(minutes=5),
                "ownerReferences": own(f"set-{group}" if index else "set"),
            },
            "spec": {"nodeName": f"gpu-0{group}", **self.unready.get(name, {}).get("spec", {})},
            "status": {**self.status(name), **self.unready.get(name, {}).get("status", {})},
        }

    def status(self, name: str) -> Object:
        is_ready = name not in self.waiting and name not in self.unready
        return {
            "phase": "Running" if is_ready else "Pending",
            "conditions": [
                {
                    "type": "Ready",
                    "status": "True" if is_ready else "False",
                    "lastTransitionTime": ago(minutes=4, seconds=12),
                }
            ],
            "containerStatuses": [
                {"name": "engine", "restartCount": 0, **self.waiting.get(name, {})}
            ],
        }

    def sets(self) -> list[Object]:
        return [self.leader_set(), *(self.worker_set(g) for g in range(len(self.revisions)))]

    def leader_set(self) -> Object:
        count = len(self.revisions)
        marks = {labels.NAME: "llama", labels.REVISION: self.key(2)}
        return {
            "metadata": {
                "name": "llama",
                "namespace": "default",
                "uid": "set",
                "generation": 3,
                "labels": marks,
                "annotations": {labels.REPLICAS: str(count)},
                "ownerReferences": own("root", "LeaderWorkerSet"),
            },
            "spec": {
                "replicas": count,
                "updateStrategy": {"rollingUpdate": {"partition": self.boundary}},
            },
            "status": {"observedGeneration": 3, "replicas": count},
        }

    def worker_set(self, group: int) -> Object:
        pods = [self.pod(group, index) for index in range(1, SIZE)]
        ready = sum(pod["status"]["phase"] == "Running" for pod in pods)
        return {
            "metadata": {
                "name": name_of(self.pod(group, 0)),
                "namespace": "default",
                "uid": f"set-{group}",
                "labels": labels_of(pods[0]),
                "ownerReferences": own(f"llama-{group}", "Pod"),
            },
            "spec": {"replicas": SIZE - 1},
            "status": {
                "replicas": SIZE - 1,
                "availableReplicas": ready,
                "currentRevision": "a",
                "updateRevision": "a",
            },
        }


def crash(restarts: int = 6) -> Object:
    return {
        "restartCount": restarts,
        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}},
        "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
    }


def bad_image() -> Object:
    text = 'Back-off pulling image "engine:2"'
    return {"state": {"waiting": {"reason": "ImagePullBackOff", "message": text}}}
