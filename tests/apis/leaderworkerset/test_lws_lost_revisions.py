"""Which deleted revisions of a LeaderWorkerSet are made again."""

import orjson
from lws_builders import lws

from kohort.apis.api import Snapshot
from kohort.apis.facts import Meta, PodFacts, Whole
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.lost_revisions import find_lost, make_again
from kohort.apis.leaderworkerset.revision import make_revision
from kohort.cluster.kinds import CONTROLLER_REVISION, POD
from kohort.cluster.objects import Object

ROOT = lws()
STORED = make_revision(ROOT, 4, "old")


def read(obj: Object) -> Whole:
    return Whole(orjson.dumps(obj))


def find(stored: Object, *keys: str, leader: Meta | None = None) -> list[Object]:
    """What is made again, if this revision was deleted and one leader names it."""
    marks = {labels.REVISION: "old", labels.WORKER_INDEX: "0"}
    held = leader or Meta(name="x-0", labels=marks)
    children = {POD: (PodFacts(held),)}
    snapshot = Snapshot(ROOT, children, deleted={CONTROLLER_REVISION: (read(stored),)})
    return [create.obj for create in make_again(find_lost(snapshot, keys))]


def test_a_revision_that_a_leader_names_is_made_again_without_what_the_server_sets():
    metadata = {**STORED["metadata"], "uid": "u", "resourceVersion": "7", "annotations": {"a": "b"}}
    (made,) = find({**STORED, "metadata": metadata})
    assert made == {**STORED, "metadata": {**STORED["metadata"], "annotations": {"a": "b"}}}


def test_a_revision_that_is_stored_under_another_name_or_follows_from_the_spec_is_not():
    assert find(STORED, "old") == []


def test_a_revision_that_no_leader_or_only_one_on_its_way_out_names_is_not_made_again():
    other = {labels.REVISION: "other", labels.WORKER_INDEX: "0"}
    gone = {labels.REVISION: "old", labels.WORKER_INDEX: "0"}
    assert find(STORED, leader=Meta(name="x-0", labels=other)) == []
    leaving = Meta(name="x-0", labels=gone, deletion_timestamp="2026-01-01T00:00:00Z")
    assert find(STORED, leader=leaving) == []


def test_an_unreadable_revision_or_one_of_another_controller_is_not_made_again():
    owner = {**STORED["metadata"]["ownerReferences"][0], "uid": "another"}
    beside = {**STORED["metadata"]["ownerReferences"][0], "controller": False}
    for reference in (owner, beside):
        foreign = {**STORED["metadata"], "ownerReferences": [reference]}
        assert find({**STORED, "metadata": foreign}) == []
    assert find({**STORED, "data": {"spec": 5}}) == []
