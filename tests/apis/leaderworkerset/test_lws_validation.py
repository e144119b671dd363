"""What a LeaderWorkerSet must not say, each rule with its text."""

from typing import Any

import pytest
from lws_builders import lws

from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.admission.validation import validate_workload
from kohort.cluster.objects import Object

ROLLOUT = "spec.rolloutStrategy.rollingUpdateConfiguration"
SUBGROUP = "spec.leaderWorkerTemplate.SubGroupPolicy.subGroupSize"


def texts(new: Object, old: Object | None = None, **options: str) -> list[str]:
    return [str(error) for error in validate_workload(new, old, **options)]


def rolling(**rollout: Any) -> Object:
    return lws(rollout={"maxUnavailable": 1, "maxSurge": 0, **rollout})


def subgroups(size: int, subgroup_size: Any, policy: str = "LeaderWorker") -> Object:
    given = {"subGroupPolicyType": policy, "subGroupSize": subgroup_size}
    return lws(size=size, subGroupPolicy=given)


@pytest.mark.parametrize(
    "allowed",
    [
        lws(),
        lws(replicas=0),
        lws(size=1),
        lws(replicas=1_000_000),
        lws(replicas=0, rollout={"maxUnavailable": 0, "maxSurge": 0}),
        rolling(maxUnavailable=0, maxSurge=1),
        rolling(maxUnavailable="20%", maxSurge=1),
        rolling(maxUnavailable=100),
        rolling(partition=9),
        rolling(partition=None),
        subgroups(4, 2),
        subgroups(5, 2),
        subgroups(5, 2, "LeaderExcluded"),
        lws(annotations={labels.EXCLUSIVE_TOPOLOGY: "cloud.google.com/gke-nodepool"}),
        lws(annotations={labels.EXCLUSIVE_TOPOLOGY: ""}),
    ],
)
def test_what_makes_sense_is_allowed(allowed: Object):
    assert texts(allowed) == []


@pytest.mark.parametrize("name", ["1abc", "Abc", "a.b", "a-"])
def test_a_name_is_that_of_a_service(name: str):
    (text,) = texts(lws(name=name))
    assert text.startswith(f'metadata.name: Invalid value: "{name}": a DNS-1035 label must')


def test_a_name_that_is_yet_to_be_made_is_checked_by_its_prefix():
    sample = lws()
    del sample["metadata"]["name"]
    sample["metadata"]["generateName"] = "good-"
    assert texts(sample) == []
    sample["metadata"]["generateName"] = "Bad-"
    assert texts(sample)[0].startswith('metadata.generateName: Invalid value: "Bad-"')


@pytest.mark.parametrize(
    ("broken", "text"),
    [
        (
            lws(replicas=-1),
            "spec.replicas: Invalid value: -1: replicas must be equal or greater than 0",
        ),
        (
            lws(replicas=1_000_001),
            "spec.replicas: Invalid value: 1000001: replicas must be equal or less than 1000000",
        ),
        (
            lws(size=0),
            "spec.leaderWorkerTemplate.size: Invalid value: 0: "
            "size must be equal or greater than 1",
        ),
        (
            lws(replicas=100_000, size=100_000),
            "spec.replicas: Invalid value: 100000: "
            "the product of replicas and worker replicas must not exceed 2147483647",
        ),
    ],
)
def test_counts_have_limits(broken: Object, text: str):
    assert texts(broken) == [text]


@pytest.mark.parametrize("field", ["maxUnavailable", "maxSurge"])
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-1, "Invalid value: -1: must be greater than or equal to 0"),
        ("101%", 'Invalid value: "101%": must not be greater than 100%'),
        (
            "10",
            'Invalid value: "10": a valid percent string must be a numeric string followed by an '
            "ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
        ),
    ],
)
def test_amounts_are_numbers_or_percentages(field: str, value: Any, text: str):
    sample = rolling(**{"maxUnavailable": 1, "maxSurge": 1, field: value})
    assert texts(sample)[0] == f"{ROLLOUT}.{field}: {text}"


def test_a_partition_is_not_negative():
    assert texts(rolling(partition=-1)) == [
        f"{ROLLOUT}.partition: Invalid value: -1: must be greater than or equal to 0"
    ]


@pytest.mark.parametrize(("value", "shown"), [(0, "0"), ("0%", '"0%"'), ("20%", '"20%"')])
def test_a_rollout_that_cannot_move_is_refused(value: Any, shown: str):
    """Of three groups, 20 % rounds down to none."""
    assert texts(rolling(maxUnavailable=value)) == [
        f"{ROLLOUT}.maxUnavailable: Invalid value: {shown}: must not be 0 when `maxSurge` is 0"
    ]


@pytest.mark.parametrize(
    ("broken", "text"),
    [
        (subgroups(4, 0), "0: subGroupSize must be equal or greater than 1"),
        (subgroups(6, 4), "4: size or size - 1 must be divisible by subGroupSize"),
        (
            subgroups(6, 3, "LeaderExcluded"),
            "3: size-1 must be divisible by subGroupSize when using LeaderExcluded",
        ),
    ],
)
def test_subgroups_divide_a_group(broken: Object, text: str):
    assert texts(broken) == [f"{SUBGROUP}: Invalid value: {text}"]


def test_a_subgroup_is_no_larger_than_its_group():
    assert f"{SUBGROUP}: Invalid value: 5: subGroupSize cannot be larger than size" in texts(
        subgroups(4, 5)
    )


def test_a_subgroup_policy_needs_a_size():
    assert texts(lws(subGroupPolicy={})) == [
        f"{SUBGROUP}: Required value: a subgroup policy needs a size"
    ]


def test_subgroups_cannot_be_exclusive_where_there_are_none():
    assert texts(lws(annotations={labels.SUBGROUP_EXCLUSIVE_TOPOLOGY: "rack"})) == [
        f"metadata.annotations.{labels.SUBGROUP_EXCLUSIVE_TOPOLOGY}: Invalid value: "
        '"rack": cannot have subgroup-exclusive-topology without subGroupSize set'
    ]


def test_a_topology_is_the_key_of_a_label():
    (text,) = texts(lws(annotations={labels.EXCLUSIVE_TOPOLOGY: "not a key"}))
    assert text.startswith(
        f'metadata.annotations.{labels.EXCLUSIVE_TOPOLOGY}: Invalid value: "not a key": name part'
    )


def test_all_that_is_wrong_is_said_at_once():
    assert len(texts(lws(name="1", replicas=-1, size=0))) == 3


def test_an_object_that_was_never_defaulted_can_be_judged():
    assert texts({"metadata": {"name": "a"}, "spec": {"leaderWorkerTemplate": {}}}) == []
