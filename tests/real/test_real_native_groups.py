"""Native groups on a real control plane: taken as they are rendered, and placed whole."""

import json
import time
from collections.abc import Callable, Iterator

import pytest

from control_plane import ControlPlane, real_plane
from kohort.apis.gangs.dialects.kubernetes import V1ALPHA2
from kohort.apis.gangs.intent import Intent, Membership, Tier, Tiers
from kohort.cluster.objects import Object
from kohort.model.placement import Gang, Pack, Strength

pytestmark = pytest.mark.real

ZONE = "topology.kubernetes.io/zone"
TIERS = Tiers((Tier(1, "zone", ZONE),), are_known=True)
GATES = ("GenericWorkload", "GangScheduling", "TopologyAwareWorkloadScheduling")
WAIT_SECONDS_MAX = 180.0
KIND = "podgroups.v1alpha2.scheduling.k8s.io"


@pytest.fixture(scope="module")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    folder = tmp_path_factory.mktemp("native") / "plane"
    gates = ",".join(f"{gate}=true" for gate in (*GATES, "WorkloadAwarePreemption"))
    served = "scheduling.k8s.io/v1alpha2=true"
    words = ("--nodes", "4", "--feature-gates", gates, "--runtime-config", served)
    with real_plane(folder, *words) as control_plane:
        for index, name in enumerate(list_names(control_plane, "nodes")):
            control_plane.kubectl("label", "node", name, f"{ZONE}=z{index % 2}", "--overwrite")
        yield control_plane


def list_names(control_plane: ControlPlane, kind: str) -> list[str]:
    found = json.loads(control_plane.kubectl("get", kind, "-o", "json"))["items"]
    return sorted(item["metadata"]["name"] for item in found)


def an_intent(
    control_plane: ControlPlane, name: str, *, pack: Pack | None = None, minimum: int = 3
) -> Intent:
    """A gang that belongs to a config map, as it might to any object."""
    control_plane.kubectl("create", "configmap", name)
    owner = json.loads(control_plane.kubectl("get", "configmap", name, "-o", "json"))["metadata"][
        "uid"
    ]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": owner}
    gang = Gang(0, "u", "r", 3, minimum, pack=pack)
    return Intent("default", name, gang, reference, priorities=("",), schedulers=("",))


def create(control_plane: ControlPlane, obj: Object) -> None:
    control_plane.kubectl("create", "--validate=strict", "-f", "-", feed=json.dumps(obj))


def make_group(control_plane: ControlPlane, told: Intent) -> Object:
    (group,) = V1ALPHA2.render(told, TIERS)
    create(control_plane, group)
    return group


def make_pod(control_plane: ControlPlane, told: Intent, index: int) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{told.name}-{index}", "labels": {"gang": told.name}},
        "spec": {"containers": [{"name": "c", "image": "engine:1"}]},
    }
    create(control_plane, V1ALPHA2.mark(pod, Membership(told.name, 3, index), TIERS))


def find_nodes(control_plane: ControlPlane, told: Intent) -> list[str]:
    pods = json.loads(control_plane.kubectl("get", "pods", "-l", f"gang={told.name}", "-o", "json"))
    return [pod["spec"]["nodeName"] for pod in pods["items"] if pod["spec"].get("nodeName")]


def wait_for(what: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_SECONDS_MAX
    while not what():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.2)


@pytest.mark.parametrize("minimum", [1, 3])
@pytest.mark.parametrize("pack", [None, Pack(Strength.HARD, 1), Pack(Strength.SOFT, 1)])
def test_what_is_rendered_is_stored_as_it_is(
    control_plane: ControlPlane, minimum: int, pack: Pack | None
):
    strength = pack.strength.value if pack else "free"
    group = make_group(
        control_plane, an_intent(control_plane, f"{strength}-{minimum}", pack=pack, minimum=minimum)
    )
    stored = json.loads(control_plane.kubectl("get", KIND, group["metadata"]["name"], "-o", "json"))
    assert stored["spec"].items() >= group["spec"].items()
    assert stored["metadata"]["ownerReferences"] == group["metadata"]["ownerReferences"]


def test_a_spec_cannot_be_changed(control_plane: ControlPlane):
    make_group(control_plane, an_intent(control_plane, "frozen"))
    change = json.dumps({"spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}})
    with pytest.raises(AssertionError, match="field is immutable"):
        control_plane.kubectl("patch", KIND, "frozen", "--type=merge", "-p", change)


def test_no_pod_is_placed_before_all_are_there_and_then_all_in_one_domain(
    control_plane: ControlPlane,
):
    told = an_intent(control_plane, "whole", pack=Pack(Strength.HARD, 1))
    make_group(control_plane, told)
    for index in range(2):
        make_pod(control_plane, told, index)
    lonely = an_intent(control_plane, "alone", minimum=1)
    make_group(control_plane, lonely)
    make_pod(control_plane, lonely, 0)
    wait_for(lambda: len(find_nodes(control_plane, lonely)) == 1)
    assert find_nodes(control_plane, told) == []
    make_pod(control_plane, told, 2)
    wait_for(lambda: len(find_nodes(control_plane, told)) == 3)
    path = f"jsonpath={{.metadata.labels.{ZONE.replace('.', chr(92) + '.')}}}"
    zones = {
        control_plane.kubectl("get", "node", n, "-o", path) for n in find_nodes(control_plane, told)
    }
    assert len(zones) == 1
