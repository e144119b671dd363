"""``kohort takeover check`` on a cluster: counts, differences, exit codes, and no write."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_lines import Told
from workload_hand import Hand

RunKohort = Callable[..., Told]


@pytest.fixture(scope="module")
def at_rest(cluster: Path) -> Hand:
    """A workload that needs nothing more."""
    hand = Hand(cluster, "calm")
    hand.create(groups=1)
    hand.wait_for(lambda lws: (lws.get("status") or {}).get("readyReplicas") == 1)
    return hand


def test_of_what_is_at_rest_nothing_would_change(kohort: RunKohort, at_rest: Hand):
    told = kohort("takeover", "check", "-A")
    assert told.code == 0, told.out
    assert "1 LeaderWorkerSet   1 readable" in told.out
    assert "0 actions would be taken   0 pods would restart" in told.out


def test_json_has_the_counts(kohort: RunKohort, at_rest: Hand):
    told = json.loads(kohort("takeover", "check", "-A", "-o", "json").out)
    assert told["counts"] == [{"kind": "LeaderWorkerSet", "objects": 1, "readable": 1}]
    assert told["writes"] == told["unreadable"] == []


def test_what_would_change_is_listed_and_exits_with_4(kohort: RunKohort, at_rest: Hand):
    """With another strategy than the operator of this cluster has, one annotation is written."""
    told = kohort("takeover", "check", "-A", "--rollout-strategy", "compatible")
    assert told.code == 4
    assert "1 action would be taken   0 pods would restart" in told.out
    assert "LeaderWorkerSet default/calm   patch ControllerRevision default/calm-" in told.out
    assert "    metadata.annotations[" in told.out


def test_every_api_is_counted(kohort: RunKohort, at_rest: Hand):
    told = kohort("takeover", "check", "-A", "--apis", "lws,ms,rbg,isvc")
    assert told.code == 0, told.out
    for kind in ("ModelServings", "RoleBasedGroups", "InferenceServices"):
        assert f"0 {kind}   0 readable" in told.out


def test_an_unknown_api_is_a_mistake_of_usage(kohort: RunKohort):
    told = kohort("takeover", "check", "--apis", "lsw")
    assert told.code == 2
    assert "must be one of lws, ms, rbg, isvc" in told.err


def test_without_a_cluster_the_sentence_says_what_to_do(
    run_kohort: RunKohort,
    unused_port: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    config = {
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{unused_port}"}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(config))
    monkeypatch.setenv("KUBECONFIG", str(path))
    told = run_kohort("takeover", "check", "-A")
    assert told.code == 1
    assert "is the cluster running?" in told.err
