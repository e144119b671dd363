"""What seeds mean for InferenceService, and that checkers of services find what is wrong."""

from dataclasses import replace
from pathlib import Path

import pytest

from kohort.apis.inferenceservice import read as reading
from kohort.apis.inferenceservice import render as rendering
from kohort.apis.inferenceservice.api import INFERENCE_SERVICE
from kohort.apis.inferenceservice.handover import Handover
from kohort.apis.inferenceservice.status import readiness
from kohort.apis.inferenceservice.status.conditions import TRUE, Claim
from kohort.controller import execute
from kohort.simulation.faults import CATALOGUE
from kohort.simulation.inferenceservice.labels import ONE_GROUP
from kohort.simulation.inferenceservice.scenarios import (
    DRAWN_EDITS,
    EDITS,
    FAILURES,
    KINDS,
    ROLES,
    draw_scenario,
)
from kohort.simulation.run import simulate
from kohort.simulation.scenario import BAD_IMAGE, Fault, Scenario
from kohort.simulation.scenario_files import ScenarioFile, load_scenario, write_scenario
from kohort.simulation.simulated_api import Template

SEEDS = 24
SWITCH = Fault("switch", at=20.0)


def one_engine(**more) -> Scenario:
    return Scenario(**{"api": "isvc", "groups": 1, "size": 1, "roles": "engine 1", **more})


def find_signs(scenario: Scenario) -> set[str]:
    return {breach.partition(":")[0] for breach in simulate(scenario).breaches}


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS, 6))
def test_fixed_seeds_of_services_keep_every_promise(first: int):
    for seed in range(first, first + 6):
        outcome = simulate(draw_scenario(seed))
        replay = f"kohort sim run --apis isvc --seed {seed}"
        assert outcome.is_good, f"{outcome.breaches[:3]}; replay it with: {replay}"


def test_seeds_draw_every_manner_of_service():
    scenarios = [draw_scenario(seed) for seed in range(300)]
    assert {scenario.api for scenario in scenarios} == {"isvc"}
    assert {scenario.roles for scenario in scenarios} == set(ROLES)
    assert {scenario.form for scenario in scenarios} == {"", ONE_GROUP}
    assert {scenario.size for scenario in scenarios} == {1, 2}
    assert all(scenario.has("switch") for scenario in scenarios)


def test_seeds_draw_every_fault_that_services_can_have():
    drawn = {fault.name for seed in range(600) for fault in draw_scenario(seed).faults}
    assert drawn == {*FAILURES, *DRAWN_EDITS}
    assert drawn <= set(CATALOGUE)


def test_every_kind_that_a_seed_delays_is_watched_or_referred_to():
    watched = {each.kind.name for each in INFERENCE_SERVICE.watched}
    referred = {each.kind.name for each in INFERENCE_SERVICE.references}
    carried = {"RoleInstance", "RoleInstanceSet", "StatefulSet"}  # below what a service owns
    assert set(KINDS) - watched - referred - carried == {"InferenceService"}


def test_a_scenario_of_a_service_is_written_and_read(tmp_path: Path):
    scenario = replace(draw_scenario(5), form=ONE_GROUP)
    path = tmp_path / "one.yaml"
    path.write_text(write_scenario(ScenarioFile("a service", scenario)))
    assert load_scenario(path).scenario == scenario


def test_the_user_mends_the_component_that_has_the_bad_image():
    """A decoder that is added meanwhile would be the one that the pick names."""
    good, bad = {"runner": {"image": "engine:1"}}, {"runner": {"image": BAD_IMAGE}}
    spec = {"engine": bad, "decoder": good, "router": {}}
    mended = Template("engine:1", {}, 1, BAD_IMAGE)
    write = EDITS.write_template
    assert [*write(one_engine(), {"spec": spec}, mended)] == ["engine"]
    assert [*write(one_engine(), {"spec": spec}, replace(mended, mends=""))] == ["decoder"]
    none_left = {"spec": {**spec, "engine": good}}
    assert [*write(one_engine(), none_left, mended)] == ["decoder"]


def test_one_seed_is_one_run():
    assert simulate(draw_scenario(3)).digest == simulate(draw_scenario(3)).digest


def test_a_service_that_is_routed_to_pods_that_do_not_serve_is_found(monkeypatch):
    """E1: the Services of a new router change at once."""
    monkeypatch.setattr(reading, "hold_services", lambda plan, handover: plan)
    monkeypatch.setattr(Handover, "defers_change", lambda self, kind: False)
    added = Fault("reshape", at=20.0, value="router")
    assert "E1" in find_signs(one_engine(faults=(added,)))


def test_an_old_form_that_goes_too_soon_is_found(monkeypatch):
    """E2: what is wanted no more goes before the new form serves."""
    monkeypatch.setattr(Handover, "defers_end", lambda self, kind: False)
    assert "E2" in find_signs(one_engine(faults=(SWITCH,)))


def test_replicas_that_the_operator_lowers_are_found(monkeypatch):
    """E3: the number that an autoscaler set is written over."""
    keep = rendering._keep

    def forget(obj, found):
        kept = keep(obj, found)
        spec = {**kept["spec"], "replicas": 1} if found else kept["spec"]
        return {**kept, "spec": spec}

    monkeypatch.setattr(rendering, "_keep", forget)
    scaled = Fault("scale-role", at=15.0, value="3")
    assert "E3" in find_signs(one_engine(faults=(scaled,)))


@pytest.mark.parametrize("form", ["", ONE_GROUP])
def test_a_restart_for_the_edit_of_a_runtime_is_found(monkeypatch, form: str):
    """E4: nothing is held."""
    monkeypatch.setattr(reading, "find_held", lambda plan, existing, is_serving: frozenset())
    edit = Fault("edit-shared", at=20.0, value="runtime")
    assert "E4" in find_signs(one_engine(form=form, faults=(edit,)))


def test_a_claim_to_be_ready_while_the_engine_crashes_is_found(monkeypatch):
    """E5: a workload that exists is taken for one that serves."""

    def claim(config, workload, existing, pods, root):
        return Claim(TRUE)

    monkeypatch.setattr("kohort.apis.inferenceservice.read.read_serving", claim)
    monkeypatch.setattr("kohort.apis.inferenceservice.status.status.read_serving", claim)
    bad = Fault("bad-roll", at=0.2, seconds=20.0)
    assert "E5" in find_signs(one_engine(faults=(bad,)))


def test_a_claim_to_be_ready_between_two_crashes_is_found(monkeypatch):
    """E6: the present state of the pod alone is asked."""
    scenario = one_engine(roles="engine 2", faults=(Fault("crash-loop", at=20.0, pick=1),))
    assert not find_signs(scenario)
    monkeypatch.setattr(readiness, "find_crash", lambda pods, now: None)
    assert "E6" in find_signs(scenario)


def test_an_old_form_that_never_goes_is_found(monkeypatch):
    """O2: at rest a service has the workloads of one form."""
    monkeypatch.setattr(Handover, "defers_end", lambda self, kind: True)
    assert "O2" in find_signs(one_engine(faults=(SWITCH,)))


def test_a_foreign_object_that_is_overwritten_is_found(monkeypatch):
    """C3: another client has made a Deployment of our name first."""
    monkeypatch.setattr(execute, "is_same", lambda wanted, existing, selected_by: True)
    before = Fault("namesake", seconds=30.0, value="Service")
    assert "C3" in find_signs(one_engine(faults=(before,)))
