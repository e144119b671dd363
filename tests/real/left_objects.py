"""
Recorded objects of another controller, made again on a real control plane.

The API server gives new uids, so owner references are written anew. A StatefulSet would make pods
of its own; its pods are made first, without an owner, and it adopts them. Its revisions are made
by its controller again; a pod that is written by hand gets the revision that this controller makes.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from operator_processes import eventually
from set_revisions import sign_pods

from control_plane import ControlPlane

Object = dict[str, Any]
CUSTOM = (
    *("leaderworkerset.x-k8s.io/", "workloads.x-k8s.io/", "ome.io/"),
    *("workload.serving.volcano.sh/", "scheduling.volcano.sh/"),
)
SCHEDULER = "default-scheduler"
ADDRESSES = ("clusterIP", "clusterIPs")  # which the API server allocates, each once
KEPT = ("name", "generateName", "namespace", "labels", "annotations", "ownerReferences")


def define(plane: ControlPlane, apis: str) -> None:
    """Install the definitions of APIs; the API server serves a new kind only after a while."""
    command = [sys.executable, "-m", "kohort", "crds", "--apis", apis]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    made = plane.kubectl("apply", "--server-side", "-f", "-", "-o", "name", feed=printed).split()
    names = {name.partition("/")[2] for name in made}
    eventually("kinds are served", lambda: names <= _list_served(plane), lambda: str(names))


def _list_served(plane: ControlPlane) -> set[str]:
    return set(plane.kubectl("api-resources", "-o", "name").split())


@contextmanager
def brought(plane: ControlPlane, objects: Sequence[Object]) -> Iterator["Leftovers"]:
    """These objects, until the block ends: others may have been recorded in their namespace."""
    left = Leftovers(plane, objects)
    try:
        left.bring()
        yield left
    finally:
        left.remove()


class Leftovers:
    """The objects of one workload, in the namespace in which they were recorded."""

    def __init__(self, plane: ControlPlane, objects: Sequence[Object]) -> None:
        self._plane = plane
        self.namespace = str(objects[0]["metadata"]["namespace"])
        self._objects = [obj for obj in objects if not _is_made_again(obj)]

    def bring(self) -> None:
        """Make all objects, and wait until their pods serve."""
        self.make()
        eventually("it is at rest", self.is_at_rest, lambda: self("get", "pods,statefulsets"))

    def make(self) -> None:
        """Make all objects, owners first."""
        self._plane.kubectl("create", "namespace", self.namespace)
        self("wait", "serviceaccount/default", "--for=create", "--timeout=120s")
        uids: dict[str, str] = {}
        left = self._objects
        while left:
            now = [obj for obj in left if all(ref["uid"] in uids for ref in _owners_of(obj))]
            assert now, [obj["metadata"]["name"] for obj in left]
            uids |= self._create(now, uids)
            left = [obj for obj in left if obj not in now]
        for obj in self._objects:
            self._bring_status(obj)

    def remove(self) -> None:
        self._plane.kubectl("delete", "namespace", self.namespace, "--timeout=180s")

    def is_at_rest(self) -> bool:
        """Whether all pods are ready and owned, and StatefulSets say so."""
        pods = self.list("pods")
        sets = self.list("statefulsets")
        return all(_is_ready(pod) and _owners_of(pod, True) for pod in pods) and all(
            (each.get("status") or {}).get("readyReplicas", 0) == each["spec"]["replicas"]
            and each["status"]["currentRevision"] == each["status"]["updateRevision"]
            for each in sets
        )

    def list(self, kind: str) -> list[Object]:
        found: list[Object] = json.loads(self("get", kind, "-o", "json"))["items"]
        return found

    def uids(self) -> dict[str, str]:
        return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in self.list("pods")}

    def __call__(self, *words: str, feed: str = "") -> str:
        return self._plane.kubectl("-n", self.namespace, *words, feed=feed)

    def _create(self, objects: Sequence[Object], uids: Mapping[str, str]) -> dict[str, str]:
        """Make objects whose owners are there; their new uids by those that were recorded."""
        items = [_strip(obj, uids) for obj in objects]
        feed = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
        form = 'jsonpath={.metadata.uid}{"\\n"}'
        by = "--field-manager=manager"  # as controllers of controller-runtime call themselves
        made = self("create", by, "-f", "-", "-o", form, feed=feed).split()
        return {old["metadata"]["uid"]: new for old, new in zip(objects, made, strict=True)}

    def _bring_status(self, obj: Object) -> None:
        """Write the parts of a status that no part of the control plane writes."""
        kind, status, how = obj["kind"].lower(), obj.get("status") or {}, "merge"
        if kind == "pod":
            gates = [gate["conditionType"] for gate in obj["spec"].get("readinessGates") or ()]
            status = {"conditions": [c for c in status["conditions"] if c["type"] in gates]}
            how = "strategic"
        elif not obj["apiVersion"].startswith(CUSTOM):
            return
        if any(status.values()):
            name, body = f"{kind}/{obj['metadata']['name']}", json.dumps({"status": status})
            self("patch", name, "--subresource=status", f"--type={how}", "-p", body)


def _owners_of(obj: Object, is_live: bool = False) -> list[Object]:
    """The owners that are there before an object; a StatefulSet comes after its pods."""
    owners: list[Object] = obj["metadata"].get("ownerReferences") or []
    if is_live or obj["kind"] != "Pod":
        return owners
    return [ref for ref in owners if ref["kind"] != "StatefulSet"]


def _is_made_again(obj: Object) -> bool:
    owners = obj["metadata"].get("ownerReferences") or ()
    is_revision = obj["kind"] == "ControllerRevision"
    return is_revision and any(ref["kind"] == "StatefulSet" for ref in owners)


def _strip(obj: Object, uids: Mapping[str, str]) -> Object:
    """An object as a client creates it."""
    made: Object = json.loads(json.dumps(obj))
    made.pop("status", None)
    metadata = {key: made["metadata"][key] for key in KEPT if key in made["metadata"]}
    owners = [{**ref, "uid": uids[ref["uid"]]} for ref in _owners_of(made)]
    made["metadata"] = {**metadata, "ownerReferences": owners}
    if made["kind"] == "Pod" and made["spec"].get("schedulerName") == SCHEDULER:
        made["spec"].pop("nodeName", None)  # no other scheduler runs, so its pods stay bound
    if made["kind"] == "Service" and made["spec"].get("clusterIP") != "None":
        made["spec"] = {k: v for k, v in made["spec"].items() if k not in ADDRESSES}
    return made


def _is_ready(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def bring(plane: ControlPlane, objects: Sequence[Object]) -> Leftovers:
    """Make one workload, with all that it names elsewhere, and wait until its pods serve."""
    return bring_all(plane, [objects])[0]


def bring_all(plane: ControlPlane, workloads: Sequence[Sequence[Object]]) -> list[Leftovers]:
    """Make workloads, with all that they name elsewhere, and wait until their pods serve."""
    found = [_make(plane, objects) for objects in workloads]
    for left, objects in zip(found, workloads, strict=True):
        eventually("it is at rest", left.is_at_rest, lambda left=left: left("get", "pods"))
        if any(obj["kind"] == "Deployment" for obj in objects):
            left("wait", "deployment", "--all", "--for=condition=Available", "--timeout=180s")
    return found


def _make(plane: ControlPlane, objects: Sequence[Object]) -> Leftovers:
    namespace = objects[0]["metadata"]["namespace"]
    own = [obj for obj in objects if obj["metadata"].get("namespace") == namespace]
    for obj in (obj for obj in objects if obj not in own):
        bring_beside(plane, obj)
    left = Leftovers(plane, sign_pods(plane, [obj for obj in own if not is_made_there(obj)]))
    left.make()
    return left


def bring_beside(plane: ControlPlane, obj: Object) -> None:
    """Make an object outside of a workload's namespace, such as a model or a runtime."""
    kept = ("name", "namespace", "labels", "finalizers")
    about = {key: value for key, value in obj["metadata"].items() if key in kept}
    if "namespace" in about:
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": about["namespace"]}}
        plane.kubectl("apply", "-f", "-", feed=json.dumps(space))
    plane.kubectl("apply", "-f", "-", feed=json.dumps({**obj, "metadata": about}))
    if "status" in obj:
        name, body = f"{obj['kind'].lower()}/{about['name']}", {"status": obj["status"]}
        words = ("patch", name, "--subresource=status", "--type=merge", "-p", json.dumps(body))
        plane.kubectl(*words)


def is_made_there(obj: Object) -> bool:
    """Whether the controllers of Deployments and ReplicaSets make an object."""
    owners = obj["metadata"].get("ownerReferences") or ()
    return any(ref["kind"] in ("Deployment", "ReplicaSet") for ref in owners)
