"""A ModelServing whose roles are all scaled to none: its groups want no pod, and so lack none."""

import pytest
from serving_lab import ServingLab, role, start

from kohort.cluster.objects import find_condition

ROLES = "/spec/template/roles"


def is_available(lab: ServingLab) -> bool:
    found = find_condition(lab.serving(), "Available") or {}
    return found.get("status") == "True"


async def test_groups_that_want_no_pod_are_there_and_ready(lab: ServingLab):
    """An autoscaler may scale each role to none; who waits for Available waited for ever."""
    await start(lab, role("prefill", replicas=0), role("decode", replicas=0), replicas=2)
    assert is_available(lab)
    assert lab.status()["currentRevision"] == lab.status()["updateRevision"]
    before = lab.api.store.revision
    await lab.run(300)
    assert lab.api.store.revision == before


@pytest.mark.parametrize("kind", ["ServingGroupRollingUpdate", "RoleRollingUpdate"])
async def test_roles_go_to_none_and_come_back(lab: ServingLab, kind: str):
    await start(lab, role("decode"), replicas=2, rolloutStrategy={"type": kind})
    await lab.set_field(f"{ROLES}/0/replicas", 0)
    await lab.until(lambda: lab.is_done() and is_available(lab))
    assert lab.pods() == {}
    await lab.set_image("engine:2")
    await lab.until(lambda: lab.is_done() and is_available(lab))
    await lab.set_field("/spec/replicas", 3)
    await lab.until(lambda: lab.is_done() and is_available(lab))
    await lab.set_field(f"{ROLES}/0/replicas", 1)
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"})
    assert sorted(lab.pods()) == [f"x-{g}-decode-0-{i}" for g in range(3) for i in (0, 1)]


async def test_a_group_that_a_partition_keeps_with_pods_is_not_taken_for_one_without(
    lab: ServingLab,
):
    """The old template of a kept group has a role that the new one lacks."""
    rolling = {"partition": 1, "maxUnavailable": 1}
    strategy = {"type": "ServingGroupRollingUpdate", "rollingUpdateConfiguration": rolling}
    await start(lab, role("old"), role("decode"), replicas=2, rolloutStrategy=strategy)
    await lab.set_field(ROLES, [role("decode", replicas=0, workers=2)])
    await lab.run(60)
    kept = {name for name in lab.pods() if name.startswith("x-0-")}
    assert {"x-0-old-0-0", "x-0-old-0-1"} <= kept == set(lab.pods())
    await lab.delete_group(0)
    await lab.run(60)
    assert set(lab.pods()) == kept
