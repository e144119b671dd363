"""The spec of a ModelServing as a value: defaults, percentages, old objects."""

from typing import Any

import pytest
from serving_builders import role, rolling, serving

from kohort.apis.api import Snapshot
from kohort.apis.modelserving.read import read
from kohort.apis.modelserving.spec import PluginSpec, at_revision, find_surge, read_spec


def test_an_object_without_defaults_means_the_defaults():
    bare = {"spec": {"template": {"roles": [{"name": "a", "workerReplicas": 0}]}}}
    spec = read_spec(bare)
    assert (spec.replicas, spec.scheduler, spec.recovery) == (1, "volcano", "RoleRecreate")
    assert (spec.rollout, spec.max_unavailable, spec.max_surge) == (
        "ServingGroupRollingUpdate",
        1,
        0,
    )
    assert (spec.partition, spec.grace_seconds) == (None, 0)
    (only,) = spec.roles
    assert (only.replicas, only.size, only.has_service) == (1, 1, False)


@pytest.mark.parametrize(
    ("value", "total", "partition"),
    [(None, 5, None), (3, 5, 3), ("50%", 3, 2), ("50%", 4, 2), ("1%", 10, 1), ("100%", 5, 5)],
)
def test_a_partition_rounds_up(value: Any, total: int, partition: int | None):
    strategy = rolling(partition=value, maxUnavailable=1)
    assert read_spec(serving(replicas=total, rolloutStrategy=strategy)).partition == partition


def test_a_partition_of_no_percent_is_none_of_all():
    strategy = rolling(partition="0%", maxUnavailable=1)
    assert read_spec(serving(rolloutStrategy=strategy)).partition == 0


@pytest.mark.parametrize(("value", "total", "amount"), [("20%", 10, 2), ("10%", 5, 0), (3, 5, 3)])
def test_max_unavailable_rounds_down(value: Any, total: int, amount: int):
    spec = read_spec(serving(replicas=total, rolloutStrategy=rolling(maxUnavailable=value)))
    assert spec.max_unavailable == amount


@pytest.mark.parametrize(("value", "amount"), [(None, None), ("50%", 1), (2, 2), ("bad", 0)])
def test_a_role_without_a_budget_has_no_bound_and_a_bad_one_allows_nothing(
    value: Any, amount: int | None
):
    spec = read_spec(serving(role(replicas=3, maxUnavailable=value)))
    assert spec.roles[0].max_unavailable == amount


@pytest.mark.parametrize(
    ("field", "note", "surge"),
    [(None, None, 0), (2, "1", 2), (None, "25%", 2), (None, "9", 5), (None, "soon", 0)],
)
def test_a_surge_is_a_field_or_an_annotation_and_never_more_than_there_are(
    field: Any, note: str | None, surge: int
):
    notes = {} if note is None else {"kohort.dev/max-surge": note}
    strategy = rolling(maxUnavailable=1, maxSurge=field)
    asked = serving(replicas=5, annotations=notes, rolloutStrategy=strategy)
    assert read_spec(asked).max_surge == surge
    assert find_surge(asked) in (field, int(note) if note and note.isdigit() else note, "")


@pytest.mark.parametrize(
    ("plugin", "entry", "worker"),
    [
        (PluginSpec("p"), True, True),
        (PluginSpec("p", target="Entry"), True, False),
        (PluginSpec("p", target="Worker"), False, True),
        (PluginSpec("p", target="entry"), False, False),
        (PluginSpec("p", roles=("decode",)), True, True),
        (PluginSpec("p", roles=("prefill",)), False, False),
    ],
)
def test_a_plugin_applies_to_the_pods_in_its_scope(plugin: PluginSpec, entry: bool, worker: bool):
    asked = (plugin.applies_to("decode", True), plugin.applies_to("decode", False))
    assert asked == (entry, worker)


def test_an_object_at_a_revision_has_its_roles_and_the_counts_of_now():
    old = [role("old")]
    then = at_revision(serving(replicas=7), old)
    assert [found.name for found in read_spec(then).roles] == ["old"]
    assert read_spec(then).replicas == 7


def test_a_budget_of_a_role_that_rounds_down_to_none_lets_one_instance_go():
    """Without webhooks nothing refuses it, and the rollout would wait for ever."""
    own = role(replicas=2, maxUnavailable="25%")
    snapshot = Snapshot(serving(own, rolloutStrategy=rolling("RoleRollingUpdate")), {})
    (found,) = read(snapshot).workload.roles
    assert found.rollout is not None
    assert found.rollout.max_unavailable == 1
