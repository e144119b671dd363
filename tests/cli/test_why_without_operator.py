"""
``kohort why`` while no operator runs, for all four APIs, with and without its lease in the cluster.

Since when is told to the second: the clock of the cluster stands but for steps.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from command_lines import Told
from deserted_cluster import HOMES, RENEWED, deserted_cluster
from told_parts import Expected, check_parts
from why_situations import SHORT

pytestmark = pytest.mark.slow
RunKohort = Callable[..., Told]
LOOK = "kubectl get pods,lease/{lease} -n {namespace}"
UNSEEN = "OperatorSilent: the operator has not seen generation 2, only 1: "
SILENT = Expected("blocked", "OperatorSilent", UNSEEN, "", "", "05:00", "kohort controller")
CALM = Expected("ready", "", "nothing: all ", "", "", "00:0", "")
WITHOUT_LEASE = {
    "edited": replace(SILENT, waits=f"{UNSEEN}does it run?"),
    "scaled": replace(SILENT, waits=f"{UNSEEN}does it run?"),
    "new": replace(
        SILENT,
        reason="NotPlanned",
        waits="NotPlanned: nothing has been made for it yet: no operator seems to run",
    ),
    "calm": CALM,
}
LAST = "its lease {namespace}/{lease} was renewed last at " + RENEWED
WITH_LEASE = {
    "edited": replace(SILENT, waits=f"{UNSEEN}{LAST}", command=LOOK),
    "scaled": replace(SILENT, waits=f"{UNSEEN}{LAST}", command=LOOK),
    "new": replace(
        SILENT,
        waits=f"there is something to do, and the operator does not do it: {LAST}",
        command=LOOK,
    ),
    "calm": CALM,
}


@pytest.fixture(scope="module", params=["without a lease", "with a lease"])
def deserted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, dict[str, Expected]]]:
    """The kubeconfig of a cluster without its operator, and what must be said of it."""
    has_lease = request.param == "with a lease"
    folder = tmp_path_factory.mktemp("deserted")
    with deserted_cluster(folder, has_lease=has_lease) as kubeconfig:
        yield kubeconfig, WITH_LEASE if has_lease else WITHOUT_LEASE


@pytest.mark.parametrize("kind", SHORT)
@pytest.mark.parametrize("situation", WITH_LEASE)
def test_the_four_parts_are_right_while_no_operator_runs(
    run_kohort: RunKohort,
    deserted: tuple[Path, dict[str, Expected]],
    situation: str,
    kind: str,
):
    kubeconfig, expected = deserted
    name = f"{kind}-{situation}"
    told = run_kohort("why", f"{kind}/{name}", "--kubeconfig", str(kubeconfig), "-o", "json")
    check_parts(told, kind, name, place(expected[situation], kind))


def place(wanted: Expected, kind: str) -> Expected:
    """What is expected, with the lease of the operator of that API."""
    names = {"lease": HOMES[kind].lease, "namespace": HOMES[kind].namespace}
    return replace(
        wanted, waits=wanted.waits.format(**names), command=wanted.command.format(**names)
    )


def test_a_list_over_all_kinds_names_the_lease_of_each(
    run_kohort: RunKohort, deserted: tuple[Path, dict[str, Expected]]
):
    kubeconfig, expected = deserted
    told = run_kohort("get", "--blocked", "--kubeconfig", str(kubeconfig), "-o", "json")
    rows = {row["name"]: row["health"] for row in json.loads(told.out)}
    assert sorted(rows) == sorted(
        f"{kind}-{situation}" for kind in SHORT for situation in ("edited", "scaled", "new")
    )
    for name, health in rows.items():
        kind, _, situation = name.partition("-")
        said = f"{health['reason']}: {health['message']}"
        assert place(expected[situation], kind).waits in said
