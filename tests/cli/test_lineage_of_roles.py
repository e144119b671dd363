"""``kohort get pod/NAME --up`` of pods of RoleBasedGroups and InferenceServices, up to the root."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_lines import Told
from why_situations import KINDS, TEMPLATES, write_spec
from workload_hand import Hand, create_all

pytestmark = pytest.mark.slow
RunKohort = Callable[..., Told]
EXAMPLE = Path(__file__).parents[2] / "examples" / "inferenceservice.yaml"


@pytest.fixture(scope="module")
def services(cluster: Path) -> Hand:
    """A service that is a RoleBasedGroup, one that is a Deployment, and a group of its own."""
    create_all(cluster, EXAMPLE.read_text())
    for kind in ("rbg", "isvc"):
        Hand(cluster, f"own-{kind}", KINDS[kind]).make(write_spec(kind, TEMPLATES["well"], 2))
    for kind in ("rbg", "isvc"):
        Hand(cluster, f"own-{kind}", KINDS[kind]).wait_for_condition("Ready")
    found = Hand(cluster, "chat", KINDS["isvc"])
    found.wait_for_condition("Ready")
    return found


@pytest.mark.usefixtures("services")
def test_a_pod_of_a_role_belongs_to_instance_set_and_group(kohort: RunKohort):
    told = kohort("get", "pod/own-rbg-engine-1", "--up")
    assert told.code == 0, told.err
    _, *lines = told.out.splitlines()
    assert lines == [
        "  member    engine, number 0 of its instance",
        "  instance  1 of role engine",
        "  revision  1",
        "  workload  rbg/own-rbg  RoleBasedGroup  ✓ ready",
        "  owners    RoleInstance/own-rbg-engine-1 → RoleInstanceSet/own-rbg-engine"
        " → RoleBasedGroup/own-rbg",
    ]


@pytest.mark.usefixtures("services")
def test_a_pod_of_a_group_of_a_service_belongs_to_both(kohort: RunKohort):
    told = kohort("get", "pod/chat-decoder-1", "--up")
    assert told.code == 0, told.err
    *_, workload, above, owners = told.out.splitlines()
    assert workload == "  workload  rbg/chat  RoleBasedGroup  ✓ ready"
    assert above == "  owned by  isvc/chat  InferenceService  ✓ ready"
    assert owners == (
        "  owners    RoleInstance/chat-decoder-1 → RoleInstanceSet/chat-decoder"
        " → RoleBasedGroup/chat → InferenceService/chat"
    )


def test_a_pod_of_a_deployment_belongs_to_its_service(kohort: RunKohort, services: Hand):
    [name, _] = services.list_pods("ome.io/inferenceservice=own-isvc")
    found = json.loads(kohort("get", f"pod/{name}", "--up", "-o", "json").out)
    assert [each["reference"] for each in found["workloads"]] == ["isvc/own-isvc"]
    assert found["place"]["role"] == "engine"
    assert found["isOneGroup"]
    replicas, _, _ = name.rpartition("-")
    assert found["owners"] == [
        f"ReplicaSet/{replicas}",
        "Deployment/own-isvc-engine",
        "InferenceService/own-isvc",
    ]
