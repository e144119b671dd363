"""Definitions of custom kinds, held against the recorded answers of a real server."""

import copy
from typing import Any

import pytest
from crd_builders import change, definition, recorded, texts

from kohort.apiserver.schemas.definition import (
    default_definition,
    status_of,
    validate_definition,
    validate_scale,
    warnings_of,
)

DEFINITIONS = recorded("definitions")
NOW = "2026-01-02T03:04:05Z"


@pytest.mark.parametrize("case", DEFINITIONS["cases"], ids=lambda case: str(case["changes"])[-70:])
def test_a_definition_gets_the_answer_that_was_recorded(case: dict[str, Any]):
    crd = definition()
    for path, value in case["changes"].items():
        change(crd, path.split("/"), copy.deepcopy(value))
    default_definition(crd)
    assert texts(validate_definition(crd)) == case["errors"]


def established(**changes: Any) -> dict[str, Any]:
    crd = definition(**changes)
    default_definition(crd)
    crd["status"] = status_of(crd, [], NOW)
    return crd


def test_names_and_conversion_are_filled_in():
    spec = established()["spec"]
    assert (spec["names"]["singular"], spec["names"]["listKind"]) == ("thing", "ThingList")
    assert spec["conversion"] == {"strategy": "None"}


def test_a_conversion_webhook_needs_a_place_and_versions_of_reviews():
    found = texts(validate_definition(established(spec__conversion={"strategy": "Webhook"})))
    assert sorted(found) == [
        "spec.conversion.conversionReviewVersions: Required value",
        "spec.conversion.webhookClientConfig: Required value: "
        "required when strategy is set to Webhook",
    ]


@pytest.mark.parametrize(
    ("path", "value"),
    [("spec__scope", "Cluster"), ("spec__names__kind", "Other"), ("spec__names__plural", "others")],
)
def test_what_names_stored_objects_cannot_change(path: str, value: str):
    old = established()
    new = copy.deepcopy(old)
    change(new, path.split("__"), value)
    field = path.replace("__", ".")
    assert texts(validate_definition(new, old)) == [
        f'{field}: Invalid value: "{value}": field is immutable'
    ]


def test_a_version_in_which_objects_are_stored_cannot_be_removed():
    old = established()
    new = copy.deepcopy(old)
    new["spec"]["versions"][0]["name"] = "v2"
    [error] = validate_definition(new, old)
    assert (error.path, error.value) == ("status.storedVersions[0]", "v1")


def test_an_unknown_format_is_worth_a_warning_once():
    path = "spec__versions__0__schema__openAPIV3Schema__properties__spec__properties__x"
    crd = definition(**{path: {"type": "string", "format": "mood"}})
    assert warnings_of(crd) == ['unrecognized format "mood"']
    assert warnings_of(crd, crd) == []


def test_a_definition_without_conflicts_is_established():
    status = established()["status"]
    assert [(c["type"], c["status"], c["reason"], c["message"]) for c in status["conditions"]] == [
        ("NamesAccepted", "True", "NoConflicts", "no conflicts found"),
        ("Established", "True", "InitialNamesAccepted", "the initial names have been accepted"),
    ]
    assert status["storedVersions"] == ["v1"]
    assert status["acceptedNames"] == established()["spec"]["names"]


def test_a_kind_that_is_taken_is_not_accepted():
    first = established()
    second = definition(metadata__name="others.schema.kohort.dev", spec__names__plural="others")
    default_definition(second)
    status = status_of(second, [first], NOW)
    names, serving = status["conditions"]
    assert (names["status"], names["reason"]) == ("False", "ListKindConflict")
    assert names["message"] == '"ThingList" is already in use'
    assert (serving["status"], serving["reason"]) == ("False", "NotAccepted")
    assert status["acceptedNames"] == {"plural": "others", "kind": ""}


def test_a_condition_that_holds_keeps_its_time():
    crd = established()
    again = status_of(crd, [], "2027-01-01T00:00:00Z")
    assert {c["lastTransitionTime"] for c in again["conditions"]} == {NOW}
    assert again == crd["status"]


def test_a_group_of_the_project_tells_whether_it_is_approved():
    crd = established(
        metadata__annotations={"api-approved.kubernetes.io": "https://example.com/1"},
        metadata__name="things.foo.k8s.io",
        spec__group="foo.k8s.io",
    )
    assert not validate_definition(crd)
    approval = crd["status"]["conditions"][2]
    assert (approval["reason"], approval["message"]) == (
        "ApprovedAnnotation",
        "approved in https://example.com/1",
    )


@pytest.mark.parametrize(
    ("replicas", "words"),
    [
        (3, []),
        (-1, ["-1: should be a non-negative integer"]),
        (1 << 31, ["2147483648: should be less than or equal to 2147483647"]),
        ("x", ["0: .spec.replicas accessor error: x is of the type string, expected int64"]),
    ],
)
def test_replicas_that_scale_would_serve_are_small_whole_numbers(replicas: Any, words: list[str]):
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    found = validate_scale({"spec": {"replicas": replicas}}, scale)
    assert texts(found) == [f".spec.replicas: Invalid value: {text}" for text in words]
