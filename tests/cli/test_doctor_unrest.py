"""``kohort doctor --before-upgrade`` names each workload that is not at rest, with a fix."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from command_lines import Told
from why_situations import KINDS, SHORT, TEMPLATES, write_spec
from workload_hand import Hand

from kohort.cluster.objects import Object

pytestmark = pytest.mark.slow
RunKohort = Callable[..., Told]


def is_seen(obj: Object) -> bool:
    """Whether the operator has seen the last edit of a workload."""
    return bool(obj["status"]["observedGeneration"] == obj["metadata"]["generation"])


@pytest.fixture(scope="module")
def rolling(cluster: Path) -> None:
    """A workload of each API whose rollout waits for a pod that never becomes ready."""
    for kind in SHORT:
        Hand(cluster, f"{kind}-rolls", KINDS[kind]).make(write_spec(kind, TEMPLATES["well"], 2))
    Hand(cluster, "at-rest").create()
    Hand(cluster, "at-rest").wait_for_condition("Available")
    for kind in SHORT:
        hand = Hand(cluster, f"{kind}-rolls", KINDS[kind])
        hand.wait_for_condition("Ready" if kind in ("rbg", "isvc") else "Available")
        spec = write_spec(kind, TEMPLATES["slow"], 2)
        hand.edit({"op": "replace", "path": "/spec", "value": spec})
        hand.wait_for(is_seen)


@pytest.mark.usefixtures("rolling")
def test_a_workload_in_a_rollout_is_named_with_a_fix(kohort: RunKohort):
    told = kohort("doctor", "--before-upgrade", "-o", "json")
    assert told.code == 0, told.out
    found = [result for result in json.loads(told.out) if result["area"] == "upgrade"]
    for kind in SHORT:
        name = f"{KINDS[kind].name} default/{kind}-rolls is updating"
        [result] = [each for each in found if each["message"].startswith(name)]
        assert result["severity"] == "note"
        first, *words = shlex.split(result["fix"])
        assert (first, words[0]) == ("kohort", "why")
        assert f"{kind}-rolls" in kohort(*words).out
    assert len(found) == len(SHORT)


@pytest.mark.usefixtures("rolling")
def test_other_checks_do_not_ask_for_rest(kohort: RunKohort):
    assert "rolls" not in kohort("doctor").out
