"""What people see of a workload that is its only group: roles and instances, and no group."""

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import orjson
import pytest
from group_lab import GroupLab, group, leader_worker, standalone
from single_lab import SingleLab, instance, instance_set
from test_group_views import take_view

from kohort.apis.gangs.dialects.volcano import GROUP_NAME, POD_GROUP, VOLCANO
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.apis.rolebasedgroup.single_role.api import ROLE_INSTANCE, ROLE_INSTANCE_SET
from kohort.cli.commands.replay import write_step
from kohort.cli.exits import Failure
from kohort.cli.render.explanations import (
    write_explanation,
    write_history,
    write_pod_explanation,
)
from kohort.cli.render.tables import write_change
from kohort.cli.render.topologies import write_spread
from kohort.cli.render.trees import write_lineage, write_tree
from kohort.cli.workloads.arguments import choose_places
from kohort.cluster.kinds import NODE, POD
from kohort.cluster.objects import name_of
from kohort.journal.buffer import Journal
from kohort.journal.entries import read_entry
from kohort.journal.replay import replay
from kohort.views.explain import explain
from kohort.views.forecasts import forecast_picture
from kohort.views.lineage import trace_pod
from kohort.views.members import explain_pod, find_place
from kohort.views.picture import Picture
from kohort.views.plain import to_plain
from kohort.views.replays import ReplayStep, list_steps
from kohort.views.residents import list_residents
from kohort.views.rollouts import make_history
from kohort.views.table import make_row
from kohort.views.timeline import list_units
from kohort.views.topology.atlas import draw_atlas
from kohort.views.topology.gangs import Evidence, explain_gangs
from kohort.views.topology.spread import make_spread
from kohort.views.tree import make_tree

LAB = SingleLab
MADE = {
    "rbg": (ROLE_BASED_GROUP, group(leader_worker(), standalone())),
    "ris": (ROLE_INSTANCE_SET, instance_set()),
    "rins": (ROLE_INSTANCE, instance()),
}
ORDINALS = {
    "rbg": ["engine 0", "engine 1", "router 0", "router 1"],
    "ris": ["instance 0", "instance 1"],
    "rins": ["instance 0"],
}
LINES = {
    "rbg": [
        "instances 4/4 ready   revision 1 (4/4)",
        "  role engine   2/2 ready   2 updated",
        "  role router   2/2 ready   2 updated",
        "",
        "  ✓ ready   revision 1   6 members",
    ],
    "ris": [
        "instances 2/2 ready   revision 1 (2/2)",
        "",
        "  ✓ ready   revision 1   2 members",
    ],
    "rins": [
        "instances 1/1 ready   revision 1 (1/1)",
        "",
        "  ✓ ready   revision 1   3 members",
    ],
}


@pytest.fixture(params=MADE)
async def made(request: Any, lab: GroupLab) -> str:
    """A workload of each such kind, which is ready."""
    name: str = request.param
    api, obj = MADE[name]
    await lab.apply(obj)
    await lab.run(60)
    assert take_view(lab, api).plan is not None
    return name


def see(lab: GroupLab, name: str) -> Picture:
    return take_view(lab, MADE[name][0])


def see_step(picture: Picture) -> ReplayStep:
    """What the journal tells of the plan for it."""
    journal, reading, decided = Journal(), picture.reading, picture.plan
    assert reading is not None
    assert decided is not None
    journal.note(picture.api.kind.name, reading.workload, reading.observed, decided)
    (step,) = list_steps(replay(map(read_entry, journal.list_entries())))
    return step


def tell_all(lab: GroupLab, picture: Picture) -> Iterator[str]:
    """All texts about a workload and one of its pods."""
    now = picture.now
    yield from write_tree(make_tree(picture), now)
    yield from write_tree(make_tree(picture, unfold=True), now)
    yield from (unit.name for unit in list_units(picture))
    yield from write_explanation(explain(picture), now)
    yield write_change(make_row(picture))
    yield from write_history(make_history(picture), now, is_one_group=picture.is_one_group)
    yield from write_spread(make_spread(picture, draw_atlas(lab.all(NODE), lab.all(POD))), now)
    yield from write_step(see_step(picture))
    yield from explain_gangs(picture, Evidence(dialects=(VOLCANO,)))
    yield orjson.dumps(to_plain(forecast_picture(picture))).decode()
    for pod in lab.all(POD):
        place = find_place(picture, name_of(pod))
        assert place is not None
        yield from write_pod_explanation(explain_pod(picture, pod, place), now)
        lineage = trace_pod(pod, [picture], [])
        assert lineage is not None
        yield from write_lineage(lineage)


async def test_no_text_names_the_only_group_by_a_number(lab: GroupLab, made: str):
    texts = list(tell_all(lab, see(lab, made)))
    assert [text for text in texts if "group" in text.lower().replace("rolebasedgroup", "")] == []


async def test_the_tree_has_roles_and_instances_under_the_workload(lab: GroupLab, made: str):
    picture = see(lab, made)
    head, *lines = write_tree(make_tree(picture), picture.now)
    assert [head.split("   ", 1)[1], *lines] == LINES[made]


async def test_lanes_of_the_time_line_are_instances(lab: GroupLab, made: str):
    assert [unit.name for unit in list_units(see(lab, made))] == ORDINALS[made]


async def test_what_programs_read_keeps_the_group_and_says_that_it_is_the_only_one(
    lab: GroupLab, made: str
):
    picture = see(lab, made)
    tree, step = to_plain(make_tree(picture)), to_plain(see_step(picture))
    assert (tree["row"]["isOneGroup"], step["isOneGroup"]) == (True, True)
    assert [(each["first"], each["last"]) for each in tree["groups"]] == [(0, 0)]
    assert (tree["row"]["wanted"], tree["row"]["ready"], step["wanted"]) == (1, 1, 1)


async def test_a_step_of_a_replay_says_whether_the_whole_is_ready_and_updated(
    lab: GroupLab, made: str
):
    picture = see(lab, made)
    head, saw, *_ = write_step(see_step(picture))
    assert head.endswith(f"{picture.name}   ready, updated")
    assert saw.startswith("        saw      ready, revision ")


async def test_pods_on_a_node_are_told_of_the_workload_alone(lab: GroupLab, made: str):
    found = list(list_residents([see(lab, made)], ()))
    assert len(found) == len(lab.pods())
    assert {each.group for each in found} == {None}


async def test_a_gang_that_waits_is_not_of_a_group_with_a_number(lab: GroupLab, made: str):
    metadata = {"annotations": {GROUP_NAME: "together"}}
    spec = {"nodeName": "", "schedulerName": "volcano"}
    picture = take_view(lab, MADE[made][0], metadata=metadata, spec=spec)
    evidence = Evidence(objects={POD_GROUP: {}}, dialects=(VOLCANO,))
    (line, *_) = explain_gangs(picture, evidence)
    assert line.startswith("PodGroup together; it does not exist")


async def test_a_member_of_another_group_is_not_looked_for(lab: GroupLab, made: str):
    picture = see(lab, made)
    with pytest.raises(Failure, match=r"is one group; leave out --group 3"):
        choose_places(picture, Namespace(group=3, role=""))
    assert len(choose_places(picture, Namespace(group=0, role=""))) == len(lab.pods())


async def test_what_is_left_over_is_of_an_earlier_instance(lab: GroupLab, made: str):
    picture = see(lab, made)
    tree = make_tree(picture, unfold=True)
    (whole,) = tree.groups
    left = replace(
        tree, groups=(replace(whole, lines=(replace(whole.lines[0], is_current=False),)),)
    )
    assert write_tree(left, picture.now)[-1].endswith("leftover of an earlier instance")


async def test_an_update_tells_how_many_instances_have_it(lab: GroupLab):
    await lab.apply(group(leader_worker(), standalone()))
    await lab.until(lab.is_done, 120)
    await lab.set_image("engine:2", 1)
    picture = see(lab, "rbg")
    assert "instances 4/4 ready   revision 1 → new (2/4)" in write_change(make_row(picture))
    texts = list(tell_all(lab, picture))
    assert "        decided  allow the new revision" in texts
    assert [text for text in texts if "group" in text.lower().replace("rolebasedgroup", "")] == []
