"""The status and the rollout of groups that have an instance too many until its pods have ended."""

import pytest
from serving_lab import KIND, ServingLab, role, start

from kohort.cluster import kinds
from kohort.cluster.objects import Object

ROLE = "/spec/template/roles/0"
ROLLOUTS = ("ServingGroupRollingUpdate", "RoleRollingUpdate")


def slow_role(replicas: int) -> Object:
    """A role whose pods take a while to end."""
    found = role(replicas=replicas, workers=0)
    template = found["entryTemplate"]
    found["entryTemplate"] = {
        **template,
        "metadata": {"annotations": {"sim.kohort.dev/stop-for": "8s"}},
    }
    return found


def list_running(lab: ServingLab) -> list[str]:
    events = [event for event in lab.all(kinds.EVENT) if event.get("reason") == "RoleRunning"]
    return sorted(event.get("note") or event.get("message") or "" for event in events)


@pytest.mark.parametrize("kind", ROLLOUTS)
async def test_a_group_is_available_again_when_its_last_surplus_instance_has_gone(
    lab: ServingLab, kind: str
):
    await start(lab, slow_role(3), rolloutStrategy={"type": kind})
    await lab.run(30)
    before = list_running(lab)
    await lab.set_field(f"{ROLE}/replicas", 1)
    await lab.run(4)
    assert (lab.status().get("replicas"), lab.status().get("availableReplicas")) == (2, 0)
    await lab.until(lab.is_done, 60)
    await lab.run(30)
    assert before
    assert list_running(lab) == before


async def test_a_new_template_with_a_lower_count_goes_within_the_budget(lab: ServingLab):
    """To a rollout these groups serve, whatever the status counts."""
    await start(lab, slow_role(2), replicas=3)
    before = set(lab.uids().values())
    await lab.edit(
        "x",
        {"op": "replace", "path": f"{ROLE}/replicas", "value": 1},
        {
            "op": "replace",
            "path": f"{ROLE}/entryTemplate/metadata/annotations",
            "value": {"sim.kohort.dev/never-ready": "true"},
        },
        kind=KIND,
    )
    await lab.run(60)
    assert sorted(name[:3] for name, uid in lab.uids().items() if uid in before) == ["x-0", "x-1"]
