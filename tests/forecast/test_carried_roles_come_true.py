"""A role on a Deployment or StatefulSet that depends on another rolls when it was foretold to."""

from collections.abc import Callable

import pytest
from embedded_runs import CARRIED, Run, run_edit

from kohort.apis.rolebasedgroup.labels import WORKLOAD_TYPE
from kohort.cluster.objects import Object
from kohort.forecast.values import Ending
from kohort.simulation.scenario import Scenario

pytestmark = pytest.mark.slow
IMAGE = "engine:2"
FIRST = "a"


def carry(kind: str) -> Callable[[Object], Object]:
    """Let another controller carry one role, which depends on the other."""

    def change(role: Object) -> Object:
        if role["name"] != CARRIED:
            return role
        carrier = {"annotations": {WORKLOAD_TYPE: f"apps/v1/{kind}"}}
        return {**role, **carrier, "dependencies": [FIRST]}

    def prepare(made: Object) -> Object:
        return {**made, "spec": {"roles": [change(role) for role in made["spec"]["roles"]]}}

    return prepare


def set_images(*names: str) -> Callable[[Object], Object]:
    """Another image for roles."""

    def set_image(value: object) -> object:
        if isinstance(value, list):
            return [set_image(each) for each in value]
        if not isinstance(value, dict):
            return value
        return {k: IMAGE if k == "image" else set_image(v) for k, v in value.items()}

    def edit(live: Object) -> Object:
        roles = live["spec"]["roles"]
        return {"roles": [set_image(role) if role["name"] in names else role for role in roles]}

    return edit


def roll(kind: str, names: tuple[str, ...]) -> Run:
    roles = f"{FIRST} 2+0, {CARRIED} 3+0"
    scenario = Scenario(api="rbg", roles=roles, rollout="RecreatePod")
    return run_edit(scenario, set_images(*names), carry(kind))


def list_order(run: Run) -> list[str]:
    """The roles that move in each step."""
    return ["".join(sorted({move[1] for move in step.moves})) for step in run.foretold]


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
@pytest.mark.parametrize("names", [(FIRST, CARRIED), (CARRIED,)], ids=["both", "one"])
def test_a_carried_role_does_what_was_foretold(kind: str, names: tuple[str, ...]):
    run = roll(kind, names)
    assert run.ending is Ending.DONE
    assert run.happened == run.foretold
    assert list_order(run) == [FIRST] * 2 * (FIRST in names) + [CARRIED] * 3
