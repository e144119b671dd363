"""Volcano's definitions, against a table of upstream's fields that is written by hand."""

import pytest

from kohort.apis.gangs.definitions import definitions_of
from kohort.cluster.objects import Object, name_of

TOPOLOGY = ("highestTierAllowed", "highestTierName", "mode")
FIELDS = {
    "podgroups.scheduling.volcano.sh": {
        "minMember": "integer",
        "minTaskMember": "object",
        "queue": "string",
        "priorityClassName": "string",
        "minResources": "object",
        "networkTopology": "object",
        "subGroupPolicy": "array",
    },
    "hypernodes.topology.volcano.sh": {"tier": "integer", "tierName": "string", "members": "array"},
}


def spec_of(name: str) -> Object:
    (crd,) = [crd for crd in definitions_of("volcano") if name_of(crd) == name]
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return dict(schema["properties"]["spec"]["properties"])


@pytest.mark.parametrize("name", FIELDS)
def test_a_definition_has_the_fields_of_upstream(name: str):
    assert {field: schema["type"] for field, schema in spec_of(name).items()} == FIELDS[name]


def test_a_topology_request_has_a_mode_and_a_tier_by_number_or_by_name():
    spec = spec_of("podgroups.scheduling.volcano.sh")
    part = spec["subGroupPolicy"]["items"]["properties"]
    for holder in (spec, part):
        topology = holder["networkTopology"]["properties"]
        assert tuple(sorted(topology)) == TOPOLOGY
        assert sorted(topology["mode"]["enum"]) == ["hard", "soft"]
        assert topology["mode"]["default"] == "hard"
        assert "default" not in topology["highestTierAllowed"]
    names = {"name", "labelSelector", "matchLabelKeys", "subGroupSize", "minSubGroups"}
    assert set(part) == names | {"networkTopology"}
    assert (part["subGroupSize"]["default"], part["minSubGroups"]["default"]) == (1, 0)


def test_a_pod_group_has_no_status_of_its_own():
    (crd,) = [c for c in definitions_of("volcano") if "podgroups" in name_of(c)]
    assert not crd["spec"]["versions"][0].get("subresources")
