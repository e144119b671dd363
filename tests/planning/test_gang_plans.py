"""Gangs of a plan: who is placed together, counted from each group as it was made."""

from kohort.model.observed import Group, Member, Observed, Progress
from kohort.model.placement import Pack, PlacementPolicy, Strength
from kohort.model.policies import RolloutPolicy, Startup
from kohort.model.units import Phase
from kohort.model.workload import Role, Workload
from kohort.planning.plan import plan

PACK = Pack(Strength.HARD, tier=1)


def workload(startup: Startup = Startup.TOGETHER, *losses: str) -> Workload:
    return Workload(
        namespace="default",
        name="x",
        uid="u",
        generation=1,
        groups=2,
        roles=(Role(size=2),),
        revision="new",
        rollout=RolloutPolicy(wanted=2),
        startup=startup,
        placement=PlacementPolicy(PACK, losses=losses),
    )


def group(ordinal: int, size: int = 3, **more: object) -> Group:
    place = bool(more.pop("is_placed", False))
    current = bool(more.pop("is_current", True))
    entry = Member(f"x-{ordinal}", "m", 0, "old", Phase.STARTING)
    worker = Member(
        f"x-{ordinal}-1", "w", 1, "old", Phase.STARTING, is_current=current, is_placed=place
    )
    facts = {"phase": Phase.STARTING, "incarnation": f"i{ordinal}", **more}
    return Group(ordinal, "old", size=size, members=(entry, worker), **facts)  # type: ignore[arg-type]


def observed(*groups: Group) -> Observed:
    return Observed(groups, Progress(0, 2, 2, "new"), len(groups))


def test_a_gang_is_the_whole_group_as_it_was_made():
    """P3: a group keeps its size when the spec has another."""
    first, second = plan(workload(), observed(group(0, 3), group(1, 5)), 0.0).gangs
    assert [(g.size, g.minimum, g.revision) for g in (first, second)] == [
        (3, 3, "old"),
        (5, 5, "old"),
    ]
    assert (first.incarnation, first.pack) == ("i0", PACK)


def test_a_gang_counts_no_member_that_is_made_later():
    """P2: others that wait for the entry are not waited for by it."""
    (gang,) = plan(workload(Startup.ENTRY_FIRST), observed(group(0)), 0.0).gangs
    assert (gang.size, gang.minimum) == (3, 1)


def test_a_group_that_leaves_or_has_no_entry_is_no_gang():
    leaving = group(0, phase=Phase.LEAVING)
    assert plan(workload(), observed(leaving, group(1, incarnation="")), 0.0).gangs == ()


def test_a_gang_is_placed_as_soon_as_one_member_has_a_node():
    """P5; a leftover of before does not count."""
    placed, stale, free = group(0, is_placed=True), group(1, is_placed=True, is_current=False), 2
    found = plan(workload(), observed(placed, stale, group(free)), 0.0).gangs
    assert [gang.is_placed for gang in found] == [True, False, False]


def test_what_is_lost_stands_beside_what_blocks():
    report = plan(workload(Startup.TOGETHER, "a clause"), observed(), 0.0).report
    assert report.losses == ("a clause",)
    assert "a clause" not in [blocker.message for blocker in report.blockers]
