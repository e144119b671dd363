"""The strategy manager: registration, the selection flow chart arrow by arrow, and its errors."""

from importlib.metadata import EntryPoint

import pytest
from isvc_builders import planned, rbg, resolved, service

from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.resolution.modes import ComponentDeploymentModes
from kohort.apis.inferenceservice.spec import DeploymentMode, read_service
from kohort.apis.inferenceservice.strategies.registry import (
    ENTRY_POINTS,
    WorkloadStrategyManager,
    load_manager,
    read_strategy,
)
from kohort.apis.inferenceservice.strategies.role_based_group import RBGStrategy
from kohort.apis.inferenceservice.strategies.single_component import SingleComponentStrategy
from kohort.apis.inferenceservice.strategies.strategy import (
    WorkloadObjects,
    WorkloadStrategy,
    make_request,
)

RAW = ComponentDeploymentModes(engine=DeploymentMode.RAW)


class Recorded:
    """A strategy that notes what it was asked."""

    def __init__(self, name: str, applies: bool, refusal: str = "") -> None:
        self.name, self.applies, self.refusal = name, applies, refusal
        self.asked: list[str] = []

    def get_strategy_name(self) -> str:
        return self.name

    def is_applicable(self, isvc, annotations) -> bool:
        self.asked.append("applicable")
        return self.applies

    def validate_deployment_modes(self, modes) -> None:
        self.asked.append("validate")
        if self.refusal:
            raise ServiceError("InvalidDeploymentMode", self.refusal)

    def reconcile_workload(self, request) -> WorkloadObjects:
        return WorkloadObjects(self.name, (), {})


def manager(*strategies: WorkloadStrategy) -> WorkloadStrategyManager:
    found = WorkloadStrategyManager()
    for strategy in strategies:
        found.register_strategy(strategy)
    return found


def select(found: WorkloadStrategyManager, obj=None) -> str:
    isvc = read_service(obj or service())
    return found.select_strategy(isvc, isvc.annotations, RAW).get_strategy_name()


def test_strategies_are_listed_in_the_order_of_registration():
    found = manager(Recorded("b", True), Recorded("a", True))
    assert [s.get_strategy_name() for s in found.list_strategies()] == ["b", "a"]
    assert found.find_strategy("a").get_strategy_name() == "a"
    assert found.find_strategy("c") is None


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        (None, "there is no strategy"),
        (Recorded("", True), "needs a name"),
        (Recorded("a", True), "the name a is registered already"),
    ],
)
def test_strategies_without_a_unique_name_are_not_registered(strategy, words: str):
    found = manager(Recorded("a", True))
    with pytest.raises(ValueError, match=words):
        found.register_strategy(strategy)
    assert len(found.list_strategies()) == 1


def test_without_a_registered_strategy_selection_fails():
    with pytest.raises(ServiceError, match="no workload strategy is registered") as error:
        select(manager())
    assert error.value.reason == "StrategySelectionFailed"


def test_the_first_that_applies_is_validated_and_taken():
    first, second = Recorded("a", True), Recorded("b", True)
    assert select(manager(first, second)) == "a"
    assert (first.asked, second.asked) == (["applicable", "validate"], [])


def test_one_that_does_not_apply_is_passed_over_without_validation():
    first, second = Recorded("a", False), Recorded("b", True)
    assert select(manager(first, second)) == "b"
    assert (first.asked, second.asked) == (["applicable"], ["applicable", "validate"])


def test_incompatible_modes_are_an_error_and_no_other_strategy_is_tried():
    first, second = Recorded("a", True, "no such mode"), Recorded("b", True)
    with pytest.raises(ServiceError, match="no such mode") as error:
        select(manager(first, second))
    assert error.value.reason == "InvalidDeploymentMode"
    assert second.asked == []


def test_where_no_strategy_applies_the_error_names_those_that_were_tried():
    with pytest.raises(ServiceError, match="asked were a, b") as error:
        select(manager(Recorded("a", False), Recorded("b", False)))
    assert error.value.reason == "StrategySelectionFailed"


@pytest.mark.parametrize(
    "method", ["is_applicable", "validate_deployment_modes", "reconcile_workload"]
)
def test_a_strategy_that_fails_is_named(method: str):
    broken = Recorded("a", True)
    setattr(broken, method, lambda *inputs: 1 / 0)
    with pytest.raises(ServiceError, match="strategy a failed: ZeroDivisionError") as error:
        planned(service(), manager=manager(broken, Recorded("b", True)))
    assert error.value.reason == "StrategySelectionFailed"


def test_a_failure_of_validation_is_the_explanation():
    broken = Recorded("a", True)
    setattr(broken, "validate_deployment_modes", lambda modes: 1 / 0)  # noqa: B010
    (told,) = manager(broken).explain_selection(read_service(service()), {}, RAW)
    assert not told.is_chosen
    assert told.reason.startswith("strategy a failed: ZeroDivisionError")


def test_the_strategy_that_was_selected_gives_what_is_to_exist():
    found = manager(Recorded("a", True))
    isvc = read_service(service())
    strategy = found.select_strategy(isvc, isvc.annotations, RAW)
    request = make_request(resolved(service()), None)
    assert strategy.reconcile_workload(request).strategy == "a"


def test_each_strategy_is_explained():
    first, second, third = Recorded("a", False), Recorded("b", True), Recorded("c", True)
    isvc = read_service(service())
    told = manager(first, second, third).explain_selection(isvc, {}, RAW)
    assert [(each.name, each.is_chosen) for each in told] == [
        ("a", False),
        ("b", True),
        ("c", False),
    ]
    assert told[0].reason == "the service does not ask for it"
    assert told[2].reason == "b comes before it"


def test_a_refusal_is_the_explanation():
    told = manager(Recorded("a", True, "no such mode")).explain_selection(
        read_service(service()), {}, RAW
    )
    assert [(each.is_chosen, each.reason) for each in told] == [(False, "no such mode")]


def test_role_based_groups_come_before_the_default():
    names = [s.get_strategy_name() for s in load_manager().list_strategies()]
    assert (names[0], names[-1]) == ("RBG", "SingleComponent")


def test_the_default_is_selected_without_an_annotation_and_the_group_with_it():
    assert select(load_manager()) == "SingleComponent"
    assert select(load_manager(), rbg()) == "RBG"
    other = service(annotations={"ome.io/deploymentMode": "PDDisaggregated"})
    assert select(load_manager(), other) == "SingleComponent"


def test_a_group_is_not_replaced_by_the_default_where_no_strategy_makes_groups():
    with pytest.raises(ServiceError, match="no workload strategy is for this service"):
        select(manager(SingleComponentStrategy()), rbg())


def test_an_entry_point_may_be_a_class_or_a_value():
    assert ENTRY_POINTS == "kohort.workload_strategies"
    assert read_strategy("x", RBGStrategy).get_strategy_name() == "RBG"
    assert read_strategy("x", Recorded("mine", True)).get_strategy_name() == "mine"
    with pytest.raises(ValueError, match="entry point x of kohort"):
        read_strategy("x", object())


def load_with(monkeypatch, *points: EntryPoint):
    where = "kohort.apis.inferenceservice.strategies.registry.entry_points"
    monkeypatch.setattr(where, lambda group: list(points))
    return load_manager.__wrapped__()


def point_at(place: str) -> EntryPoint:
    return EntryPoint("mine", f"{__name__}:{place}", ENTRY_POINTS)


MINE, SECOND, NAMELESS = (
    Recorded("Mine", True),
    Recorded("SingleComponent", True),
    Recorded("", True),
)


def test_strategies_of_other_packages_stand_between_the_two(monkeypatch):
    found = load_with(monkeypatch, point_at("MINE"), point_at("MINE"))
    names = [s.get_strategy_name() for s in found.list_strategies()]
    assert names == ["RBG", "Mine", "SingleComponent"]


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("SECOND", "ValueError: the name SingleComponent is taken"),
        ("NAMELESS", "ValueError: a strategy needs a name: Recorded has none"),
        ("ABSENT", "AttributeError: .* has no attribute 'ABSENT'"),
        ("pytest", "ValueError: entry point mine of .* is no WorkloadStrategy"),
    ],
)
def test_a_strategy_that_cannot_be_used_is_told_in_the_status(monkeypatch, place, why):
    """It was an exception in each reconcile of every service."""
    with pytest.raises(ServiceError, match=f"^workload strategy mine of another package.*{why}"):
        load_with(monkeypatch, point_at(place))
