"""Another client deletes the revision of a group that a partition keeps: it is made again."""

import pytest
from gang_lab import VOLCANO, open_gang_lab
from operator_lab import Lab, make_lws, set_image, set_replicas

from kohort.apis.gangs.dialects.volcano import POD_GROUP
from kohort.apis.leaderworkerset import labels
from kohort.cluster import kinds
from kohort.cluster.objects import Object, name_of

KEY = f"{labels.NAME.rpartition('/')[0]}/template-revision-hash"
FIELDS = ("labels", "annotations", "ownerReferences")


@pytest.fixture(params=["statefulsets", "pods"])
def carrier(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def open_kept(carrier: str, policy: str = "RecreateGroupOnPodRestart", kept: int = 1) -> Lab:
    """Groups of three in gangs; the partition keeps all but one on the first template."""
    lab = await open_gang_lab(Lab(VOLCANO))
    notes = {"kohort.dev/carrier": carrier}
    template, rollout = {"restartPolicy": policy}, {"partition": kept, "maxUnavailable": 1}
    await lab.apply(
        make_lws(groups=kept + 1, annotations=notes, template=template, rollout=rollout)
    )
    await lab.until(lab.is_available)
    await lab.edit("x", set_image("engine:2"))
    await lab.run(60)
    return lab


def find_stored(lab: Lab) -> Object:
    """The revision of group 0."""
    leader = lab.find(kinds.POD, "x-0")
    assert leader is not None
    key = leader["metadata"]["labels"][KEY]
    stored = lab.all(kinds.CONTROLLER_REVISION)
    owned = [r for r in stored if r["metadata"]["ownerReferences"][0]["kind"] == "LeaderWorkerSet"]
    return next(r for r in owned if r["metadata"]["labels"].get(KEY) == key)


def is_whole(lab: Lab) -> bool:
    pods = {name_of(pod): pod for pod in lab.all(kinds.POD)}
    old = {n for n, p in pods.items() if p["spec"]["containers"][0]["image"] == "engine:1"}
    return old == {"x-0", "x-0-1", "x-0-2"} and lab.lws()["status"]["readyReplicas"] == 2


def list_images(lab: Lab) -> dict[str, str]:
    """The image of each leader."""
    leaders = [pod for pod in lab.all(kinds.POD) if name_of(pod).count("-") == 1]
    return {name_of(pod): pod["spec"]["containers"][0]["image"] for pod in leaders}


async def test_a_deleted_revision_that_a_kept_group_has_is_made_again_as_it_was(carrier: str):
    lab = await open_kept(carrier)
    before = find_stored(lab)
    await lab.delete(kinds.CONTROLLER_REVISION, name_of(before))
    await lab.run(10)
    after = find_stored(lab)
    assert (after["data"], after["revision"]) == (before["data"], before["revision"])
    assert [after["metadata"].get(f) for f in FIELDS] == [before["metadata"].get(f) for f in FIELDS]
    await lab.close()


async def test_a_kept_group_comes_back_whole_after_its_revision_was_deleted(carrier: str):
    lab = await open_kept(carrier)
    await lab.delete(kinds.CONTROLLER_REVISION, name_of(find_stored(lab)))
    await lab.run(10)
    await lab.delete(kinds.POD, "x-0-1")
    await lab.run(120)
    assert is_whole(lab)
    await lab.close()


async def test_a_kept_group_gets_its_gang_again_after_its_revision_was_deleted(carrier: str):
    lab = await open_kept(carrier)
    gang = next(name_of(g) for g in lab.all(POD_GROUP) if name_of(g).startswith("x-0-"))
    await lab.delete(kinds.CONTROLLER_REVISION, name_of(find_stored(lab)))
    await lab.run(10)
    await lab.delete(POD_GROUP, gang)
    await lab.run(60)
    assert lab.find(POD_GROUP, gang) is not None
    await lab.close()


async def test_a_kept_group_is_completed_where_its_revision_and_a_worker_go_at_once():
    """Its template is known, so the group is not made anew from another one."""
    lab = await open_kept("pods", "None")
    before = lab.find(kinds.POD, "x-0")
    await lab.delete(kinds.CONTROLLER_REVISION, name_of(find_stored(lab)))
    await lab.delete(kinds.POD, "x-0-1", grace_seconds=0)
    await lab.run(60)
    after = lab.find(kinds.POD, "x-0")
    assert before is not None and after is not None
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert is_whole(lab)
    await lab.close()


async def test_a_kept_group_that_goes_with_its_revision_comes_back_as_it_was():
    """The revision is known by another kept group, so both are made again in one plan."""
    lab = await open_kept("pods", kept=2)
    await lab.delete(kinds.CONTROLLER_REVISION, name_of(find_stored(lab)))
    for name in ("x-1", "x-1-1", "x-1-2"):
        await lab.delete(kinds.POD, name, grace_seconds=0)
    await lab.run(60)
    assert list_images(lab) == {"x-0": "engine:1", "x-1": "engine:1", "x-2": "engine:2"}
    await lab.close()


async def test_a_step_that_is_noted_while_a_revision_is_away_keeps_what_groups_are_made_from():
    lab = await open_kept("pods")
    await lab.delete(kinds.CONTROLLER_REVISION, name_of(find_stored(lab)))
    await lab.edit("x", set_replicas(3))
    await lab.run(60)
    for name in ("x-0", "x-0-1", "x-0-2"):
        await lab.delete(kinds.POD, name, grace_seconds=0)
    await lab.run(60)
    assert list_images(lab) == {"x-0": "engine:1", "x-1": "engine:2", "x-2": "engine:2"}
    await lab.close()


async def test_a_deleted_revision_that_no_group_has_stays_away(carrier: str):
    lab = await open_kept(carrier)
    revision = find_stored(lab)
    await lab.edit("x", {"op": "remove", "path": "/spec/rolloutStrategy"})
    await lab.until(lab.is_available)
    await lab.delete(kinds.CONTROLLER_REVISION, name_of(revision))
    await lab.edit("x", set_image("engine:3"))
    await lab.until(lab.is_available)
    assert lab.find(kinds.CONTROLLER_REVISION, name_of(revision)) is None
    await lab.close()
