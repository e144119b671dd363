"""Which pods take room of a node: those that run or will run, not those that have ended."""

import pytest
from gang_builders import GPU, node, pod

from kohort.placement.raw_objects import read_index


@pytest.mark.parametrize(
    ("phase", "free"),
    [("", 1), ("Pending", 1), ("Running", 1), ("Unknown", 1), ("Succeeded", 4), ("Failed", 4)],
)
def test_a_pod_takes_room_until_it_has_ended(phase: str, free: int):
    there = pod("a", 3)
    there["spec"]["nodeName"] = "n0"
    there["status"] = {"phase": phase}
    index = read_index([node("n0", 4)], [there])
    assert index.free[index.slots["n0"]][GPU] == free
