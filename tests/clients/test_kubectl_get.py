"""kubectl shows objects: tables, fields, selections, orders, watches."""

import json
import select
from itertools import count

import pytest
import yaml
from client_manifests import config_map, deployment, eventually, pod, stateful_set, widget

pytestmark = pytest.mark.clients


def header_of(done) -> list[str]:
    return done.stdout.splitlines()[0].split()


@pytest.fixture
def three(apply):
    """Three ConfigMaps of two tiers."""
    wanted = {"c": "web", "a": "web", "b": "db"}
    objects = [config_map(name, n=str(number)) for number, name in enumerate(wanted)]
    for obj in objects:
        obj["metadata"]["labels"] = {"tier": wanted[obj["metadata"]["name"]]}
    apply(*objects)


def test_get_shows_a_table_of_a_deployment_that_became_available(apply, k):
    apply(deployment(replicas=2))
    k("wait", "--for=condition=Available", "deploy/web", "--timeout=60s")
    done = k("get", "deploy")
    assert header_of(done) == ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]
    assert done.stdout.splitlines()[1].split()[:4] == ["web", "2/2", "2", "2"]


def test_get_wide_shows_more_columns_of_a_pod(apply, k):
    apply(pod())
    k("wait", "--for=condition=Ready", "pod/one", "--timeout=60s")
    done = k("get", "pods", "-o=wide")
    assert header_of(done)[4:8] == ["AGE", "IP", "NODE", "NOMINATED"]
    row = done.stdout.splitlines()[1].split()
    assert row[:4] == ["one", "1/1", "Running", "0"]
    assert row[5].startswith("10.")
    assert row[6].startswith("gpu-")


def test_get_yaml_and_json_show_the_same_object(three, k):
    as_yaml = yaml.safe_load(k("get", "cm/a", "-o=yaml").stdout)
    assert as_yaml == json.loads(k("get", "cm/a", "-o=json").stdout)
    assert (as_yaml["kind"], as_yaml["apiVersion"]) == ("ConfigMap", "v1")
    assert "managedFields" not in as_yaml["metadata"]


def test_get_jsonpath_walks_a_list(three, k):
    path = "{range .items[*]}{.metadata.name}={.data.n} {end}"
    assert k("get", "cm", "-l=tier", f"-o=jsonpath={path}").stdout == "a=1 b=2 c=0 "


def test_get_custom_columns_shows_what_is_asked_for(three, k):
    done = k(
        "get", "cm", "-l=tier", "-o=custom-columns=WHO:.metadata.name,TIER:.metadata.labels.tier"
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines == [["WHO", "TIER"], ["a", "web"], ["b", "db"], ["c", "web"]]


def test_get_shows_labels_and_label_columns(three, k):
    done = k("get", "cm", "-l=tier", "-L=tier", "--show-labels")
    assert header_of(done) == ["NAME", "DATA", "AGE", "TIER", "LABELS"]
    assert done.stdout.splitlines()[1].split()[3:] == ["web", "tier=web"]


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("tier=web", "a c"),
        ("tier!=web,tier", "b"),
        ("tier in (web,db)", "a b c"),
        ("tier notin (web),tier", "b"),
        ("tier,other", ""),
    ],
)
def test_get_selects_by_labels(three, k, selector, names):
    assert k("get", "cm", "-l", selector, "-o=jsonpath={.items[*].metadata.name}").stdout == names


def test_get_selects_by_fields(three, apply, k):
    apply(pod())
    k("wait", "--for=condition=Ready", "pod/one", "--timeout=60s")
    name = "-o=name"
    assert k("get", "cm", "--field-selector=metadata.name=b", name).stdout == "configmap/b\n"
    assert k("get", "pods", "--field-selector=status.phase=Running", name).stdout == "pod/one\n"
    assert k("get", "pods", "--field-selector=status.phase!=Running", name).stdout == ""


def test_a_field_that_cannot_be_selected_by_is_refused(k):
    done = k("get", "pods", "--field-selector=spec.colour=red", check=False)
    assert done.returncode == 1
    assert "field label not supported: spec.colour" in done.stderr


def test_get_of_the_category_all_shows_workloads_and_custom_objects(apply, k, widgets):
    apply(deployment(replicas=1), stateful_set(replicas=1), widget())
    k("wait", "--for=condition=Available", "deploy/web", "--timeout=60s")
    kinds = {line.split("/")[0] for line in k("get", "all", "-o=name").stdout.split()}
    assert kinds == {
        "pod",
        "deployment.apps",
        "replicaset.apps",
        "statefulset.apps",
        "widget.clients.kohort.dev",
    }


def test_get_in_all_namespaces_shows_the_namespace(three, k, kohort_namespace):
    done = k("get", "cm", "-A", "-l=tier=db")
    assert header_of(done)[0] == "NAMESPACE"
    assert done.stdout.splitlines()[1].split()[:2] == [kohort_namespace, "b"]


def test_get_sorts_by_a_field(three, k):
    done = k("get", "cm", "-l=tier", "--sort-by={.data.n}", "--no-headers")
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["c", "a", "b"]


def test_get_pages_through_a_long_list(three, k):
    done = k("get", "cm", "-l=tier", "--chunk-size=1", "-o=name")
    assert done.stdout.split() == ["configmap/a", "configmap/b", "configmap/c"]


def test_get_of_nothing_says_so_and_of_a_missing_name_fails(k):
    assert "No resources found in" in k("get", "pods").stderr
    done = k("get", "pod", "ghost", check=False)
    assert done.returncode == 1
    assert done.stderr == 'Error from server (NotFound): pods "ghost" not found\n'
    assert k("get", "pod", "ghost", "--ignore-not-found").stdout == ""


def test_get_of_a_kind_that_is_not_served_fails(k):
    done = k("get", "gadgets", check=False)
    assert done.returncode == 1
    assert 'the server doesn\'t have a resource type "gadgets"' in done.stderr


def test_get_of_one_subresource_shows_the_scale(apply, k):
    apply(deployment(replicas=1))
    done = k("get", "deploy/web", "--subresource=scale", "-o=jsonpath={.kind} {.spec.replicas}")
    assert done.stdout == "Scale 1"


def test_get_watch_shows_a_pod_from_its_creation_to_its_end(apply, k, kubectl, kohort_namespace):
    apply(pod(schedulingGates=[{"name": "test.kohort.dev/hold"}]))
    columns = "-o=custom-columns=:.status.phase,:.metadata.deletionTimestamp"
    words = ("get", "pods", "--watch", "--no-headers", columns)
    with kubectl.start("-n", kohort_namespace, *words) as watch:
        assert watch.stdout.readline().split() == ["Pending", "<none>"]
        k("patch", "pod/one", "-p", '{"spec":{"schedulingGates":null}}')
        k("wait", "--for=condition=Ready", "pod/one", "--timeout=60s")
        k("delete", "pod/one")
        running = next(line for line in watch.stdout if line.startswith("Running"))
        assert running.split() == ["Running", "<none>"]
        assert next(line for line in watch.stdout if not line.endswith("<none>\n"))


def test_get_watch_only_names_the_type_of_each_change(apply, k, kubectl, kohort_namespace):
    apply(config_map())
    path = '-o=jsonpath={.type} {.object.metadata.name}{"\\n"}'
    words = ("get", "cm/settings", "--watch-only", "--output-watch-events", path)
    with kubectl.start("-n", kohort_namespace, *words) as watch:
        # kubectl does not say when its watch has begun, so objects change until it has seen one.
        changes = count()
        eventually(
            lambda: k("label", "cm/settings", f"n={next(changes)}", "--overwrite") and seen(watch)
        )
        assert watch.stdout.readline() == "MODIFIED settings\n"


def seen(process) -> bool:
    """Whether a process has written something that the test has not read."""
    return bool(select.select([process.stdout], [], [], 0)[0])
