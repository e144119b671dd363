"""
``kohort takeover check`` of what OME leaves of a service, on a real control plane.

The objects are written by hand. The control plane makes the pods of the Deployments itself.
"""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
from left_objects import Leftovers

from control_plane import ControlPlane, real_plane
from upstream_service import list_raw

pytestmark = pytest.mark.real
PLANE = ("--nodes", "3", "--ready-ms", "200", "--gone-ms", "100")
MADE_THERE = ("ReplicaSet", "Pod")
STAMP = "metadata.annotations[kohort.dev/rendered-from]"


@pytest.fixture(scope="module")
def model_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with definitions, and a model on its nodes."""
    with real_plane(tmp_path_factory.mktemp("services") / "plane", *PLANE) as found:
        command = [sys.executable, "-m", "kohort", "crds", "--apis", "lws,rbg,isvc"]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found.kubectl("apply", "--server-side", "-f", "-", feed=printed)
        found.kubectl("label", "nodes", "--all", "models.ome.io/clusterbasemodel.llama=Ready")
        yield found


def test_of_a_service_at_rest_only_our_marks_and_a_severity_would_change(
    model_plane: ControlPlane,
):
    objects = [obj for obj in list_raw() if obj["kind"] not in MADE_THERE]
    own = [obj for obj in objects if obj["metadata"].get("namespace") == "chat"]
    others = [obj for obj in objects if obj not in own]
    model_plane.kubectl("create", "namespace", "ome")
    for obj in others:
        metadata = {k: v for k, v in obj["metadata"].items() if k not in ("uid", "resourceVersion")}
        model_plane.kubectl("create", "-f", "-", feed=json.dumps({**obj, "metadata": metadata}))
        if "status" in obj:
            name, body = f"{obj['kind'].lower()}/{metadata['name']}", {"status": obj["status"]}
            words = ("patch", name, "--subresource=status", "--type=merge", "-p", json.dumps(body))
            model_plane.kubectl(*words)
    left = Leftovers(model_plane, own)
    left.bring()
    left("wait", "deployment", "--all", "--for=condition=Available", "--timeout=120s")
    before = left.uids()
    assert len(before) == 2

    where = ("--kubeconfig", str(model_plane.kubeconfig), "-n", "chat", "--apis", "isvc")
    command = [sys.executable, "-m", "kohort", "takeover", "check", *where, "-o", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    writes = report["writes"]
    changes = [(f"{w['kind']}/{w['name']}", c["path"]) for w in writes for c in w["changes"]]
    assert changes == [
        ("Deployment/chat-engine", STAMP),
        ("Deployment/chat-router", STAMP),
        ("InferenceService/chat", "status.conditions[RouterReady].severity"),
    ], done.stdout + done.stderr
    assert [pod for write in writes for pod in write["pods"]] == report["unreadable"] == []
    assert left.uids() == before
