"""What people see of a ModelServing: its roles, the line that waits, and why."""

from datetime import datetime

import orjson
from serving_lab import ServingLab, role, serving

from kohort.apis.modelserving.api import MODEL_SERVING
from kohort.cli.render.trees import write_tree
from kohort.views.picture import Picture, take_picture
from kohort.views.samples import gather
from kohort.views.tree import make_tree


def take_view(lab: ServingLab) -> Picture:
    children = {
        watched.kind: [orjson.dumps(found) for found in lab.all(watched.kind)]
        for watched in MODEL_SERVING.watched
        if watched.is_needed
    }
    (sample,) = gather(MODEL_SERVING, [orjson.dumps(lab.serving())], children)
    return take_picture(MODEL_SERVING, sample, lab.clock.now())


def lines(lab: ServingLab) -> list[str]:
    now: datetime = lab.clock.now()
    return write_tree(make_tree(take_view(lab)), now)


async def test_roles_are_shown_where_there_are_several(lab: ServingLab):
    await lab.apply(serving(role("prefill"), role("decode", 2)))
    await lab.until(lab.is_done)
    assert [line for line in lines(lab) if line.startswith("  role")] == [
        "  role prefill   2/2 ready   2 updated",
        "  role decode    4/4 ready   4 updated",
    ]


async def test_a_single_role_is_not_told_apart(lab: ServingLab):
    await lab.apply(serving(role("decode")))
    await lab.until(lab.is_done)
    assert not [line for line in lines(lab) if "role" in line]


async def test_the_line_that_waits_is_named(lab: ServingLab):
    roles = (role("prefill", 3), role("decode", 1))
    await lab.apply(serving(*roles, replicas=1, rolloutStrategy={"type": "RoleRollingUpdate"}))
    await lab.until(lab.is_done)
    broken = {"annotations": {"sim.kohort.dev/pull-error": "manifest unknown"}}
    await lab.set_field("/spec/template/roles/0/entryTemplate/metadata", broken)
    await lab.run(20)
    picture = take_view(lab)
    assert picture.plan is not None
    waiting = [b for b in picture.plan.report.blockers if b.line.role]
    assert {blocker.line.role for blocker in waiting} == {"prefill"}
    assert waiting[0].message.startswith("role prefill of group 0: ")
