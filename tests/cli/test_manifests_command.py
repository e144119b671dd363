"""``kohort crds`` and ``kohort manifests``, as people and pipes see them."""

import json

import pytest
import yaml

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET


def read_all(text: str) -> list:
    return list(yaml.load_all(text, Loader=yaml.CSafeLoader))


def test_crds_are_printed_as_yaml_that_gives_the_same_objects(run_kohort):
    told = run_kohort("crds")
    assert told.code == 0
    assert read_all(told.out) == [LEADER_WORKER_SET.definition()]
    assert "&id" not in told.out and "*id" not in told.out


def test_crds_are_printed_as_json_too(run_kohort):
    listed = json.loads(run_kohort("crds", "-o", "json").out)
    assert listed["kind"] == "List"
    assert listed["items"] == [LEADER_WORKER_SET.definition()]


def test_manifests_are_the_same_each_time(run_kohort):
    first = run_kohort("manifests", "--image", "kohort:1").out
    assert run_kohort("manifests", "--image", "kohort:1").out == first
    kinds = [obj["kind"] for obj in read_all(first)]
    assert (kinds[0], kinds[-1]) == ("Namespace", "ValidatingWebhookConfiguration")
    assert "Deployment" in kinds


def test_the_configuration_can_be_read_by_people(run_kohort):
    assert "controller_manager_config.yaml: |\n" in run_kohort("manifests").out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--webhook-url", "http://a:1"), "--webhook-url must look like https://HOST:PORT"),
        (("--webhook-url", "a:1"), "--webhook-url must look like https://HOST:PORT"),
        (("-n", "Not_A_Name"), "'Not_A_Name' cannot be the name of a namespace"),
        (("--imagee", "x"), "did you mean '--image'?"),
    ],
)
def test_what_makes_no_sense_is_refused(run_kohort, words: tuple[str, ...], sentence: str):
    told = run_kohort("manifests", *words)
    assert told.code == 2
    assert sentence in told.err
