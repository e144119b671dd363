"""Which APIs are served: by flag, by file, all by default; others are refused with a sentence."""

import pytest

from kohort.apis.conversion import needs_conversion
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.served import APIS, choose_apis, read_apis
from kohort.cli.commands.controller import CONTROLLER
from kohort.cli.main import main
from kohort.cli.processes.launch import configure
from kohort.cluster.objects import name_of
from kohort.controller.process.configuration import BadConfiguration, read_configuration

HEAD = "apiVersion: config.lws.x-k8s.io/v1alpha1\nkind: Configuration\n"


def read(*words):
    return configure(CONTROLLER.make_parser("kohort controller").read(words))


def test_one_controller_is_replaced_by_default():
    assert read().apis == ()
    assert choose_apis(()) == (LEADER_WORKER_SET,)


def test_several_are_served_where_that_is_asked_for():
    assert choose_apis(("isvc", "rbg", "ms", "lws")) == APIS


def test_names_choose_in_the_order_of_the_registry():
    assert choose_apis(("lws",)) == (LEADER_WORKER_SET,)
    assert read_apis("lws, lws") == ("lws",)


def test_a_flag_beats_the_file(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(f"{HEAD}apis: [lws]\n")
    assert read(f"--config={path}").apis == ("lws",)
    assert read("--apis=lws").apis == ("lws",)


@pytest.mark.parametrize("command", ["controller", "up", "manifests", "crds"])
def test_an_unknown_api_is_refused_by_every_command(command, capsys):
    assert main((command, "--apis", "lwz")) == 2
    assert "must be one of lws" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("apis: lws", "apis must be a list of names, not 'lws'"),
        ("apis: []", "apis must be a list of names"),
        ("apis: [lwz]", "apis: must be one of lws"),
        ("api: [lws]", "unknown field 'api' (did you mean 'apis'?)"),
    ],
)
def test_a_file_is_read_strictly(text, why):
    with pytest.raises(BadConfiguration) as refusal:
        read_configuration(HEAD + text)
    assert why in str(refusal.value)


def test_no_two_apis_share_a_webhook_path_or_a_kind():
    paths = [hook.path for api in APIS for hook in api.webhooks]
    own = [api.kind for api in APIS]
    defined = [name_of(define()) for define in {d for api in APIS for d in api.definitions}]
    assert len(paths) == len(set(paths))
    assert len(own) == len(set(own))
    assert len(defined) == len(set(defined))


def test_every_kind_with_several_versions_has_a_converter():
    for api in APIS:
        several = [define for define in api.definitions if needs_conversion(define())]
        assert api.convert is not None or not several, api.kind.name


def test_manifests_tell_the_operator_which_apis_it_serves(capsys):
    assert main(("manifests", "--apis", "lws", "--image", "kohort:1")) == 0
    assert "apis: [lws]" in capsys.readouterr().out


def test_up_without_an_operator_serves_no_api(capsys):
    assert main(("up", "--apis", "lws", "--no-operator")) == 2
    assert "--apis is for the operator" in capsys.readouterr().err
