"""``kohort sim run``: whose workloads are drawn, and how a run is named."""

import json

from command_lines import Cli


def test_a_seed_is_run_for_each_api_that_is_named(tmp_path):
    told = Cli(tmp_path)("sim", "run", "--seed", "3", "--apis", "lws,ms", "-o", "json")
    runs = [json.loads(line) for line in told.out.splitlines()]
    assert [run["name"] for run in runs] == ["seed 3", "seed 3 of ms"]
    assert [run["play"]["api"] for run in runs] == ["lws", "ms"]
    assert told.code == 0, told.out


def test_an_api_that_cannot_be_simulated_is_refused(tmp_path):
    told = Cli(tmp_path)("sim", "run", "--apis", "ms,zzz")
    assert told.code == 2
    assert "'zzz' cannot be simulated; there are: lws, ms" in told.err
