"""``kohort plan`` says what a change would do before the user applies it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from command_lines import Told
from workload_hand import Hand

from kohort.cluster.objects import Object

RunKohort = Callable[..., Told]


def make_manifest(image: str = "engine:2", groups: int = 3, **more: Object) -> Object:
    resources = {"limits": {"nvidia.com/gpu": "4"}, "requests": {"nvidia.com/gpu": "4"}}
    container = {"name": "engine", "image": image, "resources": resources}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "planned"},
        "spec": {
            "replicas": groups,
            "leaderWorkerTemplate": {
                "size": 2,
                "workerTemplate": {"spec": {"containers": [container]}},
            },
            **more,
        },
    }


@pytest.fixture
def write(tmp_path: Path):
    """Write a manifest into a file."""

    def write(manifest: Object, name: str = "new.yaml") -> str:
        path = tmp_path / name
        path.write_text(yaml.safe_dump(manifest))
        return str(path)

    return write


@pytest.fixture(scope="module")
def served(cluster: Path) -> Hand:
    """A workload of three groups that serves."""
    hand = Hand(cluster, "planned")
    hand.make(make_manifest("engine:1")["spec"])
    hand.wait_for_condition("Available")
    return hand


def test_a_new_image_is_told_step_by_step(kohort: RunKohort, served: Hand, write):
    told = kohort("plan", "-f", write(make_manifest()), "-o", "wide")
    assert told.code == 0, told.err
    lines = told.out.splitlines()
    assert lines[0] == "planned  LeaderWorkerSet  revision 1 → 2"
    assert lines[1] == "  changes   workerTemplate.engine.image: engine:1 → engine:2"
    assert "  steps     3, one group at a time (maxUnavailable 1, maxSurge 0)" in lines
    assert "            1   replace group 2   2 ready, then 3" in lines
    assert "  capacity  never below 2 of 3 groups; no extra GPUs" in lines
    assert lines[-1] == "  nothing has been applied"


def test_nothing_is_written(kohort: RunKohort, served: Hand, write):
    before = served.read()["metadata"]["resourceVersion"]
    kohort("plan", "-f", write(make_manifest()))
    assert served.read()["metadata"]["resourceVersion"] == before


def test_surge_is_told_in_gpus_and_programs_get_the_same_view(
    kohort: RunKohort, served: Hand, write
):
    rolling = {"maxUnavailable": 0, "maxSurge": 1}
    strategy = {"type": "RollingUpdate", "rollingUpdateConfiguration": rolling}
    told = kohort("plan", "-f", write(make_manifest(rolloutStrategy=strategy)), "-o", "json")
    view = json.loads(told.out)
    assert view["gpus"] == {"before": 24, "peak": 32, "after": 24, "extra": 8}
    assert (view["lines"][0]["readyLeast"], view["ending"]) == (3, "done")
    assert view["steps"][0]["comes"] == ["group 3"]
    assert view["starts"]["count"] == 3


def test_a_workload_that_does_not_exist_yet_can_be_planned(kohort: RunKohort, served: Hand, write):
    manifest = make_manifest()
    manifest["metadata"]["name"] = "unborn"
    told = kohort("plan", "-f", write(manifest))
    assert "unborn  LeaderWorkerSet  revision 1  new" in told.out
    assert "6 pods and 24 GPUs when it is ready" in told.out


def test_a_workload_at_rest_has_no_steps(kohort: RunKohort, served: Hand):
    told = kohort("plan", "lws/planned")
    assert told.code == 0
    assert "steps     none: there is nothing to do" in told.out


def test_strategies_are_compared_in_a_table(kohort: RunKohort, served: Hand, write):
    told = kohort("plan", "-f", write(make_manifest()), "--compare", "compatible")
    title, budgeted, compatible, _ = told.out.splitlines()
    assert title.split() == ["steps", "least", "ready", "extra", "GPUs", "time"]
    assert budgeted.split()[:4] == ["budgeted", "3", "2/3", "0"]
    assert compatible.split()[:4] == ["compatible", "3", "2/3", "0"]


def test_several_workloads_of_a_file_are_one_document_for_programs(
    kohort: RunKohort, served: Hand, tmp_path: Path
):
    other = make_manifest()
    other["metadata"]["name"] = "unborn"
    (tmp_path / "both.yaml").write_text(yaml.safe_dump_all([make_manifest(), other]))
    told = json.loads(kohort("plan", "-f", str(tmp_path / "both.yaml"), "-o", "json").out)
    assert [view["name"] for view in told] == ["planned", "unborn"]


def test_a_document_without_a_namespace_is_planned_in_the_usual_one(
    kohort: RunKohort, served: Hand, tmp_path: Path
):
    other = make_manifest()
    other["metadata"] = {"name": "unborn", "namespace": "kube-system"}
    (tmp_path / "both.yaml").write_text(yaml.safe_dump_all([other, make_manifest()]))
    told = json.loads(kohort("plan", "-f", str(tmp_path / "both.yaml"), "-o", "json").out)
    assert [view["namespace"] for view in told] == ["kube-system", "default"]
    assert told[1]["revisionBefore"] == "1"


def test_several_workloads_are_one_document_of_yaml(
    kohort: RunKohort, served: Hand, tmp_path: Path
):
    other = make_manifest()
    other["metadata"]["name"] = "unborn"
    (tmp_path / "both.yaml").write_text(yaml.safe_dump_all([make_manifest(), other]))
    told = yaml.safe_load(kohort("plan", "-f", str(tmp_path / "both.yaml"), "-o", "yaml").out)
    assert [view["name"] for view in told] == ["planned", "unborn"]


def test_a_forecast_that_was_cut_exits_with_4(
    kohort: RunKohort, served: Hand, write, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("kohort.forecast.forecast.PASSES_MAX", 3)
    told = kohort("plan", "-f", write(make_manifest()))
    assert told.code == 4
    assert "more follow" in told.out and "stops" not in told.out


def test_a_field_that_an_autoscaler_set_stays(kohort: RunKohort, served: Hand, write):
    manifest = make_manifest()
    del manifest["spec"]["replicas"]
    view = json.loads(kohort("plan", "-f", write(manifest), "-o", "json").out)
    assert view["lines"][0]["wanted"] == 3


def test_a_rollout_that_cannot_end_exits_with_4(kohort: RunKohort, cluster: Path):
    hand = Hand(cluster, "stuck")
    hand.create(spec={"nodeSelector": {"no": "such"}})
    hand.wait_for_condition("Blocked")
    told = kohort("plan", "lws/stuck")
    assert told.code == 4
    assert "stops" in told.out


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("plan", "lws/plannd"), 1, "(did you mean 'planned'?)"),
        (("plan", "lwz/planned"), 2, "unknown kind 'lwz'"),
        (("plan",), 2, "name one workload as KIND/NAME, or a file with -f"),
        (("plan", "lws/planned", "--strategy", "budgetd"), 2, "(did you mean 'budgeted'?)"),
        (("plan", "-f", "missing.yaml"), 1, "missing.yaml: no such file"),
    ],
)
def test_mistakes_are_answered(
    kohort: RunKohort, served: Hand, words: tuple[str, ...], code: int, sentence: str
):
    told = kohort(*words)
    assert (told.code, told.out) == (code, "")
    assert sentence in told.err


def test_what_admission_refuses_is_refused_with_its_message(kohort: RunKohort, served: Hand, write):
    manifest = make_manifest()
    manifest["spec"]["leaderWorkerTemplate"]["size"] = 0
    told = kohort("plan", "-f", write(manifest))
    assert told.code == 1
    assert "LeaderWorkerSet planned is refused: spec.leaderWorkerTemplate.size" in told.err


def test_an_unknown_field_is_refused_as_by_apply(kohort: RunKohort, served: Hand, write):
    manifest = make_manifest()
    manifest["spec"]["leaderWorkerTemplate"]["restartPolicyy"] = "None"
    told = kohort("plan", "-f", write(manifest))
    assert (told.code, told.out) == (1, "")
    field = "spec.leaderWorkerTemplate.restartPolicyy"
    assert f"unknown field '{field}' (did you mean 'restartPolicy'?)" in told.err


def test_a_misspelt_kind_beside_a_good_one_is_refused(
    kohort: RunKohort, served: Hand, tmp_path: Path
):
    other = {**make_manifest(), "kind": "LeaderWorkerSett"}
    (tmp_path / "both.yaml").write_text(yaml.safe_dump_all([make_manifest(), other]))
    told = kohort("plan", "-f", str(tmp_path / "both.yaml"))
    assert (told.code, told.out) == (1, "")
    assert "has no kind 'LeaderWorkerSett' (did you mean 'LeaderWorkerSet'?)" in told.err


def test_an_object_that_is_no_workload_is_named(kohort: RunKohort, served: Hand, tmp_path: Path):
    other = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}
    (tmp_path / "both.yaml").write_text(yaml.safe_dump_all([make_manifest(), other]))
    told = kohort("plan", "-f", str(tmp_path / "both.yaml"))
    assert (told.code, told.err) == (0, "note: Service/web is not planned: it is no workload\n")


def test_a_group_is_checked_in_the_version_of_its_file(kohort: RunKohort, write):
    group = {
        "apiVersion": "workloads.x-k8s.io/v1alpha1",
        "kind": "RoleBasedGroup",
        "metadata": {"name": "old"},
        "spec": {"roles": [{"name": "web", "replicas": 1}]},
    }
    told = kohort("plan", "-f", write(group))
    assert told.code == 1
    assert "RoleBasedGroup old is refused: spec.roles[0]: Invalid value: template or" in told.err


def test_a_file_without_a_workload_says_what_it_holds(kohort: RunKohort, write):
    told = kohort("plan", "-f", write({"apiVersion": "v1", "kind": "Service", "metadata": {}}))
    assert told.code == 1
    assert "holds no workload that Kohort serves, but Service of v1" in told.err


def test_broken_yaml_is_named(kohort: RunKohort, tmp_path: Path):
    (tmp_path / "bad.yaml").write_text("a: [")
    told = kohort("plan", "-f", str(tmp_path / "bad.yaml"))
    assert (told.code, "bad.yaml is no YAML" in told.err) == (1, True)


def test_no_cluster_is_said_with_what_to_do(
    run_kohort: RunKohort, write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    told = run_kohort("plan", "-f", write(make_manifest()))
    assert told.code == 1
    assert "names no file that exists" in told.err and "kohort up" in told.err
