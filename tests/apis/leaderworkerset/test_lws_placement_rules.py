"""What admission says of placement: rules, warnings, and what it leaves alone."""

from dataclasses import replace
from typing import Any

import pytest
from lws_builders import lws

from kohort.apis.api import DEFAULTS, Settings
from kohort.apis.gangs.dialects import kueue
from kohort.apis.gangs.dialects.coscheduling import COSCHEDULING
from kohort.apis.gangs.dialects.volcano import VOLCANO
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.admission.placement import (
    KUEUE_QUEUE,
    validate_placement,
    warn_placement,
)
from kohort.apis.leaderworkerset.revision import revision_data
from kohort.cluster.objects import Object

TOLD = Settings(gangs=(VOLCANO, COSCHEDULING))
QUEUED = Settings(gangs=(kueue.V1BETA2,), carrier="pods")
NOTE = f"metadata.annotations.{labels.NETWORK_TOPOLOGY}"


def asking(topology: Any = None, note: str = "", **more: Any) -> Object:
    notes = {**({labels.NETWORK_TOPOLOGY: note} if note else {}), **more.pop("annotations", {})}
    workload = lws(annotations=notes, **more)
    if topology is not None:
        workload["spec"]["networkTopology"] = topology
    return workload


def refusals(workload: Object, settings: Settings = TOLD, old: Object | None = None) -> list[str]:
    return [str(error) for error in validate_placement(workload, old, settings)]


def warnings(workload: Object, settings: Settings = TOLD) -> list[str]:
    return list(warn_placement(workload, settings))


@pytest.mark.parametrize(
    ("topology", "path", "why"),
    [
        ({"mode": "firm"}, "spec.networkTopology.mode", "must be hard or soft"),
        ({"highestTierAllowed": -1}, "spec.networkTopology.highestTierAllowed", "equal to 0"),
        ({"highestTierAllowed": "1"}, "spec.networkTopology.highestTierAllowed", "whole number"),
        (
            {"highestTierAllowed": 1, "highestTierName": "rack"},
            "spec.networkTopology.highestTierName",
            "must not be set together with highestTierAllowed",
        ),
        ({"tier": 1}, "spec.networkTopology.tier", "is not known"),
    ],
)
def test_a_topology_that_makes_no_sense_is_refused_with_the_field(topology, path, why):
    (error,) = refusals(asking(topology))
    assert error.startswith(f"{path}: ")
    assert why in error


@pytest.mark.parametrize(
    "topology",
    [{}, {"mode": "soft"}, {"mode": "hard", "highestTierAllowed": 0}, {"highestTierName": "rack"}],
)
def test_a_topology_that_makes_sense_is_taken(topology):
    assert refusals(asking(topology)) == []


@pytest.mark.parametrize(
    ("note", "why"),
    [
        ("{", "must be the JSON of a network topology"),
        ("[]", "must be an object"),
        ('{"mode":"firm"}', "mode must be hard or soft"),
        ('{"highestTierAllowed":-1}', "highestTierAllowed must be greater than or equal to 0"),
    ],
)
def test_the_annotation_has_the_same_rules(note: str, why: str):
    (error,) = refusals(asking(note=note))
    assert error.startswith(f"{NOTE}: ")
    assert why in error


def test_only_what_an_update_brings_is_refused():
    bad = asking({"mode": "firm"})
    assert refusals(bad, old=bad) == []
    assert refusals(bad, old=asking()) != []


def test_topology_is_no_part_of_a_revision():
    assert revision_data(asking({"highestTierAllowed": 1})) == revision_data(asking())


def test_tier_0_is_warned_of():
    (warning,) = warnings(asking({"highestTierAllowed": 0}))
    assert "all pods of a group must be on one node" in warning
    assert warnings(asking({"highestTierAllowed": 1})) == []


def test_pods_that_request_nothing_are_warned_of():
    bare = {"spec": {"containers": [{"name": "worker", "image": "nginx:latest"}]}}
    (warning,) = warnings(asking({"highestTierAllowed": 1}, workerTemplate=bare))
    assert "volcano does not place pods by topology that request nothing" in warning
    other = replace(TOLD, gangs=(COSCHEDULING,))
    assert warnings(asking({"highestTierAllowed": 1}, workerTemplate=bare), other) == []


def test_two_wishes_that_differ_are_warned_of():
    topology = {"mode": "hard", "highestTierAllowed": 1}
    assert warnings(asking(topology, '{"highestTierAllowed":1}')) == []
    (warning,) = warnings(asking(topology, '{"highestTierAllowed":2}'))
    assert "differs from spec.networkTopology, which holds" in warning


def test_a_topology_that_reaches_no_scheduler_is_warned_of():
    (warning,) = warnings(asking({"highestTierAllowed": 1}), DEFAULTS)
    assert "has no effect" in warning


def test_a_scheduler_of_ones_own_is_warned_of():
    template = {"spec": {"schedulerName": "mine", "containers": []}}
    (warning,) = warnings(asking({"highestTierAllowed": 1}, workerTemplate=template))
    assert "mine is not told of spec.networkTopology" in warning


def test_a_dialect_that_the_operator_does_not_use_is_refused():
    (error,) = refusals(asking(annotations={labels.GANG: "kai"}))
    assert 'supported values: "volcano", "coscheduling", "none"' in error
    for known in ("volcano", "coscheduling", "none"):
        assert refusals(asking(annotations={labels.GANG: known})) == []


def test_two_schedulers_that_hold_back_the_pods_of_a_group_are_refused():
    """lws#1075: a provider of ours together with Kubernetes' own, or with Kueue."""
    native = asking()
    native["spec"]["scheduling"] = {}
    assert "two would wait for each other" in refusals(native)[0]
    assert refusals(native, DEFAULTS) == []
    queued = asking()
    queued["metadata"]["labels"] = {KUEUE_QUEUE: "q"}
    assert "Kueue would hold its pods" in refusals(queued)[0]
    assert "name the queue in an annotation" in refusals(queued, QUEUED)[0]
    queued["metadata"]["annotations"][labels.GANG] = "none"
    assert refusals(queued) == []


def test_a_template_that_names_the_gang_of_another_is_refused():
    mark = {"labels": {COSCHEDULING.membership: "mine"}}
    template = {"metadata": mark, "spec": {"containers": []}}
    (error,) = refusals(asking(workerTemplate=template))
    assert error.startswith("spec.leaderWorkerTemplate.workerTemplate: ")
    assert "it names a gang of coscheduling" in error
    template = {"spec": {"schedulingGroup": {"podGroupName": "mine"}, "containers": []}}
    assert "a gang of Kubernetes" in refusals(asking(workerTemplate=template))[0]


def test_who_counts_all_pods_cannot_have_them_wait_for_their_leader():
    waiting = asking()
    waiting["spec"]["startupPolicy"] = "LeaderReady"
    assert "kueue waits for all pods of a group" in refusals(waiting, QUEUED)[0]
    carried = asking(annotations={labels.CARRIER: "statefulsets"})
    assert "need pods that we make ourselves" in refusals(carried, QUEUED)[0]
