"""What is allowed and probably not meant."""

from typing import Any

import pytest
from lws_builders import lws

from kohort.apis.leaderworkerset.admission.warnings import warn_workload


def test_an_ordinary_object_gives_no_warning():
    assert warn_workload(lws()) == []


def test_the_old_name_of_a_restart_policy_is_deprecated():
    assert warn_workload(lws(restartPolicy="Default")) == [
        "spec.leaderWorkerTemplate.restartPolicy: Default is deprecated and stored as None; "
        "write None"
    ]


@pytest.mark.parametrize(
    ("rollout", "text"),
    [
        (
            {"maxUnavailable": "20%", "maxSurge": 1},
            "maxUnavailable: 20% of 3 groups is none, so a rollout goes on with its surge alone",
        ),
        ({"maxSurge": 5}, "maxSurge: 5 is more than there are groups and counts as 3"),
        ({"partition": 3}, "partition: 3 keeps all 3 groups at their old revision"),
    ],
)
def test_a_rollout_that_surprises_is_explained(rollout: Any, text: str):
    assert warn_workload(lws(rollout=rollout)) == [text]


def test_variables_that_will_be_overwritten_are_named():
    container = {"name": "main", "env": [{"name": "LWS_GROUP_SIZE", "value": "9"}]}
    assert warn_workload(lws(leaderTemplate={"spec": {"containers": [container]}})) == [
        "spec.leaderWorkerTemplate.leaderTemplate: container main sets LWS_GROUP_SIZE, which is "
        "overwritten with the group's own value"
    ]


CLAIM = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}


def with_claims(when: str, **more: Any) -> Any:
    policy = {"whenDeleted": when, "whenScaled": "Retain"}
    found = {"volumeClaimTemplates": [CLAIM], "persistentVolumeClaimRetentionPolicy": policy}
    return lws(**{"size": 2, **found, **more})


def test_claims_of_workers_that_go_with_each_group_are_warned_of():
    (text,) = warn_workload(with_claims("Delete"))
    assert "also deletes the claims of workers whenever their group is made anew" in text


def test_claims_that_live_as_long_as_the_object_give_no_warning():
    on_pods = with_claims("Delete")
    on_pods["metadata"]["annotations"] = {"kohort.dev/carrier": "pods"}
    kept = (with_claims("Retain"), with_claims("Delete", size=1), on_pods)
    without = with_claims("Delete", volumeClaimTemplates=[])
    assert [warn_workload(found) for found in (*kept, without)] == [[]] * 4
