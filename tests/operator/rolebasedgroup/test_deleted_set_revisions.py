"""Another client deletes the revision of instances that are old: it is made again as it was."""

from typing import Any

import pytest
from group_lab import GroupLab, leader_worker, standalone, start, template

from kohort.apis.rolebasedgroup import labels
from kohort.cluster import kinds
from kohort.cluster.objects import Object, labels_of, name_of

FIELDS = ("labels", "annotations", "ownerReferences")
IN_PLACE = {"type": "InPlaceIfPossible"}


async def keep_old(lab: GroupLab, role: Object | None = None, **rolling: Any) -> Object:
    """A partition keeps instance 0 on the first template; the revision of that one."""
    strategy = {"rollingUpdate": {"partition": 1, **rolling}}
    made = role or standalone("router", 2)
    await start(lab, {**made, "rolloutStrategy": strategy})
    (before,) = list_stored(lab)
    pattern = next(key for key in made if key.endswith("Pattern"))
    await lab.set_image("engine:2", pattern=pattern)
    await lab.until(lambda: lab.images() == {"engine:1", "engine:2"})
    await lab.run(30)
    return before


def list_stored(lab: GroupLab) -> list[Object]:
    """The revisions of the role's set."""
    held = lab.all(kinds.CONTROLLER_REVISION)
    return [found for found in held if labels.GROUP_REVISION not in labels_of(found)]


def find_stored(lab: GroupLab, name: str) -> Object | None:
    return next((found for found in list_stored(lab) if name_of(found) == name), None)


async def lose(lab: GroupLab, *names: str, has_operator: bool) -> None:
    """Delete revisions; without an operator, another one comes and has seen none of them."""
    if not has_operator:
        await lab.stop_operator()
    for name in names:
        await lab.delete(kinds.CONTROLLER_REVISION, name)
    if not has_operator:
        lab.start_operator()


def check_same(after: Object | None, before: Object) -> None:
    """It was made again, and has all that it had."""
    assert after is not None
    assert (after["data"], after["revision"]) == (before["data"], before["revision"])
    assert [after["metadata"].get(f) for f in FIELDS] == [before["metadata"].get(f) for f in FIELDS]


WATCHED = pytest.mark.parametrize("has_operator", [True, False], ids=["seen", "unseen"])
MARKED = {**template(), "metadata": {"labels": {"app": "y"}, "annotations": {"note": "z"}}}
ROLES = {
    "standalone": standalone("router", 2),
    "with labels": {**standalone("router", 2), "standalonePattern": {"template": MARKED}},
    "of several": leader_worker("router", 2, minReadySeconds=1),
    "stateless": standalone("router", 2, annotations={labels.INSTANCE_PATTERN: "Stateless"}),
}


@WATCHED
@pytest.mark.parametrize("role", ROLES)
async def test_it_is_made_again_as_it_was(lab: GroupLab, role: str, has_operator: bool):
    before = await keep_old(lab, ROLES[role])
    await lose(lab, name_of(before), has_operator=has_operator)
    await lab.run(10)
    check_same(find_stored(lab, name_of(before)), before)


@WATCHED
async def test_an_old_instance_is_still_updated_in_place(lab: GroupLab, has_operator: bool):
    before = await keep_old(lab, **IN_PLACE)
    uids = lab.uids()
    await lose(lab, name_of(before), has_operator=has_operator)
    # At once: the operator sees both in one plan.
    await lab.set_field("/spec/roles/0/rolloutStrategy/rollingUpdate/partition", 0)
    await lab.until(lambda: lab.images() == {"engine:2"} and lab.is_done(), 120)
    assert lab.uids() == uids


async def test_each_of_several_is_made_again_below_the_newest(lab: GroupLab):
    strategy = {"rollingUpdate": {"partition": 2}}
    await start(lab, standalone("router", 3, rolloutStrategy=strategy))
    for number, partition in ((2, 1), (3, 1)):
        await lab.set_image(f"engine:{number}")
        await lab.run(30)
        await lab.set_field("/spec/roles/0/rolloutStrategy/rollingUpdate/partition", partition)
        await lab.run(30)
    assert lab.images() == {"engine:1", "engine:3"}
    await lab.set_field("/spec/roles/0/rolloutStrategy/rollingUpdate/partition", 2)
    await lab.set_image("engine:4")
    await lab.until(lambda: lab.images() == {"engine:1", "engine:3", "engine:4"})
    held = {name_of(found): found for found in list_stored(lab)}
    numbers = {name: found["revision"] for name, found in held.items()}
    lost = sorted(numbers, key=lambda name: numbers[name])
    await lose(lab, lost[0], lost[2], has_operator=False)
    await lab.run(10)
    again = {name_of(found): found for found in list_stored(lab)}
    assert {n: f["data"] for n, f in again.items()} == {n: f["data"] for n, f in held.items()}
    assert max(again.values(), key=lambda found: found["revision"])["revision"] == numbers[lost[3]]
    assert len({found["revision"] for found in again.values()}) == len(again)


async def test_one_of_an_instance_that_another_client_edited_stays_away(lab: GroupLab):
    """Its template has another hash, so that it is not the one that was lost."""
    before = await keep_old(lab)
    await lab.stop_operator()
    await lab.delete(kinds.CONTROLLER_REVISION, name_of(before))
    path = "/spec/components/0/template/spec/containers/0/image"
    change = {"op": "replace", "path": path, "value": "engine:9"}
    await lab.edit("x-router-0", change, kind=labels.INSTANCE)
    lab.start_operator()
    await lab.run(30)
    assert find_stored(lab, name_of(before)) is None


@WATCHED
async def test_a_kept_instance_that_is_lost_with_it_comes_back_as_it_was(
    lab: GroupLab, has_operator: bool
):
    before = await keep_old(lab)
    former = lab.uids()["x-router-0"]
    await lose(lab, name_of(before), has_operator=has_operator)
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
