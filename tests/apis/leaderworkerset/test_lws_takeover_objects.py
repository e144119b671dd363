"""What the upstream controller really left behind, held against what we would write."""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lws_builders import lws

from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.objects.differences import list_stale_fields
from kohort.apis.leaderworkerset.objects.services import shared_service
from kohort.apis.leaderworkerset.objects.sets import leader_set, worker_set
from kohort.apis.leaderworkerset.objects.templates import Following
from kohort.apis.leaderworkerset.revision import (
    apply_revision,
    key_of,
    make_revision,
    revision_data,
)
from kohort.apis.leaderworkerset.spec import find_exclusive_topology
from kohort.apis.revision_hash import hash_revision
from kohort.cluster.objects import Object, find_controller, name_of
from upstream_objects import Upstream, read_vector

SHARED = os.environ.get("KOHORT_SHARED")
recorded = pytest.mark.skipif(not SHARED, reason="KOHORT_SHARED names no folder of recordings")


@cache
def samples() -> Any:
    return json.loads((Path(SHARED or "") / "data/lws/recorded_takeover.json").read_text())


class Recording:
    """One sample at one moment."""

    def __init__(self, objects: list[Object]) -> None:
        self.by_name = {(obj["kind"], name_of(obj)): obj for obj in objects}
        self.lws = next(obj for obj in objects if obj["kind"] == "LeaderWorkerSet")
        self.key = hash_revision(revision_data(self.lws))
        self.leaders = self.by_name["StatefulSet", name_of(self.lws)]

    def owned(self, kind: str, owner: str) -> list[Object]:
        """The objects of a kind that are controlled by an object of another."""
        of_kind = [obj for (found, _), obj in self.by_name.items() if found == kind]
        return [obj for obj in of_kind if (find_controller(obj) or {}).get("kind") == owner]


BY_HAND = [
    "11_lws",
    "01_leaderworkerset_multi_template",
    "09_lws-rollout-strategy",
    "06_lws-exclusive-placement",
    "00_e2e_default",
]
RECORDED = [
    pytest.param((n, m), marks=recorded) for n in range(16) for m in ("at_rest", "in_rollout")
]


@pytest.fixture(params=[*BY_HAND, *RECORDED], ids=str)
def recording(request: pytest.FixtureRequest) -> Recording:
    """What upstream left behind: written by hand, or recorded."""
    if isinstance(request.param, str):
        return Recording(Upstream(read_vector(request.param)).at_rest())
    number, moment = request.param
    return Recording(samples()[number][moment])


def test_the_set_of_leaders_needs_no_write(recording: Recording):
    spec = recording.leaders["spec"]
    partition = spec["updateStrategy"]["rollingUpdate"]["partition"]
    wanted = leader_set(recording.lws, recording.key, spec["replicas"], partition)
    assert list_stale_fields(wanted, recording.leaders) == []
    kept = leader_set(recording.lws, recording.key, spec["replicas"], partition, recording.leaders)
    assert list_stale_fields(kept, recording.leaders) == []


def test_the_service_and_the_revision_need_no_write(recording: Recording):
    service = recording.by_name["Service", name_of(recording.lws)]
    assert list_stale_fields(shared_service(recording.lws), service) == []
    revisions = recording.owned("ControllerRevision", "LeaderWorkerSet")
    current = [revision for revision in revisions if key_of(revision) == recording.key]
    assert current
    for revision in current:
        wanted = make_revision(recording.lws, revision["revision"])
        assert list_stale_fields(wanted, revision) == []


def test_each_set_of_workers_is_what_its_leaders_revision_asks_for(recording: Recording):
    revisions = recording.owned("ControllerRevision", "LeaderWorkerSet")
    by_key = {key_of(revision): revision for revision in revisions}
    topology = find_exclusive_topology(recording.lws)
    for workers in recording.owned("StatefulSet", "Pod"):
        leader = recording.by_name["Pod", name_of(workers)]
        then = apply_revision(recording.lws, by_key[key_of(leader)])
        chosen = workers["spec"]["template"]["spec"].get("nodeSelector") or {}
        selector = {topology: chosen[topology]} if topology else {}
        following = Following(node_selector=selector)
        assert list_stale_fields(worker_set(then, leader, following), workers) == []


def found_for(wanted: Object) -> Object:
    found: Object = json.loads(json.dumps(wanted))
    return found


def test_defaults_of_the_server_and_marks_of_others_are_no_difference():
    wanted = leader_set(lws(), "k", 3, 0)
    found = found_for(wanted)
    found["spec"]["revisionHistoryLimit"] = 10
    found["metadata"]["annotations"]["other/tool"] = "was here"
    assert list_stale_fields(wanted, found) == []


def test_a_field_behind_a_gate_may_be_missing_but_not_other():
    wanted = leader_set(lws(), "k", 3, 0)
    found = found_for(wanted)
    rolling = found["spec"]["updateStrategy"]["rollingUpdate"]
    rolling["maxUnavailable"] = 7
    path = "spec.updateStrategy.rollingUpdate.maxUnavailable"
    assert list_stale_fields(wanted, found) == [path]
    del rolling["maxUnavailable"]
    assert list_stale_fields(wanted, found) == []


def test_what_the_server_did_not_keep_is_no_longer_compared():
    wanted = leader_set(lws(), "k", 3, 0)
    found = found_for(wanted)
    del found["spec"]["podManagementPolicy"]
    path = "spec.podManagementPolicy"
    assert list_stale_fields(wanted, found) == [path]
    assert list_stale_fields(wanted, found, frozenset({path})) == []


def test_a_mark_of_ours_that_is_no_longer_wanted_is_a_difference():
    exclusive = lws(annotations={labels.EXCLUSIVE_TOPOLOGY: "rack"})
    found = found_for(leader_set(exclusive, "k", 3, 0))
    assert list_stale_fields(leader_set(lws(), "k", 3, 0), found) == [
        f"metadata.annotations.{labels.EXCLUSIVE_TOPOLOGY}",
        f"spec.template.metadata.annotations.{labels.EXCLUSIVE_TOPOLOGY}",
    ]


def test_lists_of_another_length_differ_as_a_whole():
    assert list_stale_fields({"a": [1, 2]}, {"a": [1]}) == ["a"]
    assert list_stale_fields({"a": [{"b": 1}]}, {"a": [{"b": 2, "c": 3}]}) == ["a[0].b"]
