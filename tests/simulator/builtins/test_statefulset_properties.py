"""Whatever happens to the pods of a StatefulSet, and whatever its caches show."""

from collections.abc import Iterator

from builtins_world import World
from hypothesis import given, settings
from hypothesis import strategies as st
from test_statefulset_pods import images, new_image, stateful_set

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.kinds import CLAIM, CONTROLLER_REVISION, POD, STATEFUL_SET
from kohort.simulator.builtins.statefulsets.controller import StatefulSets
from kohort.simulator.component import ComponentAction, CreateRequest, DeleteRequest

KINDS = (STATEFUL_SET, POD, CONTROLLER_REVISION, CLAIM)

moves = st.one_of(
    st.tuples(st.just("step"), st.none()),
    st.tuples(st.just("deliver"), st.sampled_from(KINDS)),
    st.tuples(st.just("nodes"), st.none()),
    st.tuples(st.just("ready"), st.integers(0, 6)),
    st.tuples(st.just("unready"), st.integers(0, 6)),
    st.tuples(st.just("fail"), st.integers(0, 6)),
    st.tuples(st.just("delete"), st.integers(0, 6)),
    st.tuples(st.just("vanish"), st.integers(0, 6)),
    st.tuples(st.just("scale"), st.integers(0, 5)),
    st.tuples(st.just("image"), st.sampled_from(["img:1", "img:2", "img:3"])),
)


def apply_step(world: World, name: str, argument: object) -> list[ComponentAction]:
    """Make one move; the actions that the controller took in it."""
    runner, before = world.runners[0], len(world.log)
    pod = f"web-{argument}"
    if name == "step" and runner.keys:
        world.step(runner)
    elif name == "deliver":
        runner.deliver(argument, 1)
    elif name == "nodes":
        world.run_nodes()
    elif name == "scale":
        world.patch(STATEFUL_SET, "web", {"spec": {"replicas": argument}})
    elif name == "image":
        new_image(world, str(argument))
    elif world.exists(POD, pod):
        disturb(world, name, pod)
    return world.log[before:]


def disturb(world: World, name: str, pod: str) -> None:
    match name:
        case "ready" | "unready":
            world.set_ready(pod, ready=name == "ready")
        case "fail":
            world.set_ready(pod, ready=False, phase="Failed")
        case "delete":
            world.delete(POD, pod)
        case "vanish":
            world.remove_pod(pod)


def start(policy: str, partition: int = 0) -> World:
    world = World(StatefulSets(), lag=True)
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}
    world.create(STATEFUL_SET, stateful_set(podManagementPolicy=policy, updateStrategy=strategy))
    return world


def heal(world: World) -> None:
    """Make ready what may hold an ordered set up for ever, as it really does."""
    replicas = world.read(STATEFUL_SET, "web")["spec"]["replicas"]
    for name in world.names(POD):
        facts = world.objects[POD, "default", name].facts
        is_surplus = int(name.removeprefix("web-")) >= replicas
        if not facts.is_leaving and (is_surplus or facts.phase == "Running"):
            world.set_ready(name)


def assert_whole(world: World, partition: int) -> None:
    spec = world.read(STATEFUL_SET, "web")["spec"]
    wanted = spec["template"]["spec"]["containers"][0]["image"]
    names = [f"web-{ordinal}" for ordinal in range(spec["replicas"])]
    assert world.names(POD) == names
    assert all(images(world)[name] == wanted for name in names[partition:])
    assert world.read(STATEFUL_SET, "web")["status"].get("readyReplicas", 0) == len(names)
    world.wake("default/web")
    assert world.settle() == 0


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["OrderedReady", "Parallel"]), st.integers(0, 3), st.booleans(), st.lists(moves)
)
def test_every_history_ends_in_the_wanted_pods_and_then_nothing_is_written(
    policy: str, partition: int, is_running: bool, history: list[tuple[str, object]]
):
    world = start(policy, partition)
    if is_running:
        world.converge()
    for move in history:
        apply_step(world, *move)
    heal(world)
    world.converge()
    assert_whole(world, partition)


def is_available(pod: StoredObject) -> bool:
    return pod.facts.is_ready and not pod.facts.is_leaving


def fresh_steps(world: World) -> Iterator[tuple[dict[str, StoredObject], list[ComponentAction]]]:
    """Steps that see everything: the pods before each of them, and what it did."""
    runner = world.runners[0]
    while True:
        for kind in KINDS:
            runner.deliver(kind)
        if not runner.keys:
            return
        pods = {name: entry for (kind, _, name), entry in world.objects.items() if kind == POD}
        before = len(world.log)
        world.step(runner)
        yield pods, world.log[before:]


@settings(max_examples=150, deadline=None)
@given(st.lists(moves, max_size=60))
def test_an_ordered_set_makes_a_pod_only_after_all_below_it_are_ready(
    history: list[tuple[str, object]],
):
    world = start("OrderedReady")
    for move in history:
        for pods, actions in fresh_steps(world):
            for action in actions:
                if isinstance(action, CreateRequest) and action.kind == POD:
                    ordinal = int(action.obj["metadata"]["name"].removeprefix("web-"))
                    below = [pods.get(f"web-{i}") for i in range(ordinal)]
                    assert all(entry and entry.facts.is_ready for entry in below)
        apply_step(world, *move)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["OrderedReady", "Parallel"]), st.lists(moves, max_size=60))
def test_an_update_takes_one_pod_at_a_time_and_none_below_the_partition(
    policy: str, history: list[tuple[str, object]]
):
    world = start(policy, partition=2)
    world.patch(STATEFUL_SET, "web", {"spec": {"replicas": 5}})
    world.converge()
    kept = {name: world.read(POD, name)["metadata"]["uid"] for name in ("web-0", "web-1")}
    updates = [move for move in history if move[0] in {"nodes", "ready", "unready", "image"}]
    for move in updates:
        apply_step(world, *move)
        for pods, actions in fresh_steps(world):
            deleted = [a.name for a in actions if isinstance(a, DeleteRequest) and a.kind == POD]
            assert len(deleted) <= 1
            for name in deleted:
                above = [f"web-{i}" for i in range(int(name.removeprefix("web-")) + 1, 5)]
                assert all(name in pods and is_available(pods[name]) for name in above)
    for name in world.names(POD):
        world.set_ready(name)
    world.converge()
    assert kept == {name: world.read(POD, name)["metadata"]["uid"] for name in kept}
