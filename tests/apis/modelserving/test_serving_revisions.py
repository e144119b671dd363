"""Revisions of ModelServing: what makes one, how it is named, how it is stored."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving_builders import role, serving, template

from kohort.apis.modelserving.revision import (
    find_template,
    hash_role,
    hash_roles,
    make_revision,
    next_number,
    normalise_role,
)
from kohort.apis.revision_hash import hash_revision
from kohort.cluster.objects import Object
from recorded_servings import Recorded, name_case, needs_recording, recordings

SPELLED = re.compile(r"[456789bcdf]{1,10}")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | st.text("ab", max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=6,
)


def reversed_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(inner) for inner in value] if isinstance(value, list) else value


def test_the_digits_of_a_hash_are_spelled_as_upstream_spells_them():
    # The hash of no bytes is FNV's offset, 2166136261.
    assert hash_revision(b"") == "65bb57b6b5"


@pytest.mark.parametrize(
    "change",
    [{"replicas": 5}, {"maxUnavailable": 3}, {"partition": 2}, {"partition": None}],
    ids=str,
)
def test_counts_and_budgets_make_no_revision(change: Object):
    assert hash_roles([{**role(), **change}]) == hash_roles([role()])
    assert hash_role({**role(), **change}) == hash_role(role())


@pytest.mark.parametrize(
    "change",
    [
        {"workerReplicas": 2},
        {"entryTemplate": template("engine:2")},
        {"workerTemplate": template(labels={"a": "b"})},
        {"entryTemplate": {"spec": {**template()["spec"], "fieldOfTomorrow": 1}}},
    ],
    ids=["workers", "image", "labels", "a field of a newer Kubernetes"],
)
def test_what_pods_are_made_from_makes_a_revision(change: Object):
    assert hash_roles([{**role(), **change}]) != hash_roles([role()])


def test_the_empty_values_that_go_prints_make_no_revision():
    written = json.loads(json.dumps(role()))
    written["entryTemplate"]["metadata"] = {"creationTimestamp": None}
    written["entryTemplate"]["spec"]["containers"][0] |= {"resources": {}, "env": None}
    written["workerTemplate"]["spec"]["hostNetwork"] = False
    written["workerTemplate"]["spec"]["containers"][0]["env"] = []
    assert normalise_role(written) == normalise_role(role())
    assert hash_roles([written]) == hash_roles([role()])


def test_a_normal_role_has_none_of_the_empty_values():
    found = normalise_role(role())
    assert found["entryTemplate"] == template()
    assert found.keys() == {"name", "workerReplicas", "entryTemplate", "workerTemplate"}


def test_an_empty_selector_is_not_taken_for_a_missing_one():
    def with_selector(**selector: Object) -> Object:
        term = {"topologyKey": "zone", **selector}
        near = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        return role(entryTemplate={"spec": {"containers": [], "affinity": {"podAffinity": near}}})

    assert hash_role(with_selector(labelSelector={})) != hash_role(with_selector())


@given(VALUES, st.text("ab", max_size=3))
def test_the_order_of_keys_makes_no_revision(value: Any, image: str):
    found = role(entryTemplate={"spec": {"containers": [{"name": image}], "later": value}})
    assert hash_roles([reversed_keys(found)]) == hash_roles([found])
    assert SPELLED.fullmatch(hash_role(found))


def test_hashing_changes_nothing():
    found = role()
    before = json.dumps(found)
    hash_roles([found])
    assert json.dumps(found) == before


def test_a_revision_is_stored_as_upstream_stores_it():
    stored = make_revision(serving(), "67b8d4b8c7", 1, {"serve": ["h"]})
    metadata = stored["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("llama-67b8d4b8c7", "ml")
    assert metadata["labels"] == {
        "modelserving.volcano.sh/name": "llama",
        "modelserving.volcano.sh/revision": "67b8d4b8c7",
    }
    assert stored["revision"] == 1
    assert stored["data"] == {"data": serving()["spec"]["template"]["roles"]}
    assert metadata["ownerReferences"][0]["blockOwnerDeletion"] is True


def test_a_stored_revision_is_read_wrapped_and_bare():
    stored = make_revision(serving(), "abc", 3, {"serve": {"b", "a"}})
    bare = {**stored, "data": stored["data"]["data"]}
    wrapped, unwrapped = find_template(stored), find_template(bare)
    assert wrapped == unwrapped
    assert wrapped is not None and (wrapped.revision, wrapped.number) == ("abc", 3)
    assert wrapped.role_hashes == {"serve": ("a", "b")}


@pytest.mark.parametrize("text", ["", "x", "[]", '{"serve": 1}'])
def test_a_note_of_hashes_that_cannot_be_read_is_none(text: str):
    stored = make_revision(serving(), "abc", 1, {})
    stored["metadata"]["annotations"] = {"kohort.dev/role-hashes": text}
    found = find_template(stored)
    assert found is not None and found.role_hashes == {}


@pytest.mark.parametrize("data", [None, {}, {"data": {}}, {"data": ["x"]}, "x"])
def test_a_revision_that_holds_no_roles_is_none(data: Any):
    assert find_template({**make_revision(serving(), "abc", 1, {}), "data": data}) is None


def test_defect_12_numbers_of_revisions_rise():
    stored = [
        find_template(make_revision(serving(), key, n, {})) for key, n in (("a", 4), ("b", 2))
    ]
    assert next_number([found for found in stored if found]) == 5
    assert next_number([]) == 1


@needs_recording
@pytest.mark.parametrize("case", recordings(), ids=name_case)
def test_a_recorded_revision_means_what_the_object_says(case: Recorded):
    roles = case.serving["spec"]["template"]["roles"]
    update = case.serving["status"]["updateRevision"]
    held = [found.roles for found in case.stored if found.revision == update]
    wanted = [normalise_role(each) for each in roles]
    assert all([normalise_role(each) for each in found] == wanted for found in held)
