"""What becomes of objects whose owners go."""

from builtins_world import World
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.cluster.kinds import CONFIG_MAP, NODE, POD, REPLICA_SET, STATEFUL_SET
from kohort.cluster.objects import Kind, Object
from kohort.simulator.builtins.garbage import GarbageCollector

CUSTOM = Kind("example.com", "v1", "Widget", "widgets")
KINDS = (CONFIG_MAP, NODE, POD, REPLICA_SET, STATEFUL_SET)


def world_of(*kinds: Kind) -> World:
    return World(GarbageCollector(kinds or KINDS))


def make(world: World, kind: Kind, name: str, *owners: Object, blocks: bool = True) -> Object:
    references = [
        {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "blockOwnerDeletion": blocks,
        }
        for owner in owners
    ]
    world.create(kind, {"metadata": {"name": name, "ownerReferences": references}})
    return world.read(kind, name)


def test_dependents_go_after_their_owner_in_the_background():
    world = world_of()
    owner = make(world, STATEFUL_SET, "set")
    make(world, CONFIG_MAP, "child", owner)
    world.settle()
    world.delete(STATEFUL_SET, "set")
    world.settle()
    assert not world.exists(CONFIG_MAP, "child")


def test_dependents_of_dependents_go_too():
    world = world_of()
    top = make(world, STATEFUL_SET, "top")
    middle = make(world, REPLICA_SET, "middle", top)
    make(world, CONFIG_MAP, "bottom", middle)
    world.settle()
    world.delete(STATEFUL_SET, "top")
    world.settle()
    assert not world.exists(REPLICA_SET, "middle")
    assert not world.exists(CONFIG_MAP, "bottom")


def test_an_object_with_another_owner_stays_and_loses_the_reference():
    world = world_of()
    one, other = make(world, STATEFUL_SET, "one"), make(world, STATEFUL_SET, "other")
    make(world, CONFIG_MAP, "child", one, other)
    world.settle()
    world.delete(STATEFUL_SET, "one")
    world.settle()
    owners = world.read(CONFIG_MAP, "child")["metadata"]["ownerReferences"]
    assert [owner["name"] for owner in owners] == ["other"]


def test_foreground_deletion_waits_for_blocking_dependents():
    world = world_of()
    owner = make(world, STATEFUL_SET, "set")
    make(world, POD, "blocking", owner)
    make(world, CONFIG_MAP, "free", owner, blocks=False)
    world.settle()
    world.delete(STATEFUL_SET, "set", propagation="Foreground")
    world.settle()
    assert world.exists(STATEFUL_SET, "set")
    assert world.read(POD, "blocking")["metadata"]["deletionTimestamp"]
    world.remove_pod("blocking")
    world.settle()
    assert not world.exists(STATEFUL_SET, "set")
    assert not world.exists(CONFIG_MAP, "free")


def test_foreground_deletion_goes_down_the_tree():
    world = world_of()
    top = make(world, STATEFUL_SET, "top")
    middle = make(world, REPLICA_SET, "middle", top)
    make(world, POD, "leaf", middle)
    world.settle()
    world.delete(STATEFUL_SET, "top", propagation="Foreground")
    world.settle()
    assert world.exists(STATEFUL_SET, "top") and world.exists(REPLICA_SET, "middle")
    world.remove_pod("leaf")
    world.settle()
    assert not world.exists(STATEFUL_SET, "top")


def test_orphaned_dependents_lose_the_reference_and_stay():
    world = world_of()
    owner = make(world, STATEFUL_SET, "set")
    make(world, POD, "child", owner)
    world.settle()
    world.delete(STATEFUL_SET, "set", propagation="Orphan")
    world.settle()
    assert not world.exists(STATEFUL_SET, "set")
    assert "ownerReferences" not in world.read(POD, "child")["metadata"]


def test_an_owner_that_was_never_seen_is_missing_only_after_a_while():
    world = world_of()
    ghost = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "g", "uid": "u"}}
    make(world, CONFIG_MAP, "child", ghost)
    world.settle()
    assert world.exists(CONFIG_MAP, "child")
    world.advance(5)
    assert not world.exists(CONFIG_MAP, "child")


def test_a_namesake_of_the_owner_does_not_count():
    world = world_of()
    make(world, STATEFUL_SET, "set")
    other = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "set", "uid": "u"},
    }
    make(world, CONFIG_MAP, "child", other)
    world.settle()
    world.advance(5)
    assert not world.exists(CONFIG_MAP, "child")


def test_an_owner_of_an_unknown_kind_never_counts_as_missing():
    world = world_of()
    ghost = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "w", "uid": "u"},
    }
    make(world, CONFIG_MAP, "child", ghost)
    world.settle()
    world.advance(1000)
    assert world.exists(CONFIG_MAP, "child")


def test_custom_kinds_are_collected_once_they_are_watched():
    world = world_of()
    collector = world.runners[0].component
    assert isinstance(collector, GarbageCollector)
    collector.watch_kinds([*KINDS, CUSTOM])
    owner = make(world, CUSTOM, "w")
    make(world, CONFIG_MAP, "child", owner)
    world.settle()
    world.delete(CUSTOM, "w")
    world.settle()
    assert not world.exists(CONFIG_MAP, "child")


def test_a_cluster_wide_owner_is_found_from_a_namespace_and_not_the_reverse():
    world = world_of()
    node = make(world, NODE, "n")
    make(world, CONFIG_MAP, "child", node)
    local = make(world, STATEFUL_SET, "set")
    make(world, NODE, "odd", local)
    world.settle()
    world.advance(1000)
    assert world.exists(CONFIG_MAP, "child") and world.exists(NODE, "odd")
    world.delete(NODE, "n")
    world.settle()
    assert not world.exists(CONFIG_MAP, "child")


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=12),
    st.lists(st.integers(0, 7), max_size=3),
    st.sampled_from(["", "Foreground"]),
)
def test_what_is_left_has_an_owner_that_is_left(
    edges: list[tuple[int, int]], deleted: list[int], propagation: str
):
    world = world_of()
    made = [make(world, CONFIG_MAP, "c0")]
    for child in range(1, 8):
        owners = {parent for c, parent in edges if c == child and parent < child}
        made.append(make(world, CONFIG_MAP, f"c{child}", *(made[o] for o in sorted(owners))))
    world.settle()
    for index in deleted:
        if world.exists(CONFIG_MAP, f"c{index}"):
            world.delete(CONFIG_MAP, f"c{index}", propagation=propagation)
    world.settle()
    left = {obj["metadata"]["uid"] for obj in world.all(CONFIG_MAP)}
    for obj in world.all(CONFIG_MAP):
        owners = obj["metadata"].get("ownerReferences") or []
        assert not owners or all(owner["uid"] in left for owner in owners)
        assert "deletionTimestamp" not in obj["metadata"]
