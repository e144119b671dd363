"""``check_workload_strategy`` passes ours and that of the page, and faults are sentences."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kohort.apis.inferenceservice.strategies.role_based_group import RBGStrategy
from kohort.apis.inferenceservice.strategies.single_component import SingleComponentStrategy
from kohort.apis.inferenceservice.strategies.strategy import WorkloadObjects
from kohort.cluster.kinds import SERVICE
from kohort.testing import check_workload_strategy

PAGE = (Path(__file__).parents[2] / "docs" / "workload-strategies.md").read_text()
ASKED = {"example.com/workload": "leaderworkersets"}
(code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
scope: dict[str, Any] = {"__name__": "my_package"}
exec(code, scope)
Example: Any = scope["LeaderWorkerSets"]


def test_ours_and_that_of_the_page_pass():
    grouped = {"ome.io/deploymentMode": "RoleBasedGroup"}
    assert check_workload_strategy(RBGStrategy(), grouped) == []
    assert check_workload_strategy(SingleComponentStrategy(), {}) == []
    assert check_workload_strategy(Example(), ASKED) == []


def test_annotations_that_it_does_not_heed_are_told():
    [fault] = check_workload_strategy(Example(), {})
    assert fault.startswith("it does not apply to a service with the annotations that check")


class Changed(Example):
    """The example with other objects; ``change`` gets them as they were made."""

    def reconcile_workload(self, request) -> WorkloadObjects:
        made = super().reconcile_workload(request)
        return replace(made, objects=tuple(self.change(made.objects)))

    def change(self, objects):
        return objects


class Twice(Changed):
    def change(self, objects):
        return (*objects, *objects)


class Counts(Changed):
    count = 0

    def change(self, objects):
        Counts.count += 1
        return [(k, {**obj, "spec": {"count": Counts.count}}) for k, obj in objects]


class Unowned(Changed):
    def change(self, objects):
        for _, obj in objects:
            obj["metadata"].pop("ownerReferences")
        return objects


class Foreign(Changed):
    def change(self, objects):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {**objects[0][1]["metadata"]}}
        return (*objects, (replace(SERVICE, name="Pod", plural="pods"), pod))


class Unlabelled(Changed):
    def change(self, objects):
        return [pair for pair in objects if pair[0] is SERVICE]


class Renames(Changed):
    def reconcile_workload(self, request) -> WorkloadObjects:
        made = super().reconcile_workload(request)
        for _, obj in made.objects if request.existing else ():
            obj["metadata"]["name"] += "-2"
        return made


class Nameless(Example):
    def get_strategy_name(self) -> str:
        return ""


FAULTS = {
    Twice: "it renders LeaderWorkerSet lws-chat-engine twice",
    Counts: "it renders other objects for the same request",
    Unowned: "LeaderWorkerSet lws-chat-engine is not owned by the service",
    Foreign: "it can deploy no service: strategy LeaderWorkerSets makes Pod lws-chat-engine",
    Unlabelled: "no workload has the label of component engine: it is never ready",
    Renames: "it renders objects of other names once its objects exist",
    Nameless: "it has no name: get_strategy_name must return one",
}


@pytest.mark.parametrize("strategy", FAULTS, ids=lambda strategy: strategy.__name__)
def test_a_broken_strategy_is_told_in_a_sentence(strategy: Any):
    found = check_workload_strategy(strategy(), ASKED)
    assert any(fault.startswith(FAULTS[strategy]) for fault in found), found


def test_what_is_no_strategy_is_refused():
    found = check_workload_strategy(object(), {})  # type: ignore[arg-type]
    assert found == ["object lacks a method of WorkloadStrategy"]
