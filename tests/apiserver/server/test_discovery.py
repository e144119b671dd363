"""Discovery says of our kinds what a real server says of them."""

import gzip
import json
from pathlib import Path

import pytest

from kohort.apiserver.api.registry import Registry
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.server.discovery import Discovery, tag_of
from kohort.cluster.objects import Object

RECORDED: Object = json.loads(
    gzip.decompress(Path(__file__).with_name("discovery.json.gz").read_bytes())
)


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry(builtin_resources())


@pytest.mark.parametrize("path", RECORDED["legacy"])
def test_the_kinds_of_a_version_are_described_as_recorded(path: str, registry: Registry):
    *_, group, version = ("", *path.split("/")[2:])
    raw = Discovery(registry).find_resources(group, version)
    assert raw is not None
    assert without_hashes(json.loads(raw)) == without_hashes(RECORDED["legacy"][path])


def without_hashes(document: Object) -> Object:
    """Two kinds are stored by real servers in versions that we do not have."""
    kinds = [{**kind, "storageVersionHash": ""} for kind in document["resources"]]
    return {**document, "resources": kinds}


@pytest.mark.parametrize("root", ["api", "apis"])
def test_the_aggregated_document_is_as_recorded(root: str, registry: Registry):
    assert json.loads(Discovery(registry).aggregated(root)) == RECORDED["aggregated"][root]


def test_the_list_of_groups_is_as_recorded(registry: Registry):
    assert json.loads(Discovery(registry).groups()) == RECORDED["groups"]


def test_a_group_that_is_not_served_is_not_found(registry: Registry):
    discovery = Discovery(registry)
    assert discovery.find_group("nope") is None
    assert discovery.find_group("") is None
    assert discovery.find_resources("apps", "v9") is None


def test_documents_change_when_the_registry_does(registry: Registry):
    discovery = Discovery(registry)
    before = discovery.aggregated("apis")
    assert discovery.aggregated("apis") is before
    registry.generation += 1
    assert discovery.aggregated("apis") is not before
    assert tag_of(discovery.aggregated("apis")) == tag_of(before)
