"""What an API reads is a value: nothing that is learned later changes it."""

from dataclasses import fields

from operator_lab import Lab, make_lws

from kohort.apis.api import Snapshot
from kohort.apis.group_cache import GroupCache
from kohort.apis.losses import Loss
from kohort.cluster import kinds


def gather(lab: Lab) -> Snapshot:
    controller, key = lab.operator.controllers[0], ("default", "x")
    root = controller.roots.find(key)
    assert root is not None
    return controller.gather(key, root)


async def bring_up(lab: Lab) -> None:
    await lab.apply(make_lws(groups=2, size=2))
    await lab.until(lab.is_available)


async def test_a_snapshot_holds_no_function_into_caches(lab: Lab):
    await bring_up(lab)
    snapshot = gather(lab)
    values = {field.name: getattr(snapshot, field.name) for field in fields(Snapshot)}
    assert [name for name, value in values.items() if callable(value)] == []
    assert isinstance(values["group_cache"], GroupCache)


async def test_a_snapshot_keeps_the_nodes_that_it_was_taken_with(lab: Lab):
    await bring_up(lab)
    before = gather(lab)
    assert gather(lab).nodes is before.nodes
    name = next(iter(before.nodes))
    mark = {"op": "add", "path": "/metadata/labels/rack", "value": "r7"}
    await lab.edit(name, mark, kind=kinds.NODE)
    await lab.run(1)
    assert "rack" not in (before.find_node_labels(name) or {})
    assert (gather(lab).find_node_labels(name) or {})["rack"] == "r7"
    assert before.find_node_labels("nowhere") is None


async def test_a_snapshot_keeps_the_losses_that_it_was_taken_with(lab: Lab):
    await bring_up(lab)
    controller = lab.operator.controllers[0]
    lab.cluster.hold("Pod")
    await lab.delete(kinds.POD, "x-1-1", grace_seconds=0)
    (leader,) = [pod for pod in lab.all(kinds.POD) if pod["metadata"]["name"] == "x-1"]
    uid = leader["metadata"]["uid"]
    controller.losses.note(Loss(("default", "x"), uid), "x-1-1")
    before = gather(lab)
    controller.losses.note(Loss(("default", "x"), uid), "x-1-2")
    assert before.lost == {uid: ("x-1-1",)}
