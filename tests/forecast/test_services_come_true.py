"""
On the embedded cluster without faults, a service's objects change as was foretold, step for step.

Each step is a set of moves: ``+`` a made object, ``~`` a changed one, ``-`` one that is deleted.
The pods take eight seconds to be ready, so writes of one step are near each other, and those of
two steps are not. In the end the workloads ask for as many pods as was foretold.
"""

from dataclasses import dataclass
from typing import Any

import orjson
import pytest
from embedded_runs import SIGNS, TIMES, _settle
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kohort.apis.inferenceservice.api import INFERENCE_SERVICE as API
from kohort.apis.inferenceservice.kinds import WORKLOADS
from kohort.apiserver.patches.merge_patch import apply_merge_patch
from kohort.cluster.objects import Object, find_controller, is_leaving
from kohort.forecast.objects import Objects, forecast_objects
from kohort.forecast.values import Ending
from kohort.simulation.checkers.truth import Commit, Truth
from kohort.simulation.harness import Harness
from kohort.simulation.inferenceservice.labels import MODE, ONE_GROUP
from kohort.simulation.inferenceservice.scenarios import (
    REPLICAS_MAX,
    ROLES,
    list_components,
    make_component,
)
from kohort.simulation.known import find_simulated
from kohort.simulation.scenario import NAME, Scenario
from kohort.simulation.simulated_api import Template
from kohort.simulation.virtual_loop import run_virtually
from kohort.views.object_forecasts import count_workloads
from kohort.views.samples import gather

pytestmark = pytest.mark.slow
Steps = list[set[str]]
GAP_SECONDS = 3.0  # between two steps there are at least eight
SIMULATED = find_simulated("isvc")


@dataclass(frozen=True)
class Course:
    """What is written for a service, and the pods and GPUs of its workloads in the end."""

    steps: Steps
    amounts: tuple[int, int]


@dataclass(frozen=True)
class Edit:
    """What a user changes at a service at once."""

    switches: bool = False  # to one group of all components, or back
    image: int | None = None  # of which engine or decoder
    replicas: tuple[int, int] | None = None  # how many at least, and of which component
    component: str = ""  # that is added, or removed where the service has it

    def make_patch(self, scenario: Scenario) -> Object:
        """The merge patch of the service."""
        service, patch, spec = make_service(scenario), {}, {}
        edits = SIMULATED.edits
        if self.switches:
            patch = {"metadata": {"annotations": {MODE: None if scenario.form else ONE_GROUP}}}
        if self.image is not None:
            spec = edits.write_template(scenario, service, Template("engine:2", {}, self.image))
        if self.replicas is not None:
            for name, change in edits.write_role_scale(service, *self.replicas).items():
                spec = {**spec, name: {**spec.get(name, {}), **change}}
        if self.component:
            made = {**make_component(scenario, self.component, 1), "annotations": TIMES}
            spec |= {self.component: None if service["spec"].get(self.component) else made}
        return {**patch, "spec": spec}


def run_edit(scenario: Scenario, edit: Edit) -> tuple[Course, Course]:
    """What was foretold of an edit of a service at rest, and what happened."""
    return run_virtually(lambda: _run(scenario, edit.make_patch(scenario)))


async def _run(scenario: Scenario, patch: Object) -> tuple[Course, Course]:
    harness = await Harness.open(scenario, SIMULATED)
    harness.start()
    try:
        for kind, obj in SIMULATED.make_others(scenario):
            await harness.create(kind, obj)
        await harness.create(SIMULATED.kind, make_service(scenario))
        await _settle(harness)
        live = harness.truth.workload
        assert live is not None
        foretold = _foretell(harness, apply_merge_patch(live, patch))
        witness = Witness(str(live["metadata"]["uid"]))
        harness.truth.listeners.append(witness.see)
        await harness.patch(SIMULATED.kind, NAME, patch)
        await _settle(harness)
        amounts = count_pods(harness.truth.objects)
    finally:
        await harness.close()
    return foretold, Course(witness.list_steps(), amounts)


def count_pods(objects: Objects) -> tuple[int, int]:
    """The pods and GPUs that the workloads of a service ask for."""
    return count_workloads({kind: objects.get(kind, {}) for kind in WORKLOADS})


def make_service(scenario: Scenario) -> Object:
    """The service of a scenario, all of whose pods take the same time."""
    made = SIMULATED.make_workload(scenario, True)
    for name in list_components(made["spec"]):
        made["spec"][name]["annotations"] = TIMES
    return made


def _foretell(harness: Harness, root: Object) -> Course:
    children = {kind: _encode(harness.truth, kind) for kind in harness.truth.objects}
    (sample,) = gather(API, [orjson.dumps(root)], children)
    told = forecast_objects(API, sample.snapshot, harness.clock.now())
    assert told.ending is Ending.DONE
    steps = [{f"{SIGNS[m.move]}{m.kind} {m.name}" for m in step.moves} for step in told.steps]
    return Course(steps, count_pods(told.after))


def _encode(truth: Truth, kind: Any) -> list[bytes]:
    return [orjson.dumps(obj) for obj in truth.objects[kind].values()]


class Witness:
    """Sees every write of the operator to an object of the service, and of autoscalers."""

    def __init__(self, uid: str) -> None:
        self._uid = uid
        self._seen: list[tuple[float, str]] = []

    def see(self, commit: Commit) -> None:
        """Note what was made, changed or deleted."""
        obj = commit.new or commit.old
        if obj is None or not (commit.writer or _is_scaled(commit)):
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


def _is_scaled(commit: Commit) -> bool:
    """Whether another client than the operator changed the spec of a workload."""
    if commit.kind not in WORKLOADS or commit.old is None or commit.new is None:
        return False
    return bool(commit.old["spec"] != commit.new["spec"])


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


SERVICES = st.builds(
    make_scenario,
    st.sampled_from(ROLES),
    st.integers(1, 2),
    st.sampled_from(["", ONE_GROUP]),
)


@st.composite
def edits(draw: st.DrawFn, scenario: Scenario) -> Edit:
    """
    Any edit of a service, except those of which the outcome is a race.

    The workload of a removed component goes when the others serve. If the same edit restarts or
    scales one of these, its own controller may be quicker than the operator, or slower.
    """
    switches = draw(st.booleans())
    component = draw(st.sampled_from(["", "", "router", "decoder"]))
    if component in scenario.roles and component and not switches:
        return Edit(component=component)
    counts = st.tuples(st.integers(1, REPLICAS_MAX), st.integers(0, 2))
    image = draw(st.none() | st.integers(0, 1))
    return Edit(switches, image, draw(st.none() | counts), component)


EDITED = SERVICES.flatmap(lambda scenario: st.tuples(st.just(scenario), edits(scenario)))
PAIR = "engine 1, router 1"
BOTH = "engine 1, decoder 1"


@settings(max_examples=40, deadline=None)
@given(EDITED)
@example((make_scenario(PAIR, 2, ""), Edit(switches=True)))
@example((make_scenario(PAIR, 2, ONE_GROUP), Edit(switches=True)))
@example((make_scenario(BOTH, 2, ""), Edit(replicas=(3, 1))))
@example((make_scenario(BOTH, 1, ONE_GROUP), Edit(replicas=(3, 1))))
@example((make_scenario(BOTH, 2, ONE_GROUP), Edit(image=0, replicas=(3, 1))))
def test_a_service_does_what_was_foretold(edited: tuple[Scenario, Edit]):
    foretold, happened = run_edit(*edited)
    assert happened == foretold


@pytest.mark.parametrize("form", ["", ONE_GROUP])
def test_a_switch_of_the_strategy_takes_two_steps(form: str):
    foretold, happened = run_edit(make_scenario(PAIR, 1, form), Edit(switches=True))
    assert len(foretold.steps) == 2
    assert happened == foretold


@pytest.mark.parametrize("form", ["", ONE_GROUP])
def test_another_image_takes_one_step(form: str):
    foretold, happened = run_edit(make_scenario(BOTH, 2, form), Edit(image=0))
    assert len(foretold.steps) == 1
    assert happened == foretold
