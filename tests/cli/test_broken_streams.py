"""Commands on a cluster whose connections break, whose rights lack, or whose pods are missing."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from command_lines import Told
from scripted_cluster import Answer, Script, refuse, serving, stream

from kohort.apis.leaderworkerset.labels import KIND
from kohort.cli.workloads.log_streams import Container, FollowedLog
from kohort.cluster.errors import BadRequest, Forbidden, Unavailable, WatchExpired
from kohort.cluster.http import connect
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object
from kohort.cluster.port import Address

RunKohort = Callable[..., Told]
LABEL = "leaderworkerset.sigs.k8s.io"
TEMPLATE = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}
NO_RIGHT = 'pods "llama-0" is forbidden: User "ann" cannot get resource "pods/log"'
END = refuse(Forbidden(NO_RIGHT))


def make_set() -> Object:
    return {
        "apiVersion": KIND.api_version,
        "kind": KIND.name,
        "metadata": {"name": "llama", "namespace": "default", "uid": "s", "resourceVersion": "1"},
        "spec": {"replicas": 1, "leaderWorkerTemplate": {"size": 1, "workerTemplate": TEMPLATE}},
    }


def make_pod(state: str = "running", uid: str = "p") -> Object:
    labels = {f"{LABEL}/name": "llama", f"{LABEL}/group-index": "0", f"{LABEL}/worker-index": "0"}
    container = {"name": "engine", "restartCount": 0, "state": {state: {}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "llama-0",
            "namespace": "default",
            "uid": uid,
            "labels": labels,
            "resourceVersion": "1",
        },
        "spec": TEMPLATE["spec"],
        "status": {"phase": "Running", "containerStatuses": [container]},
    }


def make_script(*logs: Answer) -> Script:
    lists = {"leaderworkersets": [[make_set()]], "pods": [[make_pod()]]}
    return Script(lists, list(logs))


@pytest.fixture
def run_on(run_kohort: RunKohort, tmp_path: Path):
    def run(script: Script, *words: str) -> Told:
        with serving(script, tmp_path) as kubeconfig:
            return run_kohort(*words, "--kubeconfig", str(kubeconfig))

    return run


@pytest.mark.parametrize("flags", [(), ("-f",)])
def test_logs_that_may_not_be_read_are_said_with_verb_and_resource(run_on, flags):
    told = run_on(make_script(END), "logs", "lws/llama", *flags)
    assert (told.code, told.out) == (1, "")
    assert "error: you may not get pods/log in namespace default: pods" in told.err


FIRST = b"2026-01-01T00:00:01.5Z one\n2026-01-01T00:00:02.1Z two\n2026-01-01T00:00:02.1Z two\n"
AGAIN = b"2026-01-01T00:00:02.1Z two\n2026-01-01T00:00:02.1Z two\n2026-01-01T00:00:02.12Z three\n"
SHOWN = ["[llama-0] one", "[llama-0] two", "[llama-0] two", "[llama-0] three"]


@pytest.mark.parametrize("breaks", [True, False])
def test_a_stream_that_ends_while_its_container_runs_is_resumed(run_on, breaks: bool):
    script = make_script(stream(FIRST, breaks=breaks), stream(AGAIN), END)
    told = run_on(script, "logs", "lws/llama", "-f", "--tail", "9")
    assert (told.code, told.out.splitlines()) == (1, SHOWN)
    first, second, *_ = script.queries
    assert (first["tailLines"], "sinceTime" in first) == ("9", False)
    assert (second.get("sinceTime"), "tailLines" in second) == ("2026-01-01T00:00:02Z", False)


@pytest.mark.parametrize("error", [Unavailable("no kubelet"), BadRequest("not yet")])
def test_a_log_that_cannot_be_had_for_now_is_asked_for_again(run_on, error):
    script = make_script(refuse(error), stream(FIRST), END)
    told = run_on(script, "logs", "lws/llama", "-f", "--timestamps")
    assert told.out.startswith("[llama-0] 2026-01-01T00:00:01.5Z one\n")
    assert str(error) in told.err


async def read_followed(script: Script, folder: Path) -> list[str]:
    address = Address(POD, "default", "llama-0")
    container = Container(address, "p", "engine", 0)
    with serving(script, folder) as kubeconfig:
        async with connect(kubeconfig) as door:
            log = FollowedLog(door, container, {}, lambda text: None, (0.0,))
            return [line async for line in log.read()]


async def test_the_log_of_a_container_that_ended_is_read_to_its_end_once(tmp_path: Path):
    script = make_script(stream(FIRST), stream(AGAIN), END)
    script.lists["pods"] = [[make_pod("terminated")]]
    assert await read_followed(script, tmp_path) == ["one", "two", "two", "three"]
    assert len(script.queries) == 2


async def test_a_log_is_not_resumed_in_another_pod_of_that_name(tmp_path: Path):
    script = make_script(stream(FIRST, breaks=True), END)
    script.lists["pods"] = [[make_pod(uid="successor")]]
    assert await read_followed(script, tmp_path) == ["one", "two", "two"]


def test_a_workload_that_is_made_anew_between_two_looks_is_followed(run_on):
    script = make_script(END)
    script.lists["leaderworkersets"] = [[make_set()], [], [make_set()]]
    told = run_on(script, "logs", "lws/llama", "-f")
    assert (told.code, "you may not get pods/log" in told.err) == (1, True)


def test_tabs_stay_in_lines_and_other_control_characters_are_spelled_out(run_on):
    told = run_on(make_script(stream(b"a\tb\x1b[2Jc\r\n")), "logs", "lws/llama")
    assert told.out == "[llama-0] a\tb\\x1b[2Jc\\r\n"


def make_event(name: str, version: int, uid: str = "s") -> Object:
    return {
        "metadata": {"name": name, "uid": name, "resourceVersion": str(version)},
        "involvedObject": {"kind": KIND.name, "name": "llama", "uid": uid},
        "type": "Normal",
        "reason": name,
        "message": name,
        "lastTimestamp": f"2026-01-01T00:00:0{version}Z",
    }


def watched(event: Object) -> bytes:
    return orjson.dumps({"type": "ADDED", "object": event}) + b"\n"


def run_events(run_on, *watches: Answer) -> tuple[list[str], Told]:
    script = make_script()
    a, b, c = (make_event(name, version) for version, name in enumerate("abc", 1))
    script.lists["events"] = [[a], [c, b, a]]
    script.watches["events"] = [*watches, refuse(Forbidden("may not watch events"))]
    told = run_on(script, "events", "lws/llama", "-w", "-o", "json")
    return [orjson.loads(line)["reason"] for line in told.out.splitlines()], told


def test_a_broken_watch_is_begun_again(run_on):
    d = watched(make_event("d", 4))
    shown, told = run_events(
        run_on, stream(breaks=True), refuse(Unavailable("restarts")), stream(d)
    )
    assert (shown, told.code) == (["a", "d"], 1)
    assert "error: may not watch events" in told.err


def test_events_that_came_while_no_watch_was_held_are_shown_once(run_on):
    b = watched(make_event("b", 2))
    shown, _ = run_events(run_on, stream(b), refuse(WatchExpired("too old")), stream())
    assert shown == ["a", "b", "c"]


def test_a_ready_leader_whose_workers_do_not_exist_is_not_connected_to(run_on):
    script = make_script()
    body, pod = make_set(), make_pod()
    body["spec"]["startupPolicy"] = "LeaderReady"
    body["spec"]["leaderWorkerTemplate"]["size"] = 2
    pod["metadata"]["annotations"] = {f"{LABEL}/size": "2"}
    pod["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    script.lists = {"leaderworkersets": [[body]], "pods": [[pod]]}
    told = run_on(script, "connect", "lws/llama", "80", "--dry-run")
    assert (told.code, told.out) == (1, "")
    assert "no group of lws/llama is ready" in told.err
