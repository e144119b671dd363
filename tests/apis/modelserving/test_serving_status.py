"""The status of a ModelServing: golden values, and upstream's stale claims that we do not copy."""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from serving_builders import role, rolling, serving
from serving_pods import pod as make_pod

from kohort.apis.api import Snapshot
from kohort.apis.modelserving.plugins.chain import PluginFailure
from kohort.apis.modelserving.pod_facts import ServingPod, read_pod
from kohort.apis.modelserving.read import read
from kohort.apis.modelserving.report import write_status as report_status
from kohort.apis.modelserving.spec import read_spec
from kohort.apis.modelserving.status import (
    GroupState,
    find_current_revision,
    put_plugin_failure,
    write_selector,
    write_status,
)
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object
from kohort.model.units import Phase
from kohort.planning.plan import plan
from recorded_servings import Recorded, name_case, needs_recording, recordings

VECTORS = json.loads(
    (Path(__file__).parents[2] / "planning" / "modelserving_vectors.json").read_text()
)
NOW, LATER = "2026-01-02T03:04:05Z", "2026-01-02T03:05:05Z"
MOMENT = (1, NOW)


def group(ordinal: int, *, ready: bool = True, new: bool = True, leaving: bool = False) -> Any:
    return GroupState(ordinal, "new" if new else "old", ready, leaving, new)


def status_of(asked: Object, *groups: GroupState, now: str = NOW) -> Object:
    return write_status(asked, read_spec(asked), groups, "new", now)


def true_conditions(status: Object) -> dict[str, str]:
    return {c["type"]: c["message"] for c in status["conditions"] if c["status"] == "True"}


def pod_in(asked: Object, name: str, number: int, state: str) -> ServingPod:
    """The entry of an instance, as the cache keeps it."""
    made = make_pod(asked, role=name, instance=number)
    ready = {"type": "Ready", "status": str(state == "Running")}
    metadata = {**made["metadata"], "uid": f"{name}-{number}", "creationTimestamp": NOW}
    if state == "Deleting":
        metadata["deletionTimestamp"] = NOW
    status = {"phase": "Running", "conditions": [ready]}
    return read_pod(orjson.dumps({**made, "metadata": metadata, "status": status}))


def test_the_golden_status():
    status = status_of(serving(), group(0), group(1))
    (condition,) = status.pop("conditions")
    assert status == {
        "replicas": 2,
        "availableReplicas": 2,
        "updatedReplicas": 2,
        "currentReplicas": 2,
        "currentRevision": "new",
        "updateRevision": "new",
        "observedGeneration": 1,
        "labelSelector": "modelserving.volcano.sh/entry=true,modelserving.volcano.sh/name=llama,"
        "modelserving.volcano.sh/role-id=serve-0,modelserving.volcano.sh/role=serve",
    }
    assert condition == {
        "type": "Available",
        "status": "True",
        "reason": "AllGroupsReady",
        "message": "All Serving groups are ready",
        "lastTransitionTime": NOW,
        "observedGeneration": 1,
    }


def test_the_first_step_of_the_timeline():
    asked = serving(replicas=4)
    old = [group(n, new=False) for n in range(3)]
    status = status_of(asked, *old, group(3, new=False, leaving=True))
    counts = ("replicas", "availableReplicas", "updatedReplicas", "currentReplicas")
    assert [status[key] for key in counts] == [4, 3, 0, 3]
    assert (status["currentRevision"], status["updateRevision"]) == ("old", "new")
    assert true_conditions(status) == {
        "UpdateInProgress": "Some groups is progressing: [3], Updated Groups are: []"
    }


@needs_recording
@pytest.mark.parametrize("case", recordings(), ids=name_case)
def test_the_selector_is_upstreams(case: Recorded):
    found = write_selector(case.serving, read_spec(case.serving))
    assert found == case.serving["status"]["labelSelector"]


@pytest.mark.parametrize("vector", VECTORS["current_revision"], ids=str)
def test_the_current_revision_is_the_golden_one(vector: Object):
    groups = [
        GroupState(n, found, is_updated=found == vector["update"])
        for n, found in enumerate(vector["groups"])
    ]
    found = find_current_revision(vector["status"], groups, vector["update"])
    assert found == vector["current"]


def test_a_current_revision_that_no_group_has_any_more_is_not_kept():
    groups = [GroupState(n, found) for n, found in enumerate(["a", "b", "b"])]
    assert find_current_revision("gone", groups, "new") == "b"


@pytest.mark.parametrize(("partition", "current"), [(1, "old"), (0, "new")])
@pytest.mark.parametrize("is_leaving", [True, False], ids=["leaving", "gone"])
def test_the_status_names_the_revision_of_a_group_that_a_partition_keeps_until_the_group_is_back(
    partition: int, current: str, is_leaving: bool
):
    asked = serving(rolloutStrategy=rolling(partition=partition))
    asked["status"] = {"currentRevision": "old", "updateRevision": "new"}
    kept = [group(0, new=False, leaving=True)] if is_leaving else []
    assert status_of(asked, *kept, group(1))["currentRevision"] == current


@pytest.mark.parametrize(("kept", "current"), [(1, "new"), (2, "bad"), (0, "bad")])
def test_the_status_names_the_target_while_all_groups_have_it_that_a_partition_keeps(
    kept: int, current: str
):
    """After an undo in the middle of a rollout, a kept group that is lost comes back as it was."""
    asked = serving(replicas=3, rolloutStrategy=rolling(partition=kept))
    asked["status"] = {"currentRevision": "new", "updateRevision": "bad"}
    bad = [GroupState(ordinal, "bad") for ordinal in (1, 2)]
    assert status_of(asked, group(0), *bad)["currentRevision"] == current


def test_defect_18_of_two_revisions_as_frequent_that_of_the_lowest_ordinal_holds():
    groups = [GroupState(n, found) for n, found in enumerate(["b", "a", "a", "b"])]
    assert find_current_revision("", groups, "new") == "b"
    assert find_current_revision("", groups[1:3] + groups[:1] + groups[3:], "new") == "a"


def see(vector: Object) -> Snapshot:
    roles = [role(name, replicas=count, workers=0) for name, count in vector["wanted"].items()]
    asked = serving(*roles, replicas=1)
    pods = tuple(
        pod_in(asked, name, number, state)
        for name, states in vector["instances"].items()
        for number, state in enumerate(states)
    )
    return Snapshot(asked, {POD: pods})


def has_surplus(vector: Object) -> bool:
    return any(
        len(vector["instances"].get(n, ())) > wanted for n, wanted in vector["wanted"].items()
    )


@pytest.mark.parametrize("vector", VECTORS["group_readiness"], ids=str)
def test_defect_8_a_group_is_ready_when_all_its_instances_are(vector: Object):
    snapshot = see(vector)
    reading = read(snapshot)
    decided = plan(reading.workload, reading.observed, 1_800_000_000.0)
    status = report_status(snapshot, reading, decided, NOW)
    assert status.get("availableReplicas", 0) == int(vector["is_ready"])
    # A rollout counts on a group with an instance too many: it serves.
    (found,) = reading.observed.groups
    assert (found.phase is Phase.READY) is (vector["is_ready"] or has_surplus(vector))


def test_defect_7_a_condition_names_ordinals_and_is_refreshed():
    asked = serving(replicas=3)
    first = status_of(asked, group(1, ready=False), group(5), group(7, ready=False))
    assert true_conditions(first) == {"Progressing": "Some groups is progressing: [1 7]"}
    asked = {**asked, "metadata": {**asked["metadata"], "generation": 2}, "status": first}
    second = status_of(asked, group(1), group(5), group(7, ready=False), now=LATER)
    (condition,) = second["conditions"]
    assert condition["message"] == "Some groups is progressing: [7]"
    assert (condition["observedGeneration"], condition["lastTransitionTime"]) == (2, NOW)


def test_a_claim_ends_those_that_it_excludes():
    asked = serving()
    asked["status"] = status_of(asked, group(0, new=False), group(1, new=False, ready=False))
    assert list(true_conditions(asked["status"])) == ["UpdateInProgress"]
    asked["status"] = status_of(asked, group(0), group(1, ready=False), now=LATER)
    assert list(true_conditions(asked["status"])) == ["Progressing"]
    done = status_of(asked, group(0), group(1), now=LATER)
    assert list(true_conditions(done)) == ["Available"]


def test_defect_7_a_condition_that_is_false_says_what_is_true_instead():
    asked = serving()
    asked["status"] = status_of(asked, group(0), group(1))
    asked["status"] = status_of(asked, group(0, ready=False), group(1), now=LATER)
    available, progressing = asked["status"]["conditions"]
    assert (available["status"], available["reason"]) == ("False", "GroupProgressing")
    assert available["message"] == progressing["message"] == "Some groups is progressing: [0]"
    ready = status_of(asked, group(0), group(1), now=LATER)
    told = {c["type"]: (c["status"], c["reason"], c["message"]) for c in ready["conditions"]}
    reason = "AllGroupsReady", "All Serving groups are ready"
    assert told == {"Available": ("True", *reason), "Progressing": ("False", *reason)}


def test_defect_7_a_condition_that_stays_true_beside_an_update_is_refreshed():
    """Upstream's rollout leaves Progressing as it was."""
    asked = serving()
    asked["status"] = status_of(asked, group(0, ready=False), group(1, ready=False))
    old = group(0, new=False, ready=False), group(1, new=False)
    progressing, updating = status_of(asked, *old, now=LATER)["conditions"]
    assert (progressing["status"], updating["status"]) == ("True", "True")
    assert updating["message"] == progressing["message"]
    assert progressing["message"] == ("Some groups is progressing: [0], Updated Groups are: []")
    assert (progressing["reason"], progressing["lastTransitionTime"]) == ("GroupProgressing", NOW)


def test_a_partition_that_is_reached_is_no_update_in_progress():
    asked = serving(rolloutStrategy=rolling(partition=1, maxUnavailable=1))
    status = status_of(asked, group(0, new=False), group(1, ready=False))
    assert list(true_conditions(status)) == ["Progressing"]
    settled = status_of(asked, group(0, new=False), group(1))
    assert (settled["currentReplicas"], settled["updatedReplicas"]) == (1, 1)


@pytest.mark.parametrize(("partition", "current"), [(None, 2), (0, 0)])
def test_only_without_a_partition_the_new_revision_becomes_the_current_one(
    partition: int | None, current: int
):
    strategy = rolling(partition=partition, maxUnavailable=1)
    status = status_of(serving(rolloutStrategy=strategy), group(0), group(1))
    assert status.get("currentReplicas", 0) == current


def test_groups_that_are_not_made_yet_are_progressing():
    status = status_of(serving(replicas=3), group(1))
    assert true_conditions(status) == {"Progressing": "Some groups is progressing: [0 2]"}
    assert true_conditions(status_of(serving(replicas=0))) == {
        "Available": "All Serving groups are ready"
    }


def test_a_status_at_rest_is_written_once():
    asked = serving()
    asked["status"] = status_of(asked, group(0), group(1))
    assert status_of(asked, group(1), group(0), now=LATER) == asked["status"]


def test_conditions_of_others_stay():
    foreign = {"type": "Blocked", "status": "True", "reason": "X", "message": "y"}
    asked = {**serving(), "status": {"conditions": [foreign]}}
    assert foreign in status_of(asked, group(0), group(1))["conditions"]


@needs_recording
@pytest.mark.parametrize("case", [c for c in recordings() if c.when == "at_rest"], ids=name_case)
def test_counts_of_a_recorded_status_stay_as_they_are(case: Recorded):
    found = case.serving["status"]
    replicas, ready = found["replicas"], found.get("availableReplicas", 0)
    revision = found["updateRevision"]
    groups = [GroupState(n, revision, n < ready, False, True) for n in range(replicas)]
    written = write_status(case.serving, read_spec(case.serving), groups, revision, NOW)
    same = {key: value for key, value in written.items() if key != "conditions"}
    assert same == {key: value for key, value in found.items() if key != "conditions"}


def test_defect_14_a_plugin_that_fails_is_named_by_a_condition():
    failure = PluginFailure("lws", "group x has no ordinal at the end of its name")
    (failed,) = put_plugin_failure([], failure, MOMENT)
    assert (failed["type"], failed["status"]) == ("PluginsFailed", "True")
    assert failed["message"] == "plugin lws: group x has no ordinal at the end of its name"
    (mended,) = put_plugin_failure([failed], None, (2, LATER))
    assert (mended["status"], mended["lastTransitionTime"]) == ("False", LATER)
    assert put_plugin_failure([], None, MOMENT) == []


def test_the_selector_is_that_of_the_first_role():
    asked = serving(role("prefill"), role("decode"))
    assert "role-id=prefill-0" in write_selector(asked, read_spec(asked))
