"""Another client deletes the revision of instances that are old: it is made again as it was."""

from typing import Any

from group_lab import GroupLab, standalone, start

from kohort.apis.rolebasedgroup import labels
from kohort.cluster import kinds
from kohort.cluster.objects import Object, labels_of, name_of

FIELDS = ("labels", "annotations", "ownerReferences")
IN_PLACE = {"type": "InPlaceIfPossible"}


async def keep_old(lab: GroupLab, **rolling: Any) -> Object:
    """A partition keeps instance 0 on the first template; the revision of that one."""
    strategy = {"rollingUpdate": {"partition": 1, **rolling}}
    await start(lab, standalone("router", 2, rolloutStrategy=strategy))
    (before,) = list_stored(lab)
    await lab.set_image("engine:2")
    await lab.until(lambda: lab.images() == {"engine:1", "engine:2"})
    await lab.run(30)
    return before


def list_stored(lab: GroupLab) -> list[Object]:
    """The revisions of the role's set."""
    held = lab.all(kinds.CONTROLLER_REVISION)
    return [found for found in held if labels.GROUP_REVISION not in labels_of(found)]


def find_stored(lab: GroupLab, name: str) -> Object | None:
    return next((found for found in list_stored(lab) if name_of(found) == name), None)


async def test_it_is_made_again_as_it_was(lab: GroupLab):
    before = await keep_old(lab)
    await lab.delete(kinds.CONTROLLER_REVISION, name_of(before))
    await lab.run(10)
    after = find_stored(lab, name_of(before))
    assert after is not None
    assert (after["data"], after["revision"]) == (before["data"], before["revision"])
    assert [after["metadata"].get(f) for f in FIELDS] == [before["metadata"].get(f) for f in FIELDS]


async def test_an_old_instance_is_still_updated_in_place(lab: GroupLab):
    before = await keep_old(lab, **IN_PLACE)
    uids = lab.uids()
    await lab.delete(kinds.CONTROLLER_REVISION, name_of(before))
    # At once: the operator sees both in one plan.
    await lab.set_field("/spec/roles/0/rolloutStrategy/rollingUpdate/partition", 0)
    await lab.until(lambda: lab.images() == {"engine:2"} and lab.is_done(), 120)
    assert lab.uids() == uids


async def test_a_kept_instance_that_is_lost_with_it_comes_back_as_it_was(lab: GroupLab):
    before = await keep_old(lab)
    former = lab.uids()["x-router-0"]
    await lab.delete(kinds.CONTROLLER_REVISION, name_of(before))
    await lab.run(10)
    await lab.delete(labels.INSTANCE, "x-router-0")
    await lab.until(lambda: lab.uids().get("x-router-0", former) != former)
    await lab.until(lab.is_ready, 120)
    assert lab.images() == {"engine:1", "engine:2"}


async def test_one_that_no_instance_has_stays_away(lab: GroupLab):
    before = await keep_old(lab)
    await lab.set_field("/spec/roles/0/rolloutStrategy/rollingUpdate/partition", 0)
    await lab.until(lambda: lab.images() == {"engine:2"} and lab.is_done(), 120)
    await lab.delete(kinds.CONTROLLER_REVISION, name_of(before))
    await lab.set_image("engine:3")
    await lab.run(60)
    assert find_stored(lab, name_of(before)) is None
