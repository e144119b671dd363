"""Groups that a partition keeps have the instances that they had, however their roles scale."""

from typing import Any

from gang_lab import VOLCANO, define_pod_groups
from serving_lab import KIND, ServingLab, role, start

from kohort.apis.gangs.dialects.volcano import POD_GROUP
from kohort.cluster import kinds
from kohort.cluster.objects import Object, name_of

ROLE = "/spec/template/roles/0"
IMAGE = f"{ROLE}/entryTemplate/spec/containers/0/image"


def rolling(partition: int) -> Object:
    configuration = {"partition": partition, "maxUnavailable": 1}
    kind = "ServingGroupRollingUpdate"
    return {"type": kind, "rollingUpdateConfiguration": configuration}


def put(path: str, value: Any) -> Object:
    return {"op": "add", "path": path, "value": value}


async def start_kept(lab: ServingLab, **more: Any) -> None:
    """One instance in each group, of which a partition keeps the first."""
    await start(lab, role(workers=0), replicas=2, rolloutStrategy=rolling(1), **more)


async def change(lab: ServingLab, count: int, *more: Object) -> None:
    """A new template and a new count at once."""
    await lab.edit("x", put(IMAGE, "engine:2"), put(f"{ROLE}/replicas", count), *more, kind=KIND)


async def test_a_kept_group_keeps_the_instances_that_its_role_was_scaled_to(lab: ServingLab):
    """The stored revision is older than the scaling, which made none."""
    await start_kept(lab)
    await lab.set_field(f"{ROLE}/replicas", 3)
    await lab.until(lab.is_done, 120)
    before = lab.uids(group_index="0")
    await lab.set_image("engine:2", parts=("entryTemplate",))
    await lab.until(lambda: "engine:2" in lab.images() and lab.status()["updatedReplicas"] == 1, 60)
    await lab.run(30)
    assert len(before) == 3
    assert lab.uids(group_index="0") == before


async def test_a_kept_group_that_was_lost_is_made_with_its_own_count(lab: ServingLab):
    await start_kept(lab)
    await change(lab, 3)
    await lab.run(60)
    made = set()
    bucket = lab.api.registry.of(kinds.POD).bucket
    lab.api.store.subscribe(bucket, lambda event: made.add(name_of(event.entry.decode())))
    await lab.delete_group(0)
    await lab.run(60)
    assert made == {"x-0-decode-0-0"} == set(lab.uids(group_index="0"))


async def test_the_gang_of_a_kept_group_asks_for_the_pods_that_it_has():
    """A gang that waits for instances which never come is not placed again."""
    lab = ServingLab(VOLCANO)
    await lab.open()
    await define_pod_groups(lab)
    await start_kept(lab, schedulerName="volcano")
    await change(lab, 3)
    await lab.run(60)
    found = {name_of(gang): gang["spec"]["minMember"] for gang in lab.all(POD_GROUP)}
    await lab.close()
    assert found == {"x-0": 1, "x-1": 3}


async def test_a_group_that_waits_is_not_kept_while_a_lower_one_is_missing(lab: ServingLab):
    """Taken for kept, it would grow back to the count of before."""
    await start(lab, role(replicas=2, workers=0), replicas=3, rolloutStrategy=rolling(1))
    never = {"annotations": {"sim.kohort.dev/never-ready": "true"}}
    await change(lab, 1, put(f"{ROLE}/entryTemplate/metadata", never))
    await lab.run(60)
    before = lab.uids(group_index="1")
    assert (len(before), len(lab.uids(group_index="0"))) == (1, 2)
    seen = set()
    bucket = lab.api.registry.of(kinds.POD).bucket
    lab.api.store.subscribe(bucket, lambda event: seen.add(name_of(event.entry.decode())))
    await lab.delete_group(0)
    await lab.run(60)
    assert lab.uids(group_index="1") == before
    assert "x-1-decode-1-0" not in seen


async def test_a_kept_group_that_wants_no_pod_gets_none(lab: ServingLab):
    await start(lab, role(replicas=0, workers=0), replicas=2, rolloutStrategy=rolling(1))
    await change(lab, 1)
    await lab.run(60)
    assert sorted(lab.pods()) == ["x-1-decode-0-0"]
    assert lab.status()["availableReplicas"] == 2
