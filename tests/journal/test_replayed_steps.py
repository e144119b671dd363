"""What a step of a replay shows of the groups that the planner saw."""

from test_journal_buffer import group, note, observe, workload

from kohort.journal.buffer import Journal
from kohort.journal.entries import read_entry, read_head
from kohort.journal.replay import replay
from kohort.model.observed import Group, RoleInstances, Tally
from kohort.model.units import Phase
from kohort.views.replays import ReplayStep, SeenRole, list_steps, make_moment


def see(*groups: Group) -> ReplayStep:
    journal = Journal()
    note(journal, workload(), observe(*groups))
    (step,) = list_steps(replay(map(read_entry, journal.list_entries())))
    return step


def test_neighbours_that_are_alike_are_one_line():
    seen = see(group(0), group(1), group(2, Phase.STARTING), group(3), group(5)).seen
    assert [(line.first, line.last, line.phase) for line in seen] == [
        (0, 1, Phase.READY),
        (2, 2, Phase.STARTING),
        (3, 3, Phase.READY),
        (5, 5, Phase.READY),
    ]


def test_a_line_says_whether_it_has_the_target_and_how_many_members_are_ready():
    old, new = see(group(0), group(1, Phase.STARTING, "new")).seen
    assert (old.revision, old.is_target, old.members_ready, old.members) == ("old", False, 1, 1)
    assert (new.revision, new.is_target, new.members_ready, new.members) == ("new", True, 0, 1)


def test_roles_of_a_group_are_counted_also_those_of_another_controller():
    instance = group(0)
    roles = (
        RoleInstances("own", 2, "old", (instance,)),
        RoleInstances("web", 3, "new", tally=Tally(3, 4, 2, 1, 1)),
    )
    (line,) = see(Group(0, "old", Phase.READY, "u", 1, roles=roles)).seen
    assert line.roles == (SeenRole("own", 1, 1, 2, 1), SeenRole("web", 2, 4, 3, 1))


def test_a_moment_names_the_reason_that_was_waited_for():
    journal = Journal()
    note(journal, workload(), observe(group(0)), 1.25)
    moment = make_moment("x", read_head(journal.list_entries()[0]))
    assert (moment.id, moment.name, moment.at) == ("x", "llama", "1970-01-01T00:00:01.250Z")
    assert moment.waits == "WaitingForGroups"
