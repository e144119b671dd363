"""
``kohort takeover check`` of what OME leaves of a service, on a real control plane.

The objects are written by hand. The control plane makes the pods of the Deployments itself; those
of the StatefulSets stay as they are written, since they name the revisions that it computes.
"""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
from left_objects import Leftovers, bring, define

from control_plane import ControlPlane, real_plane
from kohort.cluster.objects import Object
from upstream_carriers import list_service_on_many_nodes
from upstream_service import list_multi_node, list_raw

pytestmark = pytest.mark.real
PLANE = ("--nodes", "6", "--ready-ms", "200", "--gone-ms", "100")
STAMP = "metadata.annotations[kohort.dev/rendered-from]"


@pytest.fixture(scope="module")
def model_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with definitions, and a model on its nodes."""
    with real_plane(tmp_path_factory.mktemp("services") / "plane", *PLANE) as found:
        define(found, "lws,rbg,isvc")
        found.kubectl("label", "nodes", "--all", "models.ome.io/clusterbasemodel.llama=Ready")
        found.kubectl("create", "namespace", "ome")
        yield found


def check(
    left: Leftovers, plane: ControlPlane, apis: str = "isvc"
) -> tuple[list[tuple[str, str]], list[str], str]:
    """The fields that would change, the pods that would restart, and all that was printed."""
    where = ("--kubeconfig", str(plane.kubeconfig), "-n", left.namespace, "--apis", apis)
    command = [sys.executable, "-m", "kohort", "takeover", "check", *where, "-o", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    writes = report["writes"]
    changes = [(f"{w['kind']}/{w['name']}", c["path"]) for w in writes for c in w["changes"]]
    pods = [pod for write in writes for pod in write["pods"]] + report["outdated"]
    return changes, pods, done.stdout + done.stderr


def condition_of(service: str, *kinds: str) -> list[tuple[str, str]]:
    """Ours depends on every component; upstream marks decoder and router as Info."""
    names = ("lastTransitionTime", "severity")
    paths = (f"status.conditions[{kind}].{name}" for kind in kinds for name in names)
    return [(f"InferenceService/{service}", path) for path in paths]


def test_of_a_service_at_rest_only_our_marks_and_a_severity_would_change(
    model_plane: ControlPlane,
):
    left = bring(model_plane, list_raw())
    before = left.uids()
    assert len(before) == 2
    changes, pods, text = check(left, model_plane)
    assert changes == [
        ("Deployment/chat-engine", STAMP),
        ("Deployment/chat-router", STAMP),
        *condition_of("chat", "RouterReady"),
    ], text
    assert pods == [], text
    assert left.uids() == before
    left.remove()


@pytest.mark.parametrize(
    ("apis", "objects"),
    [("isvc", list_multi_node()), ("lws,isvc", list_service_on_many_nodes())],
    ids=["alone", "with-the-controller-of-its-sets"],
)
def test_of_a_service_on_many_nodes_selectors_that_are_too_wide_would_change_as_well(
    model_plane: ControlPlane, apis: str, objects: list[Object]
):
    left = bring(model_plane, objects)
    before = left.uids()
    assert sorted(name for name in before if name.startswith("lws-")) == [
        *("lws-pd-decoder-0", "lws-pd-decoder-0-1", "lws-pd-engine-0", "lws-pd-engine-0-1")
    ]
    assert len(before) == 5
    changes, pods, text = check(left, model_plane, apis)
    fields = ("metadata.managedFields", "spec.selector[ome.io/inferenceservice]")
    assert changes == [
        ("Deployment/pd-router", STAMP),
        ("LeaderWorkerSet/lws-pd-engine", STAMP),
        ("LeaderWorkerSet/lws-pd-decoder", STAMP),
        *(
            (f"Service/pd-{component}", path)
            for component in ("engine", "decoder")
            for path in (*fields, "spec.selector.component")
        ),
        *condition_of("pd", "DecoderReady", "RouterReady"),
        ("InferenceService/pd", "status.modelStatus.modelCopies.totalCopies"),
    ], text
    assert pods == [], text
    assert left.uids() == before
    left.remove()
