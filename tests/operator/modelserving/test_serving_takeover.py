"""
What kthena's controller left is taken over without a restarted pod.

The objects were recorded from the upstream controller on a real control plane. Only metadata of
pods is patched: labels and annotations that upstream does not write.
"""

from dataclasses import replace

import orjson
import pytest

from kohort.apis.api import DEFAULTS, Settings, Snapshot
from kohort.apis.modelserving.api import MODEL_SERVING
from kohort.cluster.actions import Action, Create, Delete, Patch, kind_of
from kohort.planning.plan import plan
from recorded_servings import Recorded, name_case, needs_recording, recordings

pytestmark = needs_recording
NOW = 1_800_000_000.0
OWN = "modelserving.volcano.sh/"
# A template that overwrites the label of its group: upstream's gang has a name of its own there.
ODD = "kthena-router/ModelServing-ds1.5b-pd-disaggregation.yaml"


def snapshot_of(case: Recorded, settings: Settings = DEFAULTS) -> Snapshot:
    children = {
        watched.kind: tuple(
            watched.decode(orjson.dumps(obj))
            for obj in case.objects
            if obj["kind"] == watched.kind.name
        )
        for watched in MODEL_SERVING.watched
    }
    return Snapshot(root=case.serving, children=children, settings=settings)


def first_plan(case: Recorded, settings: Settings = DEFAULTS) -> tuple[Action, ...]:
    snapshot = snapshot_of(case, settings)
    reading = MODEL_SERVING.read(snapshot)
    decided = plan(reading.workload, reading.observed, NOW)
    return MODEL_SERVING.render(snapshot, reading, decided)


@pytest.mark.parametrize("case", recordings(), ids=name_case)
def test_the_first_plan_makes_and_deletes_no_pod(case: Recorded):
    pods = [a for a in first_plan(case) if kind_of(a).name == "Pod"]
    assert not [action for action in pods if not isinstance(action, Patch)]


@pytest.mark.parametrize("case", [c for c in recordings() if c.when == "at_rest"], ids=name_case)
def test_at_rest_nothing_but_metadata_of_pods_is_written(case: Recorded):
    others = [a for a in first_plan(case) if kind_of(a).name != "Pod"]
    if case.source == ODD:
        kinds = {(type(action), kind_of(action).name) for action in others}
        assert kinds == {(Create, "PodGroup"), (Delete, "PodGroup")}
        return
    assert others == []


@pytest.mark.parametrize("case", recordings(), ids=name_case)
def test_patches_of_pods_hold_the_keys_that_upstream_lacks_and_nothing_else(case: Recorded):
    for action in first_plan(case):
        if isinstance(action, Patch) and kind_of(action).name == "Pod":
            assert isinstance(action.patch, dict)
            assert set(action.patch) == {"metadata"}
            changed = action.patch["metadata"]
            assert set(changed) <= {"uid", "labels", "annotations"} and changed["uid"]
            assert {f"{OWN}{key}" for key in ("group-index", "group-hash")} == set(
                changed["labels"]
            )
            added = {f"{OWN}{key}" for key in ("entry-name", "group-size", "replicas")}
            assert set(changed["annotations"]) <= added


@pytest.mark.parametrize("case", [c for c in recordings() if c.when == "at_rest"], ids=name_case)
def test_with_the_flag_that_forbids_it_no_pod_is_patched(case: Recorded):
    found = first_plan(case, replace(DEFAULTS, patches_pods=False))
    assert [action for action in found if kind_of(action).name == "Pod"] == []
    assert [action for action in first_plan(case) if kind_of(action).name == "Pod"]
