"""Commands about workloads, on a cluster with the operator at work."""

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from command_lines import KOHORT, Told
from workload_hand import TEMPLATE, Hand, break_pulls, set_image

from children import started
from kohort.simulator.stages import CRASH_AFTER

pytestmark = pytest.mark.slow
RunKohort = Callable[..., Told]


def test_a_workload_is_followed_until_it_is_ready(kohort: RunKohort, cluster: Path):
    Hand(cluster, "calm").create()
    status = kohort("rollout", "status", "lws/calm", "--timeout", "60s")
    assert status.code == 0
    assert "groups 2/2 ready   revision 1 (2/2)   ready" in status.out.splitlines()[-1]
    table = kohort("get", "lws", "-l", "team=calm").out.splitlines()
    assert table[0].split() == ["KIND", "NAME", "READY", "UPDATED", "REVISION", "REASON", "AGE"]
    assert table[1].split()[:6] == ["LeaderWorkerSet", "calm", "2/2", "2/2", "1", "ready"]
    assert (
        "groups 0\N{EN DASH}1   ✓ ready   revision 1   4 members"
        in kohort("get", "LeaderWorkerSets", "calm").out
    )
    assert kohort("why", "lws", "calm").code == 0


def test_a_workload_of_the_cluster_is_converted(kohort: RunKohort, cluster: Path):
    Hand(cluster, "moving").create()
    told = kohort("convert", "lws/moving", "--role", "serve")
    assert told.code == 0
    made = yaml.safe_load(told.out)
    assert (made["kind"], made["metadata"]["name"]) == ("ModelServing", "moving")
    assert set(made["metadata"]) <= {"name", "namespace", "labels", "annotations"}
    assert "status" not in made
    assert made["spec"]["template"]["roles"][0]["workerReplicas"] == 1
    missing = kohort("convert", "lws/mowing")
    assert missing.code == 1
    assert "lws/mowing does not exist in namespace default (did you mean 'moving'?)" in missing.err


def test_views_are_written_for_programs_too(kohort: RunKohort, cluster: Path):
    Hand(cluster, "written").create()
    kohort("rollout", "status", "lws/written", "--timeout", "60s")
    rows = json.loads(kohort("get", "-A", "-o", "json").out)
    row = next(row for row in rows if row["name"] == "written")
    assert (row["health"]["word"], row["ready"]) == ("ready", 2)
    tree = yaml.safe_load(kohort("get", "lws/written", "-o", "yaml").out)
    assert [line["role"] for line in tree["groups"][0]["lines"]] == ["leader", "worker"]
    told = json.loads(kohort("why", "lws/written", "-o", "json").out)
    assert (told["on"], told["commands"], told["rules"]["maxUnavailable"]) == ([], [], 1)
    assert "leaderworkerset.leaderworkerset.x-k8s.io/written" in kohort("get", "-o", "name").out


def test_a_bad_image_is_found_named_and_undone(kohort: RunKohort, cluster: Path):
    hand = Hand(cluster, "bad")
    hand.create()
    assert kohort("rollout", "status", "lws/bad", "--timeout", "60s").code == 0
    hand.edit(set_image("engine:2"), break_pulls())
    status = kohort("rollout", "status", "lws/bad", "--timeout", "60s")
    assert status.code == 4
    assert "error: lws/bad is blocked: ImagePullBackOff: bad-1" in status.err
    why = kohort("why", "lws/bad")
    assert why.code == 4
    assert "bad-1  ImagePullBackOff" in why.out
    assert "manifest unknown" in why.out
    assert "next      kohort rollout undo lws/bad --to-revision 1\n" in why.out
    assert "strategy budgeted, carrier" in why.out
    assert "bad" in kohort("get", "--blocked").out
    history = kohort("rollout", "history", "lws/bad").out
    assert "workerTemplate.engine.image: engine:1 → engine:2" in history
    assert "dry run" in kohort("rollout", "undo", "lws/bad", "--dry-run").out
    assert "engine:2" in json.dumps(hand.read()["spec"])
    undone = kohort("rollout", "undo", "lws/bad")
    assert undone.out.startswith("lws/bad goes back to revision 1\n")
    assert kohort("rollout", "status", "lws/bad", "--timeout", "60s").code == 0
    assert "engine:2" not in json.dumps(hand.read()["spec"])


def test_a_group_that_crashes_for_ever_ends_the_wait(kohort: RunKohort, cluster: Path):
    hand = Hand(cluster, "crash")
    hand.create()
    kohort("rollout", "status", "lws/crash", "--timeout", "60s")
    value = {"annotations": {CRASH_AFTER: "0.1s"}}
    hand.edit(set_image("engine:2"), {"op": "add", "path": f"{TEMPLATE}/metadata", "value": value})
    status = kohort("rollout", "status", "lws/crash", "--timeout", "60s")
    assert status.code == 4
    assert "error: lws/crash is blocked: CrashLoopBackOff: crash-1" in status.err
    assert "container engine" in status.err
    assert "exit 1" in status.err
    assert "kubectl logs crash-1" in status.err
    assert kohort("why", "lws/crash").code == 4
    assert "kohort rollout undo lws/crash --to-revision 1" in status.err
    kohort("rollout", "undo", "lws/crash")
    assert kohort("rollout", "status", "lws/crash", "--timeout", "60s").code == 0


def test_a_pause_holds_every_group_until_it_is_resumed(kohort: RunKohort, cluster: Path):
    hand = Hand(cluster, "held")
    hand.create()
    kohort("rollout", "status", "lws/held", "--timeout", "60s")
    assert "emulated: the partition is 2" in kohort("rollout", "pause", "lws/held").out
    hand.edit(set_image("engine:2"))
    status = kohort("rollout", "status", "lws/held", "--timeout", "60s")
    assert status.code == 4
    assert "kohort rollout resume lws/held" in status.err
    assert "next      kohort rollout resume lws/held" in kohort("why", "lws/held").out
    assert kohort("rollout", "resume", "lws/held").code == 0
    assert kohort("rollout", "status", "lws/held", "--timeout", "60s").code == 0
    row = json.loads(kohort("get", "lws", "-l", "team=held", "-o", "json").out)[0]
    assert (row["updated"], row["revision"]) == (2, "2")
    assert kohort("rollout", "resume", "lws/held").out == "lws/held is not paused\n"


def test_a_restart_replaces_every_group(kohort: RunKohort, cluster: Path):
    Hand(cluster, "again").create(groups=1)
    kohort("rollout", "status", "lws/again", "--timeout", "60s")
    before = json.loads(kohort("get", "lws/again", "-o", "json").out)
    assert kohort("rollout", "restart", "lws/again").out == "lws/again restarts\n"
    assert kohort("rollout", "status", "lws/again", "--timeout", "60s").code == 0
    after = json.loads(kohort("get", "lws/again", "-o", "json").out)
    assert (before["row"]["revision"], after["row"]["revision"]) == ("1", "2")
    told = kohort("rollout", "history", "lws/again", "--revision", "2").out
    assert "kubectl.kubernetes.io/restartedAt" in told


def test_what_the_operator_did_is_evidence(kohort: RunKohort, cluster: Path):
    hand = Hand(cluster, "doing")
    hand.create()
    kohort("rollout", "status", "lws/doing", "--timeout", "60s")
    hand.edit(set_image("engine:2"), break_pulls())
    kohort("rollout", "status", "lws/doing", "--timeout", "60s")
    assert "ago: GroupsUpdating: " in kohort("why", "lws/doing").out


def test_time_is_over_with_code_3(kohort: RunKohort, cluster: Path):
    hand = Hand(cluster, "slow")
    hand.create(groups=1)
    resources = {"limits": {"nvidia.com/gpu": "999"}}
    path = f"{TEMPLATE}/spec/containers/0/resources"
    hand.edit({"op": "add", "path": path, "value": resources})
    told = kohort("rollout", "status", "lws/slow", "--timeout", "1s")
    assert told.code == 3
    assert "error: lws/slow is not ready after 1 s" in told.err
    assert "Insufficient nvidia.com/gpu" in kohort("why", "lws/slow").out
    assert kohort("rollout", "status", "lws/slow", "--timeout", "0").code == 3


def test_changes_are_printed_as_lines_without_a_terminal(kohort: RunKohort, cluster: Path):
    hand = Hand(cluster, "told")
    hand.create()
    words = [*KOHORT, "get", "lws/told", "-w", "--kubeconfig", str(cluster)]
    pipe = subprocess.PIPE
    with started(words, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        lines = iter(process.stdout.readline, "")
        assert any("groups 2/2 ready   revision 1 (2/2)   ready" in line for line in lines)
        hand.edit({"op": "replace", "path": "/spec/replicas", "value": 3})
        assert any("groups 3/3 ready" in line for line in lines)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stderr.read() == ""


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("get", "lws/nope"), 1, "lws/nope does not exist in namespace default"),
        (("why", "lwz/x"), 2, "unknown kind 'lwz' (did you mean 'lws'?)"),
        (("why", "lws"), 2, "name one workload as KIND/NAME"),
        (("get", "lws/x", "-A"), 2, "a name needs one namespace"),
        (("get", "-w", "-o", "json"), 2, "-w shows text"),
        (("rollout", "undo", "lws/nope"), 1, "does not exist"),
        (("rollout", "status", "lws/x", "--timeout", "soon"), 2, "must be a duration"),
        (("get", "--kubeconfig", "/nowhere"), 1, "the kubeconfig /nowhere does not exist"),
    ],
)
def test_mistakes_are_answered_in_one_sentence(words, code, sentence, kohort: RunKohort):
    told = kohort(*words)
    assert told.code == code
    assert sentence in told.err
    assert told.err.count("\n") == 1


def test_without_a_cluster_one_is_offered(run_kohort: RunKohort, monkeypatch, tmp_path: Path):
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    told = run_kohort("get")
    assert told.code == 1
    assert "start one with 'kohort up'" in told.err


def test_a_cluster_without_the_definition_says_how_to_get_it(run_kohort: RunKohort, kohort_cluster):
    told = run_kohort("get", "--kubeconfig", str(kohort_cluster.kubeconfig))
    assert told.code == 1
    assert "does not know LeaderWorkerSet, ModelServing, RoleBasedGroup" in told.err
    assert "install the definitions with 'kohort crds" in told.err


def write_kubeconfig(path: Path, server: str, token: str, cluster: Path | None = None) -> Path:
    """A kubeconfig with one context, "dev"; the authority is that of a cluster."""
    config = yaml.safe_load(cluster.read_text())["clusters"][0]["cluster"] if cluster else {}
    body = {
        "current-context": "dev",
        "clusters": [{"name": "c", "cluster": {**config, "server": server}}],
        "users": [{"name": "u", "user": {"token": token}}],
        "contexts": [{"name": "dev", "context": {"cluster": "c", "user": "u"}}],
    }
    path.write_text(yaml.safe_dump(body))
    return path


def test_a_cluster_that_does_not_answer_is_named_by_its_context(
    run_kohort: RunKohort, tmp_path: Path, unused_port
):
    config = write_kubeconfig(tmp_path / "config", f"http://127.0.0.1:{unused_port}", "x")
    for words in (("get",), ("why", "lws/x"), ("rollout", "undo", "lws/x")):
        told = run_kohort(*words, "--kubeconfig", str(config))
        assert told.code == 1
        assert f'context "dev": cannot reach http://127.0.0.1:{unused_port}' in told.err
        assert "Choose another with --context" in told.err


def test_a_token_that_is_not_accepted_is_named_by_its_context(
    run_kohort: RunKohort, tmp_path, cluster: Path
):
    server = yaml.safe_load(cluster.read_text())["clusters"][0]["cluster"]["server"]
    config = write_kubeconfig(tmp_path / "config", server, "wrong", cluster)
    told = run_kohort("get", "--kubeconfig", str(config))
    assert told.code == 1
    assert f'context "dev": {server} does not accept the credentials' in told.err
    assert "log in again" in told.err


def test_an_undo_passes_over_what_never_served(kohort: RunKohort, cluster: Path):
    hand = Hand(cluster, "back")
    hand.create()
    wait = ("rollout", "status", "lws/back", "--timeout", "60s")
    assert kohort(*wait).code == 0
    for image in ("engine:2", "engine:3"):
        hand.edit(set_image(image), break_pulls())
        assert kohort(*wait).code == 4
    assert (
        "next      kohort rollout undo lws/back --to-revision 1\n" in kohort("why", "lws/back").out
    )
    assert "goes back to revision 1\n" in kohort("rollout", "undo", "lws/back").out
    assert kohort(*wait).code == 0
    history = json.loads(kohort("rollout", "history", "lws/back", "-o", "json").out)
    assert [line["hasServed"] for line in history] == [True, False, False]


def test_a_revision_is_shown_with_its_template(kohort: RunKohort, cluster: Path):
    Hand(cluster, "shown").create(groups=1)
    kohort("rollout", "status", "lws/shown", "--timeout", "60s")
    told = kohort("rollout", "history", "lws/shown", "--revision", "1").out
    template = yaml.safe_load(told.partition("\n\n")[2])
    container = template["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]
    assert container["image"] == "engine:1"
    words = ("rollout", "history", "lws/shown", "--revision", "1", "-o", "json")
    assert json.loads(kohort(*words).out)[0]["template"] == template


def test_an_image_is_set_where_the_container_is(kohort: RunKohort, cluster: Path):
    hand = Hand(cluster, "image")
    hand.create(groups=1)
    kohort("rollout", "status", "lws/image", "--timeout", "60s")
    words = ("rollout", "set-image", "lws/image")
    wrong = kohort(*words, "engin=engine:2")
    assert wrong.code == 1
    assert "has no container 'engin' (did you mean 'engine'?); it has: engine" in wrong.err
    assert kohort(*words, "engine=engine:2", "--dry-run").out.splitlines()[:3] == [
        "lws/image rolls out another image (dry run: nothing was changed)",
        "  workerTemplate.engine.image: engine:1 → engine:2",
        "  restarts  every group is made anew, because of workerTemplate.engine.image",
    ]
    leader = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}
    path = "/spec/leaderWorkerTemplate/leaderTemplate"
    hand.edit({"op": "add", "path": path, "value": leader})
    told = json.loads(kohort(*words, "engine=engine:3", "-o", "json").out)
    assert sorted(detail.partition(":")[0] for detail in told["details"]) == [
        "leaderTemplate.engine.image",
        "workerTemplate.engine.image",
    ]
    assert json.dumps(hand.read()["spec"]).count("engine:3") == 2
    assert kohort(*words, "engine=engine:3").out == "lws/image asks for that image already\n"
    assert kohort("rollout", "set-image", "lws/image").code == 2
