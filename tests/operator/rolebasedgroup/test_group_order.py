"""Who starts and who is updated first: roles, instances of a role, components of an instance."""

from group_lab import GroupLab, group, standalone, start, template

from kohort.apis.rolebasedgroup import labels
from kohort.cluster.kinds import CONFIG_MAP
from kohort.cluster.objects import Object, annotations_of, is_true, name_of
from kohort.simulator.stages import PREFIX


async def test_a_role_begins_when_the_one_that_it_depends_on_is_ready(lab: GroupLab):
    await lab.apply(group(standalone("router", 1, dependencies=["engine"]), standalone("engine")))
    await lab.until(lambda: len(lab.pods("engine")) == 2)
    assert not lab.pods("router")
    await lab.until(lambda: bool(lab.pods("router")))
    assert all(is_pod_ready(pod) for pod in lab.pods("engine").values())
    await lab.until(lab.is_done)


async def test_defect_9_a_dependent_is_scaled_while_its_dependency_is_unready(lab: GroupLab):
    await start(lab, standalone("engine"), standalone("router", 1, dependencies=["engine"]))
    await lab.fail_pod("x-engine-0")
    await lab.set_field("/spec/roles/1/replicas", 2)
    await lab.run(1)
    assert len(lab.pods("router")) == 2
    await lab.until(lab.is_done)


async def test_defect_9_a_role_is_updated_after_the_one_that_it_depends_on(lab: GroupLab):
    await start(lab, standalone("engine"), standalone("router", 2, dependencies=["engine"]))
    await lab.edit(
        "x",
        *(
            {
                "op": "replace",
                "path": f"/spec/roles/{i}/standalonePattern/template/spec/containers/0/image",
                "value": "engine:2",
            }
            for i in (0, 1)
        ),
        kind=labels.KIND,
    )
    await lab.until(lambda: "engine:2" in lab.images("router"), 120)
    assert lab.images("engine") == {"engine:2"}
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 120)


async def test_ordered_instances_come_one_by_one(lab: GroupLab):
    role = standalone("router", 3, podManagementPolicy="OrderedReady")
    await lab.apply(group(role))
    for count in (1, 2, 3):
        await lab.until(lambda: len(lab.pods()) == count)  # noqa: B023
        ready = lab.status().get("roleStatuses", [{"readyReplicas": 0}])[0]["readyReplicas"]
        assert ready <= count
        if count > 1:
            assert len(lab.pods()) - 1 <= sum(is_pod_ready(p) for p in lab.pods().values()) + 1
    await lab.until(lab.is_done)


def is_pod_ready(pod: Object) -> bool:
    conditions = pod.get("status", {}).get("conditions", ())
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


async def test_the_discovery_config_follows_the_replicas(lab: GroupLab):
    await start(lab, standalone("router", 1))
    await lab.set_field("/spec/roles/0/replicas", 2)
    await lab.until(lab.is_done)
    text = lab.all(CONFIG_MAP)
    (config,) = [c for c in text if name_of(c) == "x"]
    assert "x-router-1.s-x-router" in config["data"]["config.yaml"]
    assert annotations_of(lab.all(labels.INSTANCE_SET)[0])[labels.ROLE_SIZE] == "2"


def components(*listed: Object) -> Object:
    return {"name": "pd", "replicas": 1, "customComponentsPattern": {"components": list(listed)}}


def component(name: str, size: int = 1, after: str = "") -> Object:
    made: Object = {"name": name, "size": size, "template": template()}
    if after:
        made["annotations"] = {labels.DEPENDS_ON: f'{{"startAfter": ["{after}"]}}'}
    return made


async def test_a_component_starts_after_those_that_it_names(lab: GroupLab):
    role = components(component("router", after="leader"), component("leader", 2))
    await lab.apply(group(role))
    await lab.until(lambda: len(lab.pods()) == 2)
    assert all("leader" in name for name in lab.pods())
    await lab.until(lab.is_done)
    assert sorted(lab.pods()) == ["x-pd-0-leader-0", "x-pd-0-leader-1", "x-pd-0-router-0"]


async def test_a_component_starts_when_all_that_it_names_are_ready(lab: GroupLab):
    """Leaders are ready long before workers."""
    router = component("router", after='leader", "worker')
    slow = {"annotations": {f"{PREFIX}ready-after": "20s"}}
    worker = {**component("worker", 2), "template": {**template(), "metadata": slow}}
    await lab.apply(group(components(router, component("leader"), worker)))
    others: list[Object] = []
    while not others:
        await lab.run(0.25)
        pods = lab.pods()
        if pods.pop("x-pd-0-router-0", None):
            others = list(pods.values())
        assert lab.clock.elapsed() < 600
    assert len(others) == 3
    # Their gate closes again at once, until the router is ready, too.
    assert all(is_true(pod, "ContainersReady") for pod in others)
    await lab.until(lab.is_done)
