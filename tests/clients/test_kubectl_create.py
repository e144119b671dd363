"""kubectl makes objects by commands, with bodies in the binary encoding."""

import base64
import json

import pytest
from client_manifests import deployment, eventually

pytestmark = pytest.mark.clients


def test_create_a_config_map_from_values_and_files(k, read, tmp_path):
    (tmp_path / "notes.txt").write_text("from a file\n")
    words = ("--from-literal=a=1", f"--from-file={tmp_path / 'notes.txt'}")
    assert k("create", "configmap", "c", *words).stdout == "configmap/c created\n"
    assert json.loads(read("cm/c", "{.data}")) == {"a": "1", "notes.txt": "from a file\n"}


def test_create_a_secret_keeps_its_bytes(k, read):
    k("create", "secret", "generic", "s", "--from-literal=password=pässwort")
    assert read("secret/s", "{.type}") == "Opaque"
    held = base64.b64decode(read("secret/s", "{.data.password}"))
    assert held.decode() == "pässwort"


def test_create_a_secret_for_a_registry(k, read):
    words = ("--docker-username=u", "--docker-password=p", "--docker-server=registry.example")
    k("create", "secret", "docker-registry", "s", *words)
    assert read("secret/s", "{.type}") == "kubernetes.io/dockerconfigjson"


def test_create_a_namespace_and_delete_it_with_what_it_holds(kubectl, kohort_namespace):
    name = f"{kohort_namespace}-more"
    assert kubectl("create", "namespace", name).stdout == f"namespace/{name} created\n"
    kubectl("-n", name, "create", "configmap", "c")
    kubectl("delete", "namespace", name, "--timeout=60s")
    done = kubectl("-n", name, "get", "cm/c", check=False)
    assert "NotFound" in done.stderr


def test_create_a_deployment_with_pods_that_run(k):
    done = k("create", "deployment", "web", "--image=img:1", "--replicas=2", "--port=80")
    assert done.stdout == "deployment.apps/web created\n"
    assert "successfully rolled out" in k("rollout", "status", "deploy/web", "--timeout=60s").stdout


def test_create_a_service_account_and_a_token_for_it(k):
    assert k("create", "serviceaccount", "bot").stdout == "serviceaccount/bot created\n"
    token = k("create", "token", "bot", "--duration=10m").stdout.strip()
    assert len(token.split(".")) == 3


def test_create_a_role_and_a_binding_to_it(k, read):
    k("create", "role", "reader", "--verb=get,list", "--resource=pods,deployments.apps")
    k("create", "rolebinding", "readers", "--role=reader", "--serviceaccount=ns:bot", "--user=ann")
    rules = json.loads(read("role/reader", "{.rules}"))
    assert [rule["apiGroups"] for rule in rules] == [[""], ["apps"]]
    assert read("rolebinding/readers", "{.subjects[*].name}") == "ann bot"


def test_create_a_cluster_role_and_a_binding_to_it(kubectl, kohort_namespace):
    name = kohort_namespace
    kubectl("create", "clusterrole", name, "--verb=*", "--resource=nodes")
    kubectl("create", "clusterrolebinding", name, f"--clusterrole={name}", "--group=ops")
    done = kubectl("delete", "clusterrole,clusterrolebinding", name)
    assert done.stdout.count("deleted") == 2


def test_create_a_disruption_budget_and_a_priority_class(k, kubectl, read, kohort_namespace):
    k("create", "poddisruptionbudget", "b", "--selector=app=web", "--min-available=50%")
    assert read("pdb/b", "{.spec.minAvailable}") == "50%"
    kubectl("create", "priorityclass", kohort_namespace, "--value=7", "--description=for tests")
    done = kubectl("delete", "priorityclass", kohort_namespace)
    assert "deleted" in done.stdout


def test_create_a_service_that_gets_an_address(k, read):
    k("create", "service", "clusterip", "web", "--tcp=80:8080")
    assert read("svc/web", "{.spec.clusterIP}").startswith("10.")
    assert read("svc/web", "{.spec.ports[0].targetPort}") == "8080"
    k("create", "service", "nodeport", "door", "--tcp=80")
    assert 30000 <= int(read("svc/door", "{.spec.ports[0].nodePort}")) < 32768


def test_what_is_there_already_is_not_created_again(k):
    k("create", "configmap", "c")
    done = k("create", "configmap", "c", check=False)
    assert done.returncode == 1
    assert 'error: failed to create configmap: configmaps "c" already exists' in done.stderr


def test_a_bad_name_is_refused(k):
    done = k("create", "configmap", "Not_A_Name", check=False)
    assert done.returncode == 1
    assert "a lowercase RFC 1123 subdomain must consist of" in done.stderr


def test_run_starts_a_pod(k, read):
    assert k("run", "one", "--image=img:1", "--labels=a=b").stdout == "pod/one created\n"
    k("wait", "--for=condition=Ready", "pod/one", "--timeout=60s")
    assert read("pod/one", "{.metadata.labels.a}") == "b"


def test_run_can_make_a_service_too(k, read):
    k("run", "one", "--image=img:1", "--port=8080", "--expose")
    assert read("svc/one", "{.spec.selector.run} {.spec.ports[0].port}") == "one 8080"


def test_expose_finds_the_pods_of_a_deployment(k, apply, read):
    apply(deployment(replicas=2))
    assert k("expose", "deploy/web", "--port=80").stdout == "service/web exposed\n"
    k("rollout", "status", "deploy/web", "--timeout=60s")
    path = "{.subsets[*].addresses[*].targetRef.kind}"
    eventually(lambda: read("endpoints/web", path) == "Pod Pod")
    slices = "-o=jsonpath={.items[*].endpoints[*].conditions.ready}"
    told = lambda: k("get", "endpointslices", "-l=kubernetes.io/service-name=web", slices).stdout  # noqa: E731
    eventually(lambda: told() == "true true")
