"""What another client may have done between the view and the write, and how writes are guarded."""

from typing import Any

import orjson
import pytest
from lws_builders import lws

from kohort.apis.api import InvalidWorkload, Snapshot
from kohort.apis.drift.restores import adopt
from kohort.apis.facts import Meta, SetFacts, Whole
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.drift.adoption import check_leader_set
from kohort.apis.leaderworkerset.drift.services import bring_service
from kohort.apis.leaderworkerset.history import KEPT_MAX, render_history
from kohort.apis.leaderworkerset.objects.services import shared_service
from kohort.apis.leaderworkerset.read import HISTORY
from kohort.cluster.actions import Action, Delete, Patch
from kohort.cluster.kinds import SERVICE
from kohort.cluster.objects import Object

NAME = "leaderworkerset-sample"


def orphan(**more: Any) -> Meta:
    return Meta(name=NAME, namespace="default", uid="s", resource_version="7", **more)


def test_who_is_taken_back_must_not_have_found_another_owner_meanwhile():
    (action,) = adopt(lws(), SERVICE, orphan())
    assert isinstance(action, Patch)
    assert isinstance(action.patch, dict)
    assert action.patch["metadata"]["resourceVersion"] == "7"


def test_what_is_being_deleted_is_not_taken_back():
    assert not list(adopt(lws(), SERVICE, orphan(deletion_timestamp="2026-01-02T03:04:05Z")))


def leader_set(**more: Any) -> SetFacts:
    marks = {labels.NAME: NAME, labels.WORKER_INDEX: "0"}
    template = {"metadata": {"labels": {**marks, labels.REVISION: "a"}}, "spec": {}}
    spec = {"selector": {"matchLabels": marks, **more}, "template": template}
    return SetFacts(orphan(), raw=orjson.dumps({"metadata": {"name": NAME}, "spec": spec}))


def test_a_set_that_selects_by_more_than_our_labels_was_never_ours():
    check_leader_set(lws(), leader_set())
    clause = {"key": "app", "operator": "Exists"}
    with pytest.raises(InvalidWorkload, match="selects other pods"):
        check_leader_set(lws(), leader_set(matchExpressions=[clause]))


def mend(**metadata: Any) -> list[Action]:
    """What is done about a service whose selector another client has changed."""
    wanted = shared_service(lws())
    own: Object = {**wanted["metadata"], "uid": "service-1", **metadata}
    edited = {**wanted, "metadata": own, "spec": {**wanted["spec"], "selector": {"app": "y"}}}
    snapshot = Snapshot(lws(), {SERVICE: (Whole(orjson.dumps(edited)),)}, lambda name: None)
    return list(bring_service(snapshot, wanted, "it is not there"))


def test_the_very_service_that_was_seen_is_put_back():
    (action,) = mend()
    assert isinstance(action, Patch)
    assert isinstance(action.patch, dict)
    assert action.patch["metadata"] == {"uid": "service-1"}


def test_a_service_that_is_being_deleted_is_left_alone():
    assert mend(deletionTimestamp="2026-01-02T03:04:05Z") == []


def test_of_old_revisions_those_with_the_lowest_numbers_go():
    numbers = range(1, KEPT_MAX + 3)
    stored = [
        {"metadata": {"name": f"x-{99 - n}-{n}", "labels": {HISTORY: "x"}}, "revision": n}
        for n in numbers
    ]
    actions = render_history(lws(), tuple(Whole(orjson.dumps(s)) for s in stored), "now")
    assert [a.name for a in actions if isinstance(a, Delete)] == ["x-98-1", "x-97-2"]
