"""Another client deletes the revision of a group that is old: it is made again as it was."""

import pytest
from serving_lab import ServingLab, role, start

from kohort.apis.modelserving import labels
from kohort.cluster import kinds
from kohort.cluster.objects import Object, labels_of, name_of

BY_GROUP, BY_ROLE = "ServingGroupRollingUpdate", "RoleRollingUpdate"
FIELDS = ("labels", "annotations", "ownerReferences")


@pytest.fixture(params=[BY_GROUP, BY_ROLE])
def rollout(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def keep_old(lab: ServingLab, rollout: str = BY_GROUP) -> Object:
    """A partition keeps group 0, or instance 0 of its role, on the first template; its revision."""
    by_role = {"partition": 1} if rollout == BY_ROLE else {}
    strategy = {"type": rollout}
    if rollout == BY_GROUP:
        strategy["rollingUpdateConfiguration"] = {"partition": 1}
    count = 2 if rollout == BY_GROUP else 1
    await start(lab, role("a", 2, 1, **by_role), replicas=count, rolloutStrategy=strategy)
    await lab.set_image("engine:2")
    await lab.run(60)
    return find_stored(lab, revision_of(lab, "x-0-a-0-0"))


def revision_of(lab: ServingLab, pod: str) -> str:
    return labels_of(lab.pods()[pod])[labels.REVISION]


def find_stored(lab: ServingLab, key: str) -> Object:
    stored = lab.all(kinds.CONTROLLER_REVISION)
    return next(r for r in stored if labels_of(r)[labels.REVISION] == key)


def list_images(lab: ServingLab) -> dict[str, str]:
    """The image of each entry."""
    entries = lab.pods(lambda pod: name_of(pod).endswith("-0"))
    return {name: pod["spec"]["containers"][0]["image"] for name, pod in entries.items()}


async def test_it_is_made_again_as_it_was(lab: ServingLab, rollout: str):
    before = await keep_old(lab, rollout)
    await lab.delete(kinds.CONTROLLER_REVISION, name_of(before))
    await lab.run(10)
    after = find_stored(lab, labels_of(before)[labels.REVISION])
    assert (after["data"], after["revision"]) == (before["data"], before["revision"])
    assert [after["metadata"].get(f) for f in FIELDS] == [before["metadata"].get(f) for f in FIELDS]


async def test_what_is_lost_then_comes_back_as_it_was(lab: ServingLab, rollout: str):
    before = await keep_old(lab, rollout)
    images = list_images(lab)
    await lab.delete(kinds.CONTROLLER_REVISION, name_of(before))
    await lab.run(10)
    await lab.delete(kinds.POD, "x-0-a-0-0")
    await lab.run(60)
    assert images["x-0-a-0-0"] == "engine:1"
    assert list_images(lab) == images


async def test_an_instance_that_goes_with_its_revision_comes_back_as_its_group_is(lab: ServingLab):
    """One group never has two revisions."""
    before = await keep_old(lab)
    await lab.delete(kinds.CONTROLLER_REVISION, name_of(before))
    await lab.delete(kinds.POD, "x-0-a-1-0", grace_seconds=0)
    await lab.run(60)
    assert {revision_of(lab, name) for name in lab.pods() if name.startswith("x-0-")} == {
        labels_of(before)[labels.REVISION]
    }


async def test_one_that_no_pod_has_stays_away(lab: ServingLab, rollout: str):
    before = await keep_old(lab, rollout)
    if rollout == BY_GROUP:
        await lab.set_field("/spec/rolloutStrategy/rollingUpdateConfiguration/partition", 0)
    else:
        await lab.set_field("/spec/template/roles/0/partition", 0)
    await lab.until(lab.is_done, 120)
    await lab.delete(kinds.CONTROLLER_REVISION, name_of(before))
    await lab.set_image("engine:3")
    await lab.run(60)
    assert name_of(before) not in map(name_of, lab.all(kinds.CONTROLLER_REVISION))
