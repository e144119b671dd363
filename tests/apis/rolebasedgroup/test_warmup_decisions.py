"""The rules of a warm-up, over every small state and through whole runs drawn by chance."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.apis.rolebasedgroup.warmup.decisions import (
    ENDED,
    Decision,
    Try,
    TryState,
    WarmupNode,
    WarmupPhase,
    WarmupPolicies,
    WarmupState,
    decide,
    list_moments,
)

NOW = 1_000_000.0
ACTIVE, WARM, FAILED = TryState.ACTIVE, TryState.SUCCEEDED, TryState.FAILED
HISTORIES = [(), (ACTIVE,), (WARM,), (FAILED,), (FAILED, ACTIVE), (FAILED, WARM), (FAILED, FAILED)]
POLICIES = [
    WarmupPolicies(parallelism, retries, failed_max)
    for parallelism, retries, failed_max in product((None, 1, 2), (None, 0, 1), (None, 0, 1))
]


def node(name: str, history: tuple[TryState, ...], **more: bool) -> WarmupNode:
    return WarmupNode(name, tuple(Try(n, state, 0.0) for n, state in enumerate(history)), **more)


def list_states() -> list[WarmupState]:
    return [
        WarmupState((node("a", a), node("b", b)), policies, is_paused)
        for a, b in product(HISTORIES, HISTORIES)
        for policies in POLICIES
        for is_paused in (False, True)
    ]


def is_over(each: WarmupNode, policies: WarmupPolicies) -> bool:
    """Written from the words of the API, not from the code: warm, or failed too often."""
    if each.has(WARM):
        return True
    failed = sum(one.state is FAILED for one in each.tries)
    return not each.has(ACTIVE) and policies.retries is not None and failed > policies.retries


class TestEveryState:
    def test_no_more_nodes_are_active_than_may_be(self):
        for state in list_states():
            limit = state.policies.parallelism
            begun = len(decide(state, NOW).begin)
            active = sum(each.has(ACTIVE) for each in state.nodes)
            assert limit is None or not begun or begun + active <= limit, state

    def test_only_nodes_are_begun_that_are_neither_warm_nor_active_nor_given_up(self):
        for state in list_states():
            known = {each.name: each for each in state.nodes}
            for name, number in decide(state, NOW).begin:
                assert not known[name].has(ACTIVE), state
                assert not is_over(known[name], state.policies), state
                assert number == len(known[name].tries), state

    def test_nothing_is_begun_while_paused_or_after_the_end(self):
        for state in list_states():
            decision = decide(state, NOW)
            assert not decision.begin or decision.phase is WarmupPhase.RUNNING, state
            assert not state.is_paused or not decision.begin, state

    def test_it_is_complete_when_every_node_is_over_and_few_enough_have_failed(self):
        for state in list_states():
            over = [each for each in state.nodes if is_over(each, state.policies)]
            failed = sum(not each.has(WARM) for each in over)
            most = state.policies.failed_max
            is_failed = most is not None and failed > most
            is_complete = len(over) == len(state.nodes) and not is_failed
            decision = decide(state, NOW)
            assert (decision.phase is WarmupPhase.FAILED) == is_failed, state
            assert (decision.phase is WarmupPhase.COMPLETED) == is_complete, state
            assert decision.counts.failed == failed, state

    def test_where_there_is_room_a_node_that_waits_is_begun(self):
        for state in list_states():
            decision = decide(state, NOW)
            active = sum(each.has(ACTIVE) for each in state.nodes)
            waiting = [
                n for n in state.nodes if not n.has(ACTIVE) and not is_over(n, state.policies)
            ]
            has_room = state.policies.parallelism is None or active < state.policies.parallelism
            if decision.phase is WarmupPhase.RUNNING and waiting and has_room:
                assert decision.begin, state

    def test_pods_are_stopped_only_by_a_failure(self):
        for state in list_states():
            decision = decide(state, NOW)
            assert decision.stops == (decision.phase is WarmupPhase.FAILED), state

    def test_what_has_ended_stays_as_it_ended(self):
        for state, phase in product(list_states(), ENDED):
            ended = WarmupState(state.nodes, state.policies, state.is_paused, 0.0, phase, NOW)
            decision = decide(ended, NOW)
            assert decision.phase is phase
            assert not decision.begin
            assert not decision.expires


class TestTime:
    def test_the_first_failure_costs_no_wait_and_later_ones_wait_longer(self):
        policies = WarmupPolicies()
        for failures, wait in ((1, 0.0), (2, 10.0), (3, 20.0), (4, 40.0), (20, 300.0)):
            tries = tuple(Try(n, FAILED, NOW) for n in range(failures))
            state = WarmupState((WarmupNode("a", tries),), policies)
            assert bool(decide(state, NOW).begin) == (wait == 0.0)
            assert decide(state, NOW + wait).begin == (("a", failures),)
            assert list_moments(state) == (NOW + wait,)

    def test_a_deleted_pod_of_an_earlier_try_does_not_give_a_try_back(self):
        state = WarmupState((WarmupNode("a", (Try(2, FAILED),)),), WarmupPolicies(retries=2))
        assert decide(state, NOW).phase is WarmupPhase.COMPLETED
        assert decide(state, NOW).counts.failed == 1

    def test_after_the_timeout_it_has_failed(self):
        state = WarmupState((node("a", (ACTIVE,)),), WarmupPolicies(timeout_seconds=60), False, NOW)
        assert list_moments(state) == (NOW + 60,)
        assert decide(state, NOW + 59).phase is WarmupPhase.RUNNING
        decision = decide(state, NOW + 60)
        assert (decision.phase, decision.reason) == (WarmupPhase.FAILED, "GlobalTimeoutExceeded")
        assert decision.stops

    def test_what_is_warm_in_time_is_not_late(self):
        state = WarmupState((node("a", (WARM,)),), WarmupPolicies(timeout_seconds=60), False, NOW)
        assert decide(state, NOW + 600).phase is WarmupPhase.COMPLETED

    def test_a_warm_up_lives_on_for_as_long_as_it_says(self):
        policies = WarmupPolicies(ttl_seconds=5)
        state = WarmupState((), policies, False, NOW, "Completed", NOW)
        assert list_moments(state) == (NOW + 5,)
        assert not decide(state, NOW + 4).expires
        assert decide(state, NOW + 5).expires


def test_a_node_that_is_a_target_no_more_is_not_begun_and_not_waited_for():
    gone = node("b", (FAILED,), is_target=False)
    decision = decide(WarmupState((node("a", (WARM,)), gone)), NOW)
    assert (decision.phase, decision.counts.desired) == (WarmupPhase.COMPLETED, 1)


def test_without_nodes_it_is_complete_at_once():
    decision = decide(WarmupState(()), NOW)
    assert (decision.phase, decision.reason) == (WarmupPhase.COMPLETED, "NoNodesMatched")


def run_on(state: WarmupState, decision: Decision, fates: list[bool], now: float) -> WarmupState:
    """The state after pods were made, and the oldest active one has ended as fate says."""
    begun = dict(decision.begin)
    nodes = []
    has_ended = False
    for each in state.nodes:
        tries = list(each.tries)
        if each.name in begun:
            tries.append(Try(begun[each.name], ACTIVE))
        for place, one in enumerate(tries):
            if one.state is ACTIVE and not has_ended and fates:
                tries[place] = Try(one.number, WARM if fates.pop() else FAILED, now)
                has_ended = True
        nodes.append(WarmupNode(each.name, tuple(tries)))
    return WarmupState(tuple(nodes), state.policies, state.is_paused)


@settings(max_examples=100, deadline=None)
@given(
    count=st.integers(1, 4),
    parallelism=st.none() | st.integers(1, 3),
    retries=st.integers(0, 3),
    fates=st.lists(st.booleans(), min_size=20, max_size=20),
)
def test_every_run_ends_and_no_node_is_tried_more_often_than_it_may(
    count: int, parallelism: int | None, retries: int, fates: list[bool]
):
    state = WarmupState(
        tuple(WarmupNode(f"n{i}") for i in range(count)), WarmupPolicies(parallelism, retries)
    )
    now = NOW
    for _ in range(100):
        now += 1_000.0
        decision = decide(state, now)
        assert all(len(each.tries) <= retries + 1 for each in state.nodes)
        if decision.phase in ENDED:
            return
        state = run_on(state, decision, fates, now)
    pytest.fail("it never ended")
