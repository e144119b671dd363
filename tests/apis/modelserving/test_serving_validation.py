"""What is refused, in upstream's words, and what an update may keep."""

from typing import Any

import pytest
from serving_builders import role, rolling, serving, template

from kohort.apis.modelserving.admission.validation import (
    check_namesake,
    validate_serving,
    write_refusal,
)
from kohort.apis.modelserving.plugins.known import BUILT_INS
from kohort.cluster.objects import Object
from recorded_servings import Recorded, name_case, needs_recording, recordings

ROLE_ROLLING = rolling("RoleRollingUpdate")
RETRY = "spec.rolloutStrategy.rollingUpdateConfiguration"


def refuse(asked: Object, old: Object | None = None) -> str:
    return write_refusal(validate_serving(asked, old, BUILT_INS, ("volcano",)))


def grouped(**fields: Any) -> Object:
    return serving(replicas=5, rolloutStrategy=rolling(**fields))


def by_role(*roles: Object) -> Object:
    return serving(*roles, rolloutStrategy=ROLE_ROLLING)


GOOD = {
    "defaults": serving(),
    "no replicas": serving(replicas=0, rolloutStrategy=rolling(maxUnavailable="20%")),
    "no instances of a role": by_role(role(replicas=0)),
    "partition beyond replicas": grouped(maxUnavailable=1, partition=9),
    "a surge instead of a budget": grouped(maxUnavailable=0, maxSurge=1),
    "workers without pods": serving(role(workers=0, workerTemplate={"spec": {"containers": []}})),
    "the longest name": serving(name="a" * 51),
    "role partition": by_role(role(partition="50%")),
    "no image": serving(role(entryTemplate={"spec": {"containers": [{"name": "x"}]}})),
    "recreate roles, roll groups": serving(rolloutStrategy=rolling()),
}
BAD: dict[str, tuple[Object, str]] = {
    "name too long": (
        serving(name="a" * 55),
        f'metadata.name: Invalid value: "{"a" * 55}": invalid name: must be no more than 63',
    ),
    "name starts with a digit": (serving(name="7b"), "invalid name: a DNS-1035 label must"),
    "role name in capitals": (
        serving(role("Serve")),
        'spec.template.roles[0].name: Invalid value: "Serve": role name must be a valid DNS-1035',
    ),
    "image with a space": (
        serving(role(entryTemplate=template("a b"))),
        "spec.template.roles[0].entryTemplate.spec.containers[0].image: Invalid value: "
        '"a b": invalid container image reference: image cannot contain spaces',
    ),
    "blank image": (
        serving(role(workerTemplate=template(" "))),
        "invalid container image reference: image cannot be empty or whitespace only",
    ),
    "negative replicas": (
        serving(replicas=-1),
        "spec.replicas: Invalid value: -1: replicas must be a non-negative integer",
    ),
    "no roles": (
        serving(group={"roles": []}),
        "spec.template.roles: Invalid value: []: roles must be specified",
    ),
    "negative role replicas": (
        serving(role(replicas=-1)),
        "spec.template.roles[0].replicas: Invalid value: -1: role replicas must be a non-negative",
    ),
    "budget of groups in a rollout by role": (
        serving(rolloutStrategy=rolling("RoleRollingUpdate", maxUnavailable=1)),
        f"{RETRY}: Forbidden: rollingUpdateConfiguration is only valid when rolloutStrategy.type",
    ),
    "negative budget": (
        grouped(maxUnavailable=-1),
        f"{RETRY}.maxUnavailable: Invalid value: -1: must be a non-negative integer",
    ),
    "budget in words": (grouped(maxUnavailable="many"), "a valid percent string must be a numeric"),
    "more than all": (
        grouped(maxUnavailable="101%"),
        'Invalid value: "101%": must be a valid percent value (0-100)',
    ),
    "10% of 5": (
        grouped(maxUnavailable="10%"),
        f'{RETRY}: Invalid value: "": maxUnavailable cannot be 0',
    ),
    "partition in words": (
        grouped(maxUnavailable=1, partition="half"),
        f"{RETRY}.partition: Invalid value",
    ),
    "role partition in a rollout by group": (
        serving(role(partition=1)),
        "spec.template.roles[0].partition: Forbidden: partition is only valid when "
        "rolloutStrategy.type is RoleRollingUpdate",
    ),
    "role budget of zero": (
        by_role(role(maxUnavailable=0)),
        "roles[0].maxUnavailable: Invalid value: 0: maxUnavailable cannot be 0",
    ),
    "role budget above replicas": (
        by_role(role(replicas=2, maxUnavailable=3)),
        "Invalid value: 3: maxUnavailable cannot be greater than replicas (2)",
    ),
    "gang of an unknown role": (
        serving(group={"gangPolicy": {"minRoleReplicas": {"x": 1}}}),
        'spec.template.gangPolicy.minRoleReplicas[x]: Invalid value: "x": role x does not exist in '
        "template.roles",
    ),
    "gang of more than there are": (
        serving(group={"gangPolicy": {"minRoleReplicas": {"serve": 2}}}),
        "minRoleReplicas (2) for role serve cannot exceed replicas (1)",
    ),
    "gang of less than none": (
        serving(group={"gangPolicy": {"minRoleReplicas": {"serve": -1}}}),
        "minRoleReplicas for role serve must be non-negative",
    ),
    "negative workers": (
        serving(role(workers=-1)),
        "roles[0].workerReplicas: Invalid value: -1: workerReplicas must be a non-negative",
    ),
    "workers without a template": (
        serving(role(workerTemplate=None)),
        "spec.template.roles[0].workerTemplate: Required value: workerTemplate is required when "
        "workerReplicas is greater than 0",
    ),
    "recreate groups, roll roles": (
        serving(recoveryPolicy="ServingGroupRecreate", rolloutStrategy=ROLE_ROLLING),
        "incompatible recoveryPolicy and rolloutStrategy.type after applying defaults: "
        "recoveryPolicy=ServingGroupRecreate, rolloutStrategy.type=RoleRollingUpdate; valid pairs: "
        "(ServingGroupRecreate,ServingGroupRollingUpdate) or (RoleRecreate,RoleRollingUpdate)",
    ),
}
OURS: dict[str, tuple[Object, str]] = {
    "absent plugin": (
        serving(plugins=[{"name": "lsw"}]),
        'spec.plugins[0].name: Invalid value: "lsw": plugin lsw: it is not installed',
    ),
    "plugin config": (
        serving(plugins=[{"name": "lws"}, {"name": "lws", "config": {"x": 1}}]),
        'spec.plugins[1].config: Invalid value: {"x":1}: plugin lws: its config is wrong: config '
        "has no key 'x'",
    ),
    "two tiers": (
        serving(
            group={
                "networkTopology": {
                    "rolePolicy": {"highestTierAllowed": 1, "highestTierName": "rack"}
                }
            }
        ),
        "spec.template.networkTopology.rolePolicy.highestTierName: Invalid value",
    ),
    "surge in words": (
        serving(annotations={"kohort.dev/max-surge": "some"}),
        'metadata.annotations.kohort.dev/max-surge: Invalid value: "some": must be a number',
    ),
    "unknown gang": (
        serving(annotations={"kohort.dev/gang": "volcan"}),
        'Unsupported value: "volcan": supported values: "volcano", "none"',
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_what_upstream_lets_pass_passes(name: str):
    assert refuse(GOOD[name]) == ""


@pytest.mark.parametrize("gang", ["volcano", "none"])
def test_a_gang_scheduler_that_is_known_and_none_pass(gang: str):
    assert refuse(serving(annotations={"kohort.dev/gang": gang})) == ""


@pytest.mark.parametrize("name", BAD)
def test_what_upstream_refuses_is_refused_in_its_words(name: str):
    asked, words = BAD[name]
    assert words in refuse(asked)
    assert words in refuse(asked, asked), "on update, too"


@pytest.mark.parametrize("name", OURS)
def test_rules_of_ours_hold_for_what_is_new(name: str):
    asked, words = OURS[name]
    assert words in refuse(asked)
    assert refuse(asked, asked) == ""


@needs_recording
@pytest.mark.parametrize("case", recordings(), ids=name_case)
def test_what_upstream_has_admitted_is_admitted(case: Recorded):
    assert refuse(case.serving) == ""


def test_all_errors_are_said_at_once_as_bullets():
    text = refuse(serving(role("Serve", workerTemplate=None), replicas=-1))
    first, *bullets = text.splitlines()
    assert first == "validation failed:"
    assert len(bullets) == 4 and all(line.startswith("  - ") for line in bullets)


def test_a_generated_name_is_measured_with_what_the_server_appends():
    long = serving()
    long["metadata"] = {"generateName": "a" * 49 + "-"}
    assert "invalid name: must be no more than 63" in refuse(long)
    long["metadata"] = {"generateName": "a" * 40 + "-"}
    assert refuse(long) == ""


def test_a_namesake_in_the_other_group_is_refused():
    other = {**serving(), "apiVersion": "workload.volcano.sh/v1alpha1"}
    (error,) = check_namesake(serving(), other)
    assert "exists in workload.volcano.sh/v1alpha1" in str(error)
    assert check_namesake(serving(), None) == []
