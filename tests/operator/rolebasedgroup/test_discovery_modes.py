"""Upstream's controller goes on with the addresses of a group that the operator made."""

import pytest
from group_lab import GroupLab, leader_worker, standalone, start
from test_group_takeover import decide

from kohort.apis.rolebasedgroup import labels
from kohort.cluster.objects import annotations_of
from recorded_groups import Recorded
from upstream_group import list_objects

PATH = "/metadata/annotations/" + labels.DISCOVERY_MODE.replace("/", "~1")


def mode_of(lab: GroupLab) -> str | None:
    return annotations_of(lab.group()).get(labels.DISCOVERY_MODE)


async def test_a_new_group_says_once_that_its_addresses_are_listed(lab: GroupLab):
    await start(lab, leader_worker(), standalone())
    await lab.run(5)
    assert mode_of(lab) == "refine"
    assert lab.cluster.tried["patch", labels.KIND.name] == 1
    before = lab.cluster.tried.copy()
    await lab.run(600)
    assert lab.cluster.tried == before


async def test_a_group_says_it_as_soon_as_it_has_a_role_whatever_carries_it(lab: GroupLab):
    notes = {labels.WORKLOAD_TYPE: "apps/v1/Deployment"}
    await start(lab, standalone(annotations=notes))
    assert mode_of(lab) == "refine"


async def test_a_group_that_says_legacy_keeps_it(lab: GroupLab):
    await start(lab, standalone(), **{labels.DISCOVERY_MODE: "legacy"})
    await lab.run(60)
    assert mode_of(lab) == "legacy"


async def test_a_mode_that_another_client_removed_comes_back(lab: GroupLab):
    await start(lab, standalone())
    pods = lab.uids()
    await lab.edit("x", {"op": "remove", "path": PATH}, kind=labels.KIND)
    await lab.until(lambda: mode_of(lab) == "refine")
    assert lab.uids() == pods


@pytest.mark.parametrize("mode", ["refine", "legacy", None])
def test_a_group_whose_sets_upstream_made_keeps_its_mode(mode: str | None):
    """Without one upstream's controller would take legacy, as it does for groups that it knows."""
    case = Recorded("by hand", "at_rest", list_objects())
    notes = {**annotations_of(case.group)}
    notes.pop(labels.DISCOVERY_MODE, None)
    case.group["metadata"]["annotations"] = notes | ({labels.DISCOVERY_MODE: mode} if mode else {})
    assert decide(case)[-1] == ()
