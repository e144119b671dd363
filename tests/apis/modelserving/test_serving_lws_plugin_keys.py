"""
Plugin `lws`: each label, annotation and variable that it writes has a test.

Each is checked for an entry, a worker, several roles, a scoped plugin and sparse ordinals.
"""

from hashlib import sha1

import pytest
from serving_builders import role, serving
from serving_pods import pod, variables_of

from kohort.cluster.objects import Object

LWS = "leaderworkerset.sigs.k8s.io/"
SEVERAL = (role("prefill", replicas=2, workers=1), role("decode", workers=3))
CASES = {
    "entry": (serving(), {"index": 0}),
    "worker": (serving(), {"index": 1}),
    "several-roles": (serving(*SEVERAL), {"index": 2, "role": "decode"}),
    "second-instance": (serving(*SEVERAL), {"index": 1, "role": "prefill", "instance": 1}),
    "scoped": (serving(*SEVERAL), {"index": 1, "role": "decode"}),
    "sparse": (serving(replicas=7), {"index": 1, "group": 5, "instance": 3}),
}


def enable(asked: Object, name: str) -> Object:
    scope = {"scope": {"roles": ["decode"]}} if name == "scoped" else {}
    return {**asked, "spec": {**asked["spec"], "plugins": [{"name": "lws", **scope}]}}


@pytest.fixture(params=CASES, ids=str)
def case(request: pytest.FixtureRequest) -> tuple[Object, Object, Object]:
    """The ModelServing, its pod without the plugin, and with it."""
    asked, where = CASES[request.param]
    return asked, pod(asked, **where), pod(enable(asked, request.param), **where)


def native(bare: Object) -> dict[str, str]:
    return dict(variables_of(bare))


class TestLabels:
    def test_name_is_the_name_of_the_model_serving(self, case):
        assert case[2]["metadata"]["labels"][LWS + "name"] == "llama"

    def test_worker_index_is_the_variable_worker_index(self, case):
        _, bare, made = case
        assert made["metadata"]["labels"][LWS + "worker-index"] == native(bare)["WORKER_INDEX"]

    def test_group_index_is_the_ordinal_of_the_serving_group(self, case):
        _, bare, made = case
        group = bare["metadata"]["labels"]["modelserving.volcano.sh/group-name"]
        assert made["metadata"]["labels"][LWS + "group-index"] == group.rpartition("-")[2]

    def test_group_key_is_the_sha1_of_the_serving_groups_name(self, case):
        _, bare, made = case
        group = bare["metadata"]["labels"]["modelserving.volcano.sh/group-name"]
        assert made["metadata"]["labels"][LWS + "group-key"] == sha1(group.encode()).hexdigest()


class TestAnnotations:
    def test_size_is_the_variable_group_size(self, case):
        _, bare, made = case
        assert made["metadata"]["annotations"][LWS + "size"] == native(bare)["GROUP_SIZE"]

    def test_replicas_are_those_of_the_spec(self, case):
        asked, _, made = case
        assert made["metadata"]["annotations"][LWS + "replicas"] == str(asked["spec"]["replicas"])


class TestVariables:
    @pytest.mark.parametrize(
        ("variable", "source"),
        [
            ("LWS_LEADER_ADDRESS", "ENTRY_ADDRESS"),
            ("LWS_GROUP_SIZE", "GROUP_SIZE"),
            ("LWS_WORKER_INDEX", "WORKER_INDEX"),
        ],
    )
    def test_a_variable_of_lws_has_the_value_of_its_source(self, case, variable, source):
        _, bare, made = case
        assert dict(variables_of(made))[variable] == native(bare)[source]

    def test_the_leader_address_is_the_dns_name_of_the_entry_pod(self):
        made = pod(enable(serving(), ""), 1)
        assert dict(variables_of(made))["LWS_LEADER_ADDRESS"] == "llama-0-serve-0-0.ml"

    def test_the_worker_index_is_zero_for_the_entry_and_more_for_workers(self):
        asked = enable(serving(role(workers=2)), "")
        found = [dict(variables_of(pod(asked, n)))["LWS_WORKER_INDEX"] for n in range(3)]
        assert found == ["0", "1", "2"]


def test_a_pod_out_of_scope_gets_nothing():
    made = pod(enable(serving(*SEVERAL), "scoped"), role="prefill")
    keys = {**made["metadata"]["labels"], **made["metadata"]["annotations"]}
    assert not any(key.startswith(LWS) for key in keys)
    assert not any(name.startswith("LWS_") for name, _ in variables_of(made))


def test_a_plugin_works_without_a_type():
    example = serving(role("worker", workers=3), name="lws-compatible-serving", namespace="default")
    example["spec"] = {"plugins": [{"name": "lws"}], "template": example["spec"]["template"]}
    made = pod(example, 3, role="worker")
    assert made["metadata"]["labels"][LWS + "name"] == "lws-compatible-serving"
    assert made["metadata"]["annotations"][LWS + "size"] == "4"
    assert made["metadata"]["annotations"][LWS + "replicas"] == "1"
    assert dict(variables_of(made))["LWS_LEADER_ADDRESS"] == (
        "lws-compatible-serving-0-worker-0-0.default"
    )
