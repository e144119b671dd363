"""Workloads for forecasts: groups of one nameless role, all ready, and a new revision."""

from dataclasses import replace

from kohort.forecast.forecast import Assumptions, forecast
from kohort.forecast.units import make_members
from kohort.forecast.values import Forecast, Move
from kohort.model.observed import Group, Observed, Progress
from kohort.model.policies import RecoveryPolicy, RolloutPolicy, Trigger
from kohort.model.units import Phase, Reach
from kohort.model.workload import Role, Workload

NOW = 10_000.0
START = 100.0
SIZE = 2


def workload(groups: int, *, reach: Reach = Reach.SUFFIX, **policy: int | bool | str) -> Workload:
    """One that asks for revision ``new``."""
    return Workload(
        namespace="default",
        name="llama",
        uid="root",
        generation=2,
        groups=groups,
        roles=(Role(size=SIZE),),
        revision="new",
        rollout=RolloutPolicy(groups, **policy),  # type: ignore[arg-type]
        recovery=RecoveryPolicy(Trigger.ALWAYS),
        reach=reach,
    )


def group(ordinal: int, revision: str = "old", phase: Phase = Phase.READY) -> Group:
    """One that was made long ago, and was ready after 100 seconds."""
    made = Group(ordinal, revision, phase, f"uid-{ordinal}", SIZE, made_at=NOW - 1_000)
    return replace(made, members=make_members(made, NOW - 1_000 + START))


def observed(*groups: Group, target: str = "old") -> Observed:
    """All that exists, at the end of a rollout to the target."""
    count = len(groups)
    progress = Progress(0, count, count, target, is_base=True, base=target)
    return Observed(groups, progress, exist=count)


def old_groups(count: int) -> Observed:
    """So many groups of the old revision, all ready."""
    return observed(*(group(ordinal) for ordinal in range(count)))


def foretell(asked: Workload, seen: Observed, **assumed: object) -> Forecast:
    """The forecast, with starts of 100 seconds."""
    return forecast(asked, seen, NOW, Assumptions(start_seconds=START, **assumed))  # type: ignore[arg-type]


def list_moves(found: Forecast) -> list[list[str]]:
    """The moves of each step: ``-3`` goes, ``+3`` comes, ``~3`` is updated in place."""
    signs = {Move.DELETE: "-", Move.CREATE: "+", Move.UPDATE: "~"}
    return [[f"{signs[move.move]}{move.ordinal}" for move in step.moves] for step in found.steps]
