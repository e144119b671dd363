"""What upstream's controller left is taken over without a write."""

import orjson
import pytest

from kohort.apis.api import Reading, Snapshot
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.cluster.actions import Action, Create, Delete, Patch, kind_of
from kohort.model.plans import Plan
from kohort.planning.plan import plan
from recorded_groups import Recorded, name_case, needs_recording, recordings
from upstream_group import list_objects

NOW = 1_800_000_000.0
STAMP = "2027-01-15T08:00:00Z"


def is_ready(case: Recorded) -> bool:
    conditions = (case.group.get("status") or {}).get("conditions") or ()
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


AT_REST = [c for c in recordings() if c.when == "at_rest" and is_ready(c)]
UNDONE = [c for c in recordings() if c.when == "at_rest" and not is_ready(c)]


def decide(case: Recorded) -> tuple[Snapshot, Reading, Plan, tuple[Action, ...]]:
    children = {
        watched.kind: tuple(
            watched.decode(orjson.dumps(obj)) for obj in case.all(watched.kind.name)
        )
        for watched in ROLE_BASED_GROUP.watched
    }
    snapshot = Snapshot(root=case.group, children=children)
    reading = ROLE_BASED_GROUP.read(snapshot)
    decided = plan(reading.workload, reading.observed, NOW)
    return snapshot, reading, decided, ROLE_BASED_GROUP.render(snapshot, reading, decided)


@needs_recording
@pytest.mark.parametrize("case", AT_REST, ids=name_case)
def test_of_what_is_ready_the_first_plan_is_empty(case: Recorded):
    assert decide(case)[-1] == ()


@needs_recording
@pytest.mark.parametrize("case", AT_REST, ids=name_case)
def test_of_what_is_ready_no_status_changes(case: Recorded):
    snapshot, reading, decided, _ = decide(case)
    assert ROLE_BASED_GROUP.write_status(snapshot, reading, decided, STAMP) == case.group["status"]
    for each in ROLE_BASED_GROUP.list_projections(snapshot, reading, decided, STAMP):
        assert each.status == each.obj["status"]


@needs_recording
@pytest.mark.parametrize("case", UNDONE, ids=name_case)
def test_what_upstream_did_not_make_is_made(case: Recorded):
    actions = decide(case)[-1]
    assert actions
    assert all(is_made(action) or adds_ports(action) for action in actions)


def is_made(action: Action) -> bool:
    return isinstance(action, Create) or (isinstance(action, Patch) and action.makes)


def adds_ports(action: Action) -> bool:
    """Whether ports are added, which upstream allocates only where a flag says so."""
    kinds = (labels.INSTANCE_SET, labels.INSTANCE)
    is_patch = isinstance(action, Patch) and kind_of(action) in kinds
    return is_patch and ("needs ports" in action.why or "grpc differ" in action.why)


@needs_recording
@pytest.mark.parametrize("case", recordings(), ids=name_case)
def test_in_no_recording_a_pod_or_an_instance_is_deleted(case: Recorded):
    gone = [a for a in decide(case)[-1] if isinstance(a, Delete)]
    assert gone == []
    made = [a for a in decide(case)[-1] if isinstance(a, Create) and kind_of(a).name == "Pod"]
    assert not made or "pd-server" in name_case(case)


@needs_recording
def test_eleven_recordings_are_ready_and_five_are_not():
    assert (len(AT_REST), len(UNDONE)) == (11, 5)


class TestByHand:
    """The same for a group whose objects are written by hand, where no recording is at hand."""

    def case(self) -> Recorded:
        return Recorded("by hand", "at_rest", list_objects())

    def test_the_first_plan_is_empty(self):
        assert decide(self.case())[-1] == ()

    def test_no_status_changes(self):
        snapshot, reading, decided, _ = decide(self.case())
        root = snapshot.root
        assert ROLE_BASED_GROUP.write_status(snapshot, reading, decided, STAMP) == root["status"]
        projections = ROLE_BASED_GROUP.list_projections(snapshot, reading, decided, STAMP)
        assert len(projections) == 3
        assert all(each.status == each.obj["status"] for each in projections)

    def test_a_new_image_is_put_into_the_template_that_upstream_made(self):
        case = self.case()
        spec = case.group["spec"]["roles"][0]["standalonePattern"]["template"]["spec"]
        spec["containers"][0]["image"] = "engine:2"
        patched = [a for a in decide(case)[-1] if kind_of(a) == labels.INSTANCE_SET]
        (component,) = patched[0].patch["spec"]["roleInstanceTemplate"]["components"]
        (container,) = component["template"]["spec"]["containers"]
        assert container["image"] == "engine:2"
        assert not [v for v in container["env"] if not v["name"].startswith("RBG_")]

    def test_no_pod_is_deleted_for_a_new_image(self):
        case = self.case()
        spec = case.group["spec"]["roles"][0]["standalonePattern"]["template"]["spec"]
        spec["containers"][0]["image"] = "engine:2"
        assert not [a for a in decide(case)[-1] if isinstance(a, Delete)]
