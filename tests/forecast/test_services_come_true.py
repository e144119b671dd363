"""
On the embedded cluster without faults, a service's objects change as was foretold, step for step.

Each step is a set of moves: ``+`` a made object, ``~`` a changed one, ``-`` one that is deleted.
The pods take eight seconds to be ready, so writes of one step are near each other, and those of
two steps are not.
"""

from typing import Any

import orjson
import pytest
from embedded_runs import SIGNS, TIMES, _merge, _settle

from kohort.apis.inferenceservice.api import INFERENCE_SERVICE as API
from kohort.cluster.objects import Object, find_controller, is_leaving
from kohort.forecast.objects import forecast_objects
from kohort.forecast.values import Ending
from kohort.simulation.checkers.truth import Commit, Truth
from kohort.simulation.harness import Harness
from kohort.simulation.inferenceservice.labels import MODE, ONE_GROUP
from kohort.simulation.inferenceservice.scenarios import list_components
from kohort.simulation.known import find_simulated
from kohort.simulation.scenario import NAME, Scenario
from kohort.simulation.simulated_api import Template
from kohort.simulation.virtual_loop import run_virtually
from kohort.views.samples import gather

pytestmark = pytest.mark.slow
Steps = list[set[str]]
GAP_SECONDS = 3.0  # between two steps there are at least eight
SIMULATED = find_simulated("isvc")


def run_edit(scenario: Scenario, patch: Object) -> tuple[Steps, Steps]:
    """What was foretold of an edit of a service at rest, and what happened."""
    return run_virtually(lambda: _run(scenario, patch))


async def _run(scenario: Scenario, patch: Object) -> tuple[Steps, Steps]:
    harness = await Harness.open(scenario, SIMULATED)
    harness.start()
    try:
        for kind, obj in SIMULATED.make_others(scenario):
            await harness.create(kind, obj)
        await harness.create(SIMULATED.kind, make_service(scenario))
        await _settle(harness)
        live = harness.truth.workload
        assert live is not None
        foretold = _foretell(harness, _merge(live, patch))
        witness = Witness(str(live["metadata"]["uid"]))
        harness.truth.listeners.append(witness.see)
        await harness.patch(SIMULATED.kind, NAME, patch)
        await _settle(harness)
    finally:
        await harness.close()
    return foretold, witness.list_steps()


def make_service(scenario: Scenario) -> Object:
    """The service of a scenario, all of whose pods take the same time."""
    made = SIMULATED.make_workload(scenario, True)
    for name in list_components(made["spec"]):
        made["spec"][name]["annotations"] = TIMES
    return made


def _foretell(harness: Harness, root: Object) -> Steps:
    notes = root["metadata"].get("annotations") or {}
    root["metadata"]["annotations"] = {k: v for k, v in notes.items() if v is not None}
    children = {kind: _encode(harness.truth, kind) for kind in harness.truth.objects}
    (sample,) = gather(API, [orjson.dumps(root)], children)
    told = forecast_objects(API, sample.snapshot, harness.clock.now())
    assert told.ending is Ending.DONE
    return [{f"{SIGNS[m.move]}{m.kind} {m.name}" for m in step.moves} for step in told.steps]


def _encode(truth: Truth, kind: Any) -> list[bytes]:
    return [orjson.dumps(obj) for obj in truth.objects[kind].values()]


class Witness:
    """Sees every write of the operator to an object of the service, but no status."""

    def __init__(self, uid: str) -> None:
        self._uid = uid
        self._seen: list[tuple[float, str]] = []

    def see(self, commit: Commit) -> None:
        """Note what was made, changed or deleted."""
        obj = commit.new or commit.old
        if obj is None or not commit.writer:
            return
        if (find_controller(obj) or {}).get("uid") != self._uid:
            return
        sign = find_sign(commit.old, commit.new)
        if sign:
            self._seen.append((commit.at, f"{sign}{commit.kind.name} {commit.name}"))

    def list_steps(self) -> Steps:
        """The moves, with a new step after each pause."""
        steps: Steps = []
        last = float("-inf")
        for at, move in self._seen:
            if at - last > GAP_SECONDS:
                steps.append(set())
            steps[-1].add(move)
            last = at
        return steps


def find_sign(old: Object | None, new: Object | None) -> str:
    """What a write did; empty if it changed nothing but the status."""
    if old is None:
        return "+"
    if new is None:
        return "" if is_leaving(old) else "-"
    if is_leaving(new):
        return "" if is_leaving(old) else "-"
    parts = ("spec", "data", "rules", "roleRef", "subjects")
    is_changed = any(old.get(part) != new.get(part) for part in parts)
    marks = [(o["metadata"].get("labels"), o["metadata"].get("annotations")) for o in (old, new)]
    return "~" if is_changed or marks[0] != marks[1] else ""


def make_scenario(roles: str, size: int, form: str) -> Scenario:
    return Scenario(api="isvc", roles=roles, size=size, form=form)


@pytest.mark.parametrize("form", ["", ONE_GROUP])
def test_a_switch_of_the_strategy_takes_the_forecast_steps(form: str):
    scenario = make_scenario("engine 1, router 1", 1, form)
    wanted = None if form else ONE_GROUP
    foretold, happened = run_edit(scenario, {"metadata": {"annotations": {MODE: wanted}}})
    assert len(foretold) == 2
    assert happened == foretold


@pytest.mark.parametrize("form", ["", ONE_GROUP])
def test_another_image_takes_the_forecast_steps(form: str):
    scenario = make_scenario("engine 1, decoder 1", 2, form)
    live = make_service(scenario)
    spec = SIMULATED.edits.write_template(scenario, live, Template("engine:2", {}, 0))
    foretold, happened = run_edit(scenario, {"spec": spec})
    assert len(foretold) == 1
    assert happened == foretold


def test_changed_replicas_of_a_service_take_the_forecast_steps():
    scenario = make_scenario("engine 1, decoder 1", 2, "")
    spec = SIMULATED.edits.write_role_scale(make_service(scenario), 3, 1)
    foretold, happened = run_edit(scenario, {"spec": spec})
    assert len(foretold) == 1
    assert happened == foretold
