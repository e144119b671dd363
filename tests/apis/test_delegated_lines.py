"""A line that another controller carries is read as numbers."""

from dataclasses import replace

import pytest

from kohort.apis.carriers.delegated import read_tally
from kohort.model.observed import Group, Observed, RoleInstances, Tally
from kohort.model.policies import Gate, RolloutPolicy, Rule, Skew
from kohort.model.units import Level, Phase, Reach
from kohort.model.workload import Role, Workload
from kohort.planning.plan import plan

KINDS = {
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1",
}


def carrier(kind: str, replicas: int = 3, **status: int) -> dict:
    metadata = {"name": "d", "namespace": "ns", "uid": "u", "generation": 2}
    told = {"observedGeneration": 2, **status}
    spec = {"replicas": replicas}
    return {
        "apiVersion": KINDS[kind],
        "kind": kind,
        "metadata": metadata,
        "spec": spec,
        "status": told,
    }


@pytest.mark.parametrize("kind", KINDS)
def test_counts_are_read_where_each_kind_has_them(kind):
    found = read_tally(carrier(kind, replicas=3, updatedReplicas=2, readyReplicas=3) | {})
    assert (found.wanted, found.ready, found.updated, found.is_seen) == (3, 3, 2, True)


def test_what_was_counted_before_the_last_change_is_not_updated():
    """rbg#307, rbg#464: right after a change the old status still says that all is updated."""
    found = read_tally(carrier("StatefulSet", replicas=3, updatedReplicas=3, observedGeneration=1))
    assert (found.updated, found.updated_ready, found.is_seen) == (0, 0, False)


def test_no_more_are_updated_and_ready_than_must_be():
    status = {"replicas": 4, "updatedReplicas": 2, "readyReplicas": 3}
    obj = carrier("Deployment", replicas=4)
    obj["status"] |= status
    assert read_tally(obj).updated_ready == 1


def test_a_kind_that_cannot_carry_is_an_error():
    with pytest.raises(ValueError, match="cannot carry a line"):
        read_tally({"apiVersion": "v1", "kind": "Pod", "metadata": {}})


def delegated_role(name: str) -> Role:
    policy = RolloutPolicy(4, max_unavailable=4, level=Level.INSTANCE)
    return Role(4, name=name, revision="new", rollout=policy, reach=Reach.COUNT)


def held_role(name: str, updated: int) -> RoleInstances:
    obj = carrier("StatefulSet", replicas=4)
    # The operator writes this partition together with a new template.
    obj["spec"]["updateStrategy"] = {"rollingUpdate": {"partition": 4}}
    obj["status"] |= {"replicas": 4, "readyReplicas": 4, "updatedReplicas": updated}
    return RoleInstances(name, 4, "new", tally=read_tally(obj))


def test_rules_bound_lines_that_others_carry():
    asked = Workload(
        *("ns", "x", "uid", 1),
        groups=1,
        roles=(delegated_role("a"), delegated_role("b")),
        revision="new",
        rollout=RolloutPolicy(1),
        reach=Reach.ANY,
        rules=(Rule("even", ("a", "b"), update_skew=Skew(units=1)),),
        has_rollout=False,
    )
    roles = (held_role("a", 1), held_role("b", 0))
    steps = plan(
        asked, Observed((Group(0, "new", Phase.STARTING, "g", 1, roles=roles),)), 0.0
    ).steps
    boundaries = {line.role: step.rollout.boundary for line, step in steps.items() if line.role}
    assert boundaries == {"a": 3, "b": 3}


def counts_in_step(made: Tally, rule: Rule) -> set[int]:
    """How many units each of two roles of four may have while both have made so many."""
    asked = Workload(
        *("ns", "x", "uid", 1),
        groups=1,
        roles=(delegated_role("a"), delegated_role("b")),
        revision="new",
        rollout=RolloutPolicy(1),
        reach=Reach.ANY,
        rules=(rule,),
        has_rollout=False,
    )
    roles = tuple(RoleInstances(name, 4, "new", tally=made, grown=made.wanted) for name in "ab")
    group = Group(0, "new", Phase.STARTING, "g", 1, roles=roles)
    steps = plan(asked, Observed((group,)), 0.0).steps
    return {step.rollout.count for line, step in steps.items() if line.role}


def test_growth_that_was_asked_for_and_has_not_begun_is_not_taken_back():
    rule = Rule("even", ("a", "b"), scale_skew=Skew(units=1))
    assert counts_in_step(Tally(3, 1, 1, 1, 1), rule) == {3}


def test_growth_in_order_waits_until_all_units_that_another_controller_made_are_ready():
    rule = Rule("even", ("a", "b"), scale_skew=Skew(units=1), gate=Gate.READY)
    assert counts_in_step(Tally(1, 1, 0, 1, 0), rule) == {1}
    assert counts_in_step(Tally(1, 1, 1, 1, 1), rule) == {2}


def surging(kind: str, updated: int, ready: int) -> Tally:
    """A line of two units, and a third one beyond them."""
    obj = carrier(kind, replicas=2, updatedReplicas=updated, readyReplicas=ready)
    obj["status"]["replicas"] = 3
    return read_tally(obj)


def is_next_let_go(first: Tally, second: Tally, rule: Rule) -> bool:
    """Whether a rule lets all of the two units of the second role be updated now."""
    policy = RolloutPolicy(2, max_unavailable=2, level=Level.INSTANCE)
    asked = Workload(
        *("ns", "x", "uid", 1),
        groups=1,
        roles=tuple(Role(2, 1, n, "new", rollout=policy, reach=Reach.COUNT) for n in "ab"),
        revision="new",
        rollout=RolloutPolicy(1),
        reach=Reach.ANY,
        rules=(rule,),
        has_rollout=False,
    )
    told = {"a": first, "b": second}
    roles = tuple(RoleInstances(name, 2, "new", tally=tally) for name, tally in told.items())
    steps = plan(asked, Observed((Group(0, "old", Phase.READY, "g", 2, roles=roles),)), 0.0).steps
    return any(line.role == "b" and step.rollout.boundary == 0 for line, step in steps.items())


ORDER = Rule("a, then b", ("a", "b"), is_ordered=True)
EVEN = Rule("even", ("a", "b"), update_skew=Skew(units=0))
NONE_UPDATED, ONE_UPDATED = Tally(2, 2, 2, 0, 0), Tally(2, 2, 2, 1, 1)
KINDS_WITH_SURGE = ("Deployment", "LeaderWorkerSet")


@pytest.mark.parametrize("kind", KINDS_WITH_SURGE)
@pytest.mark.parametrize(("updated", "ready"), [(2, 3), (3, 2)], ids=["old", "unready"])
def test_in_an_order_a_surge_unit_stands_for_no_wanted_unit_that_is_old_or_unready(
    kind: str, updated: int, ready: int
):
    assert not is_next_let_go(surging(kind, updated, ready), NONE_UPDATED, ORDER)


@pytest.mark.parametrize("kind", KINDS_WITH_SURGE)
@pytest.mark.parametrize(("updated", "ready"), [(1, 3), (2, 2)], ids=["old", "unready"])
def test_in_a_skew_a_surge_unit_stands_for_no_wanted_unit_that_is_old_or_unready(
    kind: str, updated: int, ready: int
):
    assert not is_next_let_go(surging(kind, updated, ready), ONE_UPDATED, EVEN)


@pytest.mark.parametrize("exist", [2, 3], ids=["alone", "with-surge"])
def test_once_all_units_are_updated_and_ready_the_next_role_is_let_go(exist: int):
    first = Tally(2, exist, exist, exist, exist)
    assert is_next_let_go(first, NONE_UPDATED, ORDER)
    assert is_next_let_go(first, ONE_UPDATED, EVEN)


def test_a_role_with_an_old_unit_beside_an_updated_surge_unit_is_not_updated():
    role = RoleInstances("a", 2, "new", tally=surging("LeaderWorkerSet", 2, 3))
    assert not role.is_updated
    assert replace(role, partition=1).is_updated
    assert replace(role, tally=surging("LeaderWorkerSet", 3, 3)).is_updated
