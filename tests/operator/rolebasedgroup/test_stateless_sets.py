"""Stateless instances: names without ordinals, replaced one for another, and held by hooks."""

import pytest
from group_lab import group, standalone
from single_lab import IMAGE, INSTANCE, SET, SingleLab, instance_set, start_instances

from kohort.cluster import kinds
from kohort.cluster.objects import find_condition, is_true, labels_of

P = "rbg.workloads.x-k8s.io/"
STATELESS = {P + "role-instance-pattern": "Stateless"}
RECREATE = {"type": "RecreatePod"}
HOOK = {"labelsHandler": {"example.com/drain": "wanted"}}
HELD = "/metadata/labels/example.com~1drain"
STATE = P + "role-instance-lifecycle-state"
LAB = SingleLab


async def start(lab: SingleLab, **more) -> set[str]:
    """Make a stateless set, and let it become ready; the uids of its instances."""
    await start_instances(lab, annotations=STATELESS, **more)
    return set(lab.instance_uids().values())


async def start_held(lab: SingleLab, **more) -> set[str]:
    """Make a stateless set whose instances another client holds."""
    made = instance_set(annotations=STATELESS, **more)
    made["metadata"]["labels"]["example.com/drain"] = "wanted"
    await lab.apply(made)
    await lab.until(lab.is_set_done, 60)
    return set(lab.instance_uids().values())


def states(lab: SingleLab) -> list[str]:
    return sorted(labels_of(found)[STATE] for found in lab.instances().values())


async def let_go(lab: SingleLab, state: str) -> str:
    """The other client lets the instance in a state go; its name."""
    named = {labels_of(found)[STATE]: name for name, found in lab.instances().items()}
    await lab.edit(named[state], {"op": "remove", "path": HELD}, kind=INSTANCE)
    return named[state]


async def test_stateless_instances_have_identities_and_no_ordinals(lab: SingleLab):
    await start(lab)
    for name, found in lab.instances().items():
        marks = labels_of(found)
        assert name == f"x-{marks[P + 'role-instance-id']}" and len(name) == 7
        assert marks[P + "role-instance-owner"] == lab.set()["metadata"]["uid"]
        assert P + "role-instance-index" not in marks
        assert lab.set()["status"]["updateRevision"].endswith(marks["controller-revision-hash"])


async def test_a_stateless_role_of_a_group_becomes_ready_and_rolls(lab: SingleLab):
    await lab.apply(group(standalone(annotations=STATELESS)))
    await lab.until(lab.is_done, 60)
    before = lab.uids()
    assert all(len(name) == len("x-router-") + 5 for name in before)
    await lab.set_image("engine:2")
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 60)
    assert lab.uids() == before


async def test_a_new_instance_waits_for_no_name_that_is_still_taken(lab: SingleLab):
    await start(lab)
    first = min(lab.instances())
    stay = {"op": "add", "path": "/metadata/finalizers", "value": ["example.com/stay"]}
    await lab.edit(f"{first}-engine-0", stay, kind=kinds.POD)
    await lab.delete(INSTANCE, first)
    await lab.until(lambda: first not in lab.instances() and lab.is_set_done(), 60)
    assert lab.find(kinds.POD, f"{first}-engine-0") is not None


async def test_a_surge_rollout_starts_each_instance_once(lab: SingleLab):
    update = {**RECREATE, "maxSurge": 1, "maxUnavailable": 0}
    before, seen, least = await start(lab, updateStrategy=update), set(), 2
    await lab.change(IMAGE, "engine:2")
    while lab.images() != {"engine:2"} or not lab.is_set_done():
        await lab.run(0.5)
        seen |= set(lab.instance_uids().values())
        least = min(least, sum(is_true(pod, "Ready") for pod in lab.pods().values()))
    assert len(seen - before) == 2
    assert least == 2


async def test_instances_with_the_lowest_cost_go_first(lab: SingleLab):
    await start(lab, replicas=3)
    dear = sorted(lab.instances())[1:]
    for name in dear:
        notes = {"controller.kubernetes.io/instance-deletion-cost": "9"}
        path = "/metadata/annotations"
        await lab.edit(name, {"op": "add", "path": path, "value": notes}, kind=INSTANCE)
    await lab.change("/spec/replicas", 2)
    await lab.until(lambda: len(lab.instances()) == 2, 60)
    assert sorted(lab.instances()) == dear


@pytest.mark.parametrize("way", ["label", "list"])
async def test_an_instance_that_the_user_names_is_replaced(lab: SingleLab, way: str):
    await start(lab, updateStrategy={"maxUnavailable": 1})
    first, other = lab.instances()
    uid = lab.instance_uids()[other]
    if way == "label":
        path = f"/metadata/labels/{P.replace('/', '~1')}role-instance-delete"
        await lab.edit(first, {"op": "add", "path": path, "value": "yes"}, kind=INSTANCE)
    else:
        await lab.change("/spec/scaleStrategy", {"roleInstanceToDelete": [first]})
    await lab.until(lambda: first not in lab.instances() and lab.is_set_done(), 60)
    assert lab.instance_uids()[other] == uid


@pytest.mark.parametrize("begin", ["Stateful", "Stateless"])
async def test_a_switch_of_the_pattern_replaces_instances_within_the_budget(
    lab: SingleLab, begin: str
):
    update, pattern = {**RECREATE, "maxUnavailable": 1}, {P + "role-instance-pattern": begin}
    await start_instances(lab, replicas=3, annotations=pattern, updateStrategy=update)
    value, least = "Stateful" if begin == "Stateless" else "Stateless", 3
    path = f"/metadata/annotations/{P.replace('/', '~1')}role-instance-pattern"
    before = set(lab.instances())
    await lab.change(path, value)
    while before & set(lab.instances()) or not lab.is_set_done():
        await lab.run(0.5)
        least = min(least, sum(is_true(pod, "Ready") for pod in lab.pods().values()))
    assert least == 2
    assert (set(lab.instances()) == {"x-0", "x-1", "x-2"}) == (value == "Stateful")


async def test_a_deletion_waits_until_the_hook_is_removed(lab: SingleLab):
    await start_held(lab, lifecycle={"preDelete": HOOK})
    await lab.change("/spec/replicas", 1)
    await lab.run(60)
    assert states(lab) == ["Normal", "PreparingDelete"]
    name = await let_go(lab, "PreparingDelete")
    await lab.until(lambda: name not in lab.instances(), 60)
    assert states(lab) == ["Normal"]


async def test_a_set_says_that_it_waits_for_a_hook(lab: SingleLab):
    await start_held(lab, lifecycle={"preDelete": HOOK})
    await lab.change("/spec/replicas", 1)
    await lab.run(60)
    said = find_condition(lab.set(), "RoleWaiting") or {}
    assert (said["status"], said["reason"]) == ("True", "WaitingForHook")
    assert "label example.com/drain=wanted" in said["message"]
    told = [e["message"] for e in lab.all(kinds.EVENT) if e["reason"] == "WaitingForHook"]
    assert told == [said["message"]]
    await let_go(lab, "PreparingDelete")
    await lab.until(lambda: not is_true(lab.set(), "RoleWaiting"), 60)


async def test_an_instance_that_is_needed_again_is_normal_again(lab: SingleLab):
    before = await start_held(lab, lifecycle={"preDelete": HOOK})
    await lab.change("/spec/replicas", 1)
    await lab.until(lambda: "PreparingDelete" in states(lab), 60)
    await lab.change("/spec/replicas", 2)
    await lab.until(lambda: states(lab) == ["Normal", "Normal"], 60)
    await lab.run(30)
    assert set(lab.instance_uids().values()) == before


async def test_pods_leave_their_endpoints_while_their_instance_is_prepared(lab: SingleLab):
    hook = {**HOOK, "markPodNotReady": True}
    await start_held(lab, lifecycle={"preDelete": hook})
    await lab.change("/spec/replicas", 1)
    await lab.until(lambda: "PreparingDelete" in states(lab), 60)
    await lab.run(10)
    ready = {name: is_true(pod, "Ready") for name, pod in lab.pods().items()}
    assert sorted(ready.values()) == [False, True]


async def test_an_update_in_place_waits_for_its_hook_and_for_its_return(lab: SingleLab):
    update = {"maxUnavailable": 1}
    before = await start_held(lab, lifecycle={"inPlaceUpdate": HOOK}, updateStrategy=update)
    await lab.change(IMAGE, "engine:2")
    for _ in range(2):
        await lab.until(lambda: "PreparingUpdate" in states(lab), 60)
        await lab.run(60)
        assert states(lab) == ["Normal", "PreparingUpdate"]
        name = await let_go(lab, "PreparingUpdate")
        await lab.until(lambda: "Updated" in states(lab), 60)
        await lab.run(20)
        assert states(lab) == ["Normal", "Updated"]
        await lab.edit(name, {"op": "add", "path": HELD, "value": "wanted"}, kind=INSTANCE)
        await lab.until(lambda: "Updated" not in states(lab), 60)
    await lab.until(lambda: lab.is_set_done() and states(lab) == ["Normal", "Normal"], 60)
    assert lab.images() == {"engine:2"}
    assert set(lab.instance_uids().values()) == before


@pytest.mark.parametrize("writes", [1, 2, 3, 4, 5, 6, 8])
async def test_names_are_the_same_after_the_operator_ends(lab: SingleLab, writes: int):
    lab.cluster.left = writes
    await lab.apply(instance_set(annotations=STATELESS))
    names: set[str] = set()
    for _ in range(120):
        await lab.run(0.5)
        names |= set(lab.instances())
        if lab.cluster.is_dead:
            await lab.stop_operator()
            lab.start_operator()
    assert lab.is_set_done()
    assert names == set(lab.instances())


async def test_a_stateless_set_with_too_long_a_name_says_so(lab: SingleLab):
    made = instance_set(annotations=STATELESS)
    made["metadata"]["name"] = "x" * 58
    await lab.apply(made)
    await lab.run(5)
    found = lab.find(SET, "x" * 58)
    assert found is not None
    (stalled,) = [c for c in found["status"]["conditions"] if c["type"] == "Stalled"]
    assert "57 characters at most" in stalled["message"]


@pytest.mark.parametrize("amount", [2, "25%"])
async def test_a_set_grows_only_while_few_instances_are_unavailable(lab: SingleLab, amount):
    made = instance_set(annotations=STATELESS, replicas=8, scaleStrategy={"maxUnavailable": amount})
    await lab.apply(made)
    most = 0
    while not lab.is_set_done():
        await lab.run(0.25)
        ready = sum(is_true(found, "RoleInstanceReady") for found in lab.instances().values())
        most = max(most, len(lab.instances()) - ready)
    assert most == 2 and len(lab.instances()) == 8
