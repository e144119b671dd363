"""Roles that Deployments, StatefulSets and LeaderWorkerSets carry (RoleBasedGroup §3.5)."""

import pytest
from group_lab import GroupLab, leader_worker, standalone, start

from kohort.apis.rolebasedgroup import labels
from kohort.cluster.objects import Object, name_of

TYPES = {"Deployment": labels.DEPLOYMENT, "StatefulSet": labels.STATEFUL_SET}


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


async def test_a_role_that_changes_its_kind_leaves_nothing_behind(lab: GroupLab):
    await start(lab, carried(standalone("router", 2)))
    await lab.set_field(
        f"/spec/roles/0/annotations/{labels.WORKLOAD_TYPE.replace('/', '~1')}",
        "workloads.x-k8s.io/v1alpha2/RoleInstanceSet",
    )
    await lab.until(lambda: not lab.all(labels.STATEFUL_SET) and lab.is_done())
    assert len(lab.all(labels.INSTANCE)) == 2


async def test_defect_4_an_adapter_of_a_stateful_set_has_a_selector(lab: GroupLab):
    await start(lab, carried(standalone("router", 2, scalingAdapter={"enable": True})))
    await lab.until(lambda: bool(lab.all(labels.ADAPTER)[0].get("status")))
    selector = lab.all(labels.ADAPTER)[0]["status"]["selector"]
    assert f"{labels.ROLE_NAME}=router" in selector


async def test_leaders_and_workers_wait_for_a_kind_that_is_not_served(lab: GroupLab):
    from group_lab import group

    kind = "leaderworkerset.x-k8s.io/v1/LeaderWorkerSet"
    await lab.apply(group(carried(leader_worker(), kind), standalone("router", 1)))
    await lab.until(lambda: len(lab.pods("router")) == 1)
    assert not lab.is_ready()
