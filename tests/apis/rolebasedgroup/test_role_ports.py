"""Role-wide ports: in any order of actions, on views of any age, no two groups get the same."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
import pytest
from group_builders import component, components, group, template
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.apis.api import Snapshot
from kohort.apis.facts import Whole
from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.group_facts import find_facts
from kohort.apis.rolebasedgroup.objects.instances import make_instance
from kohort.apis.rolebasedgroup.objects.ports import choose_ports
from kohort.apis.rolebasedgroup.pod_facts import RolePod, read_pod
from kohort.apis.rolebasedgroup.role_facts import GroupFacts, RoleFacts
from kohort.apis.rolebasedgroup.role_ports import are_settled
from kohort.cluster.kinds import CONTROLLER_REVISION, POD
from kohort.cluster.objects import Object, annotations_of

KEY = "leader.rpc"


def told(**said: Any) -> Object:
    return {"annotations": {labels.PORT_ALLOCATOR: json.dumps(said)}}


ASKS = told(allocations=[{"name": "rpc", "env": "PORT", "scope": "RoleScoped"}])
REFERS = told(references=[{"env": "KV", "from": "kv.leader.rpc"}])
SERVER = components("kv", component("leader", **ASKS))
CLIENT = components("web", component("client", **REFERS))


def first_choice(name: str) -> int:
    return choose_ports([KEY], (), owner=f"ns1/{name}-kv")[KEY]


def find_rivals(count: int) -> list[str]:
    """Names of groups that all choose the same port in an empty cluster."""
    asked = first_choice("g0")
    listed = (f"g{n}" for n in range(1_000_000))
    found = (name for name in listed if first_choice(name) == asked)
    return [next(found) for _ in range(count)]


RIVALS = find_rivals(3)


@dataclass(frozen=True)
class Stored:
    """The set of a group, as the API server stores it."""

    name: str
    body: Object

    @property
    def port(self) -> str:
        return annotations_of(self.body)[KEY]


def owned(facts: RoleFacts, uid: str) -> Object:
    """A set as its group wrote it, with what the API server adds."""
    made = facts.instance_set
    owner = {"kind": "RoleBasedGroup", "name": "g", "uid": uid, "controller": True}
    metadata = {**made["metadata"], "uid": f"set-{uid}-{facts.spec.name}"}
    return {**made, "metadata": {**metadata, "ownerReferences": [owner]}}


def read(root: Object, sets: list[Object], others: list[Object], pods: list[RolePod]) -> GroupFacts:
    wholes = {labels.INSTANCE_SET: tuple(Whole(orjson.dumps(each)) for each in sets)}
    beside = {labels.INSTANCE_SET: tuple(Whole(orjson.dumps(each)) for each in others)}
    return find_facts(Snapshot(root, {**wholes, POD: tuple(pods)}, beside=beside))


def pod_of(role: RoleFacts) -> RolePod:
    marks = {
        labels.ROLE_NAME: role.spec.name,
        labels.REVISION: names.short_revision(role.target),
    }
    return read_pod(orjson.dumps({"metadata": {"name": "p", "uid": "p", "labels": marks}}))


def instance_of(role: RoleFacts) -> Object:
    return make_instance(role.instance_set, 0, role.target)


@dataclass
class World:
    """Sets of rival groups, in the order in which they were written, and which pods run."""

    writes: list[Stored] = field(default_factory=list)
    pods: dict[str, tuple[str, RolePod]] = field(default_factory=dict)
    own: dict[str, int] = field(default_factory=dict)  # the writes that a group's plan awaits

    def plan_once(self, name: str, lag: int) -> None:
        """One plan for one group, from a view that has its own last write."""
        upto = max(self.own.get(name, 0), len(self.writes) - lag)
        view = {each.name: each for each in self.writes[:upto]}
        root = group(SERVER, name=name)
        root["metadata"]["uid"] = name
        sets = [view[name].body] if name in view else []
        pods = [self.pods[name][1]] if name in self.pods else []
        facts = read(root, sets, [each.body for each in view.values()], pods)
        role = facts.roles["kv"]
        body = owned(role, name)
        if not sets or annotations_of(sets[0]) != annotations_of(body):
            self.writes.append(Stored(name, body))
            self.own[name] = len(self.writes)
        elif are_settled(facts.roles, "kv", instance_of(role)):
            self.pods.setdefault(name, (view[name].port, pod_of(role)))


MOVES = st.tuples(st.sampled_from(RIVALS), st.integers(0, 4))


@pytest.mark.hypothesis
@settings(max_examples=60, deadline=None)
@given(st.lists(MOVES, max_size=20))
def test_no_two_groups_have_pods_with_one_role_wide_port(moves: list[tuple[str, int]]):
    world = World()
    for name, lag in (*moves, *[(n, 0) for _ in range(4) for n in RIVALS]):
        world.plan_once(name, lag)
        ports = [port for port, _ in world.pods.values()]
        assert len(set(ports)) == len(ports)
    assert len(world.pods) == len(RIVALS)
    latest = {each.name: each.port for each in world.writes}
    assert latest == {name: port for name, (port, _) in world.pods.items()}


def rival_of(held: Object) -> Object:
    return {**held, "metadata": {**held["metadata"], "name": "other", "uid": "other"}}


def start(*roles: Object) -> tuple[Object, list[Object]]:
    """A group, and its sets as they were first written."""
    root = group(*roles, name="g0")
    facts = read(root, [], [], [])
    return root, [owned(role, root["metadata"]["uid"]) for role in facts.roles.values()]


def test_no_pod_gets_a_port_that_is_not_stored():
    root, _ = start(SERVER, CLIENT)
    facts = read(root, [], [], [])
    for name in ("kv", "web"):
        assert not are_settled(facts.roles, name, instance_of(facts.roles[name]))


def test_a_port_that_another_set_has_is_replaced_before_a_pod_gets_it():
    root, sets = start(SERVER, CLIENT)
    facts = read(root, sets, [*sets, rival_of(sets[0])], [])
    assert facts.roles["kv"].ports[KEY] != int(annotations_of(sets[0])[KEY])
    assert not are_settled(facts.roles, "kv", instance_of(facts.roles["kv"]))
    assert not are_settled(facts.roles, "web", instance_of(facts.roles["web"]))


@pytest.mark.parametrize("name", ["kv", "web"])
def test_a_port_that_a_pod_uses_stays_even_if_another_set_has_it(name: str):
    root, sets = start(SERVER, CLIENT)
    before = read(root, sets, sets, [])
    facts = read(root, sets, [*sets, rival_of(sets[0])], [pod_of(before.roles[name])])
    assert facts.roles["kv"].ports[KEY] == int(annotations_of(sets[0])[KEY])
    assert are_settled(facts.roles, "web", instance_of(facts.roles["web"]))


def test_a_pod_of_another_revision_holds_no_port_that_it_does_not_use():
    old, _ = start(components("kv", component("leader")))
    plain = read(old, [], [], []).roles["kv"]
    root, sets = start(SERVER)
    revision = {
        "metadata": {
            "name": plain.target,
            "uid": "r",
            "labels": {labels.HASH: names.short_revision(plain.target)},
            "ownerReferences": [{"uid": sets[0]["metadata"]["uid"], "controller": True}],
        },
        "revision": 1,
        "data": {"spec": {"roleInstanceTemplate": plain.target_template}},
    }
    wholes = {labels.INSTANCE_SET: (Whole(orjson.dumps(sets[0])),), POD: (pod_of(plain),)}
    wholes[CONTROLLER_REVISION] = (Whole(orjson.dumps(revision)),)
    both = tuple(Whole(orjson.dumps(each)) for each in (sets[0], rival_of(sets[0])))
    facts = find_facts(Snapshot(root, wholes, beside={labels.INSTANCE_SET: both}))
    assert facts.roles["kv"].ports[KEY] != int(annotations_of(sets[0])[KEY])


def test_two_roles_of_one_group_never_choose_one_port():
    asked = first_choice("g0")
    names_tried = (f"r{n}" for n in range(1_000_000))
    owners = ((name, f"ns1/g0-{name}") for name in names_tried)
    same = next(n for n, owner in owners if choose_ports([KEY], (), owner=owner)[KEY] == asked)
    _, sets = start(SERVER, {**SERVER, "name": same})
    first, second = (annotations_of(each)[KEY] for each in sets)
    assert int(first) == asked != int(second)


def test_two_groups_that_both_lose_a_port_do_not_meet_again():
    chosen = []
    roots = [group(SERVER, name=name) for name in RIVALS[:2]]
    for root, name in zip(roots, RIVALS, strict=False):
        root["metadata"]["uid"] = name
    first = [owned(read(root, [], [], []).roles["kv"], root["metadata"]["uid"]) for root in roots]
    assert len({annotations_of(each)[KEY] for each in first}) == 1
    for root, held in zip(roots, first, strict=True):
        chosen.append(read(root, [held], first, []).roles["kv"].ports[KEY])
    assert len({*chosen, int(annotations_of(first[0])[KEY])}) == 3


def test_a_role_without_a_request_is_as_it_was():
    root = group({"name": "a", "replicas": 1, "standalonePattern": {"template": template()}})
    (role,) = read(root, [], [], []).roles.values()
    assert not role.ports and replace(role, settled=frozenset()).instance_set is role.instance_set
