"""The worked example of a disaggregated service: every object that must exist, by its essentials.

Group m1 in ns1: engine (leader and one worker, 2 instances), decoder (3), router (1).
"""

import orjson
import pytest
import yaml
from group_builders import group, leader_worker, standalone
from group_contexts import context_of, contexts_of, set_of

from kohort.apis.facts import Whole
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.group_facts import heed_adapters
from kohort.apis.rolebasedgroup.objects.adapters import make_adapter, make_selector
from kohort.apis.rolebasedgroup.objects.config import make_config_map
from kohort.apis.rolebasedgroup.objects.instances import make_instance
from kohort.apis.rolebasedgroup.objects.pods import list_places, make_pod
from kohort.apis.rolebasedgroup.objects.services import make_service
from kohort.apis.rolebasedgroup.revision import make_group_revision
from kohort.cluster.objects import Object, annotations_of, labels_of, name_of

SHA1 = "54ac907422ef10124dda56f8a34a7f84a8c5925d"  # of ns1/m1
ADAPTER = {"scalingAdapter": {"enable": True}}
M1 = group(
    leader_worker("engine", size=2, replicas=2),
    standalone("decoder", replicas=3, **ADAPTER),
    standalone("router", replicas=1, **ADAPTER),
)
P = "rbg.workloads.x-k8s.io/"
COMMON = {P + "group-name": "m1", P + "group-uid": SHA1}


def pods_of(role: str, ordinal: int) -> list[Object]:
    instance = make_instance(set_of(M1, role), ordinal, f"m1-{role}-abc")
    instance["metadata"]["uid"] = "uid"
    return [make_pod(instance, place, "def") for place in list_places(instance)]


def test_the_revision_is_named_by_its_hash_and_number():
    made = make_group_revision(M1, 1)
    digest = labels_of(made)[P + "group-revision"]
    assert name_of(made) == f"m1-{digest}-1"
    assert labels_of(made)[P + "group-name"] == "m1"


def test_the_config_map_lists_leaders_and_pods():
    made = make_config_map(M1, contexts_of(M1))
    assert made is not None and name_of(made) == "m1"
    config = yaml.safe_load(made["data"]["config.yaml"])
    assert config["group"] == {"name": "m1", "size": 3, "roles": ["engine", "decoder", "router"]}
    engine = [found["address"] for found in config["roles"]["engine"]["instances"]]
    assert engine == ["m1-engine-0-0.s-m1-engine", "m1-engine-1-0.s-m1-engine"]
    decoder = config["roles"]["decoder"]
    assert decoder["size"] == 3
    assert decoder["instances"][2] == {"address": "m1-decoder-2.s-m1-decoder"}


def test_the_set_of_leader_and_workers():
    made = set_of(M1, "engine")
    assert name_of(made) == "m1-engine" and made["spec"]["replicas"] == 2
    marks = labels_of(made)
    assert COMMON.items() <= marks.items()
    assert marks[P + "role-type"] == "LeaderWorkerSet" and P + "role-revision-engine" in marks
    assert annotations_of(made) == {P + "role-size": "2", P + "role-instance-pattern": "Stateful"}
    template = made["spec"]["roleInstanceTemplate"]
    shown = [(c["name"], c["size"], c.get("serviceName")) for c in template["components"]]
    assert shown == [("leader", 1, "s-m1-engine"), ("worker", 1, None)]
    assert template["restartPolicyConfig"] == {
        "type": "RecreateRoleInstanceOnPodRestart",
        "baseDelaySeconds": 30,
        "maxDelaySeconds": 600,
    }
    assert made["spec"]["updateStrategy"] == {
        "type": "InPlaceIfPossible",
        "maxUnavailable": 1,
        "maxSurge": 0,
        "partition": 0,
        "paused": False,
    }


def test_the_set_of_a_standalone_role():
    template = set_of(M1, "decoder")["spec"]["roleInstanceTemplate"]
    shown = [(c["name"], c["size"], c["serviceName"]) for c in template["components"]]
    assert shown == [("decoder", 1, "s-m1-decoder")]
    assert template["restartPolicyConfig"]["type"] == "None"


def test_services_are_headless_and_that_of_the_engine_leads_to_leaders():
    made = {
        role: make_service(context_of(M1, role), set_of(M1, role)) for role in ("engine", "router")
    }
    for service in made.values():
        assert service["spec"]["clusterIP"] == "None"
        assert service["spec"]["publishNotReadyAddresses"] is True
        assert "ports" not in service["spec"]
    roles = {P + "group-name": "m1", P + "role-name": "engine", P + "component-name": "leader"}
    assert made["engine"]["spec"]["selector"] == roles
    assert P + "component-name" not in made["router"]["spec"]["selector"]
    assert "controller" not in made["router"]["metadata"]["ownerReferences"][0]


def test_instances_belong_to_their_set_and_say_the_whole_revision():
    made = make_instance(set_of(M1, "engine"), 1, "m1-engine-abc")
    assert name_of(made) == "m1-engine-1"
    assert made["metadata"]["ownerReferences"][0]["kind"] == "RoleInstanceSet"
    marks = labels_of(made)
    assert marks["controller-revision-hash"] == "m1-engine-abc"
    assert marks[P + "role-instance-index"] == "1"
    assert marks["statefulset.kubernetes.io/pod-name"] == "m1-engine-1"


def test_pods_of_leader_and_worker():
    leader, worker = pods_of("engine", 0)
    assert (name_of(leader), name_of(worker)) == ("m1-engine-0-0", "m1-engine-0-1")
    for pod, own in ((leader, ("leader", "0", "0")), (worker, ("worker", "0", "1"))):
        marks = labels_of(pod)
        assert COMMON.items() <= marks.items()
        keys = ("component-name", "component-id", "component-index")
        assert tuple(marks[P + key] for key in keys) == own
        assert marks[P + "component-size"] == "2"
        assert marks[P + "role-instance-name"] == "m1-engine-0"
        assert marks[P + "role-instance-index"] == "0"
        assert marks["controller-revision-hash"] == "def"
        gates = [gate["conditionType"] for gate in pod["spec"]["readinessGates"]]
        assert gates == ["InPlaceUpdateReady", "InstancePodReady"]
    assert (leader["spec"]["hostname"], leader["spec"]["subdomain"]) == (
        "m1-engine-0-0",
        "s-m1-engine",
    )
    assert "subdomain" not in worker["spec"]


def test_pods_of_a_standalone_role_have_their_instances_names():
    assert [name_of(pod) for n in range(3) for pod in pods_of("decoder", n)] == [
        "m1-decoder-0",
        "m1-decoder-1",
        "m1-decoder-2",
    ]
    (pod,) = pods_of("router", 0)
    assert labels_of(pod)[P + "component-name"] == "router"
    mounts = pod["spec"]["containers"][0]["volumeMounts"]
    assert mounts == [{"name": "rbg-cluster-config", "mountPath": "/etc/rbg", "readOnly": True}]


def test_adapters_scale_their_role_and_select_its_pods():
    made = make_adapter(context_of(M1, "decoder"))
    assert name_of(made) == "m1-decoder"
    assert made["spec"] == {"replicas": 3, "scaleTargetRef": {"name": "m1", "role": "decoder"}}
    wanted = f"{P}group-name=m1,{P}group-uid={SHA1},{P}role-name=decoder"
    assert make_selector(context_of(M1, "decoder")) == wanted


def test_raising_one_role_changes_its_set_alone_and_makes_no_revision():
    more = group(
        leader_worker("engine", size=2, replicas=2),
        standalone("decoder", replicas=5, **ADAPTER),
        standalone("router", replicas=1, **ADAPTER),
    )
    assert make_group_revision(more, 1) == make_group_revision(M1, 1)
    assert set_of(more, "engine") == set_of(M1, "engine")
    before, after = set_of(M1, "decoder"), set_of(more, "decoder")
    assert after["spec"].pop("replicas") == 5 and before["spec"].pop("replicas") == 3
    assert after["spec"] == before["spec"]
    assert labels.ROLE_SIZE in annotations_of(after)


@pytest.mark.parametrize("kind", ["apps/v1/StatefulSet", "apps/v1/Deployment"])
def test_an_autoscaler_finds_pods_whatever_carries_the_role_4(kind: str):
    """Defect 4: the selector was empty for StatefulSets and Deployments."""
    found = group(standalone("a", annotations={labels.WORKLOAD_TYPE: kind}, **ADAPTER))
    wanted = f"{P}group-name=m1,{P}group-uid={SHA1},{P}role-name=a"
    assert make_selector(context_of(found, "a")) == wanted


def test_an_autoscaler_counts_an_instance_of_leader_and_workers_once():
    assert make_selector(context_of(M1, "engine")).endswith(f",{P}component-index=0")


@pytest.mark.parametrize(
    ("owners", "name", "replicas"),
    [
        ([{"uid": "own"}], "m1-decoder", 5),
        ([], "m1-decoder", 5),  # a deleted group left it behind, and the new one takes it back
        ([{"uid": "other"}], "m1-decoder", 3),
        ([], "mine", 3),  # a user made it
    ],
)
def test_an_adapter_that_is_or_becomes_the_groups_says_its_replicas(
    owners: list[Object], name: str, replicas: int
):
    role = {"name": "decoder", "replicas": 3, "scalingAdapter": {"enable": True}}
    group = {"metadata": {"name": "m1", "uid": "own"}, "spec": {"roles": [role]}}
    adapter = {
        "metadata": {"name": name, "ownerReferences": owners},
        "spec": {"replicas": 5, "scaleTargetRef": {"name": "m1", "role": "decoder"}},
        "status": {"phase": "Bound"},
    }
    found = heed_adapters(group, (Whole(orjson.dumps(adapter)),))
    assert found["spec"]["roles"][0]["replicas"] == replicas
