"""
Managed fields and server-side apply against the recorded answers of a real control plane.

Each record is one request: the object before it, who sent what, and the answer.
What only the server adds afterwards (defaults, generations) is left out of the
comparison of objects; the managed fields and the errors must be the same.
"""

import copy
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest

from kohort.apiserver.patches.apply import Manager, apply_patch, track_update
from kohort.apiserver.patches.fieldsets import make_fields
from kohort.apiserver.schemas.builtin import load_shape
from kohort.apiserver.schemas.shapes import Shape
from kohort.apiserver.schemas.structural.shape import shape_of
from kohort.cluster.errors import ClusterError

NOW = "now"
STATUS = make_fields([("f:status",)])
IGNORED_IN_STATUS = {
    "Deployment": make_fields([("f:spec",), ("f:metadata", "f:labels")]),
    "Gadget": make_fields([("f:spec",), ("f:metadata",)]),
}
IGNORED_PATHS = {".metadata.generation"}
HAS_STATUS = {"Deployment", "Gadget", "Service"}


@cache
def recording() -> Any:
    return orjson.loads((Path(__file__).parent / "recorded_apply.json").read_bytes())


def records() -> list[Any]:
    """The records, each with the object that was there before it."""
    found = []
    last: dict[str, Any] = {}
    for record in recording()["records"]:
        scenario = record["scenario"]
        live = last[scenario] if record["live"] == "previous" else record["live"]
        found.append({**record, "live": live})
        if record["code"] < 400:
            last[scenario] = record["answer"]
    return found


RECORDS = records()


def titles(verbs: set[str]) -> list[Any]:
    chosen = [r for r in RECORDS if r["verb"] in verbs]
    return [pytest.param(r, id=f"{r['scenario']}: {r['title']}") for r in chosen]


@cache
def shape_for(kind: str) -> Shape:
    api_version, name = kind.split()
    if name == "Gadget":
        return shape_of(recording()["custom"], root=True)
    return load_shape(api_version, name)


def manager_of(record: Any) -> Manager:
    api_version, name = record["kind"].split()
    subresource = record.get("subresource", "")
    ignored = IGNORED_IN_STATUS[name] if subresource else STATUS if name in HAS_STATUS else {}
    return Manager(record["manager"], api_version, NOW, subresource, ignored)


def entries_of(obj: Any) -> list[Any]:
    entries: list[Any] = obj["metadata"].get("managedFields", [])
    # The controllers of the recorded cluster write when they please.
    return [e for e in entries if e["manager"] != "kube-controller-manager"]


def assert_same_owners(found: list[Any], expected: list[Any]) -> None:
    """Compare entries; a time of now may be any time, but not none."""
    by_name = {_name(e): e for e in expected}
    assert {_name(e) for e in found} == set(by_name)
    for entry in found:
        other = by_name[_name(entry)]
        assert entry["fieldsV1"] == other["fieldsV1"]
        assert ("time" in entry) == ("time" in other)
        assert entry.get("time") in {NOW, other.get("time")}
    timeless = [{**e, "time": ""} for e in found]
    assert [e["operation"] for e in timeless] == [e["operation"] for e in expected]


def _name(entry: Any) -> tuple[str, ...]:
    return tuple(entry.get(k, "") for k in ("manager", "operation", "apiVersion", "subresource"))


def find_missing(part: Any, whole: Any, path: str = "") -> list[str]:
    """The paths of what stands in one value and not, or otherwise, in another."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return [m for k, v in part.items() for m in find_missing(v, whole.get(k), f"{path}.{k}")]
    if isinstance(part, list) and isinstance(whole, list) and len(part) == len(whole):
        pairs = enumerate(zip(part, whole, strict=True))
        return [m for i, (a, b) in pairs for m in find_missing(a, b, f"{path}[{i}]")]
    return [] if part == whole or (not part and not whole) else [path]


def leaves_of(value: Any, path: str = "") -> dict[str, Any]:
    """The leaves of an object by path, with entries of lists under their names."""
    if isinstance(value, dict) and value:
        pairs = [(f"{path}.{key}", held) for key, held in value.items()]
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        pairs = [(f"{path}[{_entry_name(entry)}]", entry) for entry in value]
    else:
        return {path: value}
    return {p: leaf for step, held in pairs for p, leaf in leaves_of(held, step).items()}


def _entry_name(entry: Any) -> str:
    return str(next((entry[k] for k in ("name", "port", "uid", "type") if k in entry), entry))


def lost_leaves(live: Any, ours: Any, theirs: Any) -> set[str]:
    """What was there, stayed in the real answer, and went in ours."""
    had, kept, have = leaves_of(live or {}), leaves_of(theirs), leaves_of(ours)
    return {p for p in had if p in kept and kept[p] == had[p] and p not in have} - IGNORED_PATHS


def bare(obj: Any, *, with_status: bool) -> Any:
    metadata = {
        k: v for k, v in obj["metadata"].items() if k not in {"managedFields", "generation"}
    }
    rest = {k: v for k, v in obj.items() if k != "status" or with_status}
    return {**rest, "metadata": metadata}


@pytest.mark.parametrize("record", titles({"create", "patch"}))
def test_updates_leave_the_same_owners(record: Any) -> None:
    new = copy.deepcopy(record["answer"])
    given = new["metadata"].pop("managedFields", None)
    if given is None and record["live"] and record["title"] == "reset":
        new["metadata"]["managedFields"] = [{}]
    before = copy.deepcopy(record["live"])
    track_update(new, record["live"], shape_for(record["kind"]), manager_of(record))
    assert_same_owners(entries_of(new), entries_of(record["answer"]))
    assert record["live"] == before


@pytest.mark.parametrize("record", titles({"apply"}))
def test_applies_give_the_same_answer(record: Any) -> None:
    before = copy.deepcopy((record["live"], record["body"]))
    arguments = (record["live"], record["body"], shape_for(record["kind"]), manager_of(record))
    if record["code"] >= 400:
        with pytest.raises(ClusterError) as caught:
            apply_patch(*arguments, force=record.get("force", False))
        status = {k: caught.value.status().get(k) for k in ("message", "reason", "details", "code")}
        assert status == record["answer"]
    else:
        result = apply_patch(*arguments, force=record.get("force", False))
        answer = record["answer"]
        assert_same_owners(entries_of(result), entries_of(answer))
        is_status = "subresource" in record
        ours, theirs = bare(result, with_status=is_status), bare(answer, with_status=is_status)
        assert find_missing(ours, theirs) == []
        assert lost_leaves(record["live"], ours, theirs) == set()
    assert (record["live"], record["body"]) == before


@pytest.mark.parametrize("record", titles({"apply"}))
def test_an_apply_repeated_changes_nothing(record: Any) -> None:
    if record["code"] >= 400:
        return
    shape, manager = shape_for(record["kind"]), manager_of(record)
    force = record.get("force", False)
    once = apply_patch(record["live"], record["body"], shape, manager, force=force)
    assert apply_patch(once, record["body"], shape, manager, force=force) is once
