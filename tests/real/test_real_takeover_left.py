"""
What other controllers left is taken over and given back, on a real control plane.

A few recordings of LeaderWorkerSet, kthena and RBG, and two services of OME written by hand, one of
them on several nodes, go the whole way at once, from stand-ins for all four. Then some writes of
the commands fail. ``make test-real ARGS=--all-samples`` takes more recordings and fails each write.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from left_takeovers import LeftTakeover, left_by, take_over_and_undo
from takeover_failures import attempting, fail_both_ways, look_twice
from test_real_takeover_recorded import SHARED, list_cases

from kohort.cluster.objects import Object
from upstream_carriers import list_service_on_many_nodes
from upstream_service import list_raw

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not SHARED, reason="KOHORT_SHARED is not set"),
]
# Namespaces in which the recordings were made; they are distinct.
CHOSEN = {"lws": ("take-12",), "ms": ("take-6", "take-2"), "rbg": ("take-11",)}
MORE = {"lws": ("take-4",), "ms": ("take-18",), "rbg": ("take-10",)}  # with --all-samples
FOLDERS = {"lws": "lws", "ms": "kthena", "rbg": "rbg"}
EVERY = 15  # so many writes are one that fails, where not all do


def choose(is_thorough: bool) -> list[list[Object]]:
    return [
        case["at_rest"]
        for api, names in CHOSEN.items()
        for case in list_cases(FOLDERS[api])
        if case["namespace"] in (*names, *(MORE[api] if is_thorough else ()))
    ]


@pytest.fixture(scope="module")
def user(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[LeftTakeover]:
    """What all four left, and its user; each test gives it back as it was."""
    folder = tmp_path_factory.mktemp("left")
    is_thorough = bool(request.config.getoption("all_samples", default=False))
    workloads = [*choose(is_thorough), list_raw(), list_service_on_many_nodes()]
    with left_by(folder, ("lws", "ms", "rbg", "isvc"), workloads) as found:
        yield found


def test_a_check_and_a_shadow_tell_the_same_and_write_nothing(user: LeftTakeover, tmp_path: Path):
    with attempting(user, tmp_path) as tries:
        look_twice(tries)


def test_objects_of_all_four_are_taken_over_and_given_back(user: LeftTakeover):
    take_over_and_undo(user)


def test_commands_that_fail_at_their_writes_go_on_and_lose_nothing(
    user: LeftTakeover, tmp_path: Path, is_thorough: bool
):
    with attempting(user, tmp_path) as tries:
        fail_both_ways(tries, 1 if is_thorough else EVERY)
