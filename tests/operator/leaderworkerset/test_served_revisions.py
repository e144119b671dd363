"""Which revisions are marked as having served, and what that costs."""

import pytest
from operator_lab import Lab, make_lws, set_image, set_replicas

from kohort.apis.leaderworkerset import labels
from kohort.cluster import kinds
from kohort.cluster.objects import annotations_of
from kohort.simulator.stages import PULL_ERROR

CARRIERS = pytest.mark.parametrize("carrier", ["statefulsets", "pods"])
TEMPLATE = "/spec/leaderWorkerTemplate/workerTemplate"


def served(lab: Lab) -> list[int]:
    """The numbers of the revisions that are said to have served."""
    owned = [r for r in lab.all(kinds.CONTROLLER_REVISION) if _owner_of(r) == "LeaderWorkerSet"]
    return sorted(r["revision"] for r in owned if labels.SERVED in annotations_of(r))


def _owner_of(revision: dict) -> str:
    owners = revision["metadata"].get("ownerReferences") or [{}]
    return str(owners[0].get("kind"))


async def bring_up(lab: Lab, carrier: str) -> None:
    await lab.apply(make_lws(groups=2, size=2, annotations={labels.CARRIER: carrier}))
    await lab.until(lab.is_available)
    await lab.run(5)


def break_pulls() -> dict:
    notes = {"annotations": {PULL_ERROR: "manifest unknown"}}
    return {"op": "add", "path": f"{TEMPLATE}/metadata", "value": notes}


@CARRIERS
async def test_a_revision_that_served_is_marked_when_another_is_wanted(lab: Lab, carrier: str):
    await bring_up(lab, carrier)
    assert served(lab) == []
    await lab.edit("x", set_image("engine:2"))
    await lab.run(1)
    assert served(lab) == [1]
    await lab.until(lab.is_available)
    await lab.run(5)
    assert served(lab) == [1]


@CARRIERS
async def test_a_revision_that_never_came_up_is_not_marked(lab: Lab, carrier: str):
    await bring_up(lab, carrier)
    for image in ("engine:2", "engine:3"):
        await lab.edit("x", set_image(image), break_pulls())
        await lab.run(60)
    assert served(lab) == [1]


@CARRIERS
async def test_the_mark_does_not_depend_on_the_count_that_is_wanted_next(lab: Lab, carrier: str):
    await bring_up(lab, carrier)
    await lab.edit("x", set_image("engine:2"), set_replicas(4))
    await lab.run(1)
    assert served(lab) == [1]
