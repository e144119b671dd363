"""Objects that should exist are made, changed and deleted by one write each, and never again."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.apis.carriers.desired import DesiredObjects, find_changes, render_desired
from kohort.apis.facts import Whole
from kohort.cluster.actions import Create, Delete, Patch
from kohort.cluster.objects import Kind

CONFIG = Kind("", "v1", "ConfigMap", "configmaps")
OWNER = {"metadata": {"name": "x", "namespace": "ns", "uid": "owner"}}
REFERENCE = {"kind": "Owner", "name": "x", "uid": "owner", "controller": True}


def config(name: str, **data: str) -> dict:
    metadata = {"name": name, "namespace": "ns", "ownerReferences": [REFERENCE]}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def stored(obj: dict, **more) -> Whole:
    metadata = {**obj["metadata"], "uid": f"uid-{obj['metadata']['name']}", **more}
    return Whole(orjson.dumps({**obj, "metadata": metadata}))


def desired(*objects: dict, ignored: tuple[str, ...] = ()) -> DesiredObjects:
    return DesiredObjects(CONFIG, objects, "kohort", ignored)


def test_what_is_missing_is_made_and_what_is_there_costs_nothing():
    wanted = config("a", k="v")
    (made,) = render_desired(OWNER, desired(wanted), [])
    assert isinstance(made, Create) and made.obj == wanted
    assert not list(render_desired(OWNER, desired(wanted), [stored(wanted)]))


def test_what_differs_is_applied_to_that_very_object():
    (changed,) = render_desired(OWNER, desired(config("a", k="w")), [stored(config("a", k="v"))])
    assert isinstance(changed, Patch)
    assert changed.patch["metadata"]["uid"] == "uid-a"
    assert changed.why == "data.k differ"


def test_what_is_ours_and_wanted_no_more_is_deleted_by_its_uid():
    (gone,) = render_desired(OWNER, desired(), [stored(config("a"))])
    assert isinstance(gone, Delete) and gone.uid == "uid-a"


@pytest.mark.parametrize("more", [{"ownerReferences": []}, {"deletionTimestamp": "now"}])
def test_what_belongs_to_others_or_is_leaving_is_left_alone(more):
    held = [stored(config("a", k="v"), **more)]
    assert not list(render_desired(OWNER, desired(config("a", k="w")), held))
    assert not list(render_desired(OWNER, desired(), held))


def test_a_field_that_others_may_set_is_not_put_back():
    wanted, found = config("a", replicas="1"), config("a", replicas="7")
    assert find_changes(wanted, found, "kohort", ("data.replicas",)) == []


def test_a_field_that_we_applied_and_no_longer_want_is_a_change():
    owned: dict[str, Any] = {"f:data": {"f:old": {}, "f:k": {}}}
    entry = {"manager": "kohort", "operation": "Apply", "fieldsV1": owned}
    found = config("a", k="v", old="x")
    found["metadata"]["managedFields"] = [entry]
    assert find_changes(config("a", k="v"), found, "kohort") == ["data.old"]
    found["metadata"]["managedFields"] = [{**entry, "manager": "another"}]
    assert find_changes(config("a", k="v"), found, "kohort") == []


maps = st.dictionaries(st.sampled_from("abc"), st.sampled_from("xyz"))


@given(
    wanted=st.dictionaries(st.sampled_from("ab"), maps),
    held=st.dictionaries(st.sampled_from("ab"), maps),
)
def test_one_round_of_writes_is_enough(wanted, held):
    asked = [config(name, **data) for name, data in wanted.items()]
    world = {name: stored(config(name, **data)) for name, data in held.items()}
    for action in render_desired(OWNER, desired(*asked), world.values()):
        match action:
            case Create():
                world[action.obj["metadata"]["name"]] = stored(action.obj)
            case Patch():
                name = action.address.name
                merged = {**world[name].decode()["data"], **action.patch["data"]}
                world[name] = stored(config(name, **merged))
            case Delete():
                del world[action.name]
    assert not list(render_desired(OWNER, desired(*asked), world.values()))
