"""Objects without groups: commands say of them what their status says."""

from datetime import UTC, datetime

import orjson
import pytest

from kohort.apis.api import Api
from kohort.apis.inferenceservice.accelerator_class import ACCELERATOR_CLASS
from kohort.apis.inferenceservice.base_model import BASE_MODEL, CLUSTER_BASE_MODEL
from kohort.apis.rolebasedgroup.warmup.api import ROLE_BASED_GROUP_WARMUP
from kohort.cli.render.tables import write_change
from kohort.cluster.objects import Object
from kohort.views.explain import suggest_commands
from kohort.views.health import judge
from kohort.views.picture import Picture, take_picture
from kohort.views.samples import gather
from kohort.views.table import make_row

NOW = datetime(2026, 1, 1, 0, 0, 10, tzinfo=UTC)
SPECS: dict[str, Object] = {
    "AcceleratorClass": {"discovery": {}, "capabilities": {}},
    "BaseModel": {"storage": {"storageUri": "hf://a/b"}},
    "ClusterBaseModel": {"storage": {"storageUri": "hf://a/b"}},
    "RoleBasedGroupWarmup": {"targetNodes": {"nodeNames": ["a"]}},
}
WARMUP = ROLE_BASED_GROUP_WARMUP
TIMED_OUT = "GlobalTimeoutExceeded"


def warmup(phase: str, condition: str = "", reason: str = "") -> Object:
    """The status of a warm-up of five nodes, of which two are warm and one has failed."""
    counts = {"desired": 5, "active": 1, "succeeded": 2, "failed": 1}
    told = {"type": condition, "status": "True", "reason": reason, "message": "2 of 5 are warm"}
    return {"phase": phase, **counts, "conditions": [told] if condition else []}


def take(api: Api, status: Object | None) -> Picture:
    metadata = {"name": "m", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}
    if api.kind.namespaced:
        metadata["namespace"] = "ml"
    head = {"apiVersion": api.kind.api_version, "kind": api.kind.name, "metadata": metadata}
    root = {**head, "spec": SPECS[api.kind.name]} | ({} if status is None else {"status": status})
    (sample,) = gather(api, [orjson.dumps(root)], {})
    return take_picture(api, sample, NOW)


def test_an_object_without_revisions_shows_none() -> None:
    row = make_row(take(CLUSTER_BASE_MODEL, {"state": "Ready", "nodesReady": ["a"]}))
    assert row.revision == ""
    assert "new" not in write_change(row)


@pytest.mark.parametrize(
    ("api", "status", "word", "reason"),
    [
        (CLUSTER_BASE_MODEL, {"state": "Ready", "nodesReady": ["a"]}, "ready", "ModelReady"),
        (BASE_MODEL, {"state": "Failed", "nodesFailed": ["a"]}, "broken", "ModelFailed"),
        (CLUSTER_BASE_MODEL, {"state": "In_Transit"}, "starting", "InTransit"),
        (CLUSTER_BASE_MODEL, None, "starting", "NotPlanned"),
        (ACCELERATOR_CLASS, {"nodes": ["a"], "availableNodes": 1}, "ready", "NodesFound"),
        (ACCELERATOR_CLASS, {"availableNodes": 0}, "ready", "NoNodes"),
        (WARMUP, warmup("Completed", "Complete", "WarmupCompleted"), "ready", "WarmupCompleted"),
        (WARMUP, warmup("Failed", "Failed", "GlobalTimeoutExceeded"), "broken", TIMED_OUT),
        (WARMUP, warmup("Paused"), "paused", "Paused"),
        (WARMUP, warmup("Running"), "starting", "WaitingForNodes"),
        (WARMUP, warmup(""), "starting", "NotPlanned"),
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


def test_a_warm_up_under_way_says_how_far_it_is():
    said = judge(take(WARMUP, warmup("Running"))).message
    assert said == "2 of 5 nodes are warm, 1 is being warmed, 1 has failed"


def test_a_paused_warm_up_is_resumed_by_its_own_field():
    picture = take(WARMUP, warmup("Paused"))
    (command,) = suggest_commands(picture, judge(picture))
    assert command == "kubectl describe rolebasedgroupwarmup m -n ml"
