"""
Labels, annotations and variables of LeaderWorkerSet, and their twins on pods of a ModelServing.

Where LeaderWorkerSet has a key, a pod of ModelServing has its twin, by itself or with plugin
`lws`; the tests of missing keys are about those that upstream's ModelServing lacks.
"""

import json
from hashlib import sha1

import pytest
from serving_builders import role, serving, template
from serving_pods import pod, variables_of

from kohort.apis.modelserving import labels
from kohort.cluster.objects import Object, annotations_of, labels_of

LWS, MS = "leaderworkerset.sigs.k8s.io/", "modelserving.volcano.sh/"
CONFIG = {
    "subGroupPolicy": {"subGroupSize": 2, "subGroupPolicyType": "LeaderWorker"},
    "subGroupExclusiveTopology": "rack",
    "exclusiveTopology": "zone",
    "subdomainPolicy": "Shared",
}
POLICIES = {"groupPolicy": {"mode": "hard", "highestTierAllowed": 1}}
COSTLY = template(annotations={"controller.kubernetes.io/pod-deletion-cost": "7"})


def asked(*, with_plugin: bool) -> Object:
    plugins = [{"name": "lws", "type": "BuiltIn", "config": CONFIG}] if with_plugin else []
    roles = role(workers=3, workerTemplate=COSTLY)
    return serving(roles, plugins=plugins, group={"networkTopology": POLICIES}, replicas=4)


@pytest.fixture(scope="module")
def worker() -> Object:
    """The second worker of group 3, without any plugin."""
    return pod(asked(with_plugin=False), 2, group=3)


@pytest.fixture(scope="module")
def converted() -> Object:
    """The same pod with plugin `lws`."""
    return pod(asked(with_plugin=True), 2, group=3)


class TestLabelsThatBothHave:
    def test_set_name_is_the_name(self, worker, converted):
        assert labels_of(worker)[MS + "name"] == labels_of(converted)[LWS + "name"] == "llama"

    def test_worker_index_is_a_variable(self, worker, converted):
        assert dict(variables_of(worker))["WORKER_INDEX"] == "2"
        assert labels_of(converted)[LWS + "worker-index"] == "2"

    def test_template_revision_hash_is_the_revision(self, worker, converted):
        revision = labels_of(worker)[MS + "revision"]
        assert labels_of(converted)[LWS + "template-revision-hash"] == revision == "67b8d4b8c7"


class TestLabelsOfModelServingAlone:
    def test_group_name(self, worker):
        assert labels_of(worker)[MS + "group-name"] == "llama-3"

    def test_role(self, worker):
        assert labels_of(worker)[MS + "role"] == "serve"

    def test_role_id(self, worker):
        assert labels_of(worker)[MS + "role-id"] == "serve-0"

    def test_entry(self, worker):
        assert MS + "entry" not in labels_of(worker)
        assert labels_of(pod(asked(with_plugin=False)))[MS + "entry"] == "true"


class TestLabelsThatWereMissing:
    def test_group_index(self, worker, converted):
        twin = labels_of(converted)[LWS + "group-index"]
        assert labels_of(worker)[MS + "group-index"] == twin == "3"

    def test_group_key(self, worker, converted):
        assert labels_of(worker)[MS + "group-hash"] == sha1(b"ml/llama-3").hexdigest()
        assert labels_of(converted)[LWS + "group-key"] == sha1(b"llama-3").hexdigest()

    def test_subgroup_index(self, converted):
        found = labels_of(converted)
        assert found[MS + "subgroup-index"] == found[LWS + "subgroup-index"] == "1"

    def test_subgroup_key(self, converted):
        found, key = labels_of(converted), sha1(b"llama-3-serve-0-0/1").hexdigest()
        assert found[MS + "subgroup-hash"] == found[LWS + "subgroup-key"] == key


class TestAnnotationsOfModelServing:
    def test_pod_deletion_cost_of_a_template_reaches_the_pod(self, worker):
        assert annotations_of(worker)["controller.kubernetes.io/pod-deletion-cost"] == "7"

    def test_group_name_of_the_gang(self, worker):
        # The table names scheduling.volcano.sh/group-name; the constant behind it is this one.
        assert annotations_of(worker)["scheduling.k8s.io/group-name"] == "llama-3"

    def test_task_spec_of_the_gang(self, worker):
        assert annotations_of(worker)["volcano.sh/task-spec"] == "serve-0"


class TestAnnotationsOfLeaderWorkerSet:
    @pytest.mark.parametrize(
        ("key", "native", "value"),
        [
            ("exclusive-topology", "exclusive-topology", "zone"),
            ("subgroup-exclusive-topology", "subgroup-exclusive-topology", "rack"),
            ("size", "group-size", "4"),
            ("replicas", "replicas", "4"),
            ("leader-name", "entry-name", "llama-3-serve-0-0"),
            ("subgroup-size", "subgroup-size", "2"),
            ("subgroup-policy-type", "subgroup-policy-type", "LeaderWorker"),
            ("subdomainPolicy", "subdomain-policy", "Shared"),
        ],
    )
    def test_an_annotation_has_a_twin(self, converted, key: str, native: str, value: str):
        found = annotations_of(converted)
        assert found[LWS + key] == found[MS + native] == value


class TestVariables:
    @pytest.mark.parametrize(
        ("key", "native", "value"),
        [
            ("LWS_LEADER_ADDRESS", "ENTRY_ADDRESS", "llama-3-serve-0-0.ml"),
            ("LWS_GROUP_SIZE", "GROUP_SIZE", "4"),
            ("LWS_WORKER_INDEX", "WORKER_INDEX", "2"),
        ],
    )
    def test_a_variable_has_a_twin(self, converted, key: str, native: str, value: str):
        found = dict(variables_of(converted))
        assert found[key] == found[native] == value


class TestWhatWasAskedFor:
    def test_p0_group_index(self, worker):
        assert labels_of(worker)["modelserving.volcano.sh/group-index"] == "3"

    def test_p0_group_hash(self, worker):
        assert len(labels_of(worker)["modelserving.volcano.sh/group-hash"]) == 40

    def test_p0_entry_name(self, worker):
        assert annotations_of(worker)["modelserving.volcano.sh/entry-name"] == "llama-3-serve-0-0"

    def test_p1_group_size(self, worker):
        assert annotations_of(worker)["modelserving.volcano.sh/group-size"] == "4"

    def test_p1_replicas(self, worker):
        assert annotations_of(worker)["modelserving.volcano.sh/replicas"] == "4"

    def test_p2_subgroups(self, converted):
        keys = {*labels_of(converted), *annotations_of(converted)}
        wanted = ("index", "hash", "size", "policy-type", "exclusive-topology")
        assert {f"{MS}subgroup-{word}" for word in wanted} <= keys

    def test_p2_exclusive_topology(self, converted):
        assert "podAntiAffinity" in converted["spec"]["affinity"]

    def test_p2_network_topology_as_an_annotation(self, worker):
        note = annotations_of(worker)["modelserving.volcano.sh/network-topology"]
        assert json.loads(note) == POLICIES

    def test_p2_subdomain_policy(self, converted):
        assert converted["spec"]["subdomain"] == "llama"
        assert converted["spec"]["hostname"] == "llama-3-serve-0-2"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("NAME", "name"),
        ("GROUP_NAME", "group-name"),
        ("ROLE", "role"),
        ("ROLE_ID", "role-id"),
        ("ENTRY", "entry"),
        ("REVISION", "revision"),
        ("GROUP_INDEX", "group-index"),
        ("GROUP_HASH", "group-hash"),
        ("ENTRY_NAME", "entry-name"),
        ("GROUP_SIZE", "group-size"),
        ("REPLICAS", "replicas"),
    ],
)
def test_all_constants_stand_in_one_module(name: str, text: str):
    assert getattr(labels, name) == MS + text


class TestDifferences:
    """What the analysis calls differences of architecture: ModelServing has both sides of each."""

    def test_roles_beside_leader_and_worker(self):
        several = serving(role("prefill", replicas=2, workers=1), role("decode", workers=3))
        entry = pod(several, 0, role="prefill", instance=1)
        worker = pod(several, 3, role="decode")
        assert labels_of(entry)[MS + "role-id"] == "prefill-1"
        assert labels_of(entry)[MS + "entry"] == "true"
        assert labels_of(worker)[MS + "role-id"] == "decode-0"
        assert MS + "entry" not in labels_of(worker)

    def test_subgroups_divide_an_instance(self):
        found = [labels_of(pod(asked(with_plugin=True), index)) for index in range(4)]
        assert [marks[MS + "subgroup-index"] for marks in found] == ["0", "0", "1", "1"]

    def test_an_index_beside_the_name(self, worker):
        marks = labels_of(worker)
        assert marks[MS + "group-name"] == f"llama-{marks[MS + 'group-index']}"

    def test_a_subdomain_beside_the_network_topology(self, converted):
        assert converted["spec"]["subdomain"] == "llama"
        assert json.loads(annotations_of(converted)[MS + "network-topology"]) == POLICIES

    def test_exclusive_topology_beside_gangs_and_network_topology(self, converted):
        terms = converted["spec"]["affinity"]["podAntiAffinity"]
        (first, *_) = terms["requiredDuringSchedulingIgnoredDuringExecution"]
        assert first["topologyKey"] == "zone"
        assert annotations_of(converted)["scheduling.k8s.io/group-name"] == "llama-3"
