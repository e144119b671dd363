"""What an update must not change, and what it may leave as bad as it was."""

from typing import Any

import pytest
from lws_builders import lws

from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.admission.validation import validate_workload
from kohort.cluster.objects import Object

SUBGROUP = "spec.leaderWorkerTemplate.SubGroupPolicy.subGroupSize"
LONG = "a" * 51


def texts(new: Object, old: Object | None = None, **options: str) -> list[str]:
    return [str(error) for error in validate_workload(new, old, **options)]


def grouped(size: int | None) -> Object:
    return lws() if size is None else lws(subGroupPolicy={"subGroupSize": size})


def claiming(**spec: Any) -> Object:
    return lws(volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": spec}])


@pytest.mark.parametrize(
    "changed",
    [
        lws(replicas=9),
        lws(size=8),
        lws(subdomain="UniquePerReplica"),
        lws(restartPolicy="None"),
        lws(rollout={"maxUnavailable": 2}),
        lws(workerTemplate={"spec": {"containers": []}}),
        lws(persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete"}),
    ],
)
def test_most_fields_may_change(changed: Object):
    assert texts(changed, lws()) == []


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (2, 1, "Invalid value: 1: field is immutable"),
        (
            None,
            2,
            "Invalid value: 2: cannot enable subGroupSize after the lws is already created",
        ),
        (2, None, "Invalid value: 2: cannot remove subGroupSize after enabled"),
    ],
)
def test_subgroups_are_fixed_at_creation(old: int | None, new: int | None, text: str):
    assert texts(grouped(new), grouped(old)) == [f"{SUBGROUP}: {text}"]


def test_a_subdomain_policy_cannot_be_taken_away():
    changed = lws()
    changed["spec"]["networkConfig"] = {"subdomainPolicy": None}
    assert texts(changed, lws()) == [
        "spec.networkConfig.subdomainPolicy: Invalid value: null: "
        "cannot set subdomainPolicy as null"
    ]


def test_claims_cannot_change_as_a_statefulset_could_not_follow():
    old = claiming(resources={"requests": {"storage": "10Gi"}})
    assert texts(claiming(resources={"requests": {"storage": "20Gi"}}), old) == [
        "spec.leaderWorkerTemplate.volumeClaimTemplates: Forbidden: the claims of a StatefulSet "
        "cannot be changed; make a new LeaderWorkerSet instead"
    ]
    assert texts(claiming(resources={"requests": {"storage": "10240Mi"}}), old) == []


def test_a_name_leaves_room_for_the_index_of_the_last_group():
    """lws#410: the pods of a set with a longer name could never be created."""
    assert texts(lws(name="a" * 50, replicas=10)) == []
    (text,) = texts(lws(name="a" * 50, replicas=11))
    assert text == (
        f'metadata.name: Invalid value: "{"a" * 50}": with 11 groups of 4 and a surge of 0, the '
        f'StatefulSet "{"a" * 50}-10" would have 53 characters, and at most 52 are possible: '
        "use a name that is 1 shorter"
    )


def test_a_surge_counts_for_the_length_of_names():
    surging = lws(name="a" * 50, replicas=10, rollout={"maxUnavailable": 1, "maxSurge": "10%"})
    assert "with 10 groups of 4 and a surge of 1" in texts(surging)[0]


def test_a_group_of_one_has_no_set_of_its_own():
    assert texts(lws(name="a" * 52, size=1)) == []
    assert "would have 53 characters" in texts(lws(name="a" * 53, size=1))[0]


def test_a_name_that_is_too_long_already_does_not_block_other_edits():
    old = lws(name=LONG, replicas=3)
    assert texts(lws(name=LONG, replicas=9, restartPolicy="None"), old) == []
    assert "would have 54 characters" in texts(lws(name=LONG, replicas=11), old)[0]


def test_pods_carried_by_us_may_have_longer_names():
    assert texts(lws(name="a" * 59), carrier="pods") == []
    assert 'the pod "' in texts(lws(name="a" * 60), carrier="pods")[0]


def test_an_unknown_carrier_is_refused_at_creation():
    odd = lws(annotations={labels.CARRIER: "pigeons"})
    assert texts(odd) == [
        f'metadata.annotations.{labels.CARRIER}: Unsupported value: "pigeons": '
        'supported values: "pods", "statefulsets"'
    ]
    assert texts(odd, odd) == []


def test_an_unknown_strategy_is_refused_unless_it_was_there():
    odd = lws(annotations={labels.STRATEGY: "brave"})
    refusal = [
        f'metadata.annotations.{labels.STRATEGY}: Unsupported value: "brave": '
        'supported values: "budgeted", "compatible"'
    ]
    assert texts(odd) == texts(odd, lws()) == refusal
    assert texts(odd, odd) == []
    assert texts(lws(annotations={labels.STRATEGY: "compatible"}), odd) == []


@pytest.mark.parametrize("text", ["", "-1", "1.5", "30s", "\u0663", "9" * 5000])
def test_seconds_that_are_no_number_are_refused_unless_they_were_there(text: str):
    odd = lws(annotations={labels.MIN_READY_SECONDS: text})
    for refused in (texts(odd), texts(odd, lws())):
        assert len(refused) == 1
        assert refused[0].startswith(f"metadata.annotations.{labels.MIN_READY_SECONDS}: Invalid")
        assert "must be a whole number of seconds" in refused[0]
    assert texts(odd, odd) == []
    assert texts(lws(annotations={labels.MIN_READY_SECONDS: "30"})) == []


def test_the_carrier_is_fixed_at_creation():
    pods = lws(annotations={labels.CARRIER: "pods"})
    assert texts(pods, pods) == []
    assert texts(lws(), pods) == [
        f"metadata.annotations.{labels.CARRIER}: Forbidden: the carrier is fixed when the object "
        "is created, and this one is carried by pods"
    ]


def test_a_topology_that_was_bad_before_stays_editable():
    bad = {labels.EXCLUSIVE_TOPOLOGY: "not a key"}
    assert texts(lws(annotations=bad, replicas=5), lws(annotations=bad)) == []


def test_claims_cannot_come_to_a_set_that_had_none_or_leave_one_that_had_some():
    claimed = claiming(resources={"requests": {"storage": "10Gi"}})
    for new, old in ((claimed, lws()), (lws(), claimed)):
        (text,) = texts(new, old)
        assert text.startswith("spec.leaderWorkerTemplate.volumeClaimTemplates: Forbidden: ")
    assert texts(claimed) == []
