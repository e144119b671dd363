"""Defaults of a LeaderWorkerSet that stand in no schema."""

from typing import Any

import pytest
from lws_builders import lws

from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.admission.defaults import default_workload, record_carrier
from kohort.cluster.objects import Object, annotations_of


def defaulted(spec: Object) -> Object:
    spec = {"leaderWorkerTemplate": {}, **spec}
    result: Object = default_workload({"spec": spec})["spec"]
    return result


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        (None, "RecreateGroupOnPodRestart"),
        ("", "RecreateGroupOnPodRestart"),
        ("Default", "None"),
        ("None", "None"),
        ("RecreateGroupAfterStart", "RecreateGroupAfterStart"),
    ],
)
def test_the_restart_policy_is_filled_and_its_old_name_rewritten(given: Any, stored: str):
    template = {"size": 2} if given is None else {"size": 2, "restartPolicy": given}
    assert defaulted({"leaderWorkerTemplate": template})["leaderWorkerTemplate"] == {
        "size": 2,
        "restartPolicy": stored,
    }


@pytest.mark.parametrize("given", [None, {}, {"type": ""}, {"type": "RollingUpdate"}])
def test_a_rollout_is_rolling_one_group_at_a_time(given: Any):
    assert defaulted({"rolloutStrategy": given})["rolloutStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdateConfiguration": {"partition": 0, "maxUnavailable": 1, "maxSurge": 0},
    }


def test_a_rollout_that_is_configured_is_left_alone():
    given = {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxSurge": "10%"}}
    assert defaulted({"rolloutStrategy": given})["rolloutStrategy"] == given


@pytest.mark.parametrize("given", [None, {}, {"subdomainPolicy": None}])
def test_a_subdomain_is_shared_unless_said_otherwise(given: Any):
    assert defaulted({"networkConfig": given})["networkConfig"] == {"subdomainPolicy": "Shared"}


def test_a_subdomain_of_ones_own_is_kept():
    given = {"subdomainPolicy": "UniquePerReplica"}
    assert defaulted({"networkConfig": given})["networkConfig"] == given


def test_a_stored_object_is_not_changed_by_defaulting():
    assert default_workload(lws()) == lws()


@pytest.mark.parametrize("spec", [None, 7, [], "x"])
def test_a_spec_of_the_wrong_shape_is_left_to_the_schema(spec: Any):
    assert default_workload({"spec": spec}) == {"spec": spec}


@pytest.mark.parametrize("field", ["leaderWorkerTemplate", "rolloutStrategy", "networkConfig"])
def test_a_field_of_the_wrong_shape_is_left_to_the_schema(field: str):
    assert defaulted({field: 7})[field] == 7


def test_the_carrier_of_a_new_object_is_written_down_unless_it_is_the_usual_one():
    recorded = record_carrier(lws(), "pods")
    assert annotations_of(recorded)[labels.CARRIER] == "pods"
    assert record_carrier(lws(), "statefulsets") == lws()
    assert record_carrier(recorded, "statefulsets") == recorded
