"""Groups, RoleInstanceSets by hand and RoleInstances by hand never share a port on their pods."""

from collections.abc import Callable

import pytest
from group_lab import group
from single_lab import SingleLab, instance, instance_set
from test_pod_extras import asks, component, env_of

from kohort.apis.rolebasedgroup.objects.ports import choose_ports
from kohort.cluster.objects import Object

LAB = SingleLab


def worker(scope: str) -> Object:
    return component("worker", port_allocator=asks("http", "PORT", scope))


def make_group(name: str, scope: str) -> Object:
    role = {"name": "kv", "replicas": 1}
    made = group({**role, "customComponentsPattern": {"components": [worker(scope)]}})
    return {**made, "metadata": {"name": name}}


def make_set(name: str, scope: str) -> Object:
    made = instance_set(worker(scope), replicas=1)
    marks = {"app": name}
    made["spec"]["selector"] = {"matchLabels": marks}
    return {**made, "metadata": {"name": name, "labels": marks}}


def make_instance(name: str, scope: str) -> Object:
    return {**instance(worker(scope)), "metadata": {"name": name}}


# How each kind is made, and how its only instance and its set are called.
Maker = tuple[Callable[[str, str], Object], str, str]
GROUP: Maker = (make_group, "{}-kv-0", "{}-kv")
SET: Maker = (make_set, "{}-0", "{}")
INSTANCE: Maker = (make_instance, "{}", "{}")


def choose_first(maker: Maker, name: str, scope: str) -> int:
    """The port that an object would have in an empty cluster."""
    place, holder = (form.format(name) for form in maker[1:])
    of_pod = f"{place}-worker-0.http", f"default/{place}"
    key, owner = of_pod if scope == "PodScoped" else ("worker.http", f"default/{holder}")
    return choose_ports([key], (), owner=owner)[key]


def find_rival(maker: Maker, port: int, scope: str) -> str:
    """The name of an object that would choose this port first."""
    named = (f"y{n}" for n in range(100_000))
    return next(name for name in named if choose_first(maker, name, scope) == port)


@pytest.mark.parametrize("scope", ["PodScoped", "RoleScoped"])
@pytest.mark.parametrize(
    ("first", "second"),
    [(GROUP, SET), (SET, GROUP), (SET, SET), (GROUP, INSTANCE), (INSTANCE, SET)],
    ids=["group-set", "set-group", "set-set", "group-instance", "instance-set"],
)
async def test_what_comes_second_takes_another_port(
    lab: SingleLab, first: Maker, second: Maker, scope: str
):
    await lab.apply(first[0]("x", scope))
    await lab.until(lambda: len(lab.pods()) == 1, 60)
    (pod,) = lab.pods().values()
    port = int(env_of(pod)["PORT"])
    assert port == choose_first(first, "x", scope)
    await lab.run(5)
    await lab.apply(second[0](find_rival(second, port, scope), scope))
    await lab.until(lambda: len(lab.pods()) == 2, 60)
    assert len({env_of(pod)["PORT"] for pod in lab.pods().values()}) == 2
