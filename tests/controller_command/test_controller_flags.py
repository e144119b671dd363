"""The command line of the controller: what is taken, what beats what, what is refused."""

import pytest

from kohort.cli.commands.controller import CONTROLLER
from kohort.cli.exits import UsageError
from kohort.cli.main import main
from kohort.cli.processes.launch import configure, read_settings
from kohort.controller.process.configuration import Configuration
from kohort.controller.process.gangs import find_known, list_variants

HEAD = "apiVersion: config.lws.x-k8s.io/v1alpha1\nkind: Configuration\n"
UPSTREAM = (
    "--metrics-bind-address=:1",
    "--health-probe-bind-address=:2",
    "--kube-api-qps=3",
    "--kube-api-burst=4",
    "--leader-elect",
    "--leader-elect-lease-duration=8s",
    "--leader-elect-renew-deadline=7s",
    "--leader-elect-retry-period=6s",
    "--leader-elect-resource-lock=leases",
    "--leader-elect-resource-name=n",
    "--zap-log-level=2",
    "--zap-devel",
    "--zap-encoder=console",
    "--zap-stacktrace-level=error",
    "--zap-time-encoding=rfc3339",
)
READ = Configuration(
    metrics_address=":1",
    health_address=":2",
    qps=3.0,
    burst=4,
    lease_seconds=8.0,
    renew_seconds=7.0,
    retry_seconds=6.0,
    lease_name="n",
)


def read(*words):
    return configure(CONTROLLER.make_parser("kohort controller").read(words))


def refused(capsys, *words):
    """What the command says when it refuses, with its exit code."""
    code = main(("controller", *words))
    return code, capsys.readouterr().err


def test_all_flags_of_upstream_are_taken():
    assert read(*UPSTREAM) == READ


def test_one_dash_is_as_good_as_two():
    assert read(*(word[1:] for word in UPSTREAM)) == READ


@pytest.mark.parametrize(("word", "elects"), [("=false", False), ("=true", True), ("", True)])
def test_switches_are_read_as_go_reads_them(word, elects):
    assert read(f"--leader-elect{word}").elects is elects


def test_a_flag_beats_the_file_and_the_file_beats_the_default(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(HEAD + "clientConnection: {qps: 10, burst: 20}\n")
    configuration = read(f"--config={path}", "--kube-api-qps=1")
    assert (configuration.qps, configuration.burst) == (1.0, 20)
    assert configuration.health_address == "127.0.0.1:8081"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--metrics-bind-adress=0"], "did you mean '--metrics-bind-address'?"),
        (["--kube-api-qps=many"], "--kube-api-qps"),
        (["--health-probe-bind-address=here"], "must be an address such as :8081"),
        (["--leader-elect-retry-period=2"], "must be a duration such as 15s"),
        (["--rollout-strategy=quick"], "--rollout-strategy"),
        (["--replace-crds"], "--replace-crds is for --install only"),
        (["--zap-log-level=loud"], "must be debug, info, error or a number"),
        (["--leader-elect=perhaps"], "must be true or false"),
    ],
)
def test_a_flag_that_cannot_be_used_is_refused_with_a_sentence(capsys, words, why):
    code, said = refused(capsys, *words)
    assert (code, why in said) == (2, True), said


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--kubeconfig=/nowhere"], "the kubeconfig /nowhere does not exist"),
        (["--config=/nowhere"], "/nowhere: no such file or directory"),
        (["--leader-elect-lease-duration=1s"], "leaseDuration must be longer"),
    ],
)
def test_what_cannot_be_found_or_does_not_go_together_fails_with_a_sentence(capsys, words, why):
    code, said = refused(capsys, *words)
    assert (code, why in said) == (1, True), said


def test_a_bad_file_is_named(capsys, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(HEAD + "metrcs: {}\n")
    code, said = refused(capsys, f"--config={path}")
    assert code == 1
    assert f"{path}: unknown field 'metrcs' (did you mean 'metrics'?)" in said


def test_gangs_are_asked_for_by_flag_or_by_file(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(HEAD + "gangSchedulingManagement: {schedulerProvider: volcano}\n")
    assert read("--gang=volcano").scheduler == read(f"--config={path}").scheduler == "volcano"
    assert read().scheduler == ""


def test_the_operator_is_told_which_gangs_to_make():
    words = CONTROLLER.make_parser("kohort controller").read(["--gang", "volcano"])
    names = configure(words).scheduler
    gangs = list_variants(names, find_known())
    assert [gang.name for gang in read_settings(words, gangs).gangs] == ["volcano"]


@pytest.mark.parametrize("flags", [[], ["--no-pod-patches"]], ids=str)
def test_the_operator_is_told_whether_running_pods_are_patched(flags: list[str]):
    words = CONTROLLER.make_parser("kohort controller").read(flags)
    assert read_settings(words, ()).patches_pods is not bool(flags)


def test_an_unknown_scheduler_is_refused(capsys):
    code, said = refused(capsys, "--gang=vulcano")
    assert (code, "volcano" in said) == (2, True)


def test_several_gangs_are_asked_for_in_their_order(capsys):
    assert read("--gang=volcano,volcano").scheduler == "volcano"
    assert read("--gang=auto").scheduler == "auto"
    code, said = refused(capsys, "--gang=volcano,vulcano")
    assert (code, "'vulcano'" in said) == (2, True)


def test_tiers_are_told_by_number_name_and_label(capsys):
    words = ["--tier", "2=spine=example.com/spine", "--tier=1=rack=example.com/rack"]
    arguments = CONTROLLER.make_parser("kohort controller").read(words)
    tiers = read_settings(arguments, ()).tiers
    assert [(t.number, t.name, t.label) for t in tiers.all] == [
        (1, "rack", "example.com/rack"),
        (2, "spine", "example.com/spine"),
    ]
    code, said = refused(capsys, "--tier=rack")
    assert (code, "1=rack=topology.kubernetes.io/rack" in said) == (2, True)


KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://cluster.example.com"}}]
users: [{name: u, user: {token: t}}]
"""


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "needs --webhook-url https://HOST:PORT"),
        (["--webhook-url", "http://127.0.0.1"], "must look like https://HOST:PORT"),
    ],
)
def test_an_install_from_outside_needs_to_know_where_we_are(capsys, tmp_path, words, why):
    path = tmp_path / "kubeconfig"
    path.write_text(KUBECONFIG)
    code, said = refused(capsys, f"--kubeconfig={path}", "--install", *words)
    assert (code, why in said) == (2, True), said


def test_an_unknown_flag_is_a_usage_error():
    with pytest.raises(UsageError):
        read("--no-such-thing")
