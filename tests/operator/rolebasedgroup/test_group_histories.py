"""Revisions that come back: numbered anew, and known to have served."""

from collections.abc import AsyncIterator

import pytest
from group_lab import GroupLab, standalone, start
from single_lab import IMAGE, SingleLab, instance, start_instances
from test_coordinated_groups import policy
from test_instance_restarts import read_changed
from test_versions_together import NOTED, break_role

from kohort.apis.rolebasedgroup import labels
from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.cluster.objects import Object, annotations_of, labels_of, name_of


def own_revisions(lab: GroupLab, kind: str) -> list[Object]:
    """The revisions of the root object, lowest number first."""
    found = lab.all(CONTROLLER_REVISION)
    own = [r for r in found if r["metadata"]["ownerReferences"][0]["kind"] == kind]
    return sorted(own, key=lambda revision: revision["revision"])


def served(revisions: list[Object]) -> list[int]:
    return [r["revision"] for r in revisions if labels.SERVED in annotations_of(r)]


async def roll(lab: GroupLab, *images: str) -> None:
    for image in images:
        await lab.set_image(image)
        await lab.until(lambda: lab.is_done() and lab.images() == {image}, 120)  # noqa: B023


async def test_roles_that_come_back_are_stored_with_the_next_number(lab: GroupLab):
    """As upstream does: its command line takes the highest number for the present one."""
    await start(lab, standalone(replicas=2))
    await roll(lab, "engine:2", "engine:1")
    first, second, third = own_revisions(lab, "RoleBasedGroup")
    assert [r["revision"] for r in (first, second, third)] == [1, 2, 3]
    hashes = [labels_of(r)[labels.GROUP_REVISION] for r in (first, second, third)]
    assert hashes[0] == hashes[2] != hashes[1] and third["data"] == first["data"]
    assert name_of(third) == f"x-{hashes[0]}-3"


async def test_a_revision_that_served_and_was_undone_has_served(lab: GroupLab):
    await start(lab, standalone(replicas=2))
    await roll(lab, "engine:2", "engine:1")
    assert served(own_revisions(lab, "RoleBasedGroup")) == [1, 2]


async def test_roles_go_back_to_the_revision_that_served_last(lab: GroupLab):
    """A user went back from a later one before: it served, too, but not last."""
    rule = policy({"rollingUpdate": {"maxSkew": "50%"}}, "prefill", "decode", **NOTED)
    await lab.apply(rule)
    await start(lab, standalone("prefill", 1), standalone("decode", 1))
    for image in ("engine:5", "engine:6", "engine:1"):
        await lab.set_image(image)
        await lab.until(lambda: lab.is_done() and image in lab.images("prefill"), 120)  # noqa: B023
    await lab.set_image("engine:2")
    await break_role(lab, 1)
    await lab.until(lambda: "engine:2" in lab.images())
    await lab.until(lambda: lab.is_done() and "engine:2" not in lab.images(), 600)
    assert lab.images() == {"engine:1"}


async def test_roles_that_served_before_do_not_go_back_by_themselves(lab: GroupLab):
    """The user asked for a revision that served once: that its pods fail now has other causes."""
    rule = policy({"rollingUpdate": {"maxSkew": "50%"}}, "prefill", "decode", **NOTED)
    await lab.apply(rule)
    await start(lab, standalone("prefill", 1), standalone("decode", 1))
    for image in ("engine:2", "engine:1"):
        await lab.set_image(image)
        await lab.until(lambda: lab.is_done() and image in lab.images("prefill"), 120)  # noqa: B023
    (present,) = own_revisions(lab, "RoleBasedGroup")[2:]
    assert labels.SERVED not in annotations_of(present)
    facts = read_changed(lab, lambda obj: None)[1].memory.facts
    assert facts.current is not None and facts.current.number == 3
    assert facts.fallback is None


@pytest.fixture
async def single() -> AsyncIterator[SingleLab]:
    found = SingleLab()
    await found.open()
    yield found
    await found.close()


async def test_the_template_of_a_set_by_hand_that_comes_back_has_the_highest_number(
    single: SingleLab,
):
    """As upstream does: one object for each template, which is given a new number when used."""
    await start_instances(single)
    for image in ("engine:2", "engine:1"):
        await single.change(IMAGE, image)
        await single.until(lambda: single.is_set_done() and single.images() == {image}, 120)  # noqa: B023
    found = own_revisions(single, "RoleInstanceSet")
    assert [r["revision"] for r in found] == [2, 3]
    assert served(found) == [2, 3]
    assert "engine:1" in str(found[1]["data"])


async def test_an_instance_by_hand_goes_there_and_back(single: SingleLab):
    await single.apply(instance())
    await single.until(single.is_instance_ready, 120)
    path = "/spec/components/{}/template/spec/containers/0/image"
    for image in ("engine:2", "engine:1"):
        for index in (0, 1):
            await single.change(path.format(index), image, "solo")
        await single.run(1)
        await single.until(
            lambda: single.is_instance_ready() and single.images() == {image},  # noqa: B023
            120,
        )
    found = own_revisions(single, "RoleInstance")
    assert found[-1]["revision"] > found[-2]["revision"] and "engine:2" not in str(found[-1])
    assert {r["revision"] for r in found if "engine:1" not in str(r["data"])} <= set(served(found))
