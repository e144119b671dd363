"""Ports, addresses of components, former nodes and PodGroups of a RoleBasedGroup."""

import json

import pytest
from group_builders import component, components, group, leader_worker, standalone
from group_contexts import set_of
from hypothesis import given
from hypothesis import strategies as st

from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.dialects.coscheduling import COSCHEDULING
from kohort.apis.gangs.dialects.volcano import VOLCANO
from kohort.apis.gangs.intent import Tiers
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.admission.warnings import warn_group
from kohort.apis.rolebasedgroup.objects import former_nodes, gangs, ports
from kohort.apis.rolebasedgroup.objects.gangs import RoleMembers
from kohort.apis.rolebasedgroup.objects.instances import make_instance
from kohort.apis.rolebasedgroup.objects.pods import list_places, make_pod
from kohort.apis.rolebasedgroup.roles import SchedulingSpec
from kohort.apis.rolebasedgroup.spec import read_spec
from kohort.cluster.objects import Object, annotations_of


def asks(name: str, env: str, scope: str, **more: str) -> dict[str, str]:
    request = {"name": name, "env": env, "scope": scope, **more}
    return {labels.PORT_ALLOCATOR: json.dumps({"allocations": [request]})}


def knows(**refs: list[Object]) -> dict[str, str]:
    return {labels.DISCOVERY: json.dumps(refs)}


ADDRESSES = [{"env": "LEADER_ADDR", "component": "leader", "index": 0}]
PORTS = [
    {"env": "LEADER_PORT", "component": "leader", "portName": "grpc"},
    {"env": "WORKER_1_PORT", "component": "worker", "portName": "http", "index": 1},
]
SERVER = group(
    components(
        "prefill",
        component("leader", annotations=asks("grpc", "OWN", "RoleScoped", annotationKey="my/port")),
        component("worker", 2, annotations=asks("http", "HTTP", "PodScoped")),
        component("router", annotations=knows(addressRefs=ADDRESSES, portRefs=PORTS)),
    ),
    name="pd",
)


def instance() -> Object:
    made = make_instance(set_of(SERVER, "prefill"), 0, "r")
    made["metadata"]["uid"] = "uid"
    return made


def pod_named(name: str, given: dict[str, int]) -> Object:
    made = instance()
    place = next(p for p in list_places(made) if p.name == name)
    return ports.inject_ports(make_pod(made, place, "h"), made, place, given)


def env_of(pod: Object) -> dict[str, str]:
    return {v["name"]: v.get("value", "") for v in pod["spec"]["containers"][0]["env"]}


CHOSEN = {"leader.grpc": 30001, "pd-prefill-0-worker-0.http": 30002}
CHOSEN |= {"pd-prefill-0-worker-1.http": 30003}


def test_ports_are_stored_by_pod_or_by_component():
    keys = ports.list_port_keys(instance())
    assert keys.of_role == ("leader.grpc",)
    assert keys.of_pods == ("pd-prefill-0-worker-0.http", "pd-prefill-0-worker-1.http")
    notes = {"leader.grpc": "30001", "other": "x"}
    assert ports.read_ports(notes, keys.of_role) == {"leader.grpc": 30001}


def test_pods_get_variables_and_annotations_for_their_ports():
    leader = pod_named("pd-prefill-0-leader-0", CHOSEN)
    assert env_of(leader)["OWN"] == "30001"
    assert annotations_of(leader)["my/port"] == "30001"
    assert env_of(pod_named("pd-prefill-0-worker-1", CHOSEN))["HTTP"] == "30003"


def test_a_component_gets_addresses_and_ports_of_others():
    router = env_of(pod_named("pd-prefill-0-router-0", CHOSEN))
    wanted = "pd-prefill-0-leader-0.s-pd-prefill.ns1.svc.cluster.local"
    assert router["LEADER_ADDR"] == wanted
    assert (router["LEADER_PORT"], router["WORKER_1_PORT"]) == ("30001", "30003")


def test_an_unallocated_port_is_named():
    assert ports.list_unknown_ports(instance(), {}) == []
    asked = {"references": [{"env": "E", "from": "decode.engine.rpc"}]}
    refs = {"portRefs": [{"env": "P", "component": "leader", "portName": "http"}]}
    notes = {labels.PORT_ALLOCATOR: json.dumps(asked), labels.DISCOVERY: json.dumps(refs)}
    server = group(components("prefill", component("leader", annotations=notes)), name="pd")
    made = make_instance(set_of(server, "prefill"), 0, "r")
    assert ports.list_unknown_ports(made, {"decode": ["engine.grpc"]}) == [
        "port 'http' of component 'leader' does not exist",
        "port 'engine.rpc' of role 'decode' does not exist",
    ]
    assert len(warn_group(server)) == 2


def test_a_pod_gets_the_port_of_another_role():
    notes = {labels.PORT_ALLOCATOR: json.dumps({"references": [{"env": "E", "from": "a.b.c"}]})}
    server = group(components("prefill", component("leader", annotations=notes)), name="pd")
    made = make_instance(set_of(server, "prefill"), 0, "r")
    made["metadata"]["uid"] = "uid"
    (place,) = list_places(made)
    pod = make_pod(made, place, "h")
    told = ports.inject_ports(pod, made, place, {}, {"a": {"b.c": 31000}})
    assert env_of(told)["E"] == "31000"


def test_templates_never_hold_what_was_allocated():
    made = set_of(SERVER, "prefill")
    assert "LEADER_ADDR" not in str(
        made["spec"]["roleInstanceTemplate"]["components"][2]["template"]["spec"]
    )


@given(st.sets(st.text(min_size=1, max_size=3), max_size=8), st.sets(st.integers(0, 9)))
def test_ports_are_free_unique_and_the_same_every_time(keys, taken):
    chosen = ports.choose_ports(keys, taken, first=0, count=10)
    assert len(set(chosen.values())) == len(chosen) == min(len(keys), 10 - len(taken))
    assert not set(chosen.values()) & taken
    assert ports.choose_ports(sorted(keys), taken, first=0, count=10) == chosen


def test_a_key_that_no_annotation_can_have_is_hashed():
    assert len(ports.port_key("p" * 80, "http")) <= 63
    assert ports.port_key("p" * 80, "http") != ports.port_key("p" * 80, "grpc")


def nodes_of(pod: Object) -> Object:
    return pod["affinity"]["nodeAffinity"]


def test_a_recreated_pod_prefers_its_former_node_22():
    """Defect 22: nodes were remembered in memory and lost with a restart."""
    kept = {
        "metadata": {"annotations": {labels.FORMER_NODES: former_nodes.write_nodes({"p": ["n1"]})}}
    }
    assert former_nodes.read_nodes(kept) == {"p": ["n1"]}
    assert former_nodes.read_nodes({}) == {}
    made = former_nodes.add_former_nodes({}, SchedulingSpec("Preferred"), ["n1"])
    (term,) = nodes_of(made)["preferredDuringSchedulingIgnoredDuringExecution"]
    wanted = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1"]}
    assert term == {"weight": 100, "preference": {"matchExpressions": [wanted]}}


def test_a_required_node_is_added_to_every_alternative_term():
    terms = [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}, {"matchFields": []}]
    rule = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    pod = {"affinity": {"nodeAffinity": rule}}
    spec = SchedulingSpec("Required", avoided=("bad",))
    made = nodes_of(former_nodes.add_former_nodes(pod, spec, ["n2", "n1"]))
    found = made["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert len(found) == len(terms)
    for term in found:
        assert term["matchExpressions"][-2]["values"] == ["n1", "n2"]
        assert term["matchExpressions"][-1] == {"key": "bad", "operator": "DoesNotExist"}
    assert found[0]["matchExpressions"][0]["key"] == "a"


@pytest.mark.parametrize("spec", [SchedulingSpec(), SchedulingSpec(avoided=("bad",))])
def test_without_a_mode_pods_are_placed_anywhere(spec: SchedulingSpec):
    assert former_nodes.add_former_nodes({"x": 1}, spec, ["n1"]) == {"x": 1}
    assert former_nodes.add_former_nodes({}, SchedulingSpec("Preferred"), []) == {}


def test_nodes_are_remembered_by_pod_or_by_component():
    by_pod, by_component = SchedulingSpec("Preferred"), SchedulingSpec("Preferred", "Component")
    assert former_nodes.place_key(by_pod, "r", "c", "p-0") == "p-0"
    assert former_nodes.place_key(by_component, "r", "c", "p-0") == "r-c"


GANG = group(
    leader_worker("engine", size=4, replicas=2),
    components("c", component("x", 2), component("y"), replicas=3),
    standalone("router", replicas=1),
    notes={labels.GANG: "true", labels.GANG_TIMEOUT: "90", "scheduling.x-k8s.io/mine": "1"},
)


def test_every_pod_of_every_component_counts_in_a_gang_19():
    """Defect 19: sizes of components were ignored, and dependencies dead-locked the group."""
    whole = {role.name: RoleMembers(role.replicas, role.size) for role in read_spec(GANG).roles}
    assert gangs.count_members(whole) == 8 + 9 + 1
    assert gangs.count_members({**whole, "c": RoleMembers(0, 3)}) == 9
    assert gangs.count_members({**whole, "c": RoleMembers(3, 3, held=3)}) == 15
    assert gangs.count_members({**whole, "router": RoleMembers(3, 1)}) == 20


def pod_group(obj: Object, dialect: Dialect) -> Object:
    spec = read_spec(obj)
    members = {role.name: RoleMembers(role.replicas, role.size) for role in spec.roles}
    made = gangs.make_gang({**obj, "apiVersion": "v", "kind": "k"}, spec, dialect, members)
    (found,) = gangs.render_gang(made, spec, dialect, Tiers())
    return found


def test_pod_groups_speak_the_words_of_their_scheduler():
    made = pod_group(GANG, COSCHEDULING)
    assert made["apiVersion"] == "scheduling.x-k8s.io/v1alpha1"
    assert made["spec"] == {"minMember": 18, "scheduleTimeoutSeconds": 90}
    assert annotations_of(made) == {"scheduling.x-k8s.io/mine": "1"}
    notes = {labels.GANG: "true", labels.GANG_QUEUE: "q", labels.GANG_PRIORITY: "high"}
    volcano = group(standalone("a"), notes=notes)
    made = pod_group(volcano, VOLCANO)
    assert made["apiVersion"] == "scheduling.volcano.sh/v1beta1"
    parts = made["spec"].pop("subGroupPolicy")
    assert made["spec"].pop("minResources") == {}
    assert made["spec"] == {"minMember": 1, "queue": "q", "priorityClassName": "high"}
    (part,) = parts
    assert (part["name"], part["subGroupSize"], part["minSubGroups"]) == ("a", 1, 1)


def test_the_scheduler_that_pods_name_decides_whose_gang_it_is():
    both = (COSCHEDULING, VOLCANO)
    named = group(standalone("a"))
    named["spec"]["roles"][0]["standalonePattern"]["template"]["spec"]["schedulerName"] = "volcano"
    assert gangs.choose_dialect(named, both) is VOLCANO
    assert gangs.choose_dialect(group(standalone("a")), both) is COSCHEDULING
    assert gangs.choose_dialect(group(standalone("a")), ()) is None
