"""
The next step of a warm-up: pure rules over the tries (pods) that each node has had.

A node is warm when one try succeeded. It has failed for good when its failures exceed the retry
limit; without a limit the operator tries for ever. The first retry starts at once, later ones wait
longer and longer. All state is in the pods and in the times of the status, so the operator decides
the same after a restart. A warm-up that has ended keeps its result.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from kohort.model.policies import Backoff
from kohort.model.reasons import count

BACKOFF = Backoff()
WARMED, NO_NODES = "WarmupCompleted", "NoNodesMatched"
TOO_MANY_FAILED, TIMED_OUT = "MaxFailedNodesExceeded", "GlobalTimeoutExceeded"


class TryState(StrEnum):
    """The outcome of a try."""

    ACTIVE = "active"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class WarmupPhase(StrEnum):
    """The phase of a warm-up in its status."""

    RUNNING = "Running"
    PAUSED = "Paused"
    COMPLETED = "Completed"
    FAILED = "Failed"


ENDED = (WarmupPhase.COMPLETED, WarmupPhase.FAILED)


@dataclass(frozen=True, slots=True)
class Try:
    """One pod on one node."""

    number: int
    state: TryState
    ended_at: float = 0.0


@dataclass(frozen=True, slots=True)
class WarmupNode:
    """A node, and the tries on it."""

    name: str
    tries: tuple[Try, ...] = ()
    is_target: bool = True  # false: it was a target only when its first try began

    def has(self, state: TryState) -> bool:
        """Whether the node has a try in this state."""
        return any(each.state is state for each in self.tries)

    @property
    def failures(self) -> int:
        """How often the node failed, by try numbers, since clients may delete pods of old tries."""
        failed = [each.number for each in self.tries if each.state is TryState.FAILED]
        return max(len(failed), *(number + 1 for number in failed)) if failed else 0

    @property
    def due_at(self) -> float:
        """The time from which the operator may try the node again."""
        ended = [each.ended_at for each in self.tries if each.state is TryState.FAILED]
        return max(ended, default=0.0) + BACKOFF.wait_seconds(self.failures)

    @property
    def next_number(self) -> int:
        """The number of the node's next try."""
        return max((each.number + 1 for each in self.tries), default=0)


@dataclass(frozen=True, slots=True)
class WarmupPolicies:
    """The limits of a warm-up; None: no limit."""

    parallelism: int | None = None
    retries: int | None = None  # for each node
    failed_max: int | None = None  # more failed nodes end the warm-up
    timeout_seconds: float | None = None
    ttl_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class WarmupState:
    """The observed state of a warm-up, from which the rules decide."""

    nodes: tuple[WarmupNode, ...]
    policies: WarmupPolicies = WarmupPolicies()
    is_paused: bool = False
    started_at: float | None = None
    phase: str = ""  # from the status
    ended_at: float | None = None


@dataclass(frozen=True, slots=True)
class NodeCounts:
    """How many nodes of a warm-up are in each state."""

    desired: int
    active: int
    succeeded: int
    failed: int  # without retries left


@dataclass(frozen=True, slots=True)
class Decision:
    """The next step of a warm-up, and the phase and message for its status."""

    phase: WarmupPhase
    counts: NodeCounts
    reason: str = ""  # why the warm-up ended
    message: str = ""
    begin: tuple[tuple[str, int], ...] = ()  # tries to start: node and number of the try
    stops: bool = False  # delete pods that still run
    expires: bool = False  # delete the warm-up itself


def decide(state: WarmupState, now: float) -> Decision:
    """Decide the next step of a warm-up at this time."""
    counts = count_nodes(state)
    if state.phase in ENDED:
        phase = WarmupPhase(state.phase)
        has_failed = phase is WarmupPhase.FAILED
        return Decision(phase, counts, stops=has_failed, expires=_has_expired(state, now))
    end = _find_end(state, counts, now)
    if end is not None:
        return end
    if state.is_paused:
        return Decision(WarmupPhase.PAUSED, counts)
    return Decision(WarmupPhase.RUNNING, counts, begin=tuple(_find_begins(state, now)))


def _find_end(state: WarmupState, counts: NodeCounts, now: float) -> Decision | None:
    """The result of a warm-up that has ended; None while it goes on."""
    if not counts.desired:
        text = "No nodes matched the target: nothing is to be done"
        return Decision(WarmupPhase.COMPLETED, counts, NO_NODES, text)
    most = state.policies.failed_max
    if most is not None and counts.failed > most:
        text = f"{count(counts.failed, 'node', 'nodes')} failed for good, and {most} may"
        return Decision(WarmupPhase.FAILED, counts, TOO_MANY_FAILED, text, stops=True)
    if counts.succeeded + counts.failed == counts.desired:
        text = f"{counts.succeeded} of {count(counts.desired, 'node is', 'nodes are')} warm"
        return Decision(WarmupPhase.COMPLETED, counts, WARMED, text)
    if _is_late(state, now):
        text = (
            f"{counts.succeeded} of {count(counts.desired, 'node was', 'nodes were')} warm "
            f"after {state.policies.timeout_seconds:g} seconds"
        )
        return Decision(WarmupPhase.FAILED, counts, TIMED_OUT, text, stops=True)
    return None


def list_moments(state: WarmupState) -> tuple[float, ...]:
    """The times at which the decision may change without any event: retries, timeout, TTL."""
    policies, moments = state.policies, []
    if state.phase in ENDED:
        if state.ended_at is not None and policies.ttl_seconds is not None:
            moments.append(state.ended_at + policies.ttl_seconds)
        return tuple(moments)
    if state.started_at is not None and policies.timeout_seconds is not None:
        moments.append(state.started_at + policies.timeout_seconds)
    moments += [n.due_at for n in state.nodes if n.failures and _is_pending(n, policies)]
    return tuple(moments)


def count_nodes(state: WarmupState) -> NodeCounts:
    """Count the nodes by state."""
    nodes = _list_counted(state)
    return NodeCounts(
        desired=len(nodes),
        active=sum(_is_active(node) for node in nodes),
        succeeded=sum(node.has(TryState.SUCCEEDED) for node in nodes),
        failed=sum(_has_failed(node, state.policies) for node in nodes),
    )


def _list_counted(state: WarmupState) -> list[WarmupNode]:
    """Target nodes, and former targets with a try that runs, succeeded or failed for good."""
    return [node for node in state.nodes if node.is_target or not _is_pending(node, state.policies)]


def _is_active(node: WarmupNode) -> bool:
    return node.has(TryState.ACTIVE) and not node.has(TryState.SUCCEEDED)


def _has_failed(node: WarmupNode, policies: WarmupPolicies) -> bool:
    """Whether a node has used up its retries."""
    if node.has(TryState.SUCCEEDED) or node.has(TryState.ACTIVE) or policies.retries is None:
        return False
    return node.failures > policies.retries


def _is_pending(node: WarmupNode, policies: WarmupPolicies) -> bool:
    is_done = node.has(TryState.SUCCEEDED) or node.has(TryState.ACTIVE)
    return not is_done and not _has_failed(node, policies)


def _is_late(state: WarmupState, now: float) -> bool:
    timeout = state.policies.timeout_seconds
    if timeout is None or state.started_at is None:
        return False
    return now >= state.started_at + timeout


def _has_expired(state: WarmupState, now: float) -> bool:
    ttl = state.policies.ttl_seconds
    return ttl is not None and state.ended_at is not None and now >= state.ended_at + ttl


def _find_begins(state: WarmupState, now: float) -> Iterator[tuple[str, int]]:
    """The tries to start now within the parallelism limit, nodes with fewest failures first."""
    active = sum(node.has(TryState.ACTIVE) for node in state.nodes)
    due = [
        node
        for node in state.nodes
        if node.is_target and _is_pending(node, state.policies) and node.due_at <= now
    ]
    limit = state.policies.parallelism
    room = len(due) if limit is None else max(0, limit - active)
    for node in sorted(due, key=lambda node: node.failures)[:room]:
        yield node.name, node.next_number
