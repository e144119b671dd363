"""What an earlier object of the same name left behind is waited for, never worked on."""

from operator_lab import LWS, Lab, make_lws, set_image
from operator_truth import PREFIX, controller_of

from kohort.cluster import kinds
from kohort.cluster.objects import Object


async def replace_while_nothing_is_collected(lab: Lab) -> Object:
    """Delete the object and make it anew; the leader set of the first one as it was left."""
    await lab.apply(make_lws(groups=2, size=2))
    await lab.until(lab.is_available)
    await lab.run(5)
    lab.hold_component(next(s for s in lab.world.runners if s.component.name == "garbage"))
    await lab.delete(LWS, "x")
    await lab.run(5)
    left = lab.find(kinds.STATEFUL_SET, "x")
    assert left is not None
    await lab.apply(make_lws(groups=3, size=2))
    return left


async def test_the_leader_set_of_another_object_is_left_alone_until_it_is_collected(lab: Lab):
    left = await replace_while_nothing_is_collected(lab)
    before = lab.cluster.tried.copy()
    await lab.run(60)
    assert lab.find(kinds.STATEFUL_SET, "x") == left
    tried = lab.cluster.tried - before
    assert {kind for _, kind in tried} <= {"LeaderWorkerSet/status", "Event"}
    lab.release_component(next(s for s in lab.world.runners if s.component.name == "garbage"))
    await lab.until(lab.is_available)
    found = lab.find(kinds.STATEFUL_SET, "x")
    assert found and controller_of(found) == lab.lws()["metadata"]["uid"]
    assert len(lab.all(kinds.POD)) == 6


async def test_a_revision_under_the_key_of_an_earlier_version_stays_in_force(lab: Lab):
    """A controller that wrote the same template in other bytes gave it another key."""
    await lab.apply(make_lws(groups=2, size=2))
    await lab.until(lab.is_available)
    await lab.stop_operator()
    root, label = lab.lws()["metadata"]["uid"], f"{PREFIX}template-revision-hash"
    own = next(r for r in lab.all(kinds.CONTROLLER_REVISION) if controller_of(r) == root)
    path = f"/metadata/labels/{label.replace('/', '~1')}"
    earlier = {"op": "replace", "path": path, "value": "earlier"}
    await lab.edit(own["metadata"]["name"], earlier, kind=kinds.CONTROLLER_REVISION)
    for name in ("x", "x-0", "x-1"):
        await lab.edit(name, earlier, kind=kinds.STATEFUL_SET)
    for pod in lab.all(kinds.POD):
        await lab.edit(pod["metadata"]["name"], earlier, kind=kinds.POD)
    before = {p["metadata"]["uid"] for p in lab.all(kinds.POD)}
    lab.start_operator()
    await lab.run(60)
    assert {p["metadata"]["uid"] for p in lab.all(kinds.POD)} == before
    assert lab.is_available()
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    assert not {p["metadata"]["uid"] for p in lab.all(kinds.POD)} & before
