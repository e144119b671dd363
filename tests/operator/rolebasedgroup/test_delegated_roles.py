"""Roles that Deployments, StatefulSets and LeaderWorkerSets carry."""

import pytest
from group_lab import GroupLab, group, leader_worker, standalone, start

from kohort.apis.rolebasedgroup import labels
from kohort.cluster.kinds import DEPLOYMENT, STATEFUL_SET
from kohort.cluster.objects import Object, name_of
from kohort.simulator.stages import NEVER_READY

IMAGE = "standalonePattern/template/spec/containers/0/image"
TYPES = {"Deployment": DEPLOYMENT, "StatefulSet": STATEFUL_SET}


def carried(role: Object, kind: str = "apps/v1/StatefulSet") -> Object:
    return {**role, "annotations": {labels.WORKLOAD_TYPE: kind}}


@pytest.mark.parametrize("kind", TYPES)
async def test_a_role_is_carried_by_the_kind_that_it_names(lab: GroupLab, kind: str):
    await start(lab, carried(standalone("router", 2), f"apps/v1/{kind}"))
    (found,) = lab.all(TYPES[kind])
    assert name_of(found) == "x-router"
    assert len(lab.pods("router")) == 2
    assert not lab.all(labels.INSTANCE_SET)


@pytest.mark.parametrize("kind", TYPES)
async def test_replicas_and_template_follow_the_role(lab: GroupLab, kind: str):
    await start(lab, carried(standalone("router", 2), f"apps/v1/{kind}"))
    await lab.set_field("/spec/roles/0/replicas", 3)
    await lab.until(lambda: lab.is_done() and len(lab.pods()) == 3)
    await lab.set_image("engine:2")
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"})


async def test_at_rest_nothing_is_written_about_what_others_carry(lab: GroupLab):
    await start(lab, carried(standalone("router", 2)), standalone("engine", 1))
    await lab.run(5)
    before = dict(lab.cluster.tried)
    await lab.run(600)
    assert dict(lab.cluster.tried) == before


@pytest.mark.parametrize("kind", TYPES)
async def test_what_the_server_writes_otherwise_is_no_difference(lab: GroupLab, kind: str):
    """It leaves out zeros, and writes amounts in its own way."""
    container = {
        "name": "engine",
        "image": "engine:1",
        "resources": {"requests": {"cpu": "0.5", "memory": "1024Mi"}},
        "volumeMounts": [{"name": "cache", "mountPath": "/cache", "readOnly": False}],
    }
    spec = {
        "containers": [container],
        "hostNetwork": False,
        "volumes": [{"name": "cache", "emptyDir": {}}],
    }
    role = standalone("router", 1, standalonePattern={"template": {"spec": spec}})
    await start(lab, carried({**role, "minReadySeconds": 0}, f"apps/v1/{kind}"))
    before = lab.cluster.tried.copy()
    await lab.set_field("/metadata/annotations", {"example.com/note": "look again"})
    await lab.run(30)
    assert lab.cluster.tried == before


async def test_a_role_that_changes_its_kind_leaves_nothing_behind(lab: GroupLab):
    await start(lab, carried(standalone("router", 2)))
    await lab.set_field(
        f"/spec/roles/0/annotations/{labels.WORKLOAD_TYPE.replace('/', '~1')}",
        "workloads.x-k8s.io/v1alpha2/RoleInstanceSet",
    )
    await lab.until(lambda: not lab.all(STATEFUL_SET) and lab.is_done())
    assert len(lab.all(labels.INSTANCE)) == 2


async def test_defect_4_an_adapter_of_a_stateful_set_has_a_selector(lab: GroupLab):
    await start(lab, carried(standalone("router", 2, scalingAdapter={"enable": True})))
    await lab.until(lambda: bool(lab.all(labels.ADAPTER)[0].get("status")))
    selector = lab.all(labels.ADAPTER)[0]["status"]["selector"]
    assert f"{labels.ROLE_NAME}=router" in selector


async def test_leaders_and_workers_wait_for_a_kind_that_is_not_served(lab: GroupLab):
    kind = "leaderworkerset.x-k8s.io/v1/LeaderWorkerSet"
    await lab.apply(group(carried(leader_worker(), kind), standalone("router", 1)))
    await lab.until(lambda: len(lab.pods("router")) == 1)
    assert not lab.is_ready()


async def test_what_left_the_role_leaves_its_set(lab: GroupLab):
    marks = {"labels": {"tier": "1"}, "annotations": {labels.IN_PLACE_SCHEDULING: "Preferred"}}
    await start(lab, {**standalone("router", 1), **marks})
    await lab.set_field("/spec/roles", [standalone("router", 1)])
    await lab.run(30)
    metadata = lab.all(labels.INSTANCE_SET)[0]["metadata"]
    assert "tier" not in metadata["labels"]
    assert labels.IN_PLACE_SCHEDULING not in metadata["annotations"]


@pytest.mark.parametrize("kind", TYPES)
async def test_what_left_the_role_leaves_its_workload(lab: GroupLab, kind: str):
    spec = {
        "containers": [{"name": name, "image": "engine:1"} for name in ("engine", "aside")],
        "nodeSelector": {"kubernetes.io/os": "linux"},
    }
    role = standalone("router", 1, standalonePattern={"template": {"spec": spec}})
    await start(lab, carried({**role, "minReadySeconds": 2}, f"apps/v1/{kind}"))
    await lab.set_field("/spec/roles", [carried(standalone("router", 1), f"apps/v1/{kind}")])
    await lab.until(lab.is_done)
    await lab.run(30)
    (found,) = lab.all(TYPES[kind])
    left = found["spec"]["template"]["spec"]
    assert [each["name"] for each in left["containers"]] == ["engine"]
    assert "nodeSelector" not in left and "minReadySeconds" not in found["spec"]


@pytest.mark.parametrize("kind", TYPES)
async def test_a_role_is_updated_after_the_one_that_it_depends_on(lab: GroupLab, kind: str):
    router = standalone("router", 1, dependencies=["decode"])
    await start(lab, standalone("decode", 2), carried(router, f"apps/v1/{kind}"))
    await lab.set_image("engine:2", 0)
    await lab.set_image("engine:2", 1)

    def find_image() -> str:
        (found,) = lab.all(TYPES[kind])
        return str(found["spec"]["template"]["spec"]["containers"][0]["image"])

    await lab.until(lambda: find_image() == "engine:2")
    decodes = [pod["spec"]["containers"][0]["image"] for pod in lab.pods("decode").values()]
    assert decodes == ["engine:2"] * 2
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"})


async def order(lab: GroupLab, *roles: str) -> None:
    """A policy that updates roles in this order."""
    strategy = {"rollingUpdate": {"updateOrder": [*roles]}}
    rule = {"name": "o", "roles": [*roles], "strategy": strategy}
    head = {"apiVersion": labels.POLICY.api_version, "kind": labels.POLICY.name}
    await lab.apply({**head, "metadata": {"name": "x"}, "spec": {"policies": [rule]}})


@pytest.mark.parametrize("is_paused", [True, False], ids=["paused", "ordered"])
async def test_a_lost_role_comes_back_though_one_that_it_depends_on_is_to_be_updated(
    lab: GroupLab, is_paused: bool
):
    """It waited for the new template of that role, which waited for it, or for the user."""
    rolling = {"rolloutStrategy": {"rollingUpdate": {"paused": is_paused}}}
    decode = carried(standalone("decode", 2, **rolling), "apps/v1/Deployment")
    if not is_paused:
        await order(lab, "router", "decode")
    await start(lab, decode, carried(standalone("router", 2, dependencies=["decode"])))
    await lab.delete(STATEFUL_SET, "x-router")
    await lab.set_image("engine:2", 0)
    await lab.until(lambda: len(lab.pods("router")) == 2 and lab.is_ready())
    await lab.until(lambda: lab.images("decode") == {"engine:1" if is_paused else "engine:2"})


def find_deployed(lab: GroupLab) -> str:
    (found,) = lab.all(DEPLOYMENT)
    return str(found["spec"]["template"]["spec"]["containers"][0]["image"])


async def test_a_paused_role_keeps_the_template_of_its_deployment(lab: GroupLab):
    """A Deployment has no partition: with the new template its controller updates every pod."""
    paused = {"rolloutStrategy": {"rollingUpdate": {"paused": True}}}
    await start(lab, carried(standalone("router", 2, **paused), "apps/v1/Deployment"))
    await lab.set_image("engine:2")
    await lab.run(60)
    assert lab.images() == {"engine:1"} == {find_deployed(lab)}
    await lab.set_field("/spec/roles/0/replicas", 3)
    await lab.until(lambda: len(lab.pods()) == 3 and lab.is_ready())
    await lab.run(10)
    before = dict(lab.cluster.tried)
    await lab.run(300)
    assert dict(lab.cluster.tried) == before and lab.images() == {"engine:1"}
    await lab.set_field("/spec/roles/0/rolloutStrategy/rollingUpdate/paused", False)
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"})


async def test_a_pause_stops_a_deployment_that_has_begun_to_roll(lab: GroupLab):
    """Its new template is there already: without a pause of its own it rolled to the end."""
    await start(lab, carried(standalone("router", 4), "apps/v1/Deployment"))
    await lab.set_image("engine:2")
    await lab.until(lambda: len(lab.images()) == 2)
    await lab.set_field("/spec/roles/0/rolloutStrategy", {"rollingUpdate": {"paused": True}})
    await lab.run(120)
    assert lab.images() == {"engine:1", "engine:2"}
    await lab.set_field("/spec/roles/0/replicas", 5)
    await lab.until(lambda: len(lab.pods()) == 5)
    assert lab.images() == {"engine:1", "engine:2"}
    await lab.run(10)
    before = dict(lab.cluster.tried)
    await lab.run(300)
    assert dict(lab.cluster.tried) == before
    await lab.set_field("/spec/roles/0/rolloutStrategy/rollingUpdate/paused", False)
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"})
    (found,) = lab.all(DEPLOYMENT)
    assert "paused" not in found["spec"]


async def test_a_role_that_is_paused_from_the_start_makes_its_pods(lab: GroupLab):
    """A Deployment that is paused when it is made makes none."""
    paused = {"rolloutStrategy": {"rollingUpdate": {"paused": True}}}
    await start(lab, carried(standalone("router", 2, **paused), "apps/v1/Deployment"))
    (found,) = lab.all(DEPLOYMENT)
    assert len(lab.pods()) == 2 and "paused" not in found["spec"]


async def test_a_foreign_image_in_the_deployment_of_a_paused_role_is_put_back(lab: GroupLab):
    paused = {"rolloutStrategy": {"rollingUpdate": {"paused": True}}}
    await start(lab, carried(standalone("router", 2, **paused), "apps/v1/Deployment"))
    image = "/spec/template/spec/containers/0/image"
    change = {"op": "replace", "path": image, "value": "foreign:1"}
    await lab.edit("x-router", change, kind=DEPLOYMENT)
    await lab.until(lambda: find_deployed(lab) == "engine:1")
    await lab.until(lambda: lab.is_ready() and lab.images() == {"engine:1"})


async def test_a_role_that_a_deployment_carries_is_updated_in_its_order(lab: GroupLab):
    await order(lab, "decode", "router")
    await start(lab, standalone("decode", 2), carried(standalone(), "apps/v1/Deployment"))
    operations = [
        {"op": "replace", "path": f"/spec/roles/{index}/{IMAGE}", "value": "engine:2"}
        for index in (0, 1)
    ]
    await lab.edit("x", *operations, kind=labels.KIND)
    await lab.until(lambda: find_deployed(lab) == "engine:2")
    assert lab.images("decode") == {"engine:2"}
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"})
    await lab.run(10)
    before = dict(lab.cluster.tried)
    await lab.run(300)
    assert dict(lab.cluster.tried) == before


@pytest.mark.parametrize("kind", TYPES)
async def test_a_workload_that_is_being_deleted_is_not_written(lab: GroupLab, kind: str):
    await start(lab, carried(standalone("router", 2), f"apps/v1/{kind}"))
    stay = {"op": "add", "path": "/metadata/finalizers", "value": ["example.com/stay"]}
    await lab.edit("x-router", stay, kind=TYPES[kind])
    await lab.delete(TYPES[kind], "x-router")
    await lab.set_image("engine:2")
    await lab.run(5)
    (found,) = lab.all(TYPES[kind])
    assert found["spec"]["template"]["spec"]["containers"][0]["image"] == "engine:1"


@pytest.mark.parametrize("kind", TYPES)
async def test_a_pause_where_nothing_is_to_be_updated_is_no_rollout(lab: GroupLab, kind: str):
    """The hash of the role covers the pause, and its Deployment kept the old hash for ever."""
    await start(lab, carried(standalone("router", 2), f"apps/v1/{kind}"))
    await lab.set_field("/spec/roles/0/rolloutStrategy", {"rollingUpdate": {"paused": True}})
    await lab.run(30)
    status = lab.status()
    assert status["roleStatuses"][0]["updatedReplicas"] == 2
    said = {each["type"] for each in status["conditions"] if each["status"] == "True"}
    assert said == {"Ready"}


async def test_another_partition_of_a_role_that_waits_is_no_update(lab: GroupLab):
    """A role that waits for another one got a partition of all its instances."""
    router = standalone("router", 2, dependencies=["decode"])
    await start(lab, standalone("decode", 1), carried(router))
    silent = {"annotations": {NEVER_READY: "true"}}
    await lab.set_field("/spec/roles/0/standalonePattern/template/metadata", silent)
    await lab.until(lambda: not lab.is_ready())
    await lab.set_field("/spec/roles/1/rolloutStrategy", {"rollingUpdate": {"partition": 1}})
    await lab.run(30)
    assert lab.status()["roleStatuses"][1]["updatedReplicas"] == 2
    (found,) = lab.all(STATEFUL_SET)
    assert found["spec"]["updateStrategy"]["rollingUpdate"]["partition"] == 1
