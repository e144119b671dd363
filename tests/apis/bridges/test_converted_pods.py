"""
Pods of a converted ModelServing carry whatever pods of the LeaderWorkerSet carry.

Values are equal as well, apart from those that say a pod's name or address, or the hash of a
revision: a ModelServing names its pods by role, and keeps revisions of its own.
"""

import pytest
from bridge_samples import BY_HAND

from kohort.apis.bridges.lws_to_ms import convert_to_serving
from kohort.apis.leaderworkerset.admission.defaults import default_workload
from kohort.apis.leaderworkerset.objects.pods import leader_pods, worker_pods
from kohort.apis.leaderworkerset.spec import size_of
from kohort.apis.modelserving.objects.instances import InstancePlace
from kohort.apis.modelserving.objects.pods import PodMaker
from kohort.apis.modelserving.plugins.chain import build_chain
from kohort.apis.modelserving.plugins.known import BUILT_INS
from kohort.apis.modelserving.spec import read_spec
from kohort.cluster.objects import Object, annotations_of, labels_of
from lws_samples import SHARED, list_upstream

PREFIX = "leaderworkerset.sigs.k8s.io/"
# Why a value may differ. Every other value must be equal.
DIFFERS = {
    PREFIX + "template-revision-hash": "it is the revision of the ModelServing",
    PREFIX + "leader-name": "the entry pod is named by its role",
    PREFIX + "subgroup-key": "it is a hash of the leader's name",
    "LWS_LEADER_ADDRESS": "it names the leader",
    "TPU_WORKER_HOSTNAMES": "it names all pods",
    "TPU_PROCESS_ADDRESSES": "it names all pods",
    "TPU_NAME": "it is the leader's name",
}
GROUP = 1
SAMPLES = [*BY_HAND, *list_upstream()]


def place(obj: Object) -> Object:
    """The object as a server stores it: with a namespace and a uid."""
    return {**obj, "metadata": {"namespace": "default", "uid": "u", **obj["metadata"]}}


def original_pods(lws: Object) -> list[Object]:
    stored = default_workload(place(lws))
    (leader,) = leader_pods(stored, "abc", [GROUP])
    assert isinstance(leader, dict)
    leader["metadata"]["uid"] = "leader"
    workers = worker_pods(stored, leader, range(1, size_of(stored)))
    return [pod for pod in (leader, *workers) if isinstance(pod, dict)]


def converted_pods(lws: Object) -> list[Object]:
    serving = place(convert_to_serving(lws, "default").object)
    spec = read_spec(serving)
    maker = PodMaker(serving, "67b8d4b8c7", {}, build_chain(spec.plugins, BUILT_INS))
    instance = InstancePlace(GROUP, spec.roles[0], 0)
    return [maker.make(instance, index) for index in range(spec.roles[0].size)]


def collect_keys(found: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in found.items() if key.startswith(PREFIX)}


def list_variables(pod: Object) -> list[dict[str, str | None]]:
    """The variables of every container, init containers last."""
    spec = pod["spec"]
    containers = [*spec["containers"], *(spec.get("initContainers") or [])]
    return [{v["name"]: v.get("value") for v in c.get("env") or []} for c in containers]


def check_kept(before: dict, after: dict) -> None:
    assert set(before) - set(after) == set()
    changed = {key for key, value in before.items() if after[key] != value}
    assert changed - set(DIFFERS) == set()


@pytest.mark.parametrize(("name", "lws"), SAMPLES, ids=[name for name, _ in SAMPLES])
def test_pods_carry_every_label_annotation_and_variable_of_the_original(name: str, lws: Object):
    before, after = original_pods(lws), converted_pods(lws)
    assert len(before) == len(after) > 0
    for old, new in zip(before, after, strict=True):
        check_kept(collect_keys(labels_of(old)), labels_of(new))
        check_kept(collect_keys(annotations_of(old)), annotations_of(new))
        pairs = zip(list_variables(old), list_variables(new), strict=True)
        for theirs, ours in pairs:
            check_kept(theirs, ours)


@pytest.mark.parametrize(("name", "lws"), SAMPLES, ids=[name for name, _ in SAMPLES])
def test_pods_keep_labels_and_annotations_of_their_templates(name: str, lws: Object):
    for old, new in zip(original_pods(lws), converted_pods(lws), strict=True):
        added = ("kohort.dev/carrier", "statefulset.kubernetes.io/", "apps.kubernetes.io/", PREFIX)
        own = {k: v for k, v in labels_of(old).items() if not k.startswith(added)}
        assert own.items() <= labels_of(new).items()


def test_the_samples_of_upstream_are_among_them_where_they_are_given():
    assert len(list_upstream()) == (16 if SHARED else 0)


def test_a_pod_finds_its_leader_by_the_address_of_the_entry():
    first, second, _ = converted_pods(BY_HAND[1][1])
    address = "llama-1-default-0-0.ml"
    assert list_variables(first)[0]["LWS_LEADER_ADDRESS"] == address
    assert list_variables(second)[0]["LWS_LEADER_ADDRESS"] == address
