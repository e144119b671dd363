"""What ``kohort up`` says to the size of a network and to the names of schedulers."""

import json
import os
import re
from pathlib import Path

import pytest
import yaml

SHARED = Path(os.environ.get("KOHORT_SHARED", "/nonexistent"))
REQUIREMENT = SHARED / "requirements" / "004-network-topology.md"
EXAMPLES = Path(__file__).parents[2] / "examples"

REFUSED = [
    ("--racks 2 --spines 3", "3 spines cannot be filled with 2 racks: ask for more with --racks"),
    ("--racks 9", "9 racks cannot be filled with 8 nodes"),
    ("--spines 0", "argument --spines: must be a whole number from 1 to 20000, not '0'"),
    ("--gang vulcano", "--gang vulcano: unknown scheduler (did you mean 'volcano'?)"),
]


@pytest.mark.parametrize(("flags", "sentence"), REFUSED, ids=[flags for flags, _ in REFUSED])
def test_what_cannot_be_built_is_refused_before_anything_starts(run_kohort, flags, sentence):
    told = run_kohort("up", *flags.split())
    assert told.code == 2
    assert sentence in told.err


def test_a_gang_scheduler_comes_without_our_operator_too(cli):
    flags = ("--gang", "kueue", "--no-operator", "--nodes", "1", "-o", "json")
    with cli.foreground(*flags) as process:
        ready = json.loads(process.stdout.readline())
    assert (ready["gang"], ready["operator"]) == ("kueue", False)


def test_the_known_schedulers_are_named(run_kohort):
    told = run_kohort("up", "--gang", "slurm")
    for name in ("volcano", "kai", "koordinator", "coscheduling", "kubernetes", "kueue"):
        assert name in told.err


def test_schedulers_that_need_another_carrier_say_so(run_kohort):
    told = run_kohort("up", "--gang", "kueue")
    assert told.code == 2
    assert "--gang kueue needs pods that the operator makes itself: --carrier pods" in told.err


@pytest.mark.skipif(not REQUIREMENT.exists(), reason="KOHORT_SHARED has no requirements")
def test_the_examples_are_those_of_the_requirement():
    blocks = re.findall(r"^```yaml\n(.*?)^```", REQUIREMENT.read_text(), re.MULTILINE | re.DOTALL)
    names = ("lws-hard-topology", "lws-soft-topology")
    ours = [yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text()) for name in names]
    assert ours == [yaml.safe_load(block) for block in blocks]


def test_topology_is_about_one_workload(run_kohort):
    told = run_kohort("get", "--topology")
    assert (told.code, "name it as KIND/NAME" in told.err) == (2, True)
    told = run_kohort("get", "lws/a", "--topology", "-w")
    assert told.code == 2


def test_topology_of_a_cluster_that_does_not_run_says_how_to_start_it(run_kohort):
    told = run_kohort("sim", "topology")
    assert told.code == 1
    assert "start one with 'kohort up'" in told.err
