"""
Annotations of conversions that another client has written: they cost no one the whole list.

The API server fails a list of a version if one object in it cannot be converted, so a tenant could
take v1alpha1 away from all others. What does not have the form that we write is left as it is.
"""

from typing import Any

import orjson
import pytest

from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.conversions import convert
from kohort.apis.rolebasedgroup.role_conversion import hash_value
from kohort.cluster.objects import Object, annotations_of

TEMPLATE = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}
NEW_ROLE: Object = {
    "name": "a",
    "replicas": 1,
    "podManagementPolicy": "Parallel",
    "standalonePattern": {"template": TEMPLATE},
}
# Of a group with the annotations below, which conversions leave out of the hash.
SEEN = hash_value([{}, None, None])


def group(version: str, role: Object, **notes: str) -> Object:
    keys = {"kept": labels.KEPT_FIELDS, "old_kept": labels.OLD_KEPT_FIELDS}
    return {
        "apiVersion": f"{labels.GROUP}/{version}",
        "kind": labels.KIND.name,
        "metadata": {"name": "x", "annotations": {keys[k]: text for k, text in notes.items()}},
        "spec": {"roles": [role]},
    }


def old_role() -> Object:
    plain = group(labels.VERSION, NEW_ROLE)
    converted: Object = convert(plain, labels.OLD_VERSION)["spec"]["roles"][0]
    return converted


def write(value: Any) -> str:
    return orjson.dumps(value).decode()


@pytest.mark.parametrize("whole", [5, None, "text", [1], True], ids=str)
def test_a_whole_role_that_is_no_object_is_not_taken(whole: Any):
    kept = {"roles": {"a": {"whole": whole, "of": hash_value(NEW_ROLE)}}}
    found = convert(group(labels.VERSION, NEW_ROLE, old_kept=write(kept)), labels.OLD_VERSION)
    assert found["spec"]["roles"] == [old_role()]
    kept = {"roles": {"a": {"whole": whole, "of": hash_value(old_role())}}}
    found = convert(group(labels.OLD_VERSION, old_role(), kept=write(kept)), labels.VERSION)
    assert found["spec"]["roles"] == [NEW_ROLE]


@pytest.mark.parametrize("value", [5, True, {}, ["text"]], ids=str)
def test_an_annotation_that_is_no_text_is_not_taken(value: Any):
    kept = write({"annotations": {"of": SEEN, "set": {"example.com/k": value}}})
    found = convert(group(labels.VERSION, NEW_ROLE, old_kept=kept), labels.OLD_VERSION)
    assert all(isinstance(held, str) for held in annotations_of(found).values())


@pytest.mark.parametrize(
    "carried", ["[]", "5", '"x"', "{", '{"roles": 5}', '{"roles": {"a": 5}}', "[" * 5_000], ids=len
)
def test_what_is_no_object_of_ours_carries_nothing(carried: str):
    found = convert(group(labels.VERSION, NEW_ROLE, old_kept=carried), labels.OLD_VERSION)
    assert found["spec"]["roles"] == [old_role()]
    found = convert(group(labels.OLD_VERSION, old_role(), kept=carried), labels.VERSION)
    assert found["spec"]["roles"] == [NEW_ROLE]


@pytest.mark.parametrize(
    ("key", "field"),
    [(labels.OLD_GANG_POLICY, "podGroupPolicy"), (labels.OLD_COORDINATION, "coordination")],
)
@pytest.mark.parametrize("text", ["5", '"x"', "true", "[5]", "{"])
def test_a_field_of_v1alpha1_that_has_another_form_stays_an_annotation(
    key: str, field: str, text: str
):
    """A client with types of its own could not read a list in which one field has another type."""
    written = group(labels.VERSION, NEW_ROLE)
    written["metadata"]["annotations"] = {key: text}
    found = convert(written, labels.OLD_VERSION)
    assert field not in found["spec"]
    assert annotations_of(convert(found, labels.VERSION)) == {key: text}
