"""Adapters and carried roles, of which other clients change, take or delete an object meanwhile."""

from typing import Any

import pytest
from decided_writes import (
    Change,
    both,
    decide,
    deleted,
    give_away,
    leave,
    observe,
    of,
    on,
    patched,
)
from group_lab import KIND, GroupLab, begin, standalone
from test_delegated_roles import TYPES, carried
from test_group_adapters import SCALED, adapter

from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.objects.templates import CONFIG_FILE
from kohort.cluster.kinds import CONFIG_MAP, DEPLOYMENT, SERVICE, STATEFUL_SET
from kohort.cluster.objects import Kind, Object, labels_of, name_of, uid_of

ADAPTER = labels.ADAPTER


def asking(replicas: int, name: str = "") -> Change:
    """An autoscaler has written this number."""
    return of(ADAPTER, lambda adapter: adapter["spec"].update(replicas=replicas), name)


def unbound(name: str = "") -> Change:
    return of(ADAPTER, lambda adapter: adapter["status"].update(phase="NotBound"), name)


def roles(edit: Any) -> Change:
    """Another spec of the group's roles."""
    return of(KIND, lambda group: edit(group["spec"]["roles"]))


def image(index: int = 0, tag: str = "engine:2") -> Change:
    def edit(found: list[Object]) -> None:
        template = found[index]["standalonePattern"]["template"]
        template["spec"]["containers"][0]["image"] = tag

    return roles(edit)


def policy(*names: str, notes: dict[str, str] | None = None, **strategy: Any) -> Object:
    rule = {"name": "r", "roles": [*names], "strategy": strategy}
    head = {"apiVersion": labels.POLICY.api_version, "kind": labels.POLICY.name}
    return {
        **head,
        "metadata": {"name": "x", "annotations": notes or {}},
        "spec": {"policies": [rule]},
    }


def scaled(lab: GroupLab, change: Change) -> dict[str, int]:
    """The replicas that a plan writes into the group, by the path of their role."""
    writes = patched(decide(lab, change), KIND).get("x", [])
    return {each["path"]: each["value"] for each in writes if each["path"].endswith("/replicas")}


async def test_a_number_counts_if_the_adapter_is_bound_and_ours(lab: GroupLab):
    await begin(lab, standalone("router", 2, **SCALED))
    await lab.until(lambda: "phase" in adapter(lab).get("status", {}))
    orphaned = of(ADAPTER, lambda found: found["metadata"].pop("ownerReferences"))
    renamed = of(ADAPTER, lambda found: found["metadata"].update(name="other"))
    asked = {"/spec/roles/0/replicas": 4}
    assert scaled(lab, asking(4)) == scaled(lab, both(asking(4), orphaned)) == asked
    assert not scaled(lab, both(asking(4), of(ADAPTER, give_away)))
    assert not scaled(lab, both(asking(4), orphaned, renamed))
    assert not scaled(lab, both(asking(4), unbound()))
    assert not scaled(lab, of(ADAPTER, lambda found: found["spec"].pop("replicas")))


async def test_a_ratio_writes_no_number_that_an_adapter_contradicts(lab: GroupLab):
    notes = {labels.RATIO: '{"r": {"a": 1, "b": 1}}'}
    await lab.apply(policy("a", "b", notes=notes, scaling={"maxSkew": "100%"}))
    await begin(lab, standalone("a", 2, **SCALED), standalone("b", 2, **SCALED))
    await lab.until(lambda: all("phase" in a.get("status", {}) for a in lab.all(ADAPTER)))
    more = asking(4, "x-a")
    assert scaled(lab, more) == {"/spec/roles/0/replicas": 4}
    assert scaled(lab, both(more, unbound("x-b"))) == {
        f"/spec/roles/{i}/replicas": 4 for i in (0, 1)
    }


@pytest.mark.parametrize("wrap", [dict, carried], ids=["made", "carried"])
async def test_a_label_put_back_on_an_adapter_takes_no_number_back(lab: GroupLab, wrap: Any):
    await begin(lab, wrap(standalone("router", 2, **SCALED)))
    await lab.until(lambda: "phase" in adapter(lab).get("status", {}))
    assert not on(decide(lab, asking(4)), ADAPTER)
    bare = of(ADAPTER, lambda found: found["metadata"]["labels"].pop(labels.ROLE_NAME))
    body = patched(decide(lab, both(asking(4), bare)), ADAPTER)["x-router"]
    assert body["metadata"]["uid"] == uid_of(adapter(lab)) and "replicas" not in body["spec"]


async def test_an_adapter_that_is_not_ours_or_leaves_is_not_deleted(lab: GroupLab):
    await begin(lab, standalone("router", 2, **SCALED))
    off = roles(lambda found: found[0].pop("scalingAdapter"))
    assert deleted(decide(lab, off), ADAPTER) == {"x-router": uid_of(adapter(lab))}
    for other in (give_away, leave):
        assert not on(decide(lab, both(off, of(ADAPTER, other))), ADAPTER)


@pytest.mark.parametrize("kind", TYPES.values(), ids=TYPES)
async def test_a_workload_that_is_not_ours_or_leaves_counts_nothing_and_stays(
    lab: GroupLab, kind: Kind
):
    await begin(lab, carried(standalone("router", 2), f"apps/v1/{kind.name}"), standalone("b", 1))
    (found,) = lab.all(kind)
    gone = roles(lambda found: found.pop(0))
    assert deleted(decide(lab, gone), kind) == {"x-router": uid_of(found)}
    assert patched(decide(lab, image()), kind)["x-router"]["metadata"]["uid"] == uid_of(found)
    assert count(lab) == (2, 2)
    for other in (of(kind, give_away), of(kind, leave)):
        assert not on(decide(lab, both(gone, other)), kind)
        assert not on(decide(lab, both(image(), other)), kind)
        assert count(lab, other) == (0, 0)


def count(lab: GroupLab, *changes: Change) -> tuple[int, int]:
    """How many units of the first role exist and are ready, as its workload tells."""
    (group,) = observe(lab, both(*changes)).observed.groups
    tally = group.roles[0].tally
    assert tally is not None
    return tally.exist, tally.ready


async def test_a_workload_keeps_the_selector_that_it_was_made_with(lab: GroupLab):
    await begin(lab, carried(standalone("router", 2)))
    held = {"matchLabels": {"app": "router"}}
    other = of(STATEFUL_SET, lambda found: found["spec"].update(selector=held))
    assert not on(decide(lab, other), STATEFUL_SET)
    body = patched(decide(lab, both(image(), other)), STATEFUL_SET)["x-router"]
    assert body["spec"]["selector"] == held


async def test_a_workload_is_not_made_before_its_role_may_start(lab: GroupLab):
    await begin(lab, standalone("a", 1), carried(standalone("b", 2, dependencies=["a"])))
    without = {STATEFUL_SET: ["x-b"]}
    assert patched(decide(lab, without=without), STATEFUL_SET)["x-b"]["spec"]["replicas"] == 2
    assert not on(decide(lab, without={**without, labels.INSTANCE: ["x-a-0"]}), STATEFUL_SET)


async def test_a_skew_bounds_a_new_template_though_the_last_one_was_let_through(lab: GroupLab):
    """The partition that the workload has is that of its former template."""
    await lab.apply(policy("a", "b", rollingUpdate={"maxSkew": "10%"}))
    await begin(lab, carried(standalone("a", 4)), carried(standalone("b", 4)))
    bodies = patched(decide(lab, both(image(0), image(1))), STATEFUL_SET)
    partitions = {n: b["spec"]["updateStrategy"]["rollingUpdate"] for n, b in bodies.items()}
    assert partitions == {name: {"partition": 3} for name in ("x-a", "x-b")}


async def test_what_a_workload_was_asked_for_is_not_taken_back_before_it_is_made(lab: GroupLab):
    await lab.apply(policy("a", "b", scaling={"maxSkew": "25%"}))
    await begin(lab, carried(standalone("a", 4)), carried(standalone("b", 4)))

    def fall_behind(found: Object) -> None:
        found["spec"]["replicas"], found["status"]["replicas"] = 3, 1

    assert not [
        body["spec"]["replicas"]
        for body in patched(decide(lab, of(STATEFUL_SET, fall_behind)), STATEFUL_SET).values()
        if body["spec"]["replicas"] < 3
    ]


async def test_an_idle_deployment_is_not_paused_with_its_role(lab: GroupLab):
    await begin(lab, carried(standalone("router", 2), "apps/v1/Deployment"))
    paused = {"rollingUpdate": {"paused": True}}
    rest = roles(lambda found: found[0].update(rolloutStrategy=paused))
    assert "paused" not in patched(decide(lab, rest), DEPLOYMENT)["x-router"]["spec"]

    def roll(found: Object) -> None:
        found["status"]["updatedReplicas"] = 1

    body = patched(decide(lab, both(rest, of(DEPLOYMENT, roll))), DEPLOYMENT)["x-router"]
    assert body["spec"]["paused"] is True


async def test_a_selector_is_widened_in_our_own_service_alone(lab: GroupLab):
    await begin(lab, standalone("router", 1))
    (found,) = (each for each in lab.all(SERVICE) if labels.GROUP_NAME in labels_of(each))
    narrow = of(SERVICE, lambda held: held["spec"]["selector"].update(tier="1"), name_of(found))
    wide = {"metadata": {"uid": uid_of(found)}, "spec": {"selector": {"tier": None}}}
    assert list(patched(decide(lab, narrow), SERVICE).values()) == [wide]
    assert not on(decide(lab, both(narrow, of(SERVICE, leave, name_of(found)))), SERVICE)


async def test_a_set_that_leaves_and_the_addresses_of_others_are_not_written(lab: GroupLab):
    await begin(lab, standalone("router", 1))
    assert "x-router" in patched(decide(lab, image()), labels.INSTANCE_SET)
    gone = of(labels.INSTANCE_SET, leave)
    assert not on(decide(lab, both(image(), gone)), labels.INSTANCE_SET)
    other = of(CONFIG_MAP, lambda found: found["data"].update({CONFIG_FILE: "roles: {}"}), "x")
    assert on(decide(lab, other), CONFIG_MAP)
    assert not on(decide(lab, both(other, of(CONFIG_MAP, give_away, "x"))), CONFIG_MAP)
