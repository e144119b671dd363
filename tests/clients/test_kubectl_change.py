"""kubectl changes what is there: edit, patch, label, annotate, replace, set."""

import json

import pytest
from client_manifests import config_map, deployment, pod, widget, write_yaml

pytestmark = pytest.mark.clients


@pytest.fixture
def editor(tmp_path):
    """An editor that replaces one text by another in the file it is given."""

    def make(old: str, new: str) -> dict[str, str]:
        script = tmp_path / "editor"
        script.write_text(f'#!/bin/sh\nsed -i -e "s/{old}/{new}/" "$1"\n')
        script.chmod(0o755)
        return {"KUBE_EDITOR": str(script), "TMPDIR": str(tmp_path)}

    return make


def test_edit_sends_what_the_editor_changed(k, apply, read, editor):
    apply(deployment())
    done = k("edit", "deploy/web", env=editor("image: img:1", "image: img:2"))
    assert done.stdout == "deployment.apps/web edited\n"
    assert read("deploy/web", "{.spec.template.spec.containers[0].image}") == "img:2"


def test_edit_that_changes_nothing_is_cancelled(k, apply, editor):
    apply(config_map(a="1"))
    done = k("edit", "cm/settings", env=editor("no such text", ""))
    assert "Edit cancelled, no changes made." in done.stderr


def test_an_edit_that_is_refused_is_kept_with_the_reason(k, apply, editor, tmp_path, widgets):
    apply(widget())
    done = k("edit", "widget/w", env=editor("colour: red", "colour: blue"), check=False)
    assert done.returncode == 1
    assert 'widgets.clients.kohort.dev "w" is invalid' in done.stderr
    kept = [path.read_text() for path in tmp_path.glob("kubectl-edit-*.yaml")]
    reason = 'Unsupported value: "blue": supported values: "red", "green"'
    assert any(reason in text for text in kept)


def test_edit_of_the_status_changes_nothing_else(k, apply, editor, read, widgets):
    apply(widget())
    k(
        "patch",
        "widget/w",
        "--subresource=status",
        "--type=merge",
        "-p",
        '{"status":{"replicas":1}}',
    )
    flag = "--subresource=status"
    k("edit", "widget/w", flag, env=editor("replicas: 1", "replicas: 7"))
    assert read("widget/w", "{.spec.replicas} {.status.replicas}") == "1 7"


def test_a_strategic_patch_merges_containers_by_name(k, apply, read):
    apply(deployment())
    sidecar = {"containers": [{"name": "side", "image": "side:1"}]}
    patch = json.dumps({"spec": {"template": {"spec": sidecar}}})
    assert k("patch", "deploy/web", "-p", patch).stdout == "deployment.apps/web patched\n"
    names = read("deploy/web", "{.spec.template.spec.containers[*].name}")
    assert sorted(names.split()) == ["main", "side"]


def test_a_strategic_patch_can_delete_an_element(k, apply, read):
    wanted = deployment()
    wanted["spec"]["template"]["spec"]["containers"].append({"name": "side", "image": "side:1"})
    apply(wanted)
    gone = {"containers": [{"name": "side", "$patch": "delete"}]}
    k("patch", "deploy/web", "-p", json.dumps({"spec": {"template": {"spec": gone}}}))
    assert read("deploy/web", "{.spec.template.spec.containers[*].name}") == "main"


def test_a_merge_patch_replaces_lists_and_removes_nulls(k, apply, read):
    apply(deployment())
    only = {"containers": [{"name": "other", "image": "o:1"}]}
    patch = {"spec": {"replicas": None, "template": {"spec": only}}}
    k("patch", "deploy/web", "--type=merge", "-p", json.dumps(patch))
    assert read("deploy/web", "{.spec.template.spec.containers[*].name}") == "other"
    assert read("deploy/web", "{.spec.replicas}") == "1"


def test_a_json_patch_tests_before_it_changes(k, apply, read):
    apply(config_map(a="1"))
    change = {"op": "replace", "path": "/data/a", "value": "2"}
    k("patch", "cm/settings", "--type=json", "-p", json.dumps([change]))
    assert read("cm/settings", "{.data.a}") == "2"
    test = {"op": "test", "path": "/data/a", "value": "1"}
    patch = json.dumps([test, {**change, "value": "3"}])
    done = k("patch", "cm/settings", "--type=json", "-p", patch, check=False)
    assert done.returncode == 1
    assert read("cm/settings", "{.data.a}") == "2"


def test_a_patch_that_changes_nothing_says_so(k, apply):
    apply(config_map(a="1"))
    done = k("patch", "cm/settings", "-p", '{"data":{"a":"1"}}')
    assert done.stdout == "configmap/settings patched (no change)\n"


def test_a_patch_of_the_status_leaves_the_spec_alone(k, apply, read, widgets):
    apply(widget())
    patch = '{"spec":{"replicas":9},"status":{"replicas":3}}'
    k("patch", "widget/w", "--subresource=status", "--type=merge", "-p", patch)
    assert read("widget/w", "{.spec.replicas} {.status.replicas}") == "1 3"
    k("patch", "widget/w", "--type=merge", "-p", '{"status":{"replicas":5}}')
    assert read("widget/w", "{.status.replicas}") == "3"


def test_a_strategic_patch_of_a_custom_kind_is_refused(k, apply, widgets):
    apply(widget())
    done = k("patch", "widget/w", "-p", '{"spec":{"replicas":2}}', check=False)
    assert done.returncode == 1
    assert "application/strategic-merge-patch+json is not supported by" in done.stderr


def test_labels_are_set_shown_overwritten_and_removed(k, apply):
    apply(config_map())
    assert k("label", "cm/settings", "tier=web").stdout == "configmap/settings labeled\n"
    done = k("label", "cm/settings", "tier=db", check=False)
    assert "already has a value (web), and --overwrite is false" in done.stderr
    k("label", "cm/settings", "tier=db", "--overwrite")
    assert k("label", "cm/settings", "--list").stdout == "tier=db\n"
    assert k("label", "cm/settings", "tier-").stdout == "configmap/settings unlabeled\n"


def test_a_bad_label_is_refused(k, apply):
    apply(config_map())
    done = k("label", "cm/settings", "tier=not/allowed", check=False)
    assert done.returncode == 1
    assert "a valid label must be" in done.stderr


def test_annotations_are_set_and_removed(k, apply, read):
    apply(config_map())
    done = k("annotate", "cm/settings", "note=what for")
    assert done.stdout == "configmap/settings annotated\n"
    assert read("cm/settings", "{.metadata.annotations.note}") == "what for"
    k("annotate", "cm/settings", "note-")
    assert read("cm/settings", "{.metadata.annotations.note}") == ""


def test_replace_puts_one_object_in_the_place_of_another(k, apply, read):
    apply(config_map(a="1", b="2"))
    done = k("replace", "-f", "-", stdin=write_yaml(config_map(c="3")))
    assert done.stdout == "configmap/settings replaced\n"
    assert json.loads(read("cm/settings", "{.data}")) == {"c": "3"}


def test_replace_with_an_old_version_is_a_conflict(k, apply):
    apply(config_map(a="1"))
    old = k("get", "cm/settings", "-o=json").stdout
    k("annotate", "cm/settings", "note=later")
    done = k("replace", "-f", "-", stdin=old, check=False)
    assert done.returncode == 1
    assert "the object has been modified" in done.stderr


def test_replace_by_force_makes_a_new_object(k, apply, read):
    apply(pod())
    before = read("pod/one", "{.metadata.uid}")
    changed = pod(hostname="other")
    k("replace", "--force", "--grace-period=0", "-f", "-", stdin=write_yaml(changed))
    assert read("pod/one", "{.metadata.uid}") != before
    assert read("pod/one", "{.spec.hostname}") == "other"


def test_what_may_not_change_is_refused(k, apply):
    apply(pod())
    done = k("patch", "pod/one", "-p", '{"spec":{"hostname":"other"}}', check=False)
    assert done.returncode == 1
    assert "pod updates may not change fields other than" in done.stderr


def test_set_image_and_set_env_and_set_resources_change_the_template(k, apply, read):
    apply(deployment())
    assert "image updated" in k("set", "image", "deploy/web", "main=img:9").stdout
    assert "env updated" in k("set", "env", "deploy/web", "MODE=slow").stdout
    k("set", "resources", "deploy/web", "--limits=cpu=200m")
    main = json.loads(read("deploy/web", "{.spec.template.spec.containers[0]}"))
    assert main["image"] == "img:9"
    assert main["env"] == [{"name": "MODE", "value": "slow"}]
    assert main["resources"] == {"limits": {"cpu": "200m"}}
    assert k("set", "env", "deploy/web", "--list").stdout.splitlines()[-1] == "MODE=slow"
