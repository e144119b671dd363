"""The table of built-in kinds: what discovery, selectors and storage read from it."""

import pytest
from golden_corpus import copy_of, load_answers

from kohort.apiserver.resources.builtin import (
    KINDS,
    BuiltinKind,
    builtin_resources,
)
from kohort.apiserver.resources.events import from_storage, to_storage
from kohort.apiserver.resources.resource import Resource
from kohort.apiserver.resources.workloads.kinds import MAX_UNAVAILABLE_STATEFUL_SET

DISCOVERY = load_answers("discovery")
# No client connects to a simulated container or node, and pods do not grow in place.
LEFT_OUT = {"attach", "exec", "portforward", "proxy", "resize"}
RESOURCES = {(r.kind.api_version, r.kind.plural): r for r in builtin_resources()}


def row_name(row: BuiltinKind) -> str:
    return row.kind.group_resource


def find(api_version: str, plural: str) -> Resource:
    return RESOURCES[api_version, plural]


@pytest.mark.parametrize("row", KINDS, ids=row_name)
def test_a_row_says_what_discovery_of_a_real_server_says(row: BuiltinKind):
    resource = find(row.kind.api_version, row.kind.plural)
    said = DISCOVERY[f"{row.kind.api_version} {row.kind.plural}"]
    assert resource.kind.name == said["kind"]
    assert resource.kind.namespaced == said["namespaced"]
    assert resource.singular == said["singularName"]
    assert list(resource.verbs) == said["verbs"]
    assert list(resource.short_names) == said.get("shortNames", [])
    assert list(resource.categories) == said.get("categories", [])


@pytest.mark.parametrize("row", KINDS, ids=row_name)
def test_a_row_has_the_subresources_of_a_real_server(row: BuiltinKind):
    prefix = f"{row.kind.api_version} {row.kind.plural}/"
    said = {key.removeprefix(prefix) for key in DISCOVERY if key.startswith(prefix)}
    assert set(row.subresources) == said - LEFT_OUT


@pytest.mark.parametrize("row", KINDS, ids=row_name)
def test_selectable_fields_are_those_that_a_selector_may_name(row: BuiltinKind):
    resource = find(row.kind.api_version, row.kind.plural)
    # Selectors may name the list of addresses, which no pod was ever found by.
    assert {*resource.behaviour.fields({}), *row.fields} - {"status.podIPs"} == {
        *resource.behaviour.fields({})
    }


def test_both_groups_of_events_share_a_bucket():
    assert find("v1", "events").bucket == find("events.k8s.io/v1", "events").bucket


def test_only_pods_are_deleted_with_grace():
    assert [r.kind.name for r in RESOURCES.values() if r.graceful] == ["Pod"]


def test_an_event_of_the_newer_group_survives_storage():
    event = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "a", "namespace": "b"},
        "regarding": {"kind": "Pod", "name": "p"},
        "eventTime": "2025-01-01T00:00:00.000000Z",
        "note": "it started",
        "reportingController": "example.com/c",
        "deprecatedSource": {},
        "deprecatedFirstTimestamp": None,
        "deprecatedLastTimestamp": None,
    }
    stored = to_storage(copy_of(event))
    assert (stored["apiVersion"], stored["message"]) == ("v1", "it started")
    assert stored["involvedObject"] == {"kind": "Pod", "name": "p"}
    assert from_storage(stored) == event


def test_an_older_event_shows_no_empty_reporter_in_the_newer_group():
    stored = {"metadata": {"name": "a"}, "reportingComponent": "", "message": "x"}
    shown = from_storage(stored)
    assert "reportingController" not in shown
    assert shown["note"] == "x"


@pytest.mark.parametrize("gates", [frozenset(), frozenset({MAX_UNAVAILABLE_STATEFUL_SET})])
def test_max_unavailable_of_a_stateful_set_is_kept_only_with_its_gate(gates: frozenset[str]):
    (found,) = (r for r in builtin_resources(gates) if r.kind.plural == "statefulsets")
    rolling = {"maxUnavailable": 2}
    obj = {"spec": {"updateStrategy": {"rollingUpdate": rolling}}}
    found.behaviour.default(obj)
    kept = obj["spec"]["updateStrategy"]["rollingUpdate"].get("maxUnavailable")
    assert kept == (2 if gates else None)
