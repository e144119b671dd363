"""A leader template that differs although the revision is the same."""

from typing import Any

from operator_lab import Lab, make_lws, set_image
from operator_truth import PREFIX, Budget, Truth

from kohort.apis.leaderworkerset.objects import sets
from kohort.cluster import kinds
from kohort.cluster.objects import Object

TOPOLOGY = f"{PREFIX}exclusive-topology"
ESCAPED = TOPOLOGY.replace("/", "~1")
NODE = "kubernetes.io/hostname"


async def bring_up(lab: Lab, **more: Any) -> Truth:
    truth = Truth(lab)
    await lab.apply(make_lws(groups=4, size=2, **more))
    await lab.until(lab.is_available)
    await lab.run(5)
    return truth


def topologies(lab: Lab) -> set[str | None]:
    return {p["metadata"]["annotations"].get(TOPOLOGY) for p in lab.all(kinds.POD)}


async def test_what_the_user_changed_rolls_under_the_budget(lab: Lab):
    """Upstream lets the set roll its leaders outside of all budgets."""
    truth = await bring_up(lab, annotations={"a": "b"})
    truth.promise(Budget(4))
    key = truth.target
    path = f"/metadata/annotations/{ESCAPED}"
    await lab.edit("x", {"op": "add", "path": path, "value": NODE})
    await lab.run(10)
    status = lab.lws()["status"]
    updating = {c["type"] for c in status["conditions"] if c["status"] == "True"}
    assert "UpdateInProgress" in updating
    await lab.until(lab.is_available)
    await lab.run(30)
    assert topologies(lab) == {NODE}
    assert truth.breaches == []
    assert truth.target == key
    assert truth.steps[1] == (4, 4)
    assert [len(truth.made(f"x-{i}")) for i in range(4)] == [2, 2, 2, 2]
    await lab.edit("x", {"op": "remove", "path": path})
    await lab.until(lambda: lab.is_available() and topologies(lab) == {None})
    assert truth.breaches == []


async def test_what_only_we_changed_waits_for_the_next_revision(lab: Lab, monkeypatch: Any):
    truth = await bring_up(lab)
    render = sets.leader_template

    def render_otherwise(lws: Object, key: str) -> Object:
        template = render(lws, key)
        template["spec"]["terminationGracePeriodSeconds"] = 7
        return template

    monkeypatch.setattr(sets, "leader_template", render_otherwise)
    await lab.stop_operator()
    lab.start_operator()
    before = lab.api.store.revision
    await lab.run(600)
    assert lab.api.store.revision == before
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    grace = {p["spec"]["terminationGracePeriodSeconds"] for p in truth.groups().values()}
    assert grace == {7}


async def test_a_set_that_has_not_seen_its_template_yet_gives_nothing_up(lab: Lab):
    truth = await bring_up(lab, annotations={"a": "b"})
    runner = next(s for s in lab.world.runners if s.component.name == "statefulsets")
    lab.hold_component(runner)
    path = f"/metadata/annotations/{ESCAPED}"
    await lab.edit("x", {"op": "add", "path": path, "value": NODE})
    await lab.run(60)
    assert truth.steps[-1] == (4, 4)
    assert len(truth.leaders) == 4
    lab.release_component(runner)
    await lab.until(lambda: lab.is_available() and topologies(lab) == {NODE})
    assert truth.breaches == []


async def test_labels_of_others_are_no_difference(lab: Lab):
    """The server copies topology labels from nodes to pods."""
    await bring_up(lab)
    label = "topology.kubernetes.io~1zone"
    add = {"op": "add", "path": f"/metadata/labels/{label}", "value": "z"}
    for kind, name in ((kinds.POD, "x-0"), (kinds.STATEFUL_SET, "x"), (kinds.STATEFUL_SET, "x-0")):
        await lab.edit(name, add, kind=kind)
    await lab.run(5)
    before = lab.api.store.revision
    await lab.run(600)
    assert lab.api.store.revision == before
