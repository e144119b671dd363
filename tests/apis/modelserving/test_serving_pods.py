"""The pods of a ModelServing, against the golden object and against upstream's rules."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving_builders import role, serving, template
from serving_pods import maker, place, pod, variables_of

from kohort.apis.modelserving import labels
from kohort.apis.modelserving.objects.pods import find_stale_metadata
from kohort.apis.modelserving.plugins.plugin import HookRequest, Plugin
from kohort.cluster.objects import Object

MS, LWS = "modelserving.volcano.sh/", "leaderworkerset.sigs.k8s.io/"
ENV = [{"name": "MINE", "value": "1"}, {"name": "GROUP_SIZE", "value": "user's"}]


def test_a_worker_is_the_golden_pod():
    asked = serving(plugins=[{"name": "lws", "type": "BuiltIn"}])
    metadata = pod(asked, 1)["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("llama-0-serve-0-1", "ml")
    assert metadata["labels"] == {
        MS + "name": "llama",
        MS + "group-name": "llama-0",
        MS + "role": "serve",
        MS + "role-id": "serve-0",
        MS + "revision": "67b8d4b8c7",
        MS + "role-template-hash": "c778d6bc5",
        MS + "group-index": "0",
        MS + "group-hash": "d856c1e7f22d7332c404810bec7bfcea96cfdda1",
        LWS + "name": "llama",
        LWS + "group-index": "0",
        LWS + "worker-index": "1",
        LWS + "group-key": "7c180425a5e4b1b86c78e6f7625fe554149da9d4",
        LWS + "template-revision-hash": "67b8d4b8c7",
    }
    assert metadata["annotations"] == {
        "scheduling.k8s.io/group-name": "llama-0",
        "volcano.sh/task-spec": "serve-0",
        MS + "entry-name": "llama-0-serve-0-0",
        MS + "group-size": "2",
        MS + "replicas": "2",
        LWS + "size": "2",
        LWS + "replicas": "2",
        LWS + "leader-name": "llama-0-serve-0-0",
    }


def test_the_variables_of_the_golden_pod_are_in_order():
    entry = template()
    entry["spec"]["containers"][0]["env"] = list(ENV)
    entry["spec"]["initContainers"] = [{"name": "init"}]
    asked = serving(role(workerTemplate=entry), plugins=[{"name": "lws"}])
    made = pod(asked, 1)
    assert variables_of(made) == [
        ("LWS_LEADER_ADDRESS", "llama-0-serve-0-0.ml"),
        ("LWS_GROUP_SIZE", "2"),
        ("LWS_WORKER_INDEX", "1"),
        ("MINE", "1"),
        ("GROUP_SIZE", "2"),
        ("ENTRY_ADDRESS", "llama-0-serve-0-0.ml"),
        ("WORKER_INDEX", "1"),
    ]
    of_init = [name for name, _ in variables_of(made, field="initContainers")]
    assert of_init == [name for name, _ in variables_of(made) if name != "MINE"]


def test_the_scheduler_of_the_object_holds_and_nothing_else_is_added():
    entry = template()
    entry["spec"]["schedulerName"] = "another"
    made = pod(serving(role(entryTemplate=entry)))
    assert made["spec"].keys() == {"containers", "schedulerName"}
    assert made["spec"]["schedulerName"] == "volcano"
    (owner,) = made["metadata"]["ownerReferences"]
    assert owner["uid"] == "ms-uid"
    assert owner["controller"] is owner["blockOwnerDeletion"] is True


def test_an_entry_is_marked_and_a_worker_is_not():
    entry, worker = pod(serving()), pod(serving(), 1)
    assert entry["metadata"]["labels"][labels.ENTRY] == "true"
    assert labels.ENTRY not in worker["metadata"]["labels"]
    assert labels.ENTRY_NAME not in entry["metadata"]["annotations"]


def test_a_role_without_workers_has_the_variables_all_the_same():
    made = pod(serving(role(workers=0)))
    assert dict(variables_of(made)) == {
        "GROUP_SIZE": "1",
        "ENTRY_ADDRESS": "llama-0-serve-0-0.ml",
        "WORKER_INDEX": "0",
    }


def test_without_gangs_a_pod_says_nothing_of_them():
    notes = pod(serving(), gang=False)["metadata"]["annotations"]
    assert labels.GANG_NAME not in notes and labels.TASK_SPEC not in notes


@pytest.mark.parametrize("key", labels.RESERVED)
def test_defect_4_a_template_cannot_take_a_reserved_label(key: str):
    lying = template(labels={key: "lie", "mine": "kept"})
    asked = serving(role(entryTemplate=lying, workerTemplate=lying))
    for index in (0, 1):
        own, honest = pod(asked, index), pod(serving(), index)
        marks = own["metadata"]["labels"]
        assert marks.get(key) == honest["metadata"]["labels"].get(key)
        assert marks["mine"] == "kept"


def test_defect_4_a_plugin_cannot_take_a_reserved_label_or_the_name():
    config = {"annotations": {labels.GROUP_SIZE: "99", "mine": "kept"}}
    made = pod(serving(plugins=[{"name": "demo-pod-tweaks", "config": config}]))
    assert made["metadata"]["annotations"][labels.GROUP_SIZE] == "2"
    assert made["metadata"]["annotations"]["mine"] == "kept"


def test_a_plugin_sees_the_pods_own_marks_and_not_a_templates():
    class Seer(Plugin):
        def on_pod_create(self, request: HookRequest) -> Object:
            seen = json.dumps(request.pod["metadata"]["labels"], sort_keys=True)
            request.pod["metadata"]["annotations"]["seen"] = seen
            return request.pod

    lying = template(labels={labels.ENTRY: "true", labels.ROLE: "lie"})
    asked = serving(role(workerTemplate=lying), plugins=[{"name": "seer"}])
    made = pod(asked, 1, registry={"seer": Seer})["metadata"]
    assert json.loads(made["annotations"]["seen"]) == made["labels"]


def shared_parts(first: object, second: object) -> bool:
    """Whether two values hold one and the same list or mapping somewhere."""

    def parts(value: object) -> set[int]:
        inner = list(value.values()) if isinstance(value, dict) else value
        if not isinstance(inner, list):
            return set()
        return {id(value)}.union(*map(parts, inner))

    return bool(parts(first) & parts(second))


PLUGINS = st.lists(
    st.sampled_from(
        [
            {"name": "lws"},
            {"name": "lws", "config": {"exclusiveTopology": "zone"}},
            {
                "name": "demo-pod-tweaks",
                "config": {"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]},
            },
        ]
    ),
    max_size=2,
)


@given(PLUGINS, st.integers(1, 3))
def test_defect_13_pods_never_share_structure(plugins: list[Object], workers: int):
    rich = template(labels={"a": "b"})
    rich["spec"]["volumes"] = [{"name": "v", "emptyDir": {}}]
    rich["spec"]["containers"][0]["ports"] = [{"containerPort": 80}]
    asked = serving(role(workers=workers, entryTemplate=rich, workerTemplate=rich), plugins=plugins)
    before = json.dumps(asked)
    make = maker(asked)
    where = place(asked)
    made = [make.make(where, index) for index in range(workers + 1)]
    pairs = [(a, b) for n, a in enumerate(made) for b in [asked, *made[:n]]]
    assert not any(shared_parts(a, b) for a, b in pairs)
    assert json.dumps(asked) == before


def test_defect_13_the_last_worker_has_as_many_variables_as_the_first():
    config = {"env": [{"name": "A", "value": "1"}]}
    asked = serving(role(workers=3), plugins=[{"name": "demo-pod-tweaks", "config": config}])
    make, where = maker(asked), place(asked)
    counts = {len(variables_of(make.make(where, index))) for index in range(4)}
    assert counts == {4}


def test_the_topology_in_force_stands_on_pods():
    policies = {"groupPolicy": {"mode": "hard", "highestTierAllowed": 1}}
    asked = serving(group={"networkTopology": policies})
    note = pod(asked)["metadata"]["annotations"]["modelserving.volcano.sh/network-topology"]
    assert json.loads(note) == policies
    assert labels.NETWORK_TOPOLOGY not in pod(serving())["metadata"]["annotations"]


def test_a_pod_of_upstream_is_given_what_it_lacks():
    made = pod(serving(), 1)
    bare = json.loads(json.dumps(made))
    for key in (labels.GROUP_INDEX, labels.GROUP_HASH):
        del bare["metadata"]["labels"][key]
    for key in (labels.ENTRY_NAME, labels.GROUP_SIZE, labels.REPLICAS):
        del bare["metadata"]["annotations"][key]
    patch = find_stale_metadata(serving(), place(serving()), 1, bare)
    assert patch is not None
    for field, values in patch["metadata"].items():
        bare["metadata"][field] |= values
    assert bare == made
    assert find_stale_metadata(serving(), place(serving()), 1, made) is None


def test_scaling_refreshes_the_counts_of_running_pods_and_nothing_else():
    made = pod(serving(plugins=[{"name": "lws"}]))
    scaled = serving(replicas=5, plugins=[{"name": "lws"}])
    assert find_stale_metadata(scaled, place(scaled), 0, made) == {
        "metadata": {"annotations": {labels.REPLICAS: "5", labels.LWS_REPLICAS: "5"}}
    }
