"""What the operator's journal keeps, and what it drops."""

from dataclasses import replace

from kohort.cluster.actions import Create
from kohort.cluster.objects import Kind
from kohort.journal.buffer import Journal
from kohort.journal.entries import read_entry, read_file, write_file
from kohort.journal.replay import replay
from kohort.model.observed import (
    Crash,
    Failure,
    Group,
    Instance,
    Member,
    Observed,
    Progress,
    RoleInstances,
)
from kohort.model.policies import RecoveryPolicy, RolloutPolicy, Rule, Skew, Trigger
from kohort.model.units import Line, Phase
from kohort.model.workload import Part, Role, Workload
from kohort.planning.plan import plan

INSTANCE = Instance(0, "new", Phase.STARTING, "", 1)
POD = Kind("", "v1", "Pod", "pods")


def workload(name: str = "llama", **more: object) -> Workload:
    roles = (Role(size=2, rollout=RolloutPolicy(1), parts=(Part("a"), Part("b", 2, ("a",)))),)
    rules = (Rule("together", ("a",), update_skew=Skew(share=0.5), is_together=True),)
    recovery = RecoveryPolicy(Trigger.AFTER_READY, grace_seconds=3.0)
    made = Workload("prod", name, "u", 1, 2, roles, "new", RolloutPolicy(2), recovery, rules=rules)
    return replace(made, **more)


def group(ordinal: int, phase: Phase = Phase.READY, revision: str = "old") -> Group:
    member = Member(
        f"x-{ordinal}", f"u{ordinal}", 0, revision, phase, crash=Crash("x", "engine", 1)
    )
    return Group(ordinal, revision, phase, f"u{ordinal}", 1, (member,))


def observe(*groups: Group) -> Observed:
    failure = Failure(0, "old", "u0", 2, 5.0, Crash("x-0"), Line(0, "a"))
    return Observed(
        groups,
        Progress(2, 2, 2, "new"),
        exist=len(groups),
        role_failures={Line(0, "a"): (failure,)},
        new_roles={"new": (RoleInstances("a", 1, "new", (INSTANCE,)),)},
    )


def note(journal: Journal, load: Workload, seen: Observed, now: float = 1.0) -> None:
    journal.note("LeaderWorkerSet", load, seen, plan(load, seen, now))


def test_an_entry_that_was_written_is_read_as_it_was():
    journal, load, seen = Journal(), workload(), observe(group(0), group(1))
    note(journal, load, seen)
    [written] = journal.list_entries()
    entry = read_entry(written)
    assert (entry.workload, entry.observed, entry.at) == (load, seen, 1.0)
    assert entry.decisions
    assert list(read_file(write_file([written], "1"))) == [entry]


def test_a_replay_decides_what_the_operator_decided():
    journal = Journal()
    note(journal, workload(), observe(group(0), group(1)))
    [again] = replay([read_entry(entry) for entry in journal.list_entries()])
    assert again.is_same
    assert again.decisions == again.entry.decisions


def test_a_replay_names_decisions_that_another_version_took():
    journal = Journal()
    note(journal, workload(), observe(group(0), group(1)))
    [written] = journal.list_entries()
    written["decisions"].append({"verb": "take down", "ordinals": [7]})
    [again] = replay([read_entry(written)])
    assert not again.is_same
    assert [d.ordinals for d in again.dropped] == [(7,)]
    assert again.added == ()


def test_a_workload_at_rest_leaves_one_entry():
    journal, load, seen = Journal(), workload(), observe(group(0), group(1))
    for second in range(5):
        note(journal, load, seen, float(second))
    assert len(journal.list_entries()) == 1


def test_what_the_operator_did_leaves_an_entry_each_time():
    journal, load, seen = Journal(), workload(), observe(group(0))
    made = Create(POD, "prod", {"metadata": {"name": "x-1"}}, why="pod x-1 does not exist")
    for _ in range(2):
        journal.note("LeaderWorkerSet", load, seen, plan(load, seen, 1.0), (made,))
    told = [entry["actions"] for entry in journal.list_entries()]
    assert told == [["create Pod x-1: pod x-1 does not exist"]] * 2


def fill(journal: Journal, load: Workload, times: int) -> None:
    for generation in range(times):
        note(journal, replace(load, generation=generation), observe(group(0), group(1)))


def test_one_workload_does_not_push_the_others_out():
    journal = Journal(entries_max=10, workload_max=3)
    note(journal, workload("calm"), observe(group(0)))
    fill(journal, workload("busy"), 50)
    names = [entry["workload"]["name"] for entry in journal.list_entries()]
    assert names == ["calm", "busy", "busy", "busy"]
    assert journal.list_entries()[-1]["workload"]["generation"] == 49


def test_the_oldest_entries_go_when_there_are_too_many():
    journal = Journal(entries_max=4)
    for number in range(9):
        note(journal, workload(f"w{number}"), observe(group(0)))
    assert [e["workload"]["name"] for e in journal.list_entries()] == ["w5", "w6", "w7", "w8"]


def test_members_bound_the_memory_but_one_entry_always_stays():
    journal = Journal(members_max=5)
    fill(journal, workload(), 9)  # two members each
    assert len(journal.list_entries()) == 2
    small = Journal(members_max=1)
    fill(small, workload(), 3)
    assert len(small.list_entries()) == 1
