"""Every file in examples/ does what it says, on a real kubectl."""

from pathlib import Path

import pytest
import yaml

from kohort.apis.served import APIS

EXAMPLES = Path(__file__).parents[2] / "examples"
OTHERS = ("crd.yaml", "crd-object.yaml", "statefulset.yaml", "web.yaml")  # no kind of ours

pytestmark = pytest.mark.clients


def install_definitions(kubectl) -> None:
    """All kinds of all APIs, once in a cluster."""
    made = [define() for api in APIS for define in api.definitions]
    names = [f"crd/{each['metadata']['name']}" for each in made]
    if kubectl("get", *names, "-o", "name", check=False).returncode:
        kubectl("apply", "--server-side", "-f", "-", stdin=yaml.safe_dump_all(made))
        kubectl("wait", "--for=condition=Established", *names)


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.yaml")))
def test_an_example_is_accepted_without_a_warning(name, kubectl, kohort_namespace):
    if name == "crd-object.yaml":
        kubectl("apply", "-f", EXAMPLES / "crd.yaml")
        kubectl("wait", "--for=condition=Established", "crd/models.example.kohort.dev")
    if name not in OTHERS:
        install_definitions(kubectl)
    done = kubectl("apply", "-n", kohort_namespace, "-f", EXAMPLES / name)
    count = len(list(yaml.safe_load_all((EXAMPLES / name).read_text())))
    assert len(done.stdout.splitlines()) == count
    assert done.stderr == ""


def test_the_web_example_becomes_available(kubectl, kohort_namespace):
    kubectl("apply", "-n", kohort_namespace, "-f", EXAMPLES / "web.yaml")
    done = kubectl("rollout", "status", "-n", kohort_namespace, "deployment/web", "--timeout=30s")
    assert 'deployment "web" successfully rolled out' in done.stdout


def test_the_statefulset_example_gets_its_gpus_and_volumes(kubectl, kohort_namespace):
    space = ("-n", kohort_namespace)
    kubectl("apply", *space, "-f", EXAMPLES / "statefulset.yaml")
    kubectl("rollout", "status", *space, "statefulset/engine", "--timeout=30s")
    path = "-o=jsonpath={.items[*].status.phase}"
    assert kubectl("get", "pvc", *space, path).stdout == "Bound Bound"
    assert kubectl("get", "pods", *space, path).stdout == "Running Running"


def test_the_object_example_gets_its_defaults(kubectl, kohort_namespace):
    kubectl("apply", "-f", EXAMPLES / "crd.yaml")
    kubectl("wait", "--for=condition=Established", "crd/models.example.kohort.dev")
    kubectl("apply", "-n", kohort_namespace, "-f", EXAMPLES / "crd-object.yaml")
    done = kubectl("get", "mdl", "-n", kohort_namespace, "-o=jsonpath={.items[0].spec.replicasMax}")
    assert done.stdout == "8"
