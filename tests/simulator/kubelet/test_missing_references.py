"""Pods wait for the ConfigMaps and Secrets that they refer to, as on a real node."""

from typing import Any

import pytest
from test_pod_life import bound, condition, container, make_world, patches, start

from kohort.cluster.kinds import CONFIG_MAP, POD, SECRET
from kohort.simulator.component import EventRequest
from scheduling_views import TinyWorld

CREATING = {"waiting": {"reason": "ContainerCreating"}}


def make_map(name: str = "settings", **data: str) -> dict:
    return {"metadata": {"name": name}, "data": data}


def with_volume(**source: Any) -> dict:
    return bound(volumes=[{"name": "files", **source}])


def with_variables(**fields: Any) -> dict:
    made = bound()
    made["spec"]["containers"][0] |= fields
    return made


def warnings(world: TinyWorld) -> list[str]:
    told = (a for a in world.log if isinstance(a, EventRequest) and a.type == "Warning")
    return [f"{a.reason}: {a.message}" for a in told]


def projected(*sources: dict) -> dict:
    return {"projected": {"sources": list(sources)}}


def failed_mount(why: str) -> str:
    return f'FailedMount: MountVolume.SetUp failed for volume "files" : {why}'


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ({"configMap": {"name": "settings"}}, 'configmap "settings" not found'),
        ({"secret": {"secretName": "token"}}, 'secret "token" not found'),
        (projected({"configMap": {"name": "settings"}}), 'configmap "settings" not found'),
        (projected({"secret": {"name": "token"}}), 'secret "token" not found'),
        (
            projected({"configMap": {"name": "settings"}}, {"secret": {"name": "token"}}),
            '[configmap "settings" not found, secret "token" not found]',
        ),
    ],
)
def test_a_pod_waits_for_what_its_volumes_are_made_of(source: dict, why: str):
    world = start(with_volume(**source), 600)
    assert warnings(world) == [failed_mount(why)]
    assert container(world)["state"] == CREATING
    assert condition(world, "PodReadyToStartContainers") == "False"
    world.put(CONFIG_MAP, make_map())
    world.put(SECRET, {"metadata": {"name": "token"}, "data": {}})
    world.settle(3)
    assert condition(world, "Ready") == "True"
    assert warnings(world) == [failed_mount(why)]


def test_a_pod_that_waits_for_a_volume_writes_once_and_then_nothing():
    world = start(with_volume(configMap={"name": "settings"}), 0)
    assert len(patches(world)) == 1
    assert world.settle(86_400) == []


def test_the_image_is_pulled_after_the_volumes_are_mounted():
    world = start(with_volume(configMap={"name": "settings"}), 60)
    assert [event.split(":")[0] for event in world.events()] == ["FailedMount"]
    world.put(CONFIG_MAP, make_map())
    world.settle(0)
    assert world.events()[-1] == 'Pulling: Pulling image "server:1"'
    assert condition(world, "PodReadyToStartContainers") == "True"
    assert container(world)["state"] == CREATING
    world.settle(2)
    assert "running" in container(world)["state"]


@pytest.mark.parametrize(
    ("kind", "source", "why"),
    [
        (
            CONFIG_MAP,
            {"configMap": {"name": "x", "items": [{"key": "b", "path": "b"}]}},
            "references non-existent config key: b",
        ),
        (
            SECRET,
            {"secret": {"secretName": "x", "items": [{"key": "b", "path": "b"}]}},
            "references non-existent secret key: b",
        ),
    ],
)
def test_a_pod_waits_for_a_key_of_a_volume(kind: Any, source: dict, why: str):
    world = make_world()
    world.put(kind, make_map("x", a="1"))
    world.put(POD, with_volume(**source))
    world.settle(60)
    assert warnings(world) == [failed_mount(why)]
    world.put(kind, make_map("x", a="1", b="2"))
    world.settle(3)
    assert condition(world, "Ready") == "True"


def test_a_binary_key_is_a_key_of_a_volume():
    world = make_world()
    world.put(CONFIG_MAP, {"metadata": {"name": "x"}, "binaryData": {"b": "AA=="}})
    source = {"name": "x", "items": [{"key": "b", "path": "b"}]}
    world.put(POD, with_volume(configMap=source))
    world.settle(3)
    assert condition(world, "Ready") == "True"


@pytest.mark.parametrize(
    "made",
    [
        with_volume(configMap={"name": "x", "optional": True}),
        with_volume(secret={"secretName": "x", "optional": True}),
        with_volume(**projected({"secret": {"name": "x", "optional": True}})),
        with_volume(**projected({"serviceAccountToken": {"path": "token"}})),
        with_volume(emptyDir={}),
        with_variables(envFrom=[{"configMapRef": {"name": "x", "optional": True}}]),
        with_variables(
            env=[
                {"name": "A", "value": "1"},
                {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                {
                    "name": "C",
                    "valueFrom": {"secretKeyRef": {"name": "x", "key": "k", "optional": True}},
                },
            ]
        ),
    ],
)
def test_what_is_optional_holds_nothing_up(made: dict):
    world = start(made, 3)
    assert condition(world, "Ready") == "True"
    assert warnings(world) == []


VARIABLE = {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "k"}}}
SECRET_VARIABLE = {"name": "A", "valueFrom": {"secretKeyRef": {"name": "settings", "key": "k"}}}


@pytest.mark.parametrize(
    ("kind", "fields", "why"),
    [
        (
            CONFIG_MAP,
            {"envFrom": [{"configMapRef": {"name": "settings"}}]},
            'configmap "settings" not found',
        ),
        (SECRET, {"envFrom": [{"secretRef": {"name": "settings"}}]}, 'secret "settings" not found'),
        (CONFIG_MAP, {"env": [VARIABLE]}, 'configmap "settings" not found'),
        (SECRET, {"env": [SECRET_VARIABLE]}, 'secret "settings" not found'),
    ],
)
def test_a_container_waits_for_its_variables(kind: Any, fields: dict, why: str):
    world = start(with_variables(**fields), 60)
    waiting = {"reason": "CreateContainerConfigError", "message": why}
    assert container(world)["state"] == {"waiting": waiting}
    assert world.pod("p")["status"]["phase"] == "Pending"
    assert world.pod("p")["status"]["podIP"] == "10.244.0.1"
    assert [event.split(":")[0] for event in world.events()] == ["Pulling", "Pulled", "Failed"]
    assert warnings(world) == [f"Failed: Error: {why}"]
    assert world.settle(86_400) == []
    world.put(kind, make_map(k="v"))
    world.settle(1)
    assert condition(world, "Ready") == "True"
    assert container(world)["restartCount"] == 0


@pytest.mark.parametrize(
    ("kind", "variable", "why"),
    [
        (CONFIG_MAP, VARIABLE, "couldn't find key k in ConfigMap default/settings"),
        (SECRET, SECRET_VARIABLE, "couldn't find key k in Secret default/settings"),
    ],
)
def test_a_container_waits_for_the_key_of_a_variable(kind: Any, variable: dict, why: str):
    world = start(with_variables(env=[variable]), 60)
    world.put(kind, make_map(other="1"))
    world.settle(60)
    assert container(world)["state"]["waiting"]["message"] == why
    assert warnings(world)[-1] == f"Failed: Error: {why}"
    world.put(kind, make_map(k="v"))
    world.settle(1)
    assert condition(world, "Ready") == "True"


def test_an_init_container_waits_and_keeps_the_others_from_starting():
    init = {"name": "fetch", "image": "f", "envFrom": [{"secretRef": {"name": "token"}}]}
    world = start(bound(initContainers=[init]), 60)
    status = world.pod("p")["status"]
    waiting = {"reason": "CreateContainerConfigError", "message": 'secret "token" not found'}
    assert status["initContainerStatuses"][0]["state"] == {"waiting": waiting}
    assert container(world)["state"] == {"waiting": {"reason": "PodInitializing"}}
    world.put(SECRET, make_map("token"))
    world.settle(4)
    assert condition(world, "Ready") == "True"


def test_an_object_that_goes_holds_up_the_next_start_and_not_the_running_container():
    made = with_variables(envFrom=[{"configMapRef": {"name": "settings"}}])
    made["metadata"]["annotations"]["sim.kohort.dev/crash-after"] = "100s"
    made["metadata"]["annotations"]["sim.kohort.dev/crash-times"] = "1"
    world = make_world()
    world.put(CONFIG_MAP, make_map())
    world.put(POD, made)
    world.settle(10)
    world.remove(CONFIG_MAP, "default", "settings")
    world.settle(10)
    assert condition(world, "Ready") == "True"
    world.settle(100)
    assert container(world)["state"]["waiting"]["reason"] == "CreateContainerConfigError"
    assert container(world)["lastState"]["terminated"]["exitCode"] == 1
    world.put(CONFIG_MAP, make_map())
    world.settle(1)
    assert condition(world, "Ready") == "True"
    assert container(world)["restartCount"] == 1


def test_an_image_without_a_valid_name_is_refused():
    made = bound()
    made["spec"]["containers"][0]["image"] = "vllm/vllm-openai:"
    world = start(made, 60)
    message = (
        'Failed to apply default image tag "vllm/vllm-openai:": '
        'couldn\'t parse image name "vllm/vllm-openai:": invalid reference format'
    )
    waiting = {"reason": "InvalidImageName", "message": message}
    assert container(world)["state"] == {"waiting": waiting}
    assert world.events() == [f"InspectFailed: {message}", "Failed: Error: InvalidImageName"]
    assert world.settle(86_400) == []
    mended = world.pod("p")
    mended["spec"]["containers"][0]["image"] = "vllm/vllm-openai:v1"
    mended["metadata"]["generation"] = 2
    world.put(POD, mended)
    world.settle(1)
    assert condition(world, "Ready") == "True"


def test_only_the_pods_that_wait_for_an_object_are_looked_at():
    world = start(with_volume(configMap={"name": "settings"}), 10)
    kubelet = world.component
    for name in ("a", "b"):
        world.put(POD, bound(name))
    world.settle(10)
    entry = world.put(CONFIG_MAP, make_map("other"))
    assert list(kubelet.observe(CONFIG_MAP, None, entry, world)) == []
    entry = world.put(CONFIG_MAP, make_map())
    assert list(kubelet.observe(CONFIG_MAP, None, entry, world)) == ["default/p"]
    world.settle(10)
    assert list(kubelet.observe(CONFIG_MAP, entry, entry, world)) == []


def test_a_pod_that_goes_is_not_waited_for():
    world = start(with_volume(configMap={"name": "settings"}), 10)
    world.start_deleting("p")
    world.settle(1)
    assert world.find(POD, "default", "p") is None
    entry = world.put(CONFIG_MAP, make_map())
    assert list(world.component.observe(CONFIG_MAP, None, entry, world)) == []
