"""The gang of a group: counts, requests, subgroups and both levels of topology."""

import json
from typing import Any

import pytest
from serving_builders import role, serving, template

from kohort.apis.gangs.dialects.koordinator import KOORDINATOR
from kohort.apis.gangs.dialects.volcano import VOLCANO
from kohort.apis.gangs.intent import Tiers
from kohort.apis.modelserving.objects.gangs import (
    choose_dialect,
    count_minimum,
    make_intent,
)
from kohort.apis.modelserving.objects.instances import count_pods, number_pod
from kohort.apis.modelserving.spec import RoleSpec, read_spec
from kohort.apis.topology import read_pack
from kohort.cluster.objects import Object
from kohort.model.placement import Gang

NAME, ROLE = "modelserving.volcano.sh/name", "modelserving.volcano.sh/role"


def requesting(**requests: Any) -> Object:
    found = template()
    found["spec"]["containers"][0]["resources"] = {"requests": requests, "limits": {"cpu": "9"}}
    found["spec"]["initContainers"] = [{"name": "i", "resources": {"requests": {"cpu": "9"}}}]
    return found


def pod_group(asked: Object) -> Object:
    spec = read_spec(asked)
    pack = read_pack(spec.group_topology)
    gang = Gang(0, "", "", count_pods(spec.roles), count_minimum(spec), pack=pack)
    (made,) = VOLCANO.render(make_intent(asked, 0, gang, VOLCANO), Tiers())
    found: Object = made
    return found


def test_the_golden_pod_group():
    made = pod_group(serving())
    assert made["metadata"]["name"] == "llama-0"
    assert made["metadata"]["annotations"] == {"scheduling.k8s.io/group-name": "llama-0"}
    assert "blockOwnerDeletion" not in made["metadata"]["ownerReferences"][0]
    assert made["spec"] == {
        "minMember": 2,
        "minResources": {},
        "subGroupPolicy": [
            {
                "name": "serve",
                "labelSelector": {"matchLabels": {NAME: "llama", ROLE: "serve"}},
                "matchLabelKeys": ["modelserving.volcano.sh/role-id"],
                "subGroupSize": 2,
                "minSubGroups": 1,
            }
        ],
    }


def test_fewer_instances_of_a_role_may_be_enough():
    pods = requesting(cpu="100m")
    roles = [
        role(name, replicas=2, entryTemplate=pods, workerTemplate=pods)
        for name in ("prefill", "decode")
    ]
    policy = {"gangPolicy": {"minRoleReplicas": {"prefill": 2, "decode": 1}}}
    spec = pod_group(serving(*roles, group=policy))["spec"]
    assert (spec["minMember"], spec["minResources"]) == (6, {"cpu": "600m"})
    sizes = [(p["name"], p["subGroupSize"], p["minSubGroups"]) for p in spec["subGroupPolicy"]]
    assert sizes == [("prefill", 2, 2), ("decode", 2, 1)]


@pytest.mark.parametrize(("minimum", "members"), [({}, 4), ({"serve": 9}, 4), ({"serve": 0}, 0)])
def test_a_role_counts_whole_unless_fewer_are_named(minimum: dict[str, int], members: int):
    asked = serving(role(replicas=2), group={"gangPolicy": {"minRoleReplicas": minimum}})
    assert count_minimum(read_spec(asked)) == members


def test_requests_are_summed_without_rounding():
    entry, worker = requesting(cpu="250m", memory="1Gi"), requesting(memory="512Mi")
    found = serving(role(workers=3, entryTemplate=entry, workerTemplate=worker))
    assert pod_group(found)["spec"]["minResources"] == {"cpu": "250m", "memory": "2560Mi"}


def test_the_gang_has_the_queue_and_both_topologies():
    policies = {
        "groupPolicy": {"mode": "hard", "highestTierAllowed": 2},
        "rolePolicy": {"mode": "soft", "highestTierName": "rack"},
    }
    queue = {"scheduling.volcano.sh/queue-name": "fast"}
    spec = pod_group(serving(annotations=queue, group={"networkTopology": policies}))["spec"]
    assert spec["queue"] == "fast"
    assert spec["networkTopology"] == policies["groupPolicy"]
    assert spec["subGroupPolicy"][0]["networkTopology"] == policies["rolePolicy"]


@pytest.mark.parametrize(
    ("scheduler", "note", "chosen"),
    [
        ("volcano", None, "volcano"),
        ("default-scheduler", None, None),
        ("volcano", "none", None),
        ("default-scheduler", "koordinator", "koordinator"),
        ("koord-scheduler", None, "koordinator"),
        ("volcano", "unknown", None),
    ],
)
def test_the_scheduler_chooses_the_dialect_unless_the_object_does(
    scheduler: str, note: str | None, chosen: str | None
):
    notes = {"kohort.dev/gang": note} if note else {}
    found = choose_dialect(
        serving(annotations=notes, schedulerName=scheduler), (VOLCANO, KOORDINATOR)
    )
    assert (found.name if found else None) == chosen


def test_the_pods_of_a_group_are_numbered_role_after_role():
    roles = [RoleSpec("a", 2, 1, {}), RoleSpec("b", 1, 2, {})]
    numbers = [
        number_pod(roles, each.name, instance, index)
        for each in roles
        for instance in range(each.replicas)
        for index in range(each.size)
    ]
    assert numbers == list(range(7)) == list(range(count_pods(roles)))


def test_sparse_instances_have_numbers_of_their_own():
    roles = [RoleSpec("a", 2, 1, {}), RoleSpec("b", 1, 2, {})]
    places = [
        (each.name, instance, index)
        for each in roles
        for instance in range(6)
        for index in range(each.size)
    ]
    assert len({number_pod(roles, *place) for place in places}) == len(places)


def test_making_a_gang_changes_nothing():
    asked = serving()
    before = json.dumps(asked)
    pod_group(asked)
    assert json.dumps(asked) == before
