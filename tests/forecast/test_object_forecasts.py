"""What an apply in thought does to an object: it merges, removes and replaces as a server does."""

from kohort.cluster.actions import Patch
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Address, PatchType
from kohort.forecast.objects import _change

SERVICE = Kind("", "v1", "Service", "services")
ADDRESS = Address(SERVICE, "default", "x")


def make_service(owned: Object, **spec: Object) -> Object:
    entry = {"manager": "ours", "operation": "Apply", "fieldsV1": owned}
    metadata = {"name": "x", "uid": "u", "generation": 2, "managedFields": [entry]}
    return {"metadata": metadata, "spec": spec}


def apply(found: Object, spec: Object) -> Object:
    body = {"metadata": {"name": "x", "uid": "u"}, "spec": spec}
    return _change(found, Patch(ADDRESS, body, PatchType.APPLY, "ours", force=True))


def test_fields_of_others_stay():
    found = make_service({"f:spec": {"f:a": {}}}, a=1, theirs=2)
    assert apply(found, {"a": 3})["spec"] == {"a": 3, "theirs": 2}


def test_a_field_that_the_manager_no_longer_asks_for_goes():
    found = make_service({"f:spec": {"f:a": {}, "f:b": {}}}, a=1, b=2)
    assert apply(found, {"a": 1})["spec"] == {"a": 1}


def test_a_map_that_the_server_keeps_whole_is_replaced():
    found = make_service({"f:spec": {"f:selector": {}}}, selector={"app": "old", "role": "a"})
    once = apply(found, {"selector": {"app": "new"}})
    assert once["spec"] == {"selector": {"app": "new"}}
    assert apply(once, {"selector": {"app": "next"}})["spec"] == {"selector": {"app": "next"}}


def test_identity_stays_and_the_generation_rises_with_the_spec():
    found = make_service({"f:spec": {"f:a": {}}}, a=1)
    metadata = apply(found, {"a": 2})["metadata"]
    assert (metadata["uid"], metadata["generation"]) == ("u", 3)
    assert apply(found, {"a": 1})["metadata"]["generation"] == 2


def test_no_manager_owns_what_identifies_an_object():
    """Else the next plan would see fields that the manager no longer asks for, without end."""
    body = {"metadata": {"name": "x", "uid": "u", "resourceVersion": "7", "labels": {"a": "b"}}}
    patch = Patch(ADDRESS, {"apiVersion": "v1", "kind": "Service", **body}, PatchType.APPLY, "ours")
    (entry,) = _change(make_service({"f:metadata": {"f:name": {}}}), patch)["metadata"][
        "managedFields"
    ]
    assert entry["fieldsV1"] == {"f:metadata": {"f:labels": {"f:a": {}}}}
