"""Objects without groups: commands say of them what their status says."""

from datetime import UTC, datetime

import orjson
import pytest

from kohort.apis.api import Api
from kohort.apis.inferenceservice.accelerator_class import ACCELERATOR_CLASS
from kohort.apis.inferenceservice.base_model import BASE_MODEL, CLUSTER_BASE_MODEL
from kohort.cluster.objects import Object
from kohort.views.explain import suggest_commands
from kohort.views.health import judge
from kohort.views.picture import Picture, take_picture
from kohort.views.samples import gather

NOW = datetime(2026, 1, 1, 0, 0, 10, tzinfo=UTC)
SPECS: dict[str, Object] = {
    "AcceleratorClass": {"discovery": {}, "capabilities": {}},
    "BaseModel": {"storage": {"storageUri": "hf://a/b"}},
    "ClusterBaseModel": {"storage": {"storageUri": "hf://a/b"}},
}


def take(api: Api, status: Object | None) -> Picture:
    metadata = {"name": "m", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}
    if api.kind.namespaced:
        metadata["namespace"] = "ml"
    head = {"apiVersion": api.kind.api_version, "kind": api.kind.name, "metadata": metadata}
    root = {**head, "spec": SPECS[api.kind.name]} | ({} if status is None else {"status": status})
    (sample,) = gather(api, [orjson.dumps(root)], {})
    return take_picture(api, sample, NOW)


@pytest.mark.parametrize(
    ("api", "status", "word", "reason"),
    [
        (CLUSTER_BASE_MODEL, {"state": "Ready", "nodesReady": ["a"]}, "ready", "ModelReady"),
        (BASE_MODEL, {"state": "Failed", "nodesFailed": ["a"]}, "broken", "ModelFailed"),
        (CLUSTER_BASE_MODEL, {"state": "In_Transit"}, "starting", "InTransit"),
        (CLUSTER_BASE_MODEL, None, "starting", "NotPlanned"),
        (ACCELERATOR_CLASS, {"nodes": ["a"], "availableNodes": 1}, "ready", "NodesFound"),
        (ACCELERATOR_CLASS, {"availableNodes": 0}, "ready", "NoNodes"),
    ],
)
def test_the_status_gives_the_verdict(api: Api, status: Object | None, word: str, reason: str):
    health = judge(take(api, status))
    assert (health.word, health.reason) == (word, reason)


def test_a_model_that_failed_somewhere_is_ready_and_says_where_not():
    status = {"state": "Ready", "nodesReady": ["a", "b"], "nodesFailed": ["c"]}
    assert judge(take(BASE_MODEL, status)).message == "ready on nodes a, b, not on node c"


def test_what_failed_is_looked_at_first_and_nothing_is_rolled_back():
    picture = take(BASE_MODEL, {"state": "Failed", "nodesFailed": ["a"]})
    assert suggest_commands(picture, judge(picture)) == ("kubectl describe basemodel m -n ml",)
