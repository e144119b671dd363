"""
What other controllers left is taken over and given back, on a real control plane.

A few recordings of LeaderWorkerSet, kthena and RBG, and a service of OME written by hand, go the
whole way at once, from stand-ins for all four.
"""

from pathlib import Path

import pytest
from left_takeovers import left_by, take_over_and_undo
from test_real_takeover_recorded import SHARED, list_cases

from kohort.cluster.objects import Object
from upstream_service import list_raw

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not SHARED, reason="KOHORT_SHARED is not set"),
]
# Namespaces in which the recordings were made; they are distinct.
CHOSEN = {"lws": ("take-12",), "ms": ("take-6", "take-2"), "rbg": ("take-11",)}
FOLDERS = {"lws": "lws", "ms": "kthena", "rbg": "rbg"}


def choose() -> list[list[Object]]:
    return [
        case["at_rest"]
        for api, names in CHOSEN.items()
        for case in list_cases(FOLDERS[api])
        if case["namespace"] in names
    ]


def test_objects_of_all_four_are_taken_over_and_given_back(tmp_path: Path):
    with left_by(tmp_path, ("lws", "ms", "rbg", "isvc"), [*choose(), list_raw()]) as user:
        take_over_and_undo(user)
