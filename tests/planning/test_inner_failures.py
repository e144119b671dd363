"""Groups that roll, and whose instances are made anew one by one when they fail."""

from dataclasses import replace

from kohort.model.observed import Crash, Failure, Group, Instance, Member, Observed, RoleInstances
from kohort.model.plans import Plan
from kohort.model.policies import RecoveryPolicy, RolloutPolicy, Trigger
from kohort.model.units import Level, Line, Phase, Reach
from kohort.model.workload import Role, Workload
from kohort.planning.plan import plan

T0 = 1_800_000_000.0
LINE = Line(2, "a")
FAILED = Failure(0, "new", "before", 1, T0 - 1, Crash("x-2-a-0-0", "engine", 1), LINE)
ALONE = RecoveryPolicy(Trigger.ALWAYS, Level.INSTANCE, is_forgiving=True)
WORKLOAD = Workload(
    *("default", "x", "uid", 1),
    groups=3,
    roles=(Role(name="a", recovery=ALONE),),
    revision="new",
    rollout=RolloutPolicy(3, max_unavailable=1),
    recovery=RecoveryPolicy(level=Level.MEMBER),
    reach=Reach.ANY,
    has_rollout=True,
)


def group(ordinal: int, revision: str, ready: float, *failures: Failure) -> Group:
    """A group of one instance of one pod, ready since then."""
    name, uid = f"x-{ordinal}-a-0-0", f"uid-{ordinal}"
    member = Member(name, uid, 0, revision, Phase.READY, ready_since=ready)
    facts = {"size": 1, "members": (member,), "made_at": ready - 2}
    one = Instance(0, revision, Phase.READY, uid, **facts)
    role = RoleInstances("a", 1, revision, (one,), failures=failures)
    return Group(ordinal, revision, Phase.READY, uid, **facts, roles=(role,))


def decide(now: float, *groups: Group, failure: Failure = FAILED, unavailable: int = 1) -> Plan:
    new = {"new": (RoleInstances("a", 1, "new"),)}
    seen = Observed(groups, role_failures={LINE: (failure,)}, exist=len(groups), new_roles=new)
    rollout = replace(WORKLOAD.rollout, max_unavailable=unavailable)
    return plan(replace(WORKLOAD, rollout=rollout), seen, now)


OLD = (group(0, "old", T0 - 500), group(1, "old", T0 - 500))


def test_a_group_whose_instance_failed_holds_the_rollout_until_it_was_ready_for_its_next_wait():
    new = group(2, "new", T0, FAILED)
    held = decide(T0 + 9, *OLD, new)
    assert (held.step.retire, held.recheck_seconds) == ((), 1.0)
    assert held.report.blockers[0].reason == "HoldingOnRestarts"
    assert [gone.ordinal for gone in decide(T0 + 10, *OLD, new).step.retire] == [1]


def test_a_group_that_is_missing_because_its_instance_failed_holds_the_rollout():
    found = decide(T0, *OLD, unavailable=2)
    assert (found.step.retire, found.step.make[0].ordinal) == ((), 2)
    assert found.report.blockers[0].ordinals == (2,)
    long_after = decide(T0 + 3600, *OLD, unavailable=2)
    assert [gone.ordinal for gone in long_after.step.retire] == [1]


def test_the_failure_of_an_old_revision_holds_nothing():
    other = replace(FAILED, revision="former")
    found = decide(T0 + 5, *OLD, group(2, "new", T0), failure=other)
    assert [gone.ordinal for gone in found.step.retire] == [1]


def test_a_group_that_is_made_anew_remembers_how_its_instances_failed():
    assert decide(T0, *OLD).steps[LINE].failures == (FAILED,)
