"""Rollout verbs that look ahead: what differs, what a way back does, how to go on to the end."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_lines import Told
from workload_hand import Hand, set_image

from kohort.cluster.objects import Object

RunKohort = Callable[..., Told]
ROLLING = "/spec/rolloutStrategy/rollingUpdateConfiguration"


def set_args(*args: str) -> Object:
    path = "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/args"
    return {"op": "add", "path": path, "value": list(args)}


def is_rolled(groups: int, generation: int):
    """Whether all groups are updated and ready."""

    def holds(lws: Object) -> bool:
        status = lws.get("status") or {}
        counts = (status.get("updatedReplicas"), status.get("readyReplicas"))
        return counts == (groups, groups) and status["observedGeneration"] == generation

    return holds


@pytest.fixture(scope="module")
def rolled(cluster: Path) -> Hand:
    """A workload that was given another image and another argument."""
    hand = Hand(cluster, "ahead")
    hand.create(groups=3)
    hand.wait_for_condition("Available")
    hand.edit(set_args("--tp", "8", "--mem", "0.85"))
    hand.wait_for(is_rolled(3, 2))
    hand.edit(set_image("engine:2"), set_args("--tp", "8", "--mem", "0.88"))
    hand.wait_for(is_rolled(3, 3))
    return hand


def test_a_difference_names_image_and_flags_first_and_what_they_restart(
    kohort: RunKohort, rolled: Hand
):
    told = kohort("rollout", "diff", "lws/ahead")
    assert told.code == 0, told.err
    title, image, args = told.out.splitlines()
    assert title == "ahead  LeaderWorkerSet  revision 2 → 3"
    assert image.split() == [
        *("workerTemplate.engine.image", "engine:1", "→", "engine:2"),
        *("restarts", "every", "group"),
    ]
    assert args.split()[:6] == ["workerTemplate.engine.args", "--mem", "0.85", "→", "--mem", "0.88"]


def test_a_difference_to_any_revision_is_there_for_programs(kohort: RunKohort, rolled: Hand):
    words = ("rollout", "diff", "lws/ahead", "--revision", "1", "-o", "json")
    told = json.loads(kohort(*words).out)
    assert (told["old"], told["new"]) == (1, 3)
    assert [field["path"] for field in told["fields"]] == [
        "workerTemplate.engine.image",
        "workerTemplate.engine.args",
    ]
    assert {field["restarts"] for field in told["fields"]} == {"every group"}


def test_a_revision_that_does_not_exist_is_answered_with_those_that_do(
    kohort: RunKohort, rolled: Hand
):
    told = kohort("rollout", "diff", "lws/ahead", "--revision", "9")
    assert (told.code, told.out) == (1, "")
    assert "lws/ahead has no revision 9; there are: 1, 2, 3" in told.err


def test_a_way_back_is_foretold_and_not_taken(kohort: RunKohort, rolled: Hand):
    before = rolled.read()["metadata"]["resourceVersion"]
    told = kohort("rollout", "undo", "lws/ahead", "--dry-run")
    lines = told.out.splitlines()
    assert lines[0] == "lws/ahead goes back to revision 2 (dry run: nothing was changed)"
    assert "  steps     3, one group at a time (maxUnavailable 1, maxSurge 0)" in lines
    assert "  capacity  never below 2 of 3 groups; no extra GPUs" in lines
    plan = json.loads(kohort("rollout", "undo", "lws/ahead", "--dry-run", "-o", "json").out)["plan"]
    assert len(plan["steps"]) == 3
    assert rolled.read()["metadata"]["resourceVersion"] == before


def test_nothing_is_promoted_where_nothing_holds(kohort: RunKohort, rolled: Hand):
    told = kohort("rollout", "promote", "lws/ahead")
    assert (told.code, told.err) == (0, "")
    assert told.out == "lws/ahead has no partition and no pause: nothing holds it back\n"


def test_a_promotion_lowers_the_partition_and_says_so(kohort: RunKohort, cluster: Path):
    hand = Hand(cluster, "canary")
    hand.create(groups=3)
    hand.wait_for_condition("Available")
    hand.edit({"op": "add", "path": f"{ROLLING}/partition", "value": 2}, set_image("engine:2"))
    hand.wait_for(lambda lws: lws["status"].get("updatedReplicas") == 1)
    dry = kohort("rollout", "promote", "lws/canary", "--dry-run")
    assert "2 of 3 groups are made anew" in dry.out
    told = kohort("rollout", "promote", "lws/canary").out.splitlines()
    assert told[0] == "lws/canary goes on to the end"
    assert told[1].strip() == "rolloutStrategy.rollingUpdateConfiguration.partition: 2 → 0"
    assert told[2].strip().startswith("emulated: LeaderWorkerSet has no promote")
    hand.wait_for(is_rolled(3, 3))


def test_a_pause_is_ended_by_a_promotion(kohort: RunKohort, cluster: Path):
    hand = Hand(cluster, "paused")
    hand.create(groups=2)
    hand.wait_for_condition("Available")
    assert kohort("rollout", "pause", "lws/paused").code == 0
    hand.edit(set_image("engine:2"))
    assert kohort("rollout", "promote", "lws/paused").code == 0
    notes = hand.read()["metadata"].get("annotations") or {}
    assert "kohort.dev/paused-partition" not in notes
    hand.wait_for(is_rolled(2, 4))


@pytest.mark.parametrize("verb", ["diff", "promote"])
def test_mistakes_are_answered(kohort: RunKohort, rolled: Hand, verb: str):
    missing = kohort("rollout", verb, "lws/ahed")
    assert (missing.code, missing.out) == (1, "")
    assert "lws/ahed does not exist in namespace default (did you mean 'ahead'?)" in missing.err
    assert kohort("rollout", verb, "lwx/ahead").code == 2
