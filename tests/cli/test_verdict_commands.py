"""All commands give the same verdict on a workload, with its cause."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_lines import Cli, Told
from workload_hand import Hand, break_pulls, set_image

pytestmark = pytest.mark.slow
RunKohort = Callable[..., Told]


def read_verdicts(kohort: RunKohort, name: str) -> set[tuple[str, str]]:
    """The word and the reason that every command gives."""
    row = json.loads(kohort("get", "lws", "-l", f"team={name}", "-o", "json").out)[0]
    tree = json.loads(kohort("get", f"lws/{name}", "-o", "json").out)["row"]
    why = json.loads(kohort("why", f"lws/{name}", "-o", "json").out)["row"]
    return {(found["health"]["word"], found["health"]["reason"]) for found in (row, tree, why)}


@pytest.mark.parametrize("form", ["text", "wide", "name"])
def test_where_nothing_is_blocked_a_sentence_says_so(form: str, kohort: RunKohort, cluster: Path):
    hand = Hand(cluster, f"unblocked-{form}")
    hand.create()
    told = kohort("get", "--blocked", "-l", f"team=unblocked-{form}", "-o", form)
    assert (told.code, told.out) == (0, "")
    assert told.err == "nothing is blocked in namespace default\n"
    values = kohort("get", "--blocked", "-l", f"team=unblocked-{form}", "-o", "json")
    assert (json.loads(values.out), values.err) == ([], "")


def test_commands_condition_and_event_say_the_same(kohort: RunKohort, cluster: Path):
    hand = Hand(cluster, "same")
    hand.create()
    kohort("rollout", "status", "lws/same", "--timeout", "60s")
    assert read_verdicts(kohort, "same") == {("ready", "")}
    hand.edit(set_image("engine:2"), break_pulls())
    status = kohort("rollout", "status", "lws/same", "--timeout", "60s")
    assert (status.code, kohort("why", "lws/same").code) == (4, 4)
    assert "error: lws/same is blocked: ImagePullBackOff: same-1" in status.err
    assert read_verdicts(kohort, "same") == {("blocked", "ImagePullBackOff")}
    assert "same" in kohort("get", "--blocked").out
    condition = hand.wait_for_condition("Blocked")
    row = json.loads(kohort("get", "lws/same", "-o", "json").out)["row"]
    assert (condition["reason"], condition["message"]) == (
        row["health"]["reason"],
        row["health"]["message"],
    )
    told = [event for event in hand.list_events() if event["type"] == "Warning"]
    assert [(e["reason"], e["message"]) for e in told] == [
        (condition["reason"], condition["message"])
    ]


def test_pods_that_are_refused_are_named_by_every_command(kohort: RunKohort, cluster: Path):
    hand = Hand(cluster, "refused")
    hand.create(spec={"priorityClassName": "missing"})
    status = kohort("rollout", "status", "lws/refused", "--timeout", "90s")
    assert status.code == 4, status
    assert "error: lws/refused is blocked: FailedCreate: StatefulSet refused" in status.err
    assert "no PriorityClass with name missing was found" in status.err
    assert kohort("why", "lws/refused").code == 4
    assert read_verdicts(kohort, "refused") == {("blocked", "FailedCreate")}
    assert "refused" in kohort("get", "--blocked").out


def test_a_missing_config_map_is_named_and_what_waits_for_it_starts_when_it_comes(
    kohort: RunKohort, cluster: Path
):
    hand = Hand(cluster, "waiting")
    hand.create(spec={"volumes": [{"name": "files", "configMap": {"name": "settings"}}]})
    status = kohort("rollout", "status", "lws/waiting", "--timeout", "90s")
    assert status.code == 4, status
    assert read_verdicts(kohort, "waiting") == {("blocked", "FailedMount")}
    why = kohort("why", "lws/waiting").out
    assert 'configmap "settings" not found' in why
    assert "kubectl create configmap settings --from-file=PATH" in why
    assert "waits for ConfigMap settings in namespace default" in why
    hand.create_config_map("settings")
    assert kohort("rollout", "status", "lws/waiting", "--timeout", "60s").code == 0


def test_an_operator_that_is_away_is_named_with_the_change_that_it_has_not_seen(
    run_kohort: RunKohort, cli: Cli
):
    started = cli("up", "--port", "0", "--speed", "50", "--detach", "-o", "json", "--no-operator")
    config = Path(json.loads(started.out)["kubeconfig"])
    try:
        hand = Hand(config, "alone")
        hand.install()
        hand.create()
        hand.write_status({"observedGeneration": 1})
        hand.write_lease("2026-01-01T00:00:00.000000Z")
        hand.edit({"op": "replace", "path": "/spec/replicas", "value": 3})
        why = run_kohort("why", "lws/alone", "--kubeconfig", str(config))
        assert why.code == 4
        assert "OperatorSilent: the operator has not seen generation 2, only 1" in why.out
        assert "was renewed last at 2026-01-01T00:00:00Z" in why.out
        assert "OperatorSilent" in run_kohort("get", "--blocked", "--kubeconfig", str(config)).out
    finally:
        cli("down")


def test_a_pod_is_explained_with_the_workload_that_it_is_part_of(kohort: RunKohort, cluster: Path):
    hand = Hand(cluster, "asked")
    hand.create()
    kohort("rollout", "status", "lws/asked", "--timeout", "60s")
    calm = kohort("why", "pod/asked-1-1")
    assert calm.code == 0
    assert calm.out.startswith("asked-1-1  Pod  ✓ ready\n")
    assert "is        worker of group 1 of LeaderWorkerSet asked, revision 1\n" in calm.out
    assert "next      nothing needs to be done\n" in calm.out
    assert "(did you mean 'asked-1-1'?)" in kohort("why", "pod/askd-1-1").err
    assert "lws/askd does not exist in namespace default (did you mean 'asked'?)" in (
        kohort("why", "lws/askd").err
    )
    hand.edit(set_image("engine:2"), break_pulls())
    assert kohort("rollout", "status", "lws/asked", "--timeout", "60s").code == 4
    stuck = kohort("why", "pod", "asked-1")
    assert stuck.code == 4
    assert "waits     ImagePullBackOff: " in stuck.out
    assert "next      kubectl describe pod asked-1\n" in stuck.out
    assert "kohort why lws/asked\n" in stuck.out
    assert "workload  ! blocked" in stuck.out
    told = json.loads(kohort("why", "pod/asked-1", "-o", "json").out)
    assert (told["trouble"]["reason"], told["role"]) == ("ImagePullBackOff", "leader")


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("pod/nope",), 1, "pod/nope does not exist in namespace default"),
        (("pod/",), 2, "name one pod as pod/NAME"),
        (("pod/a", "b"), 2, "name one pod as pod/NAME"),
    ],
)
def test_a_pod_that_is_not_there_is_a_sentence(words, code, sentence, kohort: RunKohort):
    told = kohort("why", *words)
    assert (told.code, sentence in told.err) == (code, True)


def test_a_pod_of_another_owner_is_left_to_kubectl(kohort: RunKohort, cluster: Path):
    Hand(cluster, "stranger").create_pod()
    told = kohort("why", "pod/stranger")
    assert told.code == 1
    assert "belongs to no workload that Kohort serves" in told.err
