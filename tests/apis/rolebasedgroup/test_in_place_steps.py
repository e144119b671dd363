"""The walk of a pod that changes as it runs: what can follow, and which write comes next."""

import orjson
import pytest

from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.in_place import (
    InPlaceChange,
    Walk,
    find_grace_end,
    find_in_place_change,
    is_grace_over,
    read_pending,
)
from kohort.apis.rolebasedgroup.objects.pods import GATES
from kohort.apis.rolebasedgroup.pod_facts import RolePod, read_pod
from kohort.cluster.objects import Object

STARTED = "2026-01-01T00:00:00Z"
MOMENT = 1767225600.0  # the same
NOTE = {"revision": "x-a-new", "updateTimestamp": STARTED, "lastContainerStatuses": {}}


def template(image: str = "engine:1", **container: object) -> Object:
    return {"spec": {"containers": [{"name": "engine", "image": image, **container}]}}


def pod(*, gates: str = "True", ready: str = "True", **notes: str) -> RolePod:
    conditions = [{"type": gate, "status": gates} for gate in GATES]
    held = {
        "metadata": {
            "name": "x-a-0",
            "namespace": "default",
            "uid": "1",
            "labels": {labels.REVISION: "old"},
            "annotations": notes,
        },
        "spec": {
            "containers": [{"name": "engine", "image": "engine:1"}],
            "readinessGates": [{"conditionType": gate} for gate in GATES],
        },
        "status": {
            "phase": "Running",
            "conditions": [*conditions, {"type": "Ready", "status": ready}],
        },
    }
    return read_pod(orjson.dumps(held))


def steps(held: RolePod, grace: float = 0.0) -> list[Object]:
    change = InPlaceChange(images={"engine": "engine:2"})
    walk = Walk(held, "new", "x-a-new", change, grace, STARTED)
    return [{**step.patch, "part": step.address.part} for step in walk.list_steps()]


def pending() -> RolePod:
    note = orjson.dumps(NOTE).decode()
    return pod(**{labels.IN_PLACE_STATE: note, labels.IN_PLACE_GRACE: "{}"})


def test_images_and_metadata_can_follow_and_nothing_else():
    found = find_in_place_change(template(), template("engine:2"))
    assert found is not None
    assert found.images == {"engine": "engine:2"}
    assert find_in_place_change(template(), template(env=[{"name": "MODE", "value": "b"}])) is None
    assert (
        find_in_place_change(template(), {"spec": {**template()["spec"], "hostNetwork": True}})
        is None
    )


def test_a_restart_needs_new_pods_and_other_annotations_do_not():
    def note(**annotations: str) -> Object:
        return {**template(), "metadata": {"annotations": annotations}}

    begun, again = ({"kubectl.kubernetes.io/restartedAt": stamp} for stamp in ("1", "2"))
    assert find_in_place_change(note(), note(**begun)) is None
    assert find_in_place_change(note(**begun), note(**again)) is None
    for old, new in (
        (note(**begun), note(**begun, team="a")),  # a restart that has happened
        (note(**begun), note()),  # a user goes back
    ):
        assert find_in_place_change(old, new) is not None


def test_both_gates_are_closed_before_anything_changes():
    (step,) = steps(pod())
    assert step["part"] == "status"
    said = {c["type"]: c["status"] for c in step["status"]["conditions"]}
    assert said == dict.fromkeys(GATES, "False")


def test_nothing_changes_while_endpoints_may_lead_to_the_pod():
    assert steps(pod(gates="False", ready="True")) == []


def test_the_change_its_hash_and_its_note_are_one_write():
    (step,) = steps(pod(gates="False", ready="False"))
    assert step["spec"] == {"containers": [{"name": "engine", "image": "engine:2"}]}
    assert step["metadata"]["labels"] == {labels.REVISION: "new"}


def test_with_a_grace_period_the_change_is_noted_and_waits():
    (step,) = steps(pod(gates="False", ready="False"), grace=5.0)
    assert "spec" not in step
    assert "engine:2" in step["metadata"]["annotations"][labels.IN_PLACE_GRACE]


@pytest.mark.parametrize(
    ("seconds", "is_over"), [(0.0, False), (4.9, False), (5.0, True), (600.0, True)]
)
def test_a_grace_period_is_waited_for(seconds: float, is_over: bool):
    assert find_grace_end(pending(), 5.0) == MOMENT + 5.0
    assert is_grace_over(pending(), 5.0, MOMENT + seconds) is is_over


def test_a_clock_that_was_put_back_holds_nothing():
    assert is_grace_over(pending(), 5.0, MOMENT - 3600.0)


def test_without_a_pending_change_no_grace_period_ends():
    assert not is_grace_over(pod(), 5.0, MOMENT + 600.0)


def test_a_change_within_a_grace_period_keeps_what_was_pending():
    """The pod has the hash of a template that it never took over."""
    first = InPlaceChange({"a": "a:1", "b": "b:1"}, {"tier": "1"}, {"note": None, "kept": "x"})
    note = {labels.IN_PLACE_GRACE: orjson.dumps(first.body).decode()}
    pending = read_pending(pod(**note))
    assert pending == first
    second = InPlaceChange({"a": "a:2"}, {"tier": None}, {"note": "y"})
    images, marks = {"a": "a:2", "b": "b:1"}, {"note": "y", "kept": "x"}
    assert second.follow(pending) == InPlaceChange(images, {"tier": None}, marks)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"metadata": 1}', '{"metadata": {}, "spec": 2}']
)
def test_a_pending_change_that_cannot_be_read_is_none(text: str):
    assert read_pending(pod(**{labels.IN_PLACE_GRACE: text})) is None
