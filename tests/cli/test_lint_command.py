"""``kohort lint``: what a cluster would refuse or ignore, said without one."""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from command_lines import Told

from kohort.cli.exits import Failure
from kohort.cli.input_files import read_objects

RunKohort = Callable[..., Told]
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
LWS = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata:
  name: llama
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 2
    workerTemplate:
      spec:
        containers:
          - name: engine
            image: engine:1
"""
MS = """\
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelServing
metadata:
  name: llama
spec:
  template:
    roles:
      - name: Prefill
        workerReplicas: 0
        entryTemplate:
          spec:
            containers: [{name: engine, image: "engine:1"}]
"""
RBG = """\
apiVersion: workloads.x-k8s.io/v1alpha2
kind: RoleBasedGroup
metadata: {name: llama}
spec:
  roles:
    - name: a
      dependencies: [b]
      standalonePattern:
        template:
          spec:
            containers: [{name: engine, image: "engine:1"}]
"""
ISVC = """\
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: chat}
spec:
  model: {name: llama}
  decoder: {minReplicas: 1}
"""


@pytest.fixture
def lint(run_kohort: RunKohort, monkeypatch: pytest.MonkeyPatch):
    def run(text: str, *flags: str) -> Told:
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        return run_kohort("lint", "-f", "-", *flags)

    return run


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_no_example_has_an_error(run_kohort: RunKohort, path: Path):
    told = run_kohort("lint", "-f", str(path))
    assert (told.code, "error:" in told.out) == (0, False), told.out


# For each API, a rule that only its own webhook knows.
RULES = {
    "schema": (LWS.replace("replicas: 2", "replicas: two"), 6, "must be of type integer"),
    "unknown field": (LWS.replace("replicas:", "replica:"), 6, "did you mean 'replicas'?"),
    "twice": (LWS.replace("    size: 2", "    size: 2\n    size: 3"), 9, "stands twice"),
    "lws name": (LWS.replace("name: llama", f"name: {'l' * 60}"), 4, "name that is 10 shorter"),
    "ms name": (MS.replace("name: llama", f"name: {'l' * 60}"), 4, "metadata.name: Invalid value"),
    "rbg name": (RBG.replace("name: llama", f"name: {'l' * 64}"), 3, "metadata.name: Invalid"),
    "ms role": (MS, 8, "lower case"),
    "rbg dependency": (RBG, 6, "b"),
    "isvc decoder": (ISVC, 4, "a decoder needs an engine"),
    "version": (LWS.replace("io/v1", "io/v2"), 1, "known: v1"),
    "kind": (LWS.replace("WorkerSet", "WorkerSets"), 1, "did you mean 'LeaderWorkerSet'?"),
    "no object": ("- 1\n", 1, "no object of Kubernetes"),
    "metadata list": (MS.replace("\n  name: llama", " []"), 3, "metadata must be a mapping"),
    "metadata false": (MS.replace("\n  name: llama", " false"), 3, "metadata must be a mapping"),
    "labels false": (MS.replace("name: llama", "labels: false"), 3, "metadata.labels must map"),
}


@pytest.mark.parametrize("rule", RULES)
def test_an_error_has_its_line_and_ends_with_1(lint, rule: str):
    text, line, words = RULES[rule]
    told = lint(text)
    found = [text for text in told.out.splitlines() if words in text]
    assert told.code == 1
    assert any(text.startswith(f"standard input:{line}: error: ") for text in found), told.out


# What YAML can say and JSON cannot, as the spec of an object: the field, and what is said of it.
ODD = {
    "bool key": ("  nodeSelector: {on: x}", "spec.nodeSelector", "its key true"),
    "number key": ("  nodeSelector: {1: x}", "spec.nodeSelector", "its key 1 is no text"),
    "65 bits": ("  replicas: 18446744073709551616", "spec.replicas", "64 bits at most"),
    "infinite": ("  replicas: .inf", "spec.replicas", "inf is no number of JSON"),
    "binary": ("  roles: [!!binary aGk=]", "spec.roles[0]", "it is of type bytes"),
    "set": ("  roles: !!set {a, b}", "spec.roles", "it is of type set"),
    "date": ("  since: !!timestamp 2020-01-01", "spec.since", "it is of type date"),
    "recursion": ("  roles: &a [*a, *a]", "spec.roles[0]", "it holds itself by an alias"),
}


@pytest.mark.parametrize("odd", ODD)
def test_what_json_cannot_say_is_refused_with_its_field(lint, odd: str, tmp_path: Path):
    row, field, words = ODD[odd]
    text = f"{LWS}---\n{LWS.partition('  replicas')[0]}{row}\n"
    told = lint(text)
    head = f"standard input:20: error: LeaderWorkerSet/llama: {field}: "
    assert (told.code, head in told.out, words in told.out) == (1, True, True), told.out
    path = tmp_path / "odd.yaml"
    path.write_text(text)
    with pytest.raises(Failure, match=re.escape(f"{path}, document 2: {field}: ")) as caught:
        list(read_objects(str(path)))
    assert words in str(caught.value)


@pytest.mark.parametrize("tagged", ["!!bool x", "!!timestamp x", '!!int ""'])
def test_a_tag_that_does_not_fit_its_value_is_no_yaml(lint, tagged: str, tmp_path: Path):
    told = lint(f"a: {tagged}\n")
    assert (told.code, told.err.startswith("error: standard input is no YAML")) == (1, True)
    path = tmp_path / "odd.yaml"
    path.write_text(f"a: {tagged}\n")
    with pytest.raises(Failure, match="is no YAML"):
        list(read_objects(str(path)))


def test_aliases_that_stand_for_too_much_are_refused(lint, tmp_path: Path):
    rows = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    text = "\n".join(["a0: &a0 [1]", *rows, ""])
    told = lint(text)
    assert (told.code, "aliases stand for more than 1000000" in told.err) == (1, True)
    path = tmp_path / "odd.yaml"
    path.write_text(text)
    with pytest.raises(Failure, match="aliases stand for more than 1000000"):
        list(read_objects(str(path)))


def test_metadata_that_is_no_mapping_is_refused_where_files_are_read(tmp_path: Path):
    path = tmp_path / "odd.yaml"
    for odd in ("[]", "false", "''"):
        path.write_text(f"apiVersion: v1\nkind: Pod\nmetadata: {odd}\n")
        with pytest.raises(Failure, match="metadata must be a mapping"):
            list(read_objects(str(path)))


def test_a_faulty_object_is_no_neighbour_of_others(lint):
    other = "---\napiVersion: ome.io/v1beta1\nkind: ClusterBaseModel\nmetadata: []\n"
    told = lint(ISVC.replace("decoder", "engine") + other)
    assert (told.code, "metadata must be a mapping" in told.out) == (1, True)


MERGED = LWS.replace("  replicas: 2\n", "  <<: {replicas: 1, replica: 1}\n  replicas: 2\n")


def test_a_key_that_a_merge_brings_too_does_not_stand_twice(lint):
    told = lint(MERGED)
    assert "twice" not in told.out
    assert "standard input:6: error: LeaderWorkerSet/llama: spec.replica: unknown" in told.out


IGNORED = (
    "spec:\n  networkTopology: {mode: hard, highestTierAllowed: 1}\n",
    "spec.networkTopology has no effect",
)


def test_fields_without_effect_are_warnings_that_strict_makes_fail(lint):
    text = LWS.replace("spec:\n", IGNORED[0], 1)
    told, strict = lint(text), lint(text, "--strict")
    assert (told.code, strict.code) == (0, 1)
    assert f"standard input:6: warning: LeaderWorkerSet/llama: {IGNORED[1]}" in told.out
    assert IGNORED[1] not in lint(text, "--gang", "volcano").out


def test_fields_of_a_service_without_effect_are_found_by_planning_it(lint):
    example = next(path for path in EXAMPLES if path.stem == "inferenceservice").read_text()
    told = lint(example.replace("engine: {min", "engine: {canaryTrafficPercent: 9, min"))
    assert "warning: InferenceService/chat: spec.engine.canaryTrafficPercent has no" in told.out


def test_a_service_whose_runtime_is_selected_is_right_also_strictly(lint):
    text = (EXAMPLES[0].parent / "inferenceservice.yaml").read_text()
    assert "runtime:" not in text
    told = lint(text, "--strict")
    assert (told.code, told.err) == (0, "3 objects checked: 0 errors, 0 warnings\n")
    fact = "note: InferenceService/chat: runtime parted was selected for model llama"
    assert told.out.endswith(f"{fact}\n")
    [problem] = json.loads(lint(text, "--strict", "-ojson").out)["problems"]
    assert problem["level"] == "note"


def test_a_service_for_which_no_runtime_can_be_selected_fails_strictly_alone(lint):
    text = (EXAMPLES[0].parent / "inferenceservice.yaml").read_text()
    alien = text.replace("autoSelect: true", "autoSelect: false")
    told, strict = lint(alien), lint(alien, "--strict")
    assert (told.code, strict.code) == (0, 1)
    assert "warning: InferenceService/chat: spec.runtime: Invalid value" in told.out
    assert "was selected" not in told.out


def test_what_is_not_in_the_files_may_be_in_the_cluster(lint):
    told = lint(ISVC.replace("decoder", "engine"))
    assert told.code == 0
    assert 'spec.model.name: Not found: "llama": there is no BaseModel of that name' in told.out
    assert "(in these files; the cluster may have it)" in told.out


def test_programs_get_every_problem_as_a_value(lint):
    told = lint(f"{LWS.replace('replicas:', 'replica:')}---\nkind: Pod\napiVersion: v1\n", "-ojson")
    found = json.loads(told.out)
    assert (found["objects"], found["skipped"]) == (1, ["Pod/(no name)"])
    [problem] = found["problems"]
    assert (problem["line"], problem["level"], problem["field"]) == (6, "error", "spec.replica")


def test_broken_yaml_is_told_with_its_line(lint):
    told = lint("a: [\n")
    assert told.code == 1
    assert told.err.startswith("error: standard input:2: no YAML")


def test_a_file_must_be_named_and_must_exist(run_kohort: RunKohort):
    assert run_kohort("lint").code == 2
    told = run_kohort("lint", "-f", "/nowhere/x.yaml")
    assert (told.code, told.err) == (1, "error: /nowhere/x.yaml: no such file or directory\n")


def test_a_field_of_a_role_instance_set_without_effect_is_a_warning(lint):
    told = lint("""\
apiVersion: workloads.x-k8s.io/v1alpha2
kind: RoleInstanceSet
metadata: {name: one}
spec:
  scaleStrategy: {maxUnavailable: 1}
  selector: {matchLabels: {a: b}}
  roleInstanceTemplate:
    components:
      - name: engine
        template: {spec: {containers: [{name: engine, image: "engine:1"}]}}
""")
    head = "standard input:5: warning: RoleInstanceSet/one: "
    assert f"{head}spec.scaleStrategy.maxUnavailable has no effect on a set" in told.out, told.out


def make_service(name: str, mode: str, runtime: str = "") -> str:
    """The example of a service under another name, in another mode, with another engine."""
    text = (EXAMPLES[0].parent / "inferenceservice.yaml").read_text()
    text = text.replace("name: chat\n", f"name: {name}\n").replace("RoleBasedGroup", mode)
    return text.replace("  engineConfig:\n    runner: &runner\n", runtime) if runtime else text


MANY_NODES = """\
  engineConfig:
    leader: {runner: {name: ome-container, image: "engine:1"}}
    worker: {size: 1, runner: {name: ome-container, image: "engine:1"}}
    runner: &runner
"""


@pytest.mark.parametrize("mode", ["RoleBasedGroup", "RawDeployment"])
def test_a_service_may_have_63_characters(lint, mode: str):
    assert lint(make_service("a" * 63, mode)).code == 0
    told = lint(make_service("a" * 64, mode))
    assert told.code == 1
    assert "error: InferenceService/aaa" in told.out
    assert "has 64 characters, and at most 63 are possible" in told.out
    assert "the cluster may have it" not in told.out


def test_the_name_of_what_a_service_makes_is_told_before_it_is_refused(lint):
    assert lint(make_service("a" * 39, "RawDeployment", MANY_NODES)).code == 0
    told = lint(make_service("a" * 44, "RawDeployment", MANY_NODES))
    assert told.code == 1
    assert (
        f"the LeaderWorkerSet lws-{'a' * 43}-engine would be refused: metadata.name: " in told.out
    )
    assert "at most 52 are possible: use a name that is " in told.out
