"""
The registered strategies, in the order in which the operator tries them.

The first strategy that applies to a service is used; if it cannot deploy the service's modes, the
operator tries no other, since the user asked for this one. Names are unique, and the order is that
of registration.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points

from kohort.apis.inferenceservice import reasons
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.resolution.modes import ComponentDeploymentModes
from kohort.apis.inferenceservice.spec import InferenceService
from kohort.apis.inferenceservice.strategies.role_based_group import RBGStrategy
from kohort.apis.inferenceservice.strategies.single_component import SingleComponentStrategy
from kohort.apis.inferenceservice.strategies.strategy import (
    WorkloadObjects,
    WorkloadReconcileRequest,
    WorkloadStrategy,
)

ENTRY_POINTS = "kohort.workload_strategies"


@dataclass(frozen=True, slots=True)
class StrategyReason:
    """A strategy, whether it is used for a service, and why."""

    name: str
    is_chosen: bool
    reason: str


class WorkloadStrategyManager:
    """Registers strategies, and selects one for a service."""

    def __init__(self) -> None:
        # Replaced whole, so that another thread never sees a half-changed list.
        self._strategies: tuple[WorkloadStrategy, ...] = ()

    def register_strategy(self, strategy: WorkloadStrategy | None) -> None:
        """Add a strategy after all others; raises ValueError for a name that is empty or taken."""
        if strategy is None:
            raise ValueError("there is no strategy to register")
        name = strategy.get_strategy_name()
        if not name:
            raise ValueError(f"a strategy needs a name: {type(strategy).__name__} has none")
        if self.find_strategy(name) is not None:
            raise ValueError(f"a strategy of the name {name} is registered already")
        self._strategies = (*self._strategies, strategy)

    def find_strategy(self, name: str) -> WorkloadStrategy | None:
        """The strategy of that name."""
        return next((s for s in self._strategies if s.get_strategy_name() == name), None)

    def list_strategies(self) -> tuple[WorkloadStrategy, ...]:
        """All strategies, in the order in which the operator tries them."""
        return self._strategies

    def select_strategy(
        self,
        isvc: InferenceService,
        annotations: Mapping[str, str],
        modes: ComponentDeploymentModes,
    ) -> WorkloadStrategy:
        """The first strategy that applies to a service; raises ServiceError if it is unusable."""
        if not self._strategies:
            raise ServiceError(
                reasons.STRATEGY, "no workload strategy is registered: this is a mistake in Kohort"
            )
        for strategy in self._strategies:
            if is_for(strategy, isvc, annotations):
                with _named(strategy):
                    strategy.validate_deployment_modes(modes)
                return strategy
        asked = ", ".join(strategy.get_strategy_name() for strategy in self._strategies)
        raise ServiceError(
            reasons.STRATEGY, f"no workload strategy is for this service; asked were {asked}"
        )

    def explain_selection(
        self,
        isvc: InferenceService,
        annotations: Mapping[str, str],
        modes: ComponentDeploymentModes,
    ) -> tuple[StrategyReason, ...]:
        """Each strategy with the reason why it is used or not."""
        found: list[StrategyReason] = []
        taken = ""
        for strategy in self._strategies:
            name = strategy.get_strategy_name()
            if taken:
                found.append(StrategyReason(name, False, f"{taken} comes before it"))
            elif not is_for(strategy, isvc, annotations):
                found.append(StrategyReason(name, False, "the service does not ask for it"))
            else:
                taken = name
                found.append(_explain(strategy, modes))
        return tuple(found)


def is_for(
    strategy: WorkloadStrategy, isvc: InferenceService, annotations: Mapping[str, str]
) -> bool:
    """Whether a strategy applies to a service; an exception in it becomes a ServiceError."""
    with _named(strategy):
        return strategy.is_applicable(isvc, annotations)


def reconcile_workload(
    strategy: WorkloadStrategy, request: WorkloadReconcileRequest
) -> WorkloadObjects:
    """The objects of a strategy; an exception in it becomes a ServiceError."""
    with _named(strategy):
        return strategy.reconcile_workload(request)


@contextmanager
def _named(strategy: WorkloadStrategy) -> Iterator[None]:
    """Turn an exception into a ServiceError: other packages' mistakes must reach the status."""
    try:
        yield
    except ServiceError:
        raise
    except Exception as error:
        raise ServiceError(
            reasons.STRATEGY,
            f"strategy {strategy.get_strategy_name()} failed: {type(error).__name__}: {error}",
        ) from error


def _explain(strategy: WorkloadStrategy, modes: ComponentDeploymentModes) -> StrategyReason:
    name = strategy.get_strategy_name()
    try:
        with _named(strategy):
            strategy.validate_deployment_modes(modes)
    except ServiceError as error:
        return StrategyReason(name, False, str(error))
    return StrategyReason(name, True, "the first that is for the service")


@cache
def load_manager() -> WorkloadStrategyManager:
    """
    The manager with RBG, then other packages' strategies in the order of their entry points, then
    SingleComponent.

    Raises ServiceError for an entry point that cannot be used: which services its strategy is for
    is not known, so that none is planned without it. An entry point listed twice counts once.
    """
    manager, last = WorkloadStrategyManager(), SingleComponentStrategy()
    manager.register_strategy(RBGStrategy())
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name):
        try:
            strategy = read_strategy(point.name, point.load())
            found = manager.find_strategy(strategy.get_strategy_name())
            if type(strategy) is type(last) or type(strategy) is type(found):
                continue
            if strategy.get_strategy_name() == last.get_strategy_name():
                raise ValueError(f"the name {last.get_strategy_name()} is taken")
            manager.register_strategy(strategy)
        except Exception as error:
            why = f"workload strategy {point.name} of another package cannot be used"
            text = f"{why}: {type(error).__name__}: {error}"
            raise ServiceError(reasons.STRATEGY, text) from error
    manager.register_strategy(last)
    return manager


def read_strategy(name: str, found: object) -> WorkloadStrategy:
    """The strategy that an entry point provides; raises ValueError if it is none."""
    strategy = found() if isinstance(found, type) else found
    if not isinstance(strategy, WorkloadStrategy):
        raise ValueError(f"entry point {name} of {ENTRY_POINTS} is no WorkloadStrategy")
    return strategy
