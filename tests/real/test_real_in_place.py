"""Pods of the real control plane: gates that others set, and another image in a running pod."""

import json
from typing import Any

import pytest
from operator_processes import eventually

from conftest import Site
from control_plane import ControlPlane

pytestmark = pytest.mark.real
GATE = "example.com/served"


def make_pod(name: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": n, "image": f"{n}:1"} for n in ("main", "side")]
    metadata = {"name": name, "namespace": "default"}
    body = {"containers": containers, **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": body}


class Watched:
    """One pod, from its creation to the end of its test."""

    def __init__(self, plane: ControlPlane, pod: dict[str, Any]) -> None:
        self._plane, self._name = plane, pod["metadata"]["name"]
        plane.kubectl("create", "-f", "-", feed=json.dumps(pod))

    def read(self) -> dict[str, Any]:
        return json.loads(self._plane.kubectl("get", "pod", self._name, "-o", "json"))

    def conditions(self) -> dict[str, str]:
        return {c["type"]: c["status"] for c in self.read()["status"].get("conditions") or ()}

    def containers(self) -> dict[str, dict[str, Any]]:
        return {c["name"]: c for c in self.read()["status"].get("containerStatuses") or ()}

    def await_condition(self, name: str, status: str) -> None:
        eventually(f"{name} is {status}", lambda: self.conditions().get(name) == status)

    def set_gate(self, status: str) -> None:
        patch = {"status": {"conditions": [{"type": GATE, "status": status}]}}
        words = ("--subresource=status", "--type=strategic", "-p", json.dumps(patch))
        self._plane.kubectl("patch", "pod", self._name, *words)

    def delete(self) -> None:
        self._plane.kubectl("delete", "pod", self._name, "--wait=false")


def test_a_gate_is_true_only_when_some_client_has_set_it(site: Site):
    pod = Watched(site.plane, make_pod("gated", readinessGates=[{"conditionType": GATE}]))
    pod.await_condition("ContainersReady", "True")
    assert (pod.conditions()["Ready"], GATE in pod.conditions()) == ("False", False)
    pod.set_gate("True")
    pod.await_condition("Ready", "True")
    pod.set_gate("False")
    pod.await_condition("Ready", "False")
    assert pod.conditions()["ContainersReady"] == "True"
    pod.delete()


def test_another_image_restarts_its_container_in_the_same_pod(site: Site):
    pod = Watched(site.plane, make_pod("changed", readinessGates=[{"conditionType": GATE}]))
    pod.set_gate("True")
    pod.await_condition("Ready", "True")
    before, old = pod.read(), pod.containers()
    site.plane.kubectl("set", "image", "pod/changed", "main=main:2")
    pod.await_condition("ContainersReady", "False")
    eventually("the new image runs", lambda: pod.containers()["main"]["image"] == "main:2")
    pod.await_condition("Ready", "True")
    after, new = pod.read(), pod.containers()
    assert (new["main"]["restartCount"], new["main"]["ready"]) == (1, True)
    assert new["main"]["imageID"] != old["main"]["imageID"]
    assert new["main"]["lastState"]["terminated"]["reason"] == "Completed"
    assert new["side"] == old["side"]
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["status"]["podIP"] == before["status"]["podIP"]
    pod.delete()
