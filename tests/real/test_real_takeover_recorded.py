"""
``kohort takeover check`` of recorded objects of other controllers, on a real control plane.

Nothing of what was at rest would change. A few recordings of each controller are tried; ``make
test-real ARGS=--all-samples`` tries all that had become ready.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from left_objects import brought, define

from control_plane import ControlPlane, real_plane

pytestmark = pytest.mark.real
SHARED = os.environ.get("KOHORT_SHARED", "")
CHOSEN = {"lws": ("llamacpp", "sglang"), "rbg": ("exclusive-topology",)}
PLANE = ("--nodes", "12", "--ready-ms", "200", "--gone-ms", "100")


def list_cases(name: str) -> list[dict[str, Any]]:
    """The recordings in which all became ready; one whose pods upstream never made has none."""
    path = Path(SHARED, "data", name, "recorded_takeover.json")
    found = json.loads(path.read_text()) if SHARED and path.exists() else []
    return [case for case in found if is_whole(case["at_rest"])]


def is_whole(objects: list[dict[str, Any]]) -> bool:
    conditions = (objects[0].get("status") or {}).get("conditions") or ()
    is_ready = any((c["type"], c["status"]) in READY for c in conditions)
    return is_ready and any(obj["kind"] == "Pod" for obj in objects)


READY = (("Available", "True"), ("Ready", "True"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        is_all = metafunc.config.getoption("all_samples", default=False)
        found = [
            pytest.param(api, case, id=f"{api}-{case['namespace']}-{Path(case['source']).stem}")
            for api, words in CHOSEN.items()
            for case in list_cases(api)
            if is_all or any(word in case["source"] for word in words)
        ]
        metafunc.parametrize(("api", "case"), found)


@pytest.fixture(scope="module")
def bare_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with definitions, and no controller of workloads."""
    with real_plane(tmp_path_factory.mktemp("left") / "plane", *PLANE) as found:
        define(found, "lws,rbg")
        yield found


def test_of_what_was_at_rest_nothing_would_change(
    bare_plane: ControlPlane, api: str, case: dict[str, Any]
):
    recorded = [o["metadata"]["name"] for o in case["at_rest"] if o["kind"] == "Pod"]
    with brought(bare_plane, case["at_rest"]) as left:
        before = left.uids()
        assert sorted(before) == sorted(recorded)
        where = ("--kubeconfig", str(bare_plane.kubeconfig), "-n", left.namespace, "--apis", api)
        command = [sys.executable, "-m", "kohort", "takeover", "check", *where]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "1 readable" in done.stdout
        assert left.uids() == before
