"""
What upstream's controller leaves on a cluster for a LeaderWorkerSet, written by hand.

Nothing here calls our own rendering: names, labels, annotations and fields are those that
the behaviour of upstream's controller and of a StatefulSet prescribe. Workloads, revision
data and revision keys come from vectors that upstream's own code made.
"""

import json
from copy import deepcopy
from hashlib import sha1
from pathlib import Path
from typing import Any

Object = dict[str, Any]

VECTORS = Path(__file__).parent / "apis" / "leaderworkerset" / "revision_hash_vectors.json"
MADE = "2026-01-01T00:00:00Z"
PREFIX = "leaderworkerset.sigs.k8s.io/"
NAME, KEY = f"{PREFIX}name", f"{PREFIX}template-revision-hash"
GROUP, GROUP_KEY = f"{PREFIX}group-index", f"{PREFIX}group-key"
WORKER, SIZE = f"{PREFIX}worker-index", f"{PREFIX}size"
TOPOLOGY, POLICY = f"{PREFIX}exclusive-topology", f"{PREFIX}subdomainPolicy"
UNIQUE = "UniquePerReplica"
POOL = "cloud.google.com/gke-nodepool"


def read_vector(name: str) -> Object:
    """A workload as it is stored, with the data and the key of its revision."""
    found = [v for v in json.loads(VECTORS.read_text()) if v["name"] == f"{name}__as_stored"]
    return dict(found[0])


class Upstream:
    """The objects of one workload at rest; ``key`` is that of its current revision."""

    def __init__(self, vector: Object, namespace: str = "default") -> None:
        self.namespace, self.key = namespace, vector["revision_key"]
        self._data = json.loads(vector["patch_bytes"])
        self.lws = deepcopy(vector["input"])
        self.name = self.lws["metadata"]["name"]
        self.lws["metadata"].update(self._meta(self.name, "lws"), generation=1)
        spec = self.lws["spec"]
        self.groups, self._template = spec["replicas"], spec["leaderWorkerTemplate"]
        self.size, self.is_unique = self._template["size"], False
        self.is_unique = spec["networkConfig"]["subdomainPolicy"] == UNIQUE
        self._topology = self.lws["metadata"].get("annotations", {}).get(TOPOLOGY, "")
        self.lws["status"] = self._status()

    def at_rest(self) -> list[Object]:
        """All that belongs to it, with every group ready."""
        found = [self.lws, self.revision(), self.leader_set()]
        found += [] if self.is_unique else [self.service(self.name, self._owner())]
        for group in range(self.groups):
            found += self.group(group)
        return found

    def group(self, group: int, key: str = "") -> list[Object]:
        """One group whose pods are ready, on the current revision or that of a key."""
        leader = self._pod(group, 0, key or self.key)
        found = [leader]
        if self.is_unique:
            owner = _owned_by(leader)
            service = self.service(f"{self.name}-{group}", owner)
            service["spec"]["selector"][GROUP] = str(group)
            found.append(service)
        if self.size > 1:
            found.append(self.worker_set(group, key or self.key))
        return found + [self._pod(group, at, key or self.key) for at in range(1, self.size)]

    def revision(self) -> Object:
        metadata = self._meta(f"{self.name}-{self.key}-1", f"revision-{self.key}")
        metadata |= {"labels": {NAME: self.name, KEY: self.key}, "ownerReferences": self._owner()}
        kind = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "revision": 1}
        return {**kind, "metadata": metadata, "data": self._data}

    def service(self, name: str, owner: list[Object]) -> Object:
        metadata = {**self._meta(name, f"service-{name}"), "ownerReferences": owner}
        metadata["labels"] = {NAME: self.name}
        spec = {
            "clusterIP": "None",
            "clusterIPs": ["None"],
            "publishNotReadyAddresses": True,
            "selector": {NAME: self.name},
            "type": "ClusterIP",
        }
        return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}

    def leader_set(self, partition: int = 0) -> Object:
        rollout = self.lws["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]
        metadata = self._meta(self.name, "leaders")
        metadata["labels"] = self._given("labels") | {NAME: self.name, KEY: self.key}
        notes = self._given("annotations")
        metadata["annotations"] = notes | {f"{PREFIX}replicas": str(self.groups)}
        metadata |= {"generation": 1, "ownerReferences": self._owner()}
        spec = self._set_spec({NAME: self.name, WORKER: "0"}, self.groups, self.name)
        rolling = {
            "partition": partition,
            "maxUnavailable": max(1, rollout["maxUnavailable"] + rollout["maxSurge"]),
        }
        spec["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": rolling}
        part = "leaderTemplate" if "leaderTemplate" in self._template else "workerTemplate"
        notes = {POLICY: UNIQUE} if self.is_unique else {}
        spec["template"] = self._pod_template(part, {WORKER: "0", KEY: self.key}, notes)
        status = _count(self.groups)
        return _set(metadata, spec, status)

    def worker_set(self, group: int, key: str) -> Object:
        name = f"{self.name}-{group}"
        marks = {GROUP: str(group), GROUP_KEY: self._group_key(group), KEY: key}
        metadata = self._meta(name, f"workers-{group}-{key}")
        metadata["labels"] = self._given("labels") | {NAME: self.name, **marks}
        metadata["annotations"] = self._given("annotations")
        metadata |= {"generation": 1, "ownerReferences": _owned_by(self._pod(group, 0, key))}
        chosen = {NAME: self.name, GROUP: str(group), GROUP_KEY: self._group_key(group)}
        spec = self._set_spec(chosen, self.size - 1, name if self.is_unique else self.name)
        spec["ordinals"] = {"start": 1}
        rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
        spec["updateStrategy"] = rolling
        notes = {f"{PREFIX}leader-name": name}
        spec["template"] = self._pod_template("workerTemplate", marks, notes)
        if self._topology:
            spec["template"]["spec"]["nodeSelector"] = {self._topology: f"pool-node-{group}"}
        return _set(metadata, spec, _count(self.size - 1))

    def _set_spec(self, chosen: dict[str, str], count: int, service: str) -> Object:
        return {
            "replicas": count,
            "serviceName": service,
            "podManagementPolicy": "Parallel",
            "revisionHistoryLimit": 10,
            "selector": {"matchLabels": chosen},
        }

    def _pod_template(self, part: str, marks: dict[str, str], notes: dict[str, str]) -> Object:
        given = deepcopy(self._template[part])
        metadata = given.get("metadata", {})
        labels = metadata.get("labels", {}) | {NAME: self.name, **marks}
        annotations = metadata.get("annotations", {}) | {SIZE: str(self.size), **notes}
        if self._topology:
            annotations[TOPOLOGY] = self._topology
        spec = _with_defaults(given["spec"])
        return {"metadata": {"labels": labels, "annotations": annotations}, "spec": spec}

    def _pod(self, group: int, index: int, key: str) -> Object:
        leader = f"{self.name}-{group}"
        name = f"{leader}-{index}" if index else leader
        is_split = index == 0 and "leaderTemplate" in self._template
        marks = {GROUP: str(group), GROUP_KEY: self._group_key(group), KEY: key, WORKER: str(index)}
        notes = {f"{PREFIX}leader-name": leader} if index else {}
        if self.is_unique and not index:
            notes[POLICY] = UNIQUE
        part = "leaderTemplate" if is_split else "workerTemplate"
        made = self._pod_template(part, marks, notes)
        labels = made["metadata"]["labels"] | {"statefulset.kubernetes.io/pod-name": name}
        owner = f"workers-{group}-{key}" if index else "leaders"
        metadata = self._meta(name, f"pod-{name}-{key}") | made["metadata"] | {"labels": labels}
        kind = {"apiVersion": "apps/v1", "kind": "StatefulSet"}
        owners = {**kind, "name": leader if index else self.name, "uid": owner}
        metadata["ownerReferences"] = [owners | {"controller": True, "blockOwnerDeletion": True}]
        domain = leader if self.is_unique else self.name
        spec = made["spec"] | {"hostname": name, "subdomain": domain, "nodeName": f"node-{group}"}
        address = f"{leader}.{domain}.{self.namespace}"
        for container in spec["containers"]:
            container["env"] = _variables(address, self.size, index) + container.get("env", [])
        names = [container["name"] for container in spec["containers"]]
        kind = {"apiVersion": "v1", "kind": "Pod"}
        return {**kind, "metadata": metadata, "spec": spec, "status": _running(names)}

    def _group_key(self, group: int) -> str:
        return sha1(f"{self.namespace}/{self.name}-{group}".encode()).hexdigest()

    def _given(self, field: str) -> dict[str, str]:
        return dict(self.lws["metadata"].get(field) or {})

    def _owner(self) -> list[Object]:
        return _owned_by(self.lws)

    def _meta(self, name: str, uid: str) -> Object:
        about = {"name": name, "namespace": self.namespace, "uid": uid}
        return {**about, "creationTimestamp": MADE}

    def _status(self) -> Object:
        texts = {
            "Progressing": ("False", "GroupsProgressing", "Replicas are progressing"),
            "Available": ("True", "AllGroupsReady", "All replicas are ready"),
        }
        return {
            "observedGeneration": 1,
            "replicas": self.groups,
            "readyReplicas": self.groups,
            "updatedReplicas": self.groups,
            "hpaPodSelector": f"{NAME}={self.name},{WORKER}=0",
            "conditions": [
                {
                    "type": kind,
                    "status": status,
                    "reason": reason,
                    "message": message,
                    "observedGeneration": 1,
                    "lastTransitionTime": MADE,
                }
                for kind, (status, reason, message) in texts.items()
            ],
        }


def _owned_by(obj: Object) -> list[Object]:
    meta = obj["metadata"]
    kind = {"apiVersion": obj["apiVersion"], "kind": obj["kind"]}
    owner = {**kind, "name": meta["name"], "uid": meta["uid"]}
    return [owner | {"controller": True, "blockOwnerDeletion": True}]


def _set(metadata: Object, spec: Object, status: Object) -> Object:
    kind = {"apiVersion": "apps/v1", "kind": "StatefulSet"}
    return {**kind, "metadata": metadata, "spec": spec, "status": status}


def _count(count: int) -> Object:
    names = ("replicas", "readyReplicas", "availableReplicas", "currentReplicas", "updatedReplicas")
    return {"observedGeneration": 1, **dict.fromkeys(names, count)}


def _with_defaults(spec: Object) -> Object:
    """The template of a pod as an API server fills it in."""
    for container in spec["containers"]:
        container.setdefault("resources", {})
        container["imagePullPolicy"] = "IfNotPresent"
        container["terminationMessagePath"] = "/dev/termination-log"
        container["terminationMessagePolicy"] = "File"
    return {
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
        **spec,
    }


def _variables(address: str, size: int, index: int) -> list[Object]:
    texts = {
        "LWS_LEADER_ADDRESS": address,
        "LWS_GROUP_SIZE": str(size),
        "LWS_WORKER_INDEX": str(index),
    }
    return [{"name": name, "value": value} for name, value in texts.items()]


def _running(containers: list[str]) -> Object:
    conditions = ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    state = {"ready": True, "restartCount": 0, "state": {"running": {"startedAt": MADE}}}
    return {
        "phase": "Running",
        "startTime": MADE,
        "conditions": [
            {"type": kind, "status": "True", "lastTransitionTime": MADE} for kind in conditions
        ],
        "containerStatuses": [{"name": name, **state} for name in containers],
    }
