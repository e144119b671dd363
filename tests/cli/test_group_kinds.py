"""Commands on the kinds of RoleBasedGroup that are no groups: sets, warm-ups, parts of a group."""

from collections.abc import Callable
from pathlib import Path

import pytest
from command_lines import Told
from workload_hand import Hand

from kohort.apis.rolebasedgroup import labels
from kohort.cli.exits import UsageError
from kohort.cli.workloads.arguments import read_wanted

RunKohort = Callable[..., Told]
PARTS = ("rbgsa", "cpolicy", "clusterengineruntimeprofiles", "RoleBasedGroupScalingAdapter")


@pytest.mark.parametrize("word", [*PARTS, "coordinatedpolicies.workloads.x-k8s.io"])
def test_a_part_of_a_group_is_told_from_a_mistyped_kind(word: str):
    with pytest.raises(UsageError) as told:
        read_wanted([f"{word}/x"])
    assert "is no workload" in str(told.value)
    assert "'kohort why rbg/NAME'" in str(told.value)
    assert "'kubectl get " in str(told.value)


def test_a_kind_that_does_not_exist_is_unknown():
    with pytest.raises(UsageError, match=r"unknown kind 'rgb' \(did you mean 'rbg'"):
        read_wanted(["rgb/x"])


@pytest.mark.slow
def test_the_status_of_a_warm_up_ends_with_it(kohort: RunKohort, cluster: Path):
    preload = {"images": ["engine:2"]}
    Hand(cluster, "warm", labels.WARMUP).make(
        {"targetNodes": {"nodeNames": ["gpu-00"], "imagePreload": preload}}
    )
    told = kohort("rollout", "status", "rbgwarmup/warm", "--timeout", "60s")
    assert told.code == 0, told.err
    assert "groups" not in told.out and "ready" in told.out
    assert "groups" not in kohort("get", "rbgwarmup/warm").out


@pytest.mark.slow
def test_a_set_says_by_what_it_is_carried_and_no_revision_of_its_own(
    kohort: RunKohort, cluster: Path
):
    spec = {"containers": [{"name": "engine", "image": "engine:1"}]}
    role = {"name": "a", "replicas": 1, "standalonePattern": {"template": {"spec": spec}}}
    Hand(cluster, "told", labels.SET_KIND).make(
        {"replicas": 1, "groupTemplate": {"spec": {"roles": [role]}}}
    )
    assert kohort("rollout", "status", "rbgs/told", "--timeout", "60s").code == 0
    assert "carrier RoleBasedGroups" in kohort("why", "rbgs/told").out
    assert "revision new" not in kohort("get", "rbgs/told").out
