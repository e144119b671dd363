"""Commands find a ModelServing by any word for its kind, whichever of its two groups it is in."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from command_lines import Told
from workload_hand import Hand

from kohort.apis.modelserving.api import FORMER_MODEL_SERVING, MODEL_SERVING
from kohort.cli.workloads.arguments import read_wanted

RunKohort = Callable[..., Told]
BOTH = (MODEL_SERVING, FORMER_MODEL_SERVING)
TEMPLATE = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}
ROLE = {"name": "only", "replicas": 1, "workerReplicas": 0, "entryTemplate": TEMPLATE}
SPEC = {"replicas": 1, "schedulerName": "default-scheduler", "template": {"roles": [ROLE]}}
GROUP, FORMER = "workload.serving.volcano.sh", "workload.volcano.sh"


@pytest.mark.parametrize("word", ["ms", "modelserving", "modelservings", "ModelServing"])
def test_a_word_without_a_group_means_the_kind_in_both(word: str):
    assert read_wanted([word]).apis == read_wanted([f"{word}/x"]).apis == BOTH


@pytest.mark.parametrize(
    ("word", "api"),
    [
        (f"modelservings.{GROUP}", MODEL_SERVING),
        (f"modelserving.{GROUP}", MODEL_SERVING),
        (f"modelservings.{FORMER}", FORMER_MODEL_SERVING),
        ("ms-former", FORMER_MODEL_SERVING),
    ],
)
def test_a_word_with_a_group_means_that_one(word: str, api: object):
    assert read_wanted([f"{word}/x"]).apis == (api,)


@pytest.mark.slow
def test_commands_see_and_steer_the_servings_of_both_groups(kohort: RunKohort, cluster: Path):
    Hand(cluster, "now", MODEL_SERVING.kind).make(SPEC)
    Hand(cluster, "then", FORMER_MODEL_SERVING.kind).make(SPEC)
    listed = kohort("get", "ms", "-o", "name").out
    assert listed == kohort("get", "modelservings", "-o", "name").out
    assert all(name in listed for name in ("now", "then"))
    for name in ("now", "then"):
        for word in ("ms", "modelserving"):
            status = kohort("rollout", "status", f"{word}/{name}", "--timeout", "60s")
            assert status.code == 0, status.err
            assert name in kohort("why", f"{word}/{name}").out
        assert kohort("rollout", "set-image", f"ms/{name}", "engine=engine:2").code == 0
        assert kohort("plan", f"modelserving/{name}").code == 0
        (made,) = yaml.safe_load_all(kohort("convert", "--to", "lws", f"ms/{name}").out)
        container = made["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]
        assert container["image"] == "engine:2"


@pytest.mark.slow
def test_a_serving_that_neither_group_has_is_said_once(kohort: RunKohort, cluster: Path):
    Hand(cluster, "chat", FORMER_MODEL_SERVING.kind).make(SPEC)
    for command in (("get",), ("why",), ("convert", "--to", "lws")):
        told = kohort(*command, "ms/chatt")
        assert told.code == 1
        assert "ms/chatt does not exist in namespace default (did you mean 'chat'?)" in told.err
