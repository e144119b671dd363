"""What a pod learns about itself: indices, keys, placement, refusals."""

from hashlib import sha1
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lws_builders import bare_pod, variables_of

from kohort.apis.gangs.dialects.volcano import GROUP_NAME, VOLCANO
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.admission.pods import (
    Joining,
    PodRefused,
    mutate_pod,
)
from kohort.apis.subgroups import subgroup_index
from kohort.cluster.objects import Object, annotations_of, labels_of

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def mutated(pod: Object, **options: Any) -> Object:
    result = mutate_pod(pod, **options)
    assert not isinstance(result, PodRefused), result.reason
    return result


def digest(text: str) -> str:
    return sha1(text.encode()).hexdigest()


def terms(pod: Object, kind: str = "podAffinity") -> list[Object]:
    found: list[Object] = pod["spec"]["affinity"][kind][REQUIRED]
    return found


def test_a_pod_without_a_workload_is_left_alone():
    stranger = {"metadata": {"name": "x-1", "labels": {"app": "x"}}, "spec": {}}
    assert mutate_pod(stranger) is stranger


@pytest.mark.parametrize("kind", ["ModelServing", "RoleInstance", "ReplicaSet"])
def test_a_pod_that_another_kind_of_workload_made_is_left_alone(kind: str):
    """Such a pod has our labels for its own reasons; another controller has filled them in."""
    pod = bare_pod("lw-2-serve-0-0", is_leader=True)
    owner = {"apiVersion": "x/v1", "kind": kind, "name": "lw", "uid": "u", "controller": True}
    pod["metadata"]["ownerReferences"] = [owner]
    assert mutate_pod(pod) is pod


@pytest.mark.parametrize("kind", ["StatefulSet", "LeaderWorkerSet", "Pod"])
def test_a_pod_that_a_set_or_its_carrier_made_is_not(kind: str):
    pod = bare_pod("lw-2", is_leader=True)
    owner = {"apiVersion": "x/v1", "kind": kind, "name": "lw", "uid": "u", "controller": True}
    pod["metadata"]["ownerReferences"] = [owner]
    assert labels_of(mutated(pod))[labels.GROUP_INDEX] == "2"


def test_a_leader_learns_its_group_and_the_key_of_it():
    own = labels_of(mutated(bare_pod("lw-2", is_leader=True)))
    assert own[labels.GROUP_INDEX] == "2"
    assert own[labels.GROUP_KEY] == digest("ns/lw-2")


@pytest.mark.parametrize(
    ("namespace", "key"),
    [
        ("default", "95e88034e460983f51a9952fe128729fbc0663b5"),
        ("leaderworkerset", "39f5d7e9122b9d94d3932e3720b43fd3b56347e8"),
    ],
)
def test_a_group_key_is_the_one_that_upstream_computes(namespace: str, key: str):
    pod = bare_pod("test-sample", is_leader=True)
    pod["metadata"]["namespace"] = namespace
    labels_of(pod)[labels.GROUP_INDEX] = "0"
    assert labels_of(mutated(pod))[labels.GROUP_KEY] == key


def test_marks_that_a_leader_has_are_kept():
    pod = bare_pod("lw-2", is_leader=True)
    labels_of(pod).update({labels.GROUP_INDEX: "7", labels.GROUP_KEY: "mine"})
    own = labels_of(mutated(pod))
    assert (own[labels.GROUP_INDEX], own[labels.GROUP_KEY]) == ("7", "mine")


def test_a_worker_learns_its_index_even_if_it_has_another():
    pod = bare_pod("lw-0-3")
    labels_of(pod)[labels.WORKER_INDEX] = "9"
    assert labels_of(mutated(pod))[labels.WORKER_INDEX] == "3"


def test_a_leader_of_its_own_subdomain_is_its_own_service():
    pod = mutated(bare_pod("lw-1", is_leader=True, subdomainPolicy="UniquePerReplica"))
    assert pod["spec"]["subdomain"] == "lw-1"
    assert variables_of(pod)[labels.LEADER_ADDRESS_VARIABLE] == "lw-1.lw-1.ns"


@pytest.mark.parametrize(
    ("size", "subgroup_size", "expected"),
    [
        (4, 2, {0: [1], 1: [2, 3]}),
        (5, 2, {0: [1, 2], 1: [3, 4]}),
        (4, 1, {1: [1], 2: [2], 3: [3]}),
        (9, 4, {0: [1, 2, 3, 4], 1: [5, 6, 7, 8]}),
    ],
)
def test_workers_fill_subgroups_in_order(
    size: int, subgroup_size: int, expected: dict[int, list[int]]
):
    seen: dict[int, list[int]] = {}
    for worker in range(1, size):
        seen.setdefault(subgroup_index(size, subgroup_size, worker), []).append(worker)
    assert seen == expected


def test_a_worker_joins_the_subgroup_of_its_leader():
    own = labels_of(mutated(bare_pod("lw-0-3", subgroup_size="2", leader_name="lw-0")))
    assert own[labels.SUBGROUP_INDEX] == "1"
    assert own[labels.SUBGROUP_KEY] == digest("lw-0/1")


def test_a_leader_stands_in_the_first_subgroup_unless_it_is_left_out():
    own = labels_of(mutated(bare_pod("lw-1", is_leader=True, subgroup_size="2")))
    assert (own[labels.SUBGROUP_INDEX], own[labels.SUBGROUP_KEY]) == ("0", digest("lw-1/0"))
    excluded = {"subgroup_size": "2", "subgroup_policy_type": "LeaderExcluded"}
    own = labels_of(mutated(bare_pod("lw-1", is_leader=True, **excluded)))
    assert labels.SUBGROUP_INDEX not in own


def test_a_leader_keeps_other_groups_out_of_its_topology():
    pod = mutated(bare_pod("lw-0", is_leader=True, exclusive_topology="rack"))
    key = digest("ns/lw-0")
    assert terms(pod) == [
        {
            "topologyKey": "rack",
            "labelSelector": {
                "matchExpressions": [
                    {"key": labels.GROUP_KEY, "operator": "In", "values": [key]},
                ]
            },
        }
    ]
    (away,) = terms(pod, "podAntiAffinity")
    assert away["labelSelector"]["matchExpressions"] == [
        {"key": labels.GROUP_KEY, "operator": "Exists"},
        {"key": labels.GROUP_KEY, "operator": "NotIn", "values": [key]},
    ]


def test_a_worker_has_terms_for_its_subgroup_alone():
    notes = {"subgroup_size": "2", "leader_name": "lw-0", "exclusive_topology": "rack"}
    assert "affinity" not in mutated(bare_pod("lw-0-1", **notes))["spec"]
    pod = mutated(bare_pod("lw-0-1", **notes, subgroup_exclusive_topology="host"))
    assert [term["topologyKey"] for term in terms(pod)] == ["host"]


def test_two_rules_over_one_topology_are_written_once():
    notes = {"exclusive_topology": "rack", "subgroup_size": "2"}
    same = bare_pod("lw-0", is_leader=True, **notes, subgroup_exclusive_topology="rack")
    other = bare_pod("lw-0", is_leader=True, **notes, subgroup_exclusive_topology="host")
    assert [term["topologyKey"] for term in terms(mutated(same))] == ["rack"]
    assert [term["topologyKey"] for term in terms(mutated(other))] == ["rack", "host"]


def test_terms_of_the_user_stay_in_front():
    pod = bare_pod("lw-0", is_leader=True, exclusive_topology="rack")
    mine = {"topologyKey": "rack", "labelSelector": {}}
    pod["spec"]["affinity"] = {"podAffinity": {REQUIRED: [mine]}, "nodeAffinity": {}}
    result = mutated(pod)
    assert terms(result)[0] == mine
    assert len(terms(result)) == 2
    assert "nodeAffinity" in result["spec"]["affinity"]


def test_a_pod_joins_its_gang_where_gangs_are_made():
    pod = mutated(bare_pod("lw-3", is_leader=True), gang=Joining(VOLCANO))
    assert annotations_of(pod)[GROUP_NAME] == "lw-3-abc"
    assert GROUP_NAME not in annotations_of(mutated(bare_pod("lw-3", is_leader=True)))


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("lw-0", {"annotations": {}}, "size annotation is unexpectedly missing for pod lw-0"),
        (
            "lw-0",
            {"annotations": {labels.SIZE: "many"}},
            "the size annotation of pod lw-0 is not a number: 'many'",
        ),
        ("leader", {}, "parsing pod ordinal for pod leader"),
        (
            "lw-0-1",
            {"labels": {labels.NAME: "lw"}},
            "Failure constructing environment variables, no group index label found for pod "
            "ns/lw-0-1",
        ),
    ],
)
def test_a_pod_that_makes_no_sense_is_refused(name: str, change: Object, reason: str):
    pod = bare_pod(name, is_leader=name != "lw-0-1")
    pod["metadata"].update(change)
    assert mutate_pod(pod) == PodRefused(reason)


def test_a_subgroup_of_size_zero_is_refused_and_does_not_divide_by_zero():
    for name, leads in (("lw-0-1", False), ("lw-0", True)):
        pod = bare_pod(name, is_leader=leads, subgroup_size="0")
        pod["spec"]["containers"][0]["resources"] = {"limits": {"google.com/tpu": "4"}}
        assert isinstance(mutate_pod(pod), PodRefused)


@given(
    st.booleans(),
    st.fixed_dictionaries(
        {},
        optional={
            "subgroup_size": st.sampled_from(["1", "2", "4"]),
            "exclusive_topology": st.sampled_from(["rack", "host"]),
            "subgroup_exclusive_topology": st.sampled_from(["rack", "host"]),
            "leader_requests_tpus": st.just("true"),
        },
    ),
    st.sampled_from([None, "0", "4"]),
)
def test_a_second_pass_changes_nothing(leads: bool, notes: dict[str, str], tpus: str | None):
    pod = bare_pod("lw-0" if leads else "lw-0-3", is_leader=leads, leader_name="lw-0", **notes)
    if tpus:
        pod["spec"]["containers"][0]["resources"] = {"limits": {"google.com/tpu": tpus}}
    once = mutated(pod)
    assert mutated(once) == once
