"""``kohort events``, ``logs``, ``connect``, ``get pod/NAME --up`` on a cluster with an operator."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_lines import KOHORT, Told
from workload_hand import TEMPLATE, Hand, set_image

from children import started
from kohort.apis.modelserving.api import MODEL_SERVING
from kohort.simulator.stages import CRASH_AFTER

pytestmark = pytest.mark.slow
RunKohort = Callable[..., Told]
NOTE = "note: the pods of this cluster are simulated"
POD = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}


@pytest.fixture(scope="module")
def llama(cluster: Path) -> Hand:
    """A LeaderWorkerSet of two groups that is ready."""
    hand = Hand(cluster, "llama")
    hand.create()
    hand.wait_for_condition("Available")
    return hand


@pytest.fixture(scope="module")
def chat(cluster: Path) -> Hand:
    """A ModelServing with two roles that is ready."""
    hand = Hand(cluster, "chat", MODEL_SERVING.kind)
    roles = [
        {"name": n, "replicas": 1, "workerReplicas": w, "entryTemplate": POD, "workerTemplate": POD}
        for n, w in (("prefill", 1), ("decode", 0))
    ]
    hand.make({"replicas": 1, "template": {"roles": roles}})
    hand.wait_for_condition("Available")
    return hand


def heads(out: str) -> list[str]:
    """The members whose lines are shown, in their order."""
    return list(dict.fromkeys(line.split("]")[0].strip("[") for line in out.splitlines()))


@pytest.mark.usefixtures("llama")
class TestLogs:
    def test_all_members_are_shown_leaders_first(self, kohort: RunKohort):
        told = kohort("logs", "lws/llama")
        assert (told.code, NOTE in told.err) == (0, True)
        assert heads(told.out) == ["llama-0", "llama-0-1", "llama-1", "llama-1-1"]
        assert "[llama-0] container engine started from image engine:1\n" in told.out

    def test_a_group_and_a_role_are_chosen(self, kohort: RunKohort, chat: Hand):
        assert heads(kohort("logs", "lws/llama", "--group", "1").out) == ["llama-1", "llama-1-1"]
        assert heads(kohort("logs", "lws/llama", "--role", "worker").out) == [
            "llama-0-1",
            "llama-1-1",
        ]
        told = kohort("logs", "ms/chat", "--role", "prefill", "--tail", "1")
        assert heads(told.out) == ["chat-0-prefill-0-0", "chat-0-prefill-0-1"]
        assert len(told.out.splitlines()) == 2

    def test_what_does_not_exist_is_answered_with_what_does(self, kohort: RunKohort):
        told = kohort("logs", "lws/llama", "--group", "7")
        assert (told.code, told.err) == (
            1,
            "error: lws/llama has no members in group 7; groups with members: 0, 1\n",
        )
        told = kohort("logs", "lws/llama", "--role", "workr")
        assert "no members of role 'workr' (did you mean 'worker'?)" in told.err
        assert "no container 'engin' (did you mean" in kohort("logs", "lws/llama", "-cengin").err

    def test_nothing_ran_before(self, kohort: RunKohort):
        told = kohort("logs", "lws/llama", "--previous")
        assert (told.code, told.out) == (1, "")
        assert "error: no container of lws/llama has run before" in told.err
        assert kohort("logs", "lws/llama", "--previous", "-f").code == 2

    def test_they_are_coloured_on_a_terminal_only(self, cluster: Path):
        code = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"
        command = [sys.executable, "-c", code, *KOHORT, "logs", "lws/llama", "--tail", "1"]
        kept = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        env = {**kept, "KUBECONFIG": str(cluster), "TERM": "xterm"}
        done = subprocess.run(command, env=env, capture_output=True, timeout=60, check=False)
        assert b"\x1b[36m[llama-0]\x1b[0m" in done.stdout
        assert done.returncode == 0


def test_the_former_container_is_read_and_pods_that_are_gone_are_named(
    kohort: RunKohort, cluster: Path
):
    hand = Hand(cluster, "lost")
    hand.create(groups=1)
    hand.wait_for_condition("Available")
    value = {"annotations": {CRASH_AFTER: "0.1s"}}
    hand.edit(set_image("engine:2"), {"op": "add", "path": f"{TEMPLATE}/metadata", "value": value})
    assert kohort("rollout", "status", "lws/lost", "--timeout", "60s").code == 4
    told = kohort("logs", "lws/lost", "--previous")
    assert "note: container engine of pod lost-0" in told.err
    assert "that pod is gone with its group, and its logs with it" in told.err


def test_a_restarted_container_has_a_former_log(kohort: RunKohort, cluster: Path):
    hand = Hand(cluster, "again")
    hand.make(
        {
            "replicas": 1,
            "leaderWorkerTemplate": {
                "size": 1,
                "restartPolicy": "None",
                "workerTemplate": {"metadata": {"annotations": {CRASH_AFTER: "0.1s"}}, **POD},
            },
        }
    )
    hand.wait_for_condition("Blocked")
    told = kohort("logs", "lws/again", "--previous")
    assert told.code == 0
    assert "[again-0] fatal: exiting with code 1\n" in told.out


def test_followed_logs_take_up_the_pods_of_a_new_revision(cluster: Path):
    hand = Hand(cluster, "moving")
    hand.create(groups=1)
    hand.wait_for_condition("Available")
    env = {**os.environ, "KUBECONFIG": str(cluster)}
    command = [*KOHORT, "logs", "lws/moving", "-f"]
    with started(command, env=env, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert "engine:1" in process.stdout.readline()
        hand.edit(set_image("engine:2"))
        seen = iter(process.stdout.readline, "")
        assert any("[moving-0] container engine started from image engine:2" in s for s in seen)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130


@pytest.mark.usefixtures("llama")
class TestEvents:
    def test_they_are_of_all_descendants_by_time(self, kohort: RunKohort):
        told = kohort("events", "lws/llama", "-o", "json")
        found = json.loads(told.out)
        about = {event["object"] for event in found}
        assert {"LeaderWorkerSet/llama", "StatefulSet/llama-0", "Pod/llama-0-1"} <= about
        assert all(name.partition("/")[2].startswith("llama") for name in about)
        moments = [event["seen"] for event in found]
        assert moments == sorted(moments)
        kubelet = [e for e in found if (e["object"], e["actor"]) == ("Pod/llama-0-1", "kubelet")]
        assert "Started" in {event["reason"] for event in kubelet}

    def test_the_table_names_who_said_it(self, kohort: RunKohort):
        head, *lines = kohort("events", "lws/llama").out.splitlines()
        assert head.split() == ["AGE", "TYPE", "OBJECT", "REASON", "BY", "MESSAGE"]
        assert any("Pod/llama-0 " in s and "default-scheduler" in s for s in lines)
        assert kohort("events", "lws/llama", "--warnings").err.startswith("no events")

    def test_a_watch_tells_of_pods_that_are_made_later(self, cluster: Path):
        hand = Hand(cluster, "later")
        hand.create(groups=1)
        hand.wait_for_condition("Available")
        env = {**os.environ, "KUBECONFIG": str(cluster)}
        command = [*KOHORT, "events", "lws/later", "-w", "-o", "json"]
        with started(command, env=env, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            hand.edit(set_image("engine:2"))
            seen = (json.loads(line) for line in iter(process.stdout.readline, ""))
            assert any("engine:2" in event["message"] for event in seen)
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=30) == 130


@pytest.mark.usefixtures("llama")
class TestLineage:
    def test_a_worker_belongs_to_group_and_workload_by_labels_and_owners(self, kohort: RunKohort):
        told = kohort("get", "pod/llama-1-1", "--up")
        assert told.code == 0
        assert "  member    worker, number 1 of its instance\n" in told.out
        assert "  group     1, revision 1\n" in told.out
        assert "  workload  lws/llama  LeaderWorkerSet  ✓ ready\n" in told.out
        owners = "StatefulSet/llama-1 → Pod/llama-1 → StatefulSet/llama → LeaderWorkerSet/llama"
        assert f"  owners    {owners}\n" in told.out

    def test_a_member_of_a_role_belongs_to_an_instance(self, kohort: RunKohort, chat: Hand):
        found = json.loads(kohort("get", "pod", "chat-0-prefill-0-1", "--up", "-o", "json").out)
        place = found["place"]
        assert (place["role"], place["instance"], place["group"], place["index"]) == (
            "prefill",
            0,
            0,
            1,
        )
        assert [w["reference"] for w in found["workloads"]] == ["ms/chat"]

    def test_other_pods_and_misspelt_ones_are_said(self, kohort: RunKohort, cluster: Path):
        Hand(cluster, "alone").create_pod()
        told = kohort("get", "pod/alone", "--up")
        assert (told.code, "belongs to no workload" in told.err) == (1, True)
        assert "did you mean 'llama-1-1'?" in kohort("get", "pod/llama-1-11", "--up").err
        assert kohort("get", "lws/llama", "--up").code == 2
        assert "kohort get pod/NAME --up" in kohort("get", "pod/llama-0").err


@pytest.mark.usefixtures("llama")
class TestConnect:
    def test_simulated_pods_are_not_connected_to(self, kohort: RunKohort):
        told = kohort("connect", "lws/llama", "8000")
        assert told.code == 1
        assert "pod/llama-0 is simulated: nothing listens there" in told.err
        assert "'kubectl port-forward pod/llama-0 8000:8000 -n default'" in told.err

    def test_the_command_can_be_seen(self, kohort: RunKohort, cluster: Path, chat: Hand):
        told = kohort("connect", "lws/llama", "9000:80", "--dry-run", "--group", "1")
        assert told.out == "kubectl port-forward pod/llama-1 9000:80 -n default\n"
        config = ("--kubeconfig", str(cluster))
        told = kohort("connect", "ms/chat", "80", "--role", "decode", "--dry-run", *config)
        end = f"--kubeconfig {cluster}\n"
        assert told.out == f"kubectl port-forward pod/chat-0-decode-0-0 80:80 -n default {end}"

    def test_a_port_is_needed_and_must_be_one(self, kohort: RunKohort):
        told = kohort("connect", "lws/llama")
        assert (told.code, "names no port" in told.err) == (2, True)
        assert kohort("connect", "lws/llama", "99999").code == 2

    def test_a_role_without_leaders_is_connected_to(self, kohort: RunKohort):
        told = kohort("connect", "lws/llama", "81:80", "--role", "worker", "--dry-run")
        assert told.out == "kubectl port-forward pod/llama-0-1 81:80 -n default\n", told.err

    def test_without_a_ready_group_it_says_whom_to_ask(self, kohort: RunKohort, cluster: Path):
        hand = Hand(cluster, "huge")
        hand.create(groups=1, spec={"nodeSelector": {"no": "where"}})
        hand.wait_for_condition("Blocked")
        told = kohort("connect", "lws/huge", "80")
        assert "no group of lws/huge is ready; ask 'kohort why lws/huge'" in told.err
