"""Who owns what after updates: examples first, then what holds for any history."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patching_builders import deployment_shape

from kohort.apiserver.patches.comparison import list_paths
from kohort.apiserver.patches.fieldsets import LEAF, difference, list_members
from kohort.apiserver.patches.ownership import STATUS_FIELDS, Manager, track_update
from kohort.apiserver.schemas.builtin import load_shape

CONFIG_MAP = load_shape("v1", "ConfigMap")


def manager(name: str, time: str = "1", **rest: Any) -> Manager:
    return Manager(name, "v1", time, **rest)


def config_map(**data: str) -> dict[str, Any]:
    meta = {"name": "m", "namespace": "n", "uid": "u", "resourceVersion": "1", "generation": 1}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def created(**data: str) -> dict[str, Any]:
    obj = config_map(**data)
    track_update(obj, None, CONFIG_MAP, manager("creator"))
    return obj


def updated(old: dict[str, Any], who: Manager, **data: str) -> dict[str, Any]:
    new = {**old, "data": data}
    track_update(new, old, CONFIG_MAP, who)
    return new


def owners(obj: dict[str, Any]) -> dict[str, tuple[str, Any]]:
    entries = obj["metadata"].get("managedFields", [])
    return {e["manager"]: (e.get("time", ""), e["fieldsV1"]) for e in entries}


def test_a_create_owns_everything_but_what_the_server_keeps() -> None:
    assert created(a="1")["metadata"]["managedFields"] == [
        {
            "manager": "creator",
            "operation": "Update",
            "apiVersion": "v1",
            "time": "1",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {".": {}, "f:a": {}}},
        }
    ]


def test_an_update_takes_over_what_it_changes_and_nothing_else() -> None:
    obj = updated(created(a="1", b="2"), manager("editor", "2"), a="9", b="2", c="3")
    assert owners(obj) == {
        "creator": ("1", {"f:data": {".": {}, "f:b": {}}}),
        "editor": ("2", {"f:data": {"f:a": {}, "f:c": {}}}),
    }


def test_a_removed_field_has_no_owner() -> None:
    obj = updated(created(a="1", b="2"), manager("editor", "2"), a="1")
    assert owners(obj) == {"creator": ("1", {"f:data": {".": {}, "f:a": {}}})}


def test_the_time_moves_only_with_a_change() -> None:
    obj = created(a="1", b="2")
    assert updated(obj, manager("creator", "2"), a="1", b="2") == obj
    assert owners(updated(obj, manager("creator", "2"), a="1"))["creator"][0] == "1"
    assert owners(updated(obj, manager("creator", "2"), a="1", b="3"))["creator"][0] == "2"


def test_a_nameless_manager_is_unknown_and_a_timeless_entry_has_no_time() -> None:
    obj = updated(created(a="1"), manager("", ""), a="2")
    entry = next(e for e in obj["metadata"]["managedFields"] if e["manager"] == "unknown")
    assert "time" not in entry


def test_what_is_written_through_a_scale_has_no_time() -> None:
    shape = load_shape("apps/v1", "Deployment")
    old = {"metadata": {"name": "d"}, "spec": {"replicas": 1}}
    track_update(old, None, shape, manager("creator"))
    new = {**old, "spec": {"replicas": 2}}
    track_update(new, old, shape, manager("scaler", "2", subresource="scale"))
    assert owners(new) == {"scaler": ("", {"f:spec": {"f:replicas": {}}})}


def test_the_status_is_not_owned_by_writes_to_the_object() -> None:
    shape = load_shape("apps/v1", "Deployment")
    obj = {"metadata": {"name": "d"}, "spec": {"replicas": 1}, "status": {"replicas": 1}}
    track_update(obj, None, shape, manager("creator", ignored=STATUS_FIELDS))
    assert owners(obj)["creator"][1] == {"f:spec": {"f:replicas": {}}}


@pytest.mark.parametrize("reset", [[], [{}]])
def test_an_empty_list_resets_and_tracking_stays_off(reset: list[Any]) -> None:
    old = created(a="1")
    new = {**config_map(a="2"), "metadata": {**old["metadata"], "managedFields": reset}}
    track_update(new, old, CONFIG_MAP, manager("editor"))
    assert "managedFields" not in new["metadata"]
    assert "managedFields" not in updated(new, manager("editor"), a="3")["metadata"]


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        {"operation": "Bogus"},
        {"apiVersion": ""},
        {"fieldsType": "FieldsV2"},
        {"fieldsV1": {"data": {}}},
    ],
)
def test_entries_that_are_left_out_or_wrong_are_not_believed(wrong: Any) -> None:
    old = created(a="1")
    good = old["metadata"]["managedFields"][0]
    given = None if wrong is None else [{**good, "manager": "liar", **wrong}]
    new = {**old, "metadata": {**old["metadata"], "managedFields": given}}
    track_update(new, old, CONFIG_MAP, manager("editor"))
    assert list(owners(new)) == ["creator"]


def test_a_client_may_give_fields_to_another_manager_but_not_through_a_subresource() -> None:
    old = created(a="1")
    given = [{**old["metadata"]["managedFields"][0], "manager": "heir"}]
    for subresource, expected in (("", "heir"), ("status", "creator")):
        new = {**old, "metadata": {**old["metadata"], "managedFields": given}}
        track_update(new, old, CONFIG_MAP, manager("editor", subresource=subresource))
        assert list(owners(new)) == [expected]


def test_the_oldest_updates_are_folded_into_one() -> None:
    obj = created(k00="1")
    data = {"k00": "1"}
    for number in range(1, 13):
        data = {**data, f"k{number:02}": "1"}
        obj = updated(obj, manager(f"m{number:02}", "1"), **data)
    names = list(owners(obj))
    assert names == ["ancient-changes", *(f"m{n:02}" for n in range(4, 13))]
    fields = owners(obj)["ancient-changes"][1]
    assert fields == {"f:data": {".": {}, "f:k00": {}, "f:k01": {}, "f:k02": {}, "f:k03": {}}}


def test_entries_that_share_a_name_are_owned_as_one() -> None:
    shape = deployment_shape()
    twice = {"name": "A", "value": "1"}
    spec = {"template": {"spec": {"containers": [{"name": "c", "env": [twice, twice]}]}}}
    fields = list_paths(spec, shape.fields["spec"])["f:template"]["f:spec"]["f:containers"]
    assert fields['k:{"name":"c"}']["f:env"] == {".": LEAF, 'k:{"name":"A"}': LEAF}


WRITERS = st.sampled_from(["a", "b", "c"])
DATA = st.dictionaries(st.sampled_from("uvwxyz"), st.sampled_from("12"), min_size=1, max_size=4)
HISTORIES = st.lists(st.tuples(WRITERS, DATA), max_size=6)


@given(DATA, HISTORIES)
def test_a_field_has_one_updater_and_owned_fields_exist(first: Any, history: Any) -> None:
    obj = created(**first)
    for time, (writer, data) in enumerate(history, 2):
        before = copy.deepcopy(obj)
        new = updated(obj, manager(writer, str(time)), **data)
        assert obj == before
        obj = new
    present = list_paths({"data": obj["data"]}, CONFIG_MAP)
    for entry in obj["metadata"]["managedFields"]:
        assert difference(entry["fieldsV1"], present) == {}
    owned = [p for e in obj["metadata"]["managedFields"] for p in list_members(e["fieldsV1"])]
    assert len(owned) == len(set(owned))
    assert {p for p in owned if len(p) > 1} == {("f:data", f"f:{k}") for k in obj["data"]}
