"""helm leads a release of a small chart, with a kind of its own, from its start to its end."""

import json
from pathlib import Path

import pytest
from client_manifests import eventually

pytestmark = pytest.mark.clients

CHART = Path(__file__).with_name("chart")
WAIT = ("--wait", "--timeout=60s")
IMAGE = "{.spec.template.spec.containers[0].image}"


@pytest.fixture
def h(helm, kubectl, kohort_namespace):
    """helm in the namespace of the test; it leaves the chart's kind behind, so that goes here."""
    yield lambda *words, **options: helm("-n", kohort_namespace, *words, **options)
    kubectl("delete", "crd", "lanterns.charts.kohort.dev", "--ignore-not-found")


@pytest.fixture
def release(h):
    """A release that is installed and ready."""
    h("install", "demo", CHART, *WAIT)
    return "demo"


def test_install_waits_until_all_of_the_chart_is_ready(h, k, read):
    told = h("install", "demo", CHART, *WAIT).stdout
    assert "STATUS: deployed" in told
    assert "demo shines red." in told
    assert read("deploy/demo-web", "{.status.readyReplicas}") == "2"
    assert read("lantern/demo", "{.spec.colour}") == "red"
    assert read("cm/demo-settings", "{.data.greeting}") == "hello"
    assert read("svc/demo-web", "{.spec.clusterIP}")


def test_install_makes_what_belongs_to_the_release_known(release, read):
    path = "{.metadata.annotations['meta\\.helm\\.sh/release-name']}"
    assert read("lantern/demo", path) == release


def test_install_of_a_name_in_use_is_refused(h, release):
    done = h("install", release, CHART, check=False)
    assert done.returncode == 1
    assert "cannot reuse a name that is still in use" in done.stderr


def test_install_of_what_the_schema_refuses_fails(h):
    done = h("install", "demo", CHART, "--set=colour=blue", check=False)
    assert done.returncode == 1
    assert 'spec.colour: Unsupported value: "blue"' in done.stderr


def test_upgrade_waits_for_the_new_revision(h, release, k, read):
    changed = ("--set=image=img:2,colour=green,replicas=3",)
    told = h("upgrade", release, CHART, *changed, *WAIT).stdout
    assert "REVISION: 2" in told
    assert read("deploy/demo-web", f"{IMAGE} {{.status.updatedReplicas}}") == "img:2 3"
    assert read("lantern/demo", "{.spec.colour}") == "green"


def test_upgrade_that_never_gets_ready_times_out_and_is_marked_as_failed(h, release):
    broken = ("--set=nodeSelector.planet=mars",)
    done = h("upgrade", release, CHART, *broken, "--wait", "--timeout=2s", check=False)
    assert done.returncode == 1
    assert "context deadline exceeded" in done.stderr
    assert json.loads(h("status", release, "-o=json").stdout)["info"]["status"] == "failed"


def test_history_lists_all_revisions(h, release):
    h("upgrade", release, CHART, "--set=greeting=again")
    told = json.loads(h("history", release, "-o=json").stdout)
    assert [(row["revision"], row["status"]) for row in told] == [
        (1, "superseded"),
        (2, "deployed"),
    ]


def test_rollback_brings_an_earlier_revision_back(h, release, read):
    h("upgrade", release, CHART, "--set=image=img:2,colour=green", *WAIT)
    assert "Rollback was a success" in h("rollback", release, "1", *WAIT).stdout
    assert read("deploy/demo-web", IMAGE) == "img:1"
    assert read("lantern/demo", "{.spec.colour}") == "red"
    assert json.loads(h("status", release, "-o=json").stdout)["version"] == 3


def test_uninstall_takes_all_but_the_definition(h, release, k, kubectl):
    told = h("uninstall", release, *WAIT).stdout
    assert f'release "{release}" uninstalled' in told
    eventually(lambda: k("get", "deploy,rs,pods,svc,lanterns,secrets", "-o=name").stdout == "")
    assert "lanterns" in kubectl("get", "crd", "-o=name").stdout


def test_list_and_status_and_values_show_a_release(h, release):
    (row,) = json.loads(h("list", "-o=json").stdout)
    assert (row["name"], row["status"], row["chart"]) == (release, "deployed", "demo-0.1.0")
    told = json.loads(h("status", release, "-o=json").stdout)
    assert told["info"]["status"] == "deployed"
    assert json.loads(h("get", "values", release, "--all", "-o=json").stdout)["replicas"] == 2
    assert "kind: Lantern" in h("get", "manifest", release).stdout


def test_template_renders_without_installing(h, k):
    told = h("template", "demo", CHART, "--include-crds").stdout
    assert told.count("\nkind: ") == 5
    assert k("get", "deploy", "-o=name").stdout == ""


def test_a_dry_run_asks_the_server_and_installs_nothing(h, k, release):
    told = h("upgrade", release, CHART, "--set=colour=green", "--dry-run=server").stdout
    assert "colour: green" in told
    assert len(json.loads(h("history", release, "-o=json").stdout)) == 1


def test_install_of_a_kind_that_the_server_lacks_names_that_kind(h, tmp_path):
    (tmp_path / "templates").mkdir()
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: unserved\nversion: 0.1.0\n")
    manifest = "apiVersion: kohort.dev/v1\nkind: Nothing\nmetadata: {name: nothing}\n"
    (tmp_path / "templates" / "nothing.yaml").write_text(manifest)
    done = h("install", "demo", tmp_path, check=False)
    assert done.returncode == 1
    assert 'no matches for kind "Nothing" in version "kohort.dev/v1"' in done.stderr
