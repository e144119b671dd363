"""Server-side apply: what holds for any configuration, whichever manager applied before."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patching_builders import (
    INTEGER,
    STRING,
    a_list,
    a_map,
    a_set,
    an_object,
    keyed,
    metadata_shape,
)

from kohort.apiserver.patches.apply import Manager, apply_patch, track_update
from kohort.apiserver.patches.fieldsets import intersection
from kohort.cluster.errors import Conflict

ITEM = an_object(name=STRING, value=INTEGER, tags=a_set())
SPEC = an_object(
    count=INTEGER,
    other=INTEGER,
    words=a_list(),
    tags=a_set(),
    labels=a_map(),
    whole=a_map(atomic=True),
    items=keyed(ITEM, "name"),
    inner=an_object(deep=an_object(count=INTEGER), labels=a_map()),
)
SHAPE = an_object(apiVersion=STRING, kind=STRING, metadata=metadata_shape(), spec=SPEC)


def who(name: str, time: str = "1") -> Manager:
    return Manager(name, "v1", time)


def wrap(spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": spec}


def apply(live: Any, spec: Any, name: str, *, force: bool = False) -> dict[str, Any]:
    return apply_patch(live, wrap(spec), SHAPE, who(name), force=force)


def bare(obj: dict[str, Any]) -> dict[str, Any]:
    metadata = {k: v for k, v in obj["metadata"].items() if k != "managedFields"}
    return {**obj, "metadata": metadata}


def specs(letters: str) -> st.SearchStrategy[dict[str, Any]]:
    """Specs whose entries are named with these letters; containers are never empty.

    A real server turns a field that is emptied, but that a manager still owns, into null.
    """
    names = st.sampled_from(letters)
    number = st.integers(1, 2)
    texts = st.dictionaries(names, st.sampled_from("12"), min_size=1, max_size=2)
    tags = st.lists(names, unique=True, min_size=1, max_size=2)
    item = st.fixed_dictionaries({"name": names}, optional={"value": number, "tags": tags})
    items = st.lists(item, unique_by=lambda i: str(i["name"]), min_size=1, max_size=3)
    deep = st.fixed_dictionaries({"count": number})
    inner = st.fixed_dictionaries({"labels": texts}, optional={"deep": deep})
    return st.fixed_dictionaries(
        {"other": st.just(1)},
        optional={
            "tags": tags,
            "labels": texts,
            "items": items,
            "inner": inner,
            "count": number,
            "words": st.lists(names, max_size=2),
            "whole": texts,
        },
    )


ANY_SPEC = specs("abc")


def holds(part: Any, whole: Any) -> bool:
    """Whether everything in one value is in another."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(holds(v, whole.get(k)) for k, v in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return all(any(holds(entry, other) for other in whole) for entry in part)
    return bool(part == whole)


def test_a_conflict_names_who_is_in_the_way() -> None:
    live = apply(None, {"count": 1, "labels": {"a": "1"}}, "first")
    with pytest.raises(Conflict) as caught:
        apply(live, {"count": 2}, "second")
    assert caught.value.message == (
        'Apply failed with 1 conflict: conflict with "first": .spec.count'
    )
    assert caught.value.details == {
        "causes": [
            {
                "reason": "FieldManagerConflict",
                "message": 'conflict with "first"',
                "field": ".spec.count",
            }
        ]
    }


@given(ANY_SPEC)
def test_a_first_apply_makes_what_it_says(spec: dict[str, Any]) -> None:
    assert bare(apply(None, spec, "one")) == wrap(spec)


@given(ANY_SPEC, ANY_SPEC, ANY_SPEC)
def test_an_apply_repeated_returns_the_object_itself(first: Any, second: Any, third: Any) -> None:
    live = apply(apply(None, first, "one"), second, "two", force=True)
    before = copy.deepcopy(live)
    once = apply(live, third, "one", force=True)
    assert apply(once, third, "one", force=True) is once
    assert live == before


@given(ANY_SPEC, ANY_SPEC)
def test_what_was_applied_by_force_is_there(first: Any, second: Any) -> None:
    result = apply(apply(None, first, "one"), second, "two", force=True)
    assert holds(second, result["spec"])


@given(specs("abc"), specs("xyz"))
def test_what_a_manager_leaves_goes_and_nothing_else(theirs: Any, mine: Any) -> None:
    mine = {k: v for k, v in mine.items() if k not in {"count", "words", "whole", "other"}}
    mine.get("inner", {}).pop("deep", None)
    live = wrap(theirs)
    track_update(live, None, SHAPE, who("updater"))
    assert bare(apply(apply(live, mine, "me"), {}, "me")) == bare(live)


@given(ANY_SPEC)
def test_two_who_want_the_same_share_it(spec: dict[str, Any]) -> None:
    shared = apply(apply(None, spec, "one"), spec, "two")
    assert bare(shared) == wrap(spec)
    assert bare(apply(shared, {}, "one")) == wrap(spec)


@given(ANY_SPEC, ANY_SPEC)
def test_force_takes_exactly_what_is_refused_without_it(first: Any, second: Any) -> None:
    live = apply(None, first, "one")
    forced = apply(live, second, "two", force=True)
    fields = {e["manager"]: e["fieldsV1"] for e in forced["metadata"]["managedFields"]}
    mine = {e["manager"]: e["fieldsV1"] for e in live["metadata"].get("managedFields", [])}
    try:
        assert apply(live, second, "two") == forced
        assert fields.get("one") == mine.get("one")
    except Conflict:
        lost = intersection(mine["one"], fields["two"])
        assert lost and fields.get("one") != mine["one"]
