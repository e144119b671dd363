"""Another client deletes a revision of a RoleInstanceSet or a RoleInstance that a user made."""

import pytest
from single_lab import IMAGE, SingleLab, component, instance, start_instances
from test_deleted_set_revisions import WATCHED, check_same, find_stored, lose

from kohort.apis.rolebasedgroup import labels
from kohort.cluster import kinds
from kohort.cluster.objects import Object, name_of

LAB = SingleLab
PARTITION = "/spec/updateStrategy/partition"
SOLO_IMAGE = "/spec/components/0/template/spec/containers/0/image"


def list_stored(lab: SingleLab) -> list[Object]:
    found = lab.all(kinds.CONTROLLER_REVISION)
    return sorted(found, key=lambda each: int(each["revision"]))


async def keep_old(lab: SingleLab, **more: str) -> Object:
    """A partition keeps instance 0 on the first template; the revision of that one."""
    strategy = {"type": "InPlaceIfPossible", "partition": 1}
    await start_instances(lab, updateStrategy=strategy, **more)
    (before,) = list_stored(lab)
    await lab.change(IMAGE, "engine:2")
    await lab.until(lambda: lab.images() == {"engine:1", "engine:2"})
    await lab.run(30)
    found = find_stored(lab, name_of(before))
    assert found is not None
    return found


@WATCHED
async def test_it_is_made_again_as_it_was(lab: SingleLab, has_operator: bool):
    before = await keep_old(lab)
    assert before["metadata"].pop("annotations") == {labels.SERVED: "true"}
    await lose(lab, name_of(before), has_operator=has_operator)
    await lab.run(10)
    after = find_stored(lab, name_of(before))
    assert after is not None
    # Whether all instances were ready on it, nothing else says.
    notes = after["metadata"].pop("annotations", {})
    assert notes == ({labels.SERVED: "true"} if has_operator else {})
    check_same(after, before)


@WATCHED
async def test_an_old_instance_is_still_updated_in_place(lab: SingleLab, has_operator: bool):
    before = await keep_old(lab)
    uids = lab.uids()
    await lose(lab, name_of(before), has_operator=has_operator)
    await lab.change(PARTITION, 0)
    await lab.until(lambda: lab.images() == {"engine:2"} and lab.is_set_done(), 120)
    assert lab.uids() == uids


@WATCHED
async def test_a_kept_instance_that_is_lost_with_it_comes_back_as_it_was(
    lab: SingleLab, has_operator: bool
):
    before = await keep_old(lab)
    former = lab.instance_uids()["x-0"]
    await lose(lab, name_of(before), has_operator=has_operator)
    await lab.run(10)
    await lab.delete(labels.INSTANCE, "x-0")
    await lab.until(lambda: lab.instance_uids().get("x-0", former) != former)
    await lab.run(60)
    assert lab.images() == {"engine:1", "engine:2"}


@WATCHED
async def test_one_that_is_asked_for_again_gets_the_highest_number(
    lab: SingleLab, has_operator: bool
):
    before = await keep_old(lab)
    uids = lab.uids()
    if not has_operator:
        await lab.stop_operator()
    await lab.delete(kinds.CONTROLLER_REVISION, name_of(before))
    await lab.change(IMAGE, "engine:1")
    if not has_operator:
        lab.start_operator()
    await lab.until(lambda: lab.images() == {"engine:1"}, 120)
    await lab.run(30)
    assert [name_of(each) for each in list_stored(lab)][-1] == name_of(before)
    assert lab.uids() == uids
    what = ("create", kinds.CONTROLLER_REVISION.name)
    assert lab.cluster.tried[what] == lab.cluster.writes[what]


@pytest.mark.parametrize("size", [1, 2])
async def test_the_pods_of_an_instance_are_still_updated_in_place(lab: SingleLab, size: int):
    await lab.apply(instance(component(size=size)))
    await lab.until(lab.is_instance_ready, 120)
    (before,) = list_stored(lab)
    uids = lab.uids()
    await lab.delete(kinds.CONTROLLER_REVISION, name_of(before))
    # At once: the operator sees both in one plan.
    await lab.change(SOLO_IMAGE, "engine:2", "solo")
    await lab.until(lambda: lab.images() == {"engine:2"} and lab.is_instance_ready(), 120)
    assert lab.uids() == uids
