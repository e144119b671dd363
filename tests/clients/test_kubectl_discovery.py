"""kubectl finds out what the cluster is and what it serves."""

import json

import pytest

pytestmark = pytest.mark.clients


def test_version_names_the_kubernetes_that_is_served(kubectl):
    told = json.loads(kubectl("version", "-o=json").stdout)
    assert told["serverVersion"]["major"] == "1"
    assert told["serverVersion"]["minor"] == "36"
    assert told["serverVersion"]["gitVersion"].startswith("v1.36.")


def test_version_finds_no_skew_between_client_and_server(kubectl):
    assert kubectl("version").stderr == ""


def test_cluster_info_shows_where_it_runs(kubectl, kohort_cluster):
    assert f"is running at {kohort_cluster.url}" in kubectl("cluster-info").stdout


def test_api_versions_lists_the_groups_of_the_built_in_kinds(kubectl):
    told = kubectl("api-versions").stdout.split()
    assert {"v1", "apps/v1", "policy/v1", "events.k8s.io/v1", "apiextensions.k8s.io/v1"} <= set(
        told
    )


def test_api_resources_shows_short_names_scopes_and_kinds(kubectl):
    lines = [line.split() for line in kubectl("api-resources", "--no-headers").stdout.splitlines()]
    assert ["statefulsets", "sts", "apps/v1", "true", "StatefulSet"] in lines
    assert ["nodes", "no", "v1", "false", "Node"] in lines
    assert ["customresourcedefinitions", "crd,crds", "apiextensions.k8s.io/v1", "false"] in [
        line[:4] for line in lines
    ]


def test_api_resources_shows_a_custom_kind_with_its_categories(kubectl, widgets):
    told = kubectl("api-resources", "--api-group=clients.kohort.dev", "-o=wide", "--no-headers")
    columns = told.stdout.split()
    assert columns[:5] == ["widgets", "wd", "clients.kohort.dev/v1", "true", "Widget"]
    assert columns[5] == "delete,deletecollection,get,list,patch,create,update,watch"
    assert columns[6] == "all"


def test_api_resources_can_be_narrowed_to_namespaced_kinds_with_a_verb(kubectl):
    told = kubectl("api-resources", "--namespaced=false", "--verbs=list", "-o=name").stdout.split()
    assert "nodes" in told
    assert "pods" not in told
    assert "selfsubjectaccessreviews.authorization.k8s.io" not in told


def test_explain_shows_the_fields_of_a_built_in_kind(kubectl):
    told = kubectl("explain", "statefulset").stdout
    assert "KIND:       StatefulSet" in told
    assert "VERSION:    v1" in told
    assert "spec\t<StatefulSetSpec>" in told


def test_explain_follows_a_path_into_a_built_in_kind(kubectl):
    told = kubectl("explain", "deploy.spec.template.spec.containers.resources").stdout
    assert "FIELD: resources <ResourceRequirements>" in told
    assert "limits\t<map[string]Quantity>" in told


def test_explain_shows_all_levels_when_asked(kubectl):
    told = kubectl("explain", "pdb.spec", "--recursive").stdout
    assert "matchExpressions\t<[]LabelSelectorRequirement>" in told
    assert "operator\t<string> -required-" in told


def test_explain_of_a_field_that_does_not_exist_is_an_error(kubectl):
    done = kubectl("explain", "pod.spec.colour", check=False)
    assert done.returncode == 1
    assert 'field "colour" does not exist' in done.stderr


def test_explain_shows_the_descriptions_of_a_custom_kind(kubectl, widgets):
    told = kubectl("explain", "widget").stdout
    assert "GROUP:      clients.kohort.dev" in told
    assert "A thing that exists to be tested with." in told
    assert "What is wanted." in told


def test_explain_follows_a_path_into_a_custom_kind(kubectl, widgets):
    told = kubectl("explain", "widget.spec.parts").stdout
    assert "FIELD: parts <[]Object>" in told
    assert "What it is put together from." in told
    assert "name\t<string> -required-" in told
    assert "What the part is called." in told
    assert "ENUM:\n    red\n    green\n" in kubectl("explain", "wd.spec.colour").stdout


def test_the_server_says_it_is_healthy(kubectl):
    for path in ("/healthz", "/readyz", "/livez"):
        assert kubectl("get", "--raw", path).stdout == "ok"
