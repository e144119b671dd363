"""A manifest is laid over the live object as ``kubectl apply`` does it."""

import json

import pytest

from kohort.cli.workloads.manifests import LAST_APPLIED, apply_manifest
from kohort.cluster.objects import Object, annotations_of

SERVER_SET = {"uid": "u", "resourceVersion": "7", "generation": 3, "namespace": "prod"}


def make_live(spec: Object, last: Object | None = None) -> Object:
    notes = {} if last is None else {LAST_APPLIED: json.dumps(last)}
    metadata = {"name": "x", **SERVER_SET, "annotations": {**notes, "theirs": "kept"}}
    return {"apiVersion": "v1", "kind": "A", "metadata": metadata, "spec": spec, "status": {"a": 1}}


def make_file(spec: Object, **metadata: Object) -> Object:
    return {"apiVersion": "v1", "kind": "A", "metadata": {"name": "x", **metadata}, "spec": spec}


def test_what_the_last_file_said_and_this_one_does_not_goes():
    last = make_file({"a": 1, "b": 2}, namespace="prod", annotations={})
    found = apply_manifest(make_live({"a": 1, "b": 2, "c": 3}, last), make_file({"a": 5}), "prod")
    assert found["spec"] == {"a": 5, "c": 3}


def test_identity_status_and_notes_of_others_stay():
    last = make_file({}, namespace="prod", annotations={"ours": "1"})
    found = apply_manifest(make_live({}, last), make_file({}), "prod")
    assert {key: found["metadata"][key] for key in SERVER_SET} == SERVER_SET
    assert annotations_of(found)["theirs"] == "kept"
    assert found["status"] == {"a": 1}


def test_notes_of_the_file_are_set():
    found = apply_manifest(make_live({}), make_file({}, annotations={"ours": "2"}), "prod")
    assert annotations_of(found) == {"theirs": "kept", "ours": "2"}


def test_lists_are_replaced_whole():
    found = apply_manifest(make_live({"a": [{"x": 1, "y": 2}]}), make_file({"a": [{"x": 3}]}), "")
    assert found["spec"] == {"a": [{"x": 3}]}


def test_a_new_object_gets_its_namespace():
    found = apply_manifest(None, make_file({"a": 1}), "prod")
    assert found["metadata"] == {"name": "x", "namespace": "prod", "generation": 1}


@pytest.mark.parametrize("text", ["", "no json", "[]"])
def test_an_unreadable_note_of_the_last_file_removes_nothing(text: str):
    live = make_live({"a": 1})
    live["metadata"]["annotations"][LAST_APPLIED] = text
    assert apply_manifest(live, make_file({"b": 2}), "")["spec"] == {"a": 1, "b": 2}
