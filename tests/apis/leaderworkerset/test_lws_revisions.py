"""Revisions: the bytes and keys of the upstream controller, and what counts as the same."""

import json
from pathlib import Path

import pytest
from lws_builders import POD_TEMPLATE, lws

from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.revision import (
    apply_revision,
    key_of,
    make_revision,
    revision_data,
    same_revision,
)
from kohort.apis.revision_hash import hash_revision
from kohort.cluster.objects import Object

VECTORS = json.loads(Path(__file__).with_name("revision_hash_vectors.json").read_text())


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_bytes_and_key_are_those_of_the_upstream_controller(vector: Object):
    data = revision_data(vector["input"])
    assert data.decode() == vector["patch_bytes"]
    assert hash_revision(data) == vector["revision_key"]


def test_the_sample_has_the_key_that_the_upstream_suite_computes():
    assert hash_revision(revision_data(lws())) == "6859c84d69"


@pytest.mark.parametrize("network", [None, {"subdomainPolicy": "Shared"}])
def test_no_network_policy_means_a_shared_one(network: Object | None):
    sample = lws()
    sample["spec"]["networkConfig"] = network
    assert revision_data(sample) == revision_data(lws())


def test_replicas_rollout_and_startup_are_no_part_of_a_revision():
    other = lws(replicas=9, rollout={"maxUnavailable": 3})
    other["spec"]["startupPolicy"] = "LeaderReady"
    assert revision_data(other) == revision_data(lws())


@pytest.mark.parametrize(
    "change", [{"size": 5}, {"restartPolicy": "None"}, {"leaderTemplate": POD_TEMPLATE}]
)
def test_anything_in_the_template_makes_another_revision(change: Object):
    assert revision_data(lws(**change)) != revision_data(lws())


def test_text_is_escaped_as_go_escapes_it():
    template = {"spec": {"containers": [{"name": "a", "command": ['<&>"\u2028\n\x01é']}]}}
    data = revision_data(lws(workerTemplate=template))
    assert '"\\u003c\\u0026\\u003e\\"\\u2028\\n\\u0001é"'.encode() in data


def test_a_revision_object_carries_name_labels_owner_and_data():
    revision = make_revision(lws(), 1)
    assert revision["metadata"] == {
        "name": "leaderworkerset-sample-6859c84d69-1",
        "namespace": "default",
        "labels": {labels.NAME: "leaderworkerset-sample", labels.REVISION: "6859c84d69"},
        "ownerReferences": [
            {
                "apiVersion": "leaderworkerset.x-k8s.io/v1",
                "kind": "LeaderWorkerSet",
                "name": "leaderworkerset-sample",
                "uid": "lws-uid",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }
    assert revision["revision"] == 1
    assert json.dumps(revision["data"], separators=(",", ":")).encode() == revision_data(lws())


def test_a_lost_revision_is_made_again_under_the_key_of_its_set():
    revision = make_revision(lws(), 3, key="oldkey")
    assert key_of(revision) == "oldkey"
    assert revision["metadata"]["name"] == "leaderworkerset-sample-6859c84d69-3"


def test_a_long_name_is_cut_in_the_name_of_the_revision():
    revision = make_revision(lws(name="a" * 250), 1)
    assert revision["metadata"]["name"].startswith("a" * 220 + "-")


def test_a_revision_stored_in_other_bytes_is_still_the_same():
    """lws#797: controllers built with older libraries wrote null timestamps."""
    old = json.loads(revision_data(lws()))
    template = old["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    template["metadata"]["creationTimestamp"] = None
    assert same_revision(lws(), json.dumps(old).encode())
    assert same_revision(lws(), {"data": old})


def test_another_template_is_not_the_same_revision():
    assert same_revision(lws(), make_revision(lws(), 1))
    assert not same_revision(lws(size=5), make_revision(lws(), 1))
    assert not same_revision(lws(size=5), revision_data(lws()))


def test_applying_a_revision_brings_back_template_and_network_alone():
    then, now = lws(size=2, subdomain="UniquePerReplica"), lws(size=8, replicas=7)
    applied = apply_revision(now, make_revision(then, 1))
    assert revision_data(applied) == revision_data(then)
    assert applied["spec"]["replicas"] == 7
    assert now["spec"]["leaderWorkerTemplate"]["size"] == 8
