"""A journal is fetched from a running operator, and planned again without it."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_lines import Told
from workload_hand import Hand, create_all, set_image

from kohort.apis.served import APIS
from kohort.testing import check_journal

pytestmark = pytest.mark.slow
RunKohort = Callable[..., Told]
KINDS = {api.short_name: api.kind for api in APIS}
SECRET = "hunter2-is-not-to-be-told"


def record(kohort: RunKohort, cluster: Path, name: str, file: Path) -> Told:
    hand = Hand(cluster, name)
    secret = {"name": "engine", "image": "engine:1", "env": [{"name": "KEY", "value": SECRET}]}
    hand.create(spec={"containers": [secret]})
    assert kohort("rollout", "status", f"lws/{name}", "--timeout", "60s").code == 0
    hand.edit(set_image("engine:2"))
    assert kohort("rollout", "status", f"lws/{name}", "--timeout", "60s").code == 0
    return kohort("record", f"lws/{name}", "-o", str(file))


def test_a_rollout_is_recorded_and_decided_the_same_again(
    kohort: RunKohort, cluster: Path, tmp_path: Path
):
    file = tmp_path / "incident.jsonl"
    told = record(kohort, cluster, "taped", file)
    assert (told.code, told.out) == (0, "")
    assert f"see them with 'kohort replay {file}'" in told.err
    assert check_journal(file) == []
    replayed = kohort("replay", str(file))
    assert replayed.code == 0
    assert "LeaderWorkerSet default/taped   groups 2/2 ready" in replayed.out
    assert "did      create StatefulSet taped-0: group taped-0 has no workers" in replayed.out
    steps = json.loads(kohort("replay", str(file), "-o", "json").out)
    assert {step["name"] for step in steps} == {"default/taped"}
    allowed = "allow up to 2 groups, and the new revision from group 1"
    assert any(allowed in step["decisions"] for step in steps)


def test_a_journal_has_no_value_of_an_environment_variable(
    kohort: RunKohort, cluster: Path, tmp_path: Path
):
    record(kohort, cluster, "secretive", tmp_path / "x.jsonl")
    everything = kohort("record", "-A").out
    assert "secretive" in everything
    assert SECRET not in everything


def test_a_decision_of_another_version_is_named(kohort: RunKohort, cluster: Path, tmp_path: Path):
    file = tmp_path / "old.jsonl"
    record(kohort, cluster, "older", file)
    header, *lines = file.read_text().splitlines()
    entry = json.loads(lines[-1])
    entry["decisions"] = [{"verb": "take down", "ordinals": [1], "about": "stale"}]
    file.write_text("\n".join([header, *lines[:-1], json.dumps(entry)]) + "\n")
    told = kohort("replay", str(file))
    assert told.code == 4
    assert "- not now  take down group 1 (stale)" in told.out
    assert "this version decides otherwise in 1" in told.err
    assert len(check_journal(file)) == 1


def test_a_file_that_is_no_journal_is_refused_with_the_line(run_kohort: RunKohort, tmp_path: Path):
    file = tmp_path / "x"
    file.write_text("kind: Pod\n")
    assert "this file is no journal" in run_kohort("replay", str(file)).err
    file.write_text('{"format":"kohort-journal/1"}\n{"kind":"X"}\n')
    told = run_kohort("replay", str(file))
    assert told.code == 1
    assert f"{file}: line 2 cannot be read: it is no entry of a journal" in told.err
    file.write_text('{"format":"kohort-journal/9"}\n')
    assert "has the format 'kohort-journal/9'" in run_kohort("replay", str(file)).err
    assert "cannot read" in run_kohort("replay", str(tmp_path / "nothing")).err


JOURNAL = """\
{"format":"kohort-journal/1","version":"1"}
{"kind":"LeaderWorkerSet","at":1.5,"workload":WORKLOAD,"observed":{}}
{"kind":"LeaderWorkerSet","at":2.5,"workload":WORKLOAD,"observed":{}}
{"kind":"LeaderWorkerSet","at":3.5,"workload":WORKLOAD,"observed":{}}
"""
WORKLOAD = {
    **{"namespace": "default", "name": "stepped", "uid": "u", "generation": 1, "groups": 0},
    **{"roles": [], "revision": "new", "rollout": {"max_unavailable": 1, "wanted": 0}},
}


@pytest.mark.parametrize(("keys", "seen"), [("", 1), ("q\n", 1), ("\nq\n", 2), ("\n\n", 3)])
def test_a_replay_by_steps_waits_for_a_key_after_each(
    run_kohort: RunKohort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: str, seen: int
):
    file = tmp_path / "incident.jsonl"
    file.write_text(JOURNAL.replace("WORKLOAD", json.dumps(WORKLOAD)))
    monkeypatch.setattr("sys.stdin", io.StringIO(keys))
    told = run_kohort("replay", str(file), "--step")
    assert told.code == 0, told.err
    heads = [line for line in told.out.splitlines() if "LeaderWorkerSet default/stepped" in line]
    assert [line.split()[0] for line in heads] == ["1", "2", "3"][:seen]
    assert told.err.count("enter: next step, q: end") == min(seen, 2)
    assert ("3 steps" in told.err) is (seen == 3)


@pytest.mark.parametrize("kind", ["ms", "rbg", "isvc"])
def test_workloads_of_every_api_are_recorded_and_decided_the_same_again(
    kohort: RunKohort, cluster: Path, tmp_path: Path, kind: str
):
    create_all(cluster, kohort("new", kind, "--example", "--name", f"taped-{kind}").out)
    hand = Hand(cluster, f"taped-{kind}", KINDS[kind])
    hand.wait_for_condition("Available" if kind == "ms" else "Ready")
    file = tmp_path / "incident.jsonl"
    assert kohort("record", f"{kind}/taped-{kind}", "-o", str(file)).code == 0
    assert check_journal(file) == []
    steps = json.loads(kohort("replay", str(file), "-o", "json").out)
    assert {(step["kind"], step["name"]) for step in steps} == {
        (KINDS[kind].name, f"default/taped-{kind}")
    }
    assert any(step["actions"] for step in steps)


def test_a_workload_without_entries_is_named(kohort: RunKohort, cluster: Path, tmp_path: Path):
    told = kohort("record", "lws/nobody", "-o", str(tmp_path / "x"))
    assert told.code == 1
    assert "the operator's journal has nothing about lws/nobody" in told.err
    assert not (tmp_path / "x").exists()
    record(kohort, cluster, "nearby", tmp_path / "near")
    told = kohort("record", "lws/neraby", "-o", str(tmp_path / "x"))
    assert "nothing about lws/neraby (did you mean 'nearby'?)" in told.err


def test_an_operator_elsewhere_has_to_be_reached(run_kohort: RunKohort, unused_port: int):
    told = run_kohort("record", "lws/x", "--address", f"http://127.0.0.1:{unused_port}")
    assert told.code == 1
    assert "cannot read the journal at http://127.0.0.1" in told.err
