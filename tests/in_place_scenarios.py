"""
Pods that are updated in place, by the eyes of kubectl: the same claims on every control plane.

A kubelet sets no readiness gate; Ready follows those that other clients set. A container whose
image changes starts again with the new one, in the same pod, which is unready in between.
"""

import json
import time
from collections.abc import Callable
from typing import Any

GATE = "example.com/served"
SECONDS_MAX = 180.0
# On the embedded cluster a pull takes so long that the state before it ends can be seen.
SLOW_PULL = {"sim.kohort.dev/pull-for": "150s"}

Kubectl = Callable[..., str]  # (words, feed=…) -> what it says


class GatedPod:
    """A pod of two containers and one readiness gate, from its creation to its deletion."""

    def __init__(self, kubectl: Kubectl, name: str) -> None:
        self._kubectl, self._name = kubectl, name
        containers = [{"name": n, "image": f"{n}:1"} for n in ("main", "side")]
        spec = {"containers": containers, "readinessGates": [{"conditionType": GATE}]}
        metadata = {"name": name, "annotations": SLOW_PULL}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        kubectl("create", "-f", "-", feed=json.dumps(pod))

    def read(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._kubectl("get", "pod", self._name, "-o", "json"))
        return found

    def conditions(self) -> dict[str, str]:
        return {c["type"]: c["status"] for c in self.read()["status"].get("conditions") or ()}

    def containers(self) -> dict[str, dict[str, Any]]:
        return {c["name"]: c for c in self.read()["status"].get("containerStatuses") or ()}

    def wait_for(self, name: str, status: str) -> None:
        end = time.monotonic() + SECONDS_MAX
        while (found := self.conditions()).get(name) != status:
            assert time.monotonic() < end, f"{name} is not {status}: {found}"
            time.sleep(0.05)

    def set_gate(self, status: str) -> None:
        patch = {"status": {"conditions": [{"type": GATE, "status": status}]}}
        words = ("--subresource=status", "--type=strategic", "-p", json.dumps(patch))
        self._kubectl("patch", "pod", self._name, *words)

    def set_image(self, image: str) -> None:
        self._kubectl("set", "image", f"pod/{self._name}", f"main={image}")

    def delete(self) -> None:
        self._kubectl("delete", "pod", self._name, "--wait=false")


def check_gates(kubectl: Kubectl) -> None:
    """A gate counts only when some client has set it, and Ready follows it both ways."""
    pod = GatedPod(kubectl, "gated")
    pod.wait_for("ContainersReady", "True")
    assert (pod.conditions()["Ready"], GATE in pod.conditions()) == ("False", False)
    pod.set_gate("True")
    pod.wait_for("Ready", "True")
    pod.set_gate("False")
    pod.wait_for("Ready", "False")
    assert pod.conditions()["ContainersReady"] == "True"
    pod.delete()


def check_image(kubectl: Kubectl) -> None:
    """Another image starts its container again, and nothing else about the pod changes."""
    pod = GatedPod(kubectl, "changed")
    pod.set_gate("True")
    pod.wait_for("Ready", "True")
    before, old = pod.read(), pod.containers()
    pod.set_image("main:2")
    pod.wait_for("ContainersReady", "False")
    assert pod.conditions()["Ready"] == "False"
    pod.wait_for("Ready", "True")
    after, new = pod.read(), pod.containers()
    main = new["main"]
    assert (main["image"], main["restartCount"], main["ready"]) == ("main:2", 1, True)
    assert main["imageID"] != old["main"]["imageID"]
    assert main["lastState"]["terminated"]["reason"] == "Completed"
    assert new["side"] == old["side"]
    for part in (("metadata", "uid"), ("status", "podIP"), ("spec", "nodeName")):
        assert after[part[0]][part[1]] == before[part[0]][part[1]]
    pod.delete()
