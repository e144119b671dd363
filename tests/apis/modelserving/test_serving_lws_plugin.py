"""Plugin `lws` beyond its tables: scopes of the index, owners, subgroups, placement."""

from hashlib import sha1
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving_builders import role, serving, template
from serving_pods import pod, try_pod, variables_of

from kohort.apis.modelserving.admission.validation import validate_serving, write_refusal
from kohort.apis.modelserving.objects.services import make_group_service, make_shared_service
from kohort.apis.modelserving.plugins.chain import PluginFailure, build_chain
from kohort.apis.modelserving.plugins.known import BUILT_INS
from kohort.apis.modelserving.plugins.plugin import HookRequest
from kohort.apis.modelserving.plugins.subgroups import Placement, find_subgroup
from kohort.apis.modelserving.spec import PluginSpec, read_spec
from kohort.cluster.objects import Object, annotations_of, labels_of

LWS, MS = "leaderworkerset.sigs.k8s.io/", "modelserving.volcano.sh/"
ROLES = (role("prefill", replicas=2, workers=1), role("decode", workers=2))


def enabled(*roles: Object, config: Any = None, **spec: Any) -> Object:
    return serving(*roles, plugins=[{"name": "lws", "config": config}], **spec)


def owned(asked: Object) -> Object:
    owner = {"kind": "LeaderWorkerSet", "name": "the-set", "uid": "u", "controller": True}
    return {**asked, "metadata": {**asked["metadata"], "ownerReferences": [owner]}}


def all_places(asked: Object) -> list[tuple[str, int, int]]:
    return [
        (found.name, instance, index)
        for found in read_spec(asked).roles
        for instance in range(found.replicas)
        for index in range(found.size)
    ]


def test_by_default_pods_of_several_instances_share_an_index():
    asked = enabled(*ROLES)
    made = [pod(asked, i, role=r, instance=n) for r, n, i in all_places(asked)]
    indices = [labels_of(found)[LWS + "worker-index"] for found in made]
    assert indices == ["0", "1", "0", "1", "0", "1", "2"]


def test_with_index_scope_group_each_pod_of_the_group_has_an_index_of_its_own():
    asked = enabled(*ROLES, config={"indexScope": "group"})
    made = [pod(asked, i, role=r, instance=n) for r, n, i in all_places(asked)]
    indices = [labels_of(found)[LWS + "worker-index"] for found in made]
    assert indices == [str(number) for number in range(7)]
    assert {annotations_of(found)[LWS + "size"] for found in made} == {"7"}
    assert {dict(variables_of(found))["LWS_GROUP_SIZE"] for found in made} == {"7"}


def test_index_scope_group_counts_the_roles_in_scope():
    asked = enabled(*ROLES, config={"indexScope": "group"})
    asked["spec"]["plugins"][0]["scope"] = {"roles": ["decode"]}
    made = [pod(asked, index, role="decode") for index in range(3)]
    assert [labels_of(found)[LWS + "worker-index"] for found in made] == ["0", "1", "2"]
    assert annotations_of(made[0])[LWS + "size"] == "3"


def test_a_workload_of_a_leader_worker_set_bears_its_name():
    made = pod(owned(enabled()))
    assert labels_of(made)[LWS + "name"] == "the-set"


@pytest.mark.parametrize(
    ("config", "key"),
    [
        (None, "7c180425a5e4b1b86c78e6f7625fe554149da9d4"),
        ({"groupKey": "lws"}, "d856c1e7f22d7332c404810bec7bfcea96cfdda1"),
    ],
    ids=["by name", "with the namespace, as LeaderWorkerSet has it"],
)
def test_a_group_key_is_made_from_the_groups_name(config: Any, key: str):
    assert labels_of(pod(enabled(config=config)))[LWS + "group-key"] == key


def test_only_workers_name_their_leader():
    assert LWS + "leader-name" not in annotations_of(pod(enabled()))
    assert annotations_of(pod(enabled(), 1))[LWS + "leader-name"] == "llama-0-serve-0-0"


def test_variables_come_first_replace_the_users_and_are_written_once():
    entry = template()
    entry["spec"]["containers"][0]["env"] = [
        {"name": "ARGS", "value": "--leader=$(LWS_LEADER_ADDRESS)"},
        {"name": "LWS_GROUP_SIZE", "value": "user's"},
    ]
    asked = enabled(role(entryTemplate=entry))
    asked["spec"]["plugins"] *= 2
    names = [name for name, _ in variables_of(pod(asked))]
    assert names[:4] == ["LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX", "ARGS"]
    assert len(set(names)) == len(names)


def test_without_variables_the_place_of_the_pod_says_it_all():
    asked = serving(role(workers=3))
    bare = {"metadata": {"name": "llama-0-serve-0-2"}, "spec": {"containers": [{"name": "c"}]}}
    request = HookRequest(asked, "llama-0", "serve", "serve-0", False, bare)
    made = build_chain([PluginSpec("lws")], BUILT_INS).run_create(request)
    assert not isinstance(made, PluginFailure)
    assert variables_of(made) == [
        ("LWS_LEADER_ADDRESS", "llama-0-serve-0-0.ml"),
        ("LWS_GROUP_SIZE", "4"),
        ("LWS_WORKER_INDEX", "2"),
    ]


def test_a_group_without_an_ordinal_is_an_error_that_names_the_plugin():
    bare = {"metadata": {"name": "x"}, "spec": {"containers": []}}
    request = HookRequest(serving(), "llama", "serve", "serve-0", True, bare)
    failed = build_chain([PluginSpec("lws")], BUILT_INS).run_create(request)
    assert str(failed) == "plugin lws: group llama has no ordinal at the end of its name"


def test_standard_labels_are_four_and_only_for_workloads_of_a_leader_worker_set():
    plugins = [{"name": "lws-standard-labels"}]
    asked = serving(plugins=plugins, name="test-lws-basic")
    assert not any(key.startswith(LWS) for key in labels_of(pod(asked, 1)))
    owner = {"kind": "LeaderWorkerSet", "name": "test-lws-basic", "uid": "u"}
    asked["metadata"]["ownerReferences"] = [owner]
    made = pod(asked, 1)
    assert {key: value for key, value in labels_of(made).items() if key.startswith(LWS)} == {
        LWS + "name": "test-lws-basic",
        LWS + "worker-index": "1",
        LWS + "group-index": "0",
        LWS + "group-key": "f8ab6bc7fcb8e636876e97f9ca1e93cbcad513ac",
    }
    assert not any(name.startswith("LWS_") for name, _ in variables_of(made))


@pytest.mark.parametrize(
    ("size", "each", "kind", "subgroups"),
    [
        (4, 2, "LeaderWorker", [0, 0, 1, 1]),
        (5, 2, "LeaderWorker", [0, 0, 0, 1, 1]),
        (5, 2, "LeaderExcluded", [None, 0, 0, 1, 1]),
        (3, 0, "LeaderWorker", [None, None, None]),
    ],
)
def test_subgroups_are_divided_as_leader_worker_set_divides_them(
    size: int, each: int, kind: str, subgroups: list[int | None]
):
    placement = Placement(each, kind)
    assert [find_subgroup(placement, size, index) for index in range(size)] == subgroups


@pytest.mark.parametrize(
    ("workers", "config", "fault"),
    [
        (3, {"subGroupSize": 2}, ""),
        (4, {"subGroupSize": 2}, ""),
        (4, {"subGroupSize": 3}, "it must divide all pods, or the workers"),
        (3, {"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"}, "divide the workers"),
        (1, {"subGroupSize": 3}, "role serve has 2 pods in an instance, and subGroupSize is 3"),
    ],
)
def test_subgroups_that_do_not_divide_an_instance_are_refused(
    workers: int, config: Object, fault: str
):
    asked = enabled(role(workers=workers), config={"subGroupPolicy": config})
    refusal = write_refusal(validate_serving(asked, None, BUILT_INS))
    assert fault in refusal and bool(refusal) == bool(fault)


def test_a_pod_of_a_subgroup_says_so_under_both_names():
    config = {"subGroupPolicy": {"subGroupSize": 2}, "subGroupExclusiveTopology": "rack"}
    made = pod(enabled(role(workers=3), config=config), 2)
    marks, notes = labels_of(made), annotations_of(made)
    assert marks[MS + "subgroup-index"] == marks[LWS + "subgroup-index"] == "1"
    key = marks[LWS + "subgroup-key"]
    assert marks[MS + "subgroup-hash"] == key == sha1(b"llama-0-serve-0-0/1").hexdigest()
    assert notes[MS + "subgroup-size"] == notes[LWS + "subgroup-size"] == "2"
    assert notes[MS + "subgroup-policy-type"] == notes[LWS + "subgroup-policy-type"]
    assert notes[LWS + "subgroup-exclusive-topology"] == "rack"
    near = made["spec"]["affinity"]["podAffinity"]
    (term,) = near["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["topologyKey"] == "rack"
    (expression,) = term["labelSelector"]["matchExpressions"]
    assert expression == {"key": LWS + "subgroup-key", "operator": "In", "values": [key]}


def test_an_exclusive_topology_keeps_a_group_together_and_others_away():
    made = pod(enabled(config={"exclusiveTopology": "zone"}))
    key = labels_of(made)[LWS + "group-key"]
    (far,) = made["spec"]["affinity"]["podAntiAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert far["labelSelector"]["matchExpressions"] == [
        {"key": LWS + "group-key", "operator": "Exists"},
        {"key": LWS + "group-key", "operator": "NotIn", "values": [key]},
    ]
    assert annotations_of(made)[MS + "exclusive-topology"] == "zone"


@pytest.mark.parametrize(
    ("policy", "subdomain"), [("Shared", "llama"), ("UniquePerReplica", "llama-0")]
)
def test_a_subdomain_policy_gives_pods_a_host_name_and_a_service(policy: str, subdomain: str):
    asked = enabled(config={"subdomainPolicy": policy})
    made = pod(asked, 1)
    assert (made["spec"]["hostname"], made["spec"]["subdomain"]) == ("llama-0-serve-0-1", subdomain)
    assert annotations_of(made)[LWS + "subdomainPolicy"] == policy
    service = make_shared_service(asked) if policy == "Shared" else make_group_service(asked, 0)
    assert service["metadata"]["name"] == subdomain
    selector = service["spec"]["selector"]
    assert selector.items() <= labels_of(made).items() and selector


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"indexscope": "group"}, "config has no key 'indexscope'"),
        ({"indexScope": "set"}, "indexScope must be instance or group, not 'set'"),
        ("group", "config must be a mapping, not str"),
        ({"subGroupPolicy": {"subGroupSize": 0}}, "subGroupSize must be 1 or more"),
        ({"subGroupPolicy": {"subGroupSize": True}}, "must be a whole number, not True"),
        ({"exclusiveTopology": "a b"}, "exclusiveTopology must be a label of nodes"),
        ({"subGroupExclusiveTopology": "rack"}, "needs subGroupPolicy.subGroupSize"),
    ],
)
def test_a_config_that_makes_no_sense_is_a_sentence(config: Any, sentence: str):
    failed = try_pod(enabled(config=config))
    assert isinstance(failed, PluginFailure)
    assert str(failed).startswith("plugin lws: its config is wrong: ")
    assert sentence in failed.why


@given(st.integers(1, 3), st.integers(0, 3), st.sets(st.integers(0, 6), max_size=4))
def test_with_index_scope_group_no_two_pods_of_a_group_share_an_index(
    replicas: int, workers: int, sparse: set[int]
):
    roles = (role("a", replicas=replicas, workers=workers), role("b", workers=1))
    asked = enabled(*roles, config={"indexScope": "group"})
    places = {("a", n, i) for n in sparse for i in range(workers + 1)} | {("b", 0, 0), ("b", 0, 1)}
    made = [pod(asked, i, role=r, instance=n) for r, n, i in places]
    assert len({labels_of(found)[LWS + "worker-index"] for found in made}) == len(places)
