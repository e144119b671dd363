"""kubectl declares what should be: apply in both manners, diff, dry runs."""

import json

import pytest
from client_manifests import config_map, deployment, widget, write_yaml

pytestmark = pytest.mark.clients

SERVER = ("--server-side",)


def managers_of(k, what: str) -> set[tuple[str, str]]:
    told = json.loads(k("get", what, "-o=json", "--show-managed-fields").stdout)
    return {(m["manager"], m["operation"]) for m in told["metadata"]["managedFields"]}


def test_apply_creates_then_configures_then_leaves_alone(apply):
    assert apply(config_map(a="1")).stdout == "configmap/settings created\n"
    assert apply(config_map(a="2")).stdout == "configmap/settings configured\n"
    assert apply(config_map(a="2")).stdout == "configmap/settings unchanged\n"


def test_apply_of_a_built_in_kind_merges_lists_by_their_key(apply, read, k):
    apply(deployment())
    k("set", "env", "deploy/web", "MODE=fast")
    apply(deployment(image="img:2"))
    path = "{.spec.template.spec.containers[0]['image','env']}"
    assert read("deploy/web", path) == 'img:2 [{"name":"MODE","value":"fast"}]'


def test_apply_takes_away_a_field_that_was_dropped_from_the_manifest(apply, read):
    apply(config_map(a="1", b="2"))
    apply(config_map(a="1"))
    assert json.loads(read("cm/settings", "{.data}")) == {"a": "1"}


def test_apply_leaves_fields_of_others_alone(apply, k, read):
    apply(config_map(a="1"))
    k("patch", "cm/settings", "-p", '{"data":{"theirs":"yes"}}')
    apply(config_map(a="2"))
    assert json.loads(read("cm/settings", "{.data}")) == {"a": "2", "theirs": "yes"}


def test_apply_with_prune_deletes_what_is_no_longer_declared(apply, k, kohort_namespace):
    kept, dropped = config_map("kept"), config_map("dropped")
    for each in (kept, dropped):
        each["metadata"]["labels"] = {"set": "one"}
    allowed = ("--prune", "-l=set=one", "--prune-allowlist=core/v1/ConfigMap")
    apply(kept, dropped, flags=allowed)
    assert "configmap/dropped pruned" in apply(kept, flags=allowed).stdout
    assert k("get", "cm", "-l=set=one", "-o=name").stdout == "configmap/kept\n"


def test_server_side_apply_owns_the_fields_it_names(apply, k):
    assert apply(config_map(a="1"), flags=SERVER).stdout == (
        "configmap/settings serverside-applied\n"
    )
    assert managers_of(k, "cm/settings") == {("kubectl", "Apply")}


def test_server_side_apply_takes_away_a_field_that_was_dropped(apply, read):
    apply(config_map(a="1", b="2"), flags=SERVER)
    apply(config_map(a="1"), flags=SERVER)
    assert json.loads(read("cm/settings", "{.data}")) == {"a": "1"}


def test_server_side_apply_meets_a_conflict_with_another_owner(apply, read):
    apply(config_map(a="1"), flags=SERVER)
    done = apply(config_map(a="2"), flags=(*SERVER, "--field-manager=other"), check=False)
    assert done.returncode == 1
    assert 'conflict with "kubectl": .data.a' in done.stderr
    assert "--force-conflicts" in done.stderr
    assert read("cm/settings", "{.data.a}") == "1"


def test_server_side_apply_can_take_a_field_over(apply, k, read):
    apply(config_map(a="1"), flags=SERVER)
    apply(config_map(a="2"), flags=(*SERVER, "--field-manager=other", "--force-conflicts"))
    assert read("cm/settings", "{.data.a}") == "2"
    assert ("other", "Apply") in managers_of(k, "cm/settings")


def test_server_side_apply_that_agrees_shares_the_field(apply, k):
    apply(config_map(a="1"), flags=SERVER)
    apply(config_map(a="1"), flags=(*SERVER, "--field-manager=other"))
    assert managers_of(k, "cm/settings") == {("kubectl", "Apply"), ("other", "Apply")}


def test_server_side_apply_after_client_side_apply_takes_its_fields_over(apply, k, read):
    apply(config_map(a="1", b="2"))
    apply(config_map(a="3"), flags=SERVER)
    assert json.loads(read("cm/settings", "{.data}")) == {"a": "3"}
    assert ("kubectl", "Apply") in managers_of(k, "cm/settings")


def test_server_side_apply_merges_lists_of_a_custom_kind_by_their_key(apply, read, widgets):
    apply(widget(parts=[{"name": "a", "weight": 2}]), flags=SERVER)
    other = (*SERVER, "--field-manager=other")
    apply(widget(parts=[{"name": "b"}]), flags=other)
    assert json.loads(read("widget/w", "{.spec.parts}")) == [
        {"name": "a", "weight": 2},
        {"name": "b", "weight": 1},
    ]


def test_apply_view_last_applied_shows_the_manifest(apply, k):
    apply(config_map(a="1"))
    told = json.loads(k("apply", "view-last-applied", "cm/settings", "-o=json").stdout)
    assert told["data"] == {"a": "1"}


@pytest.mark.parametrize("flags", [(), SERVER], ids=["client side", "server side"])
def test_diff_shows_what_would_change_and_ends_with_one(apply, k, read, flags):
    apply(deployment(image="img:1"), flags=flags)
    changed = write_yaml(deployment(image="img:2"))
    done = k("diff", "-f", "-", *flags, stdin=changed, check=False)
    assert done.returncode == 1, done.stderr
    assert "-      - image: img:1" in done.stdout
    assert "+      - image: img:2" in done.stdout
    assert read("deploy/web", "{.metadata.generation}") == "1"


@pytest.mark.parametrize("flags", [(), SERVER], ids=["client side", "server side"])
def test_diff_of_nothing_is_silent_and_ends_with_zero(apply, k, flags):
    apply(deployment(replicas=0), flags=flags)
    done = k("diff", "-f", "-", *flags, stdin=write_yaml(deployment(replicas=0)))
    assert done.stdout == ""


def test_diff_of_a_new_object_shows_all_of_it(k):
    done = k("diff", "-f", "-", stdin=write_yaml(config_map(a="1")), check=False)
    assert done.returncode == 1
    assert "+  a: " in done.stdout


def test_a_dry_run_on_the_server_answers_and_stores_nothing(k):
    done = k("create", "-f", "-", "--dry-run=server", "-o=json", stdin=write_yaml(deployment()))
    told = json.loads(done.stdout)
    assert told["metadata"]["uid"]
    assert told["spec"]["strategy"]["type"] == "RollingUpdate"
    assert k("get", "deploy", "-o=name").stdout == ""


def test_a_dry_run_on_the_server_refuses_what_the_server_refuses(k):
    bad = deployment(replicas=-1)
    done = k("create", "-f", "-", "--dry-run=server", stdin=write_yaml(bad), check=False)
    assert done.returncode == 1
    assert "spec.replicas: Invalid value: -1" in done.stderr


def test_an_apply_with_an_unknown_field_is_refused_by_name(apply):
    bad = deployment()
    bad["spec"]["template"]["spec"]["colour"] = "red"
    done = apply(bad, check=False)
    assert done.returncode == 1
    assert 'unknown field "spec.template.spec.colour"' in done.stderr


def test_an_unknown_field_can_be_warned_of_instead(apply, read):
    bad = config_map(a="1")
    bad["colour"] = "red"
    assert 'Warning: unknown field "colour"' in apply(bad, flags=("--validate=warn",)).stderr
    assert read("cm/settings", "{.data.a}") == "1"


def test_an_unknown_kind_is_named_and_the_rest_of_the_file_is_applied(apply, k):
    unknown = {"apiVersion": "apps/v1", "kind": "Deploiment", "metadata": {"name": "typo"}}
    known = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "beside"}}
    done = apply(unknown, known, check=False)
    assert done.returncode == 1
    assert 'no matches for kind "Deploiment" in version "apps/v1"' in done.stderr
    assert done.stdout == "configmap/beside created\n"
