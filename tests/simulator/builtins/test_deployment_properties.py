"""Whatever happens during a rollout, the budget is kept and the end is reached."""

from builtins_world import World
from hypothesis import given, settings
from hypothesis import strategies as st
from test_deployment_rollouts import deployment, new_image, sizes

from kohort.cluster.kinds import DEPLOYMENT, POD, REPLICA_SET
from kohort.simulator.builtins.deployments.controller import Deployments
from kohort.simulator.builtins.deployments.replicasets import ReplicaSets

REPLICAS = 4

moves = st.one_of(
    st.tuples(st.just("step"), st.integers(0, 1)),
    st.tuples(st.just("deliver"), st.tuples(st.integers(0, 1), st.integers(0, 2))),
    st.tuples(st.just("work"), st.integers(0, 1)),
    st.tuples(st.just("work"), st.integers(0, 1)),
    st.tuples(st.just("nodes"), st.none()),
    st.tuples(st.just("ready"), st.integers(0, 8)),
    st.tuples(st.just("fail"), st.integers(0, 5)),
    st.tuples(st.just("delete"), st.integers(0, 5)),
    st.tuples(st.just("image"), st.sampled_from(["img:1", "img:2", "img:3"])),
    st.tuples(st.just("scale"), st.integers(0, 6)),
)


def apply_step(world: World, name: str, argument: object) -> None:
    pods = world.names(POD)
    match name, argument:
        case "step", int(index):
            see_own_writes(world, index)
            if world.runners[index].keys:
                world.step(world.runners[index])
        case "deliver", (int(index), int(kind)):
            world.runners[index].deliver((DEPLOYMENT, REPLICA_SET, POD)[kind], 1)
        case "work", int(index):
            work(world, index)
        case "nodes", _:
            world.run_nodes()
        case "image", image:
            new_image(world, str(image))
        case "scale", replicas:
            world.patch(DEPLOYMENT, "app", {"spec": {"replicas": replicas}})
        case _, int(index) if index < len(pods):
            disturb(world, name, pods[index])


def see_own_writes(world: World, index: int) -> None:
    """A component looks again only when it sees what it wrote; all else may be late."""
    for kind in ((DEPLOYMENT, REPLICA_SET), (POD,))[index]:
        world.runners[index].deliver(kind)


def disturb(world: World, name: str, pod: str) -> None:
    if name == "delete":
        world.delete(POD, pod)
    else:
        world.set_ready(pod, ready=name == "ready")


def work(world: World, index: int) -> None:
    """Let one component see everything and step through its keys once."""
    runner = world.runners[index]
    for kind in list(runner.pending):
        runner.deliver(kind)
    for _ in range(len(runner.keys)):
        world.step(runner)


def start(surge: int, unavailable: int) -> World:
    world = World(Deployments(), ReplicaSets(), lag=True)
    strategy = {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}
    world.create(DEPLOYMENT, deployment(replicas=REPLICAS, strategy=strategy))
    world.converge()
    return world


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 3), st.integers(0, 3), st.lists(moves))
def test_every_history_ends_in_the_wanted_pods_and_then_nothing_is_written(
    surge: int, unavailable: int, history: list[tuple[str, object]]
):
    world = start(surge, unavailable)
    for move in history:
        apply_step(world, *move)
    for name in world.names(POD):
        if not world.objects[POD, "default", name].facts.is_leaving:
            world.set_ready(name)
    world.converge()
    spec = world.read(DEPLOYMENT, "app")["spec"]
    image = spec["template"]["spec"]["containers"][0]["image"]
    assert {i: n for i, n in sizes(world).items() if n} == (
        {image: spec["replicas"]} if spec["replicas"] else {}
    )
    assert len(world.names(POD)) == spec["replicas"]
    world.wake("default/app")
    assert world.settle() == 0


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 3), st.integers(0, 3), st.lists(moves, min_size=10, max_size=60))
def test_a_rollout_never_leaves_its_budget(
    surge: int, unavailable: int, history: list[tuple[str, object]]
):
    world = start(surge, unavailable)
    allowed = unavailable if surge or unavailable else 1
    new_image(world, "img:2")
    for move in history:
        if move[0] not in {"fail", "delete", "scale"}:
            apply_step(world, *move)
        assert sum(sizes(world).values()) <= REPLICAS + surge
        pods = [entry for (kind, _, _), entry in world.objects.items() if kind == POD]
        ready = [pod for pod in pods if pod.facts.is_ready and not pod.facts.is_leaving]
        assert len(ready) >= REPLICAS - allowed
