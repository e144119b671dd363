"""Objects in another version: by their API, or refused with a sentence."""

import pytest

from gadget_api import GADGETS, GROUP, define_gadgets, make_gadget
from kohort.apis.conversion import (
    ConversionError,
    ConverterMistake,
    collect_converters,
    convert_object,
)
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET

CONVERTERS = collect_converters([GADGETS, LEADER_WORKER_SET])


def convert(obj, version):
    return convert_object(CONVERTERS, obj, f"{GROUP}/{version}")


def test_only_kinds_with_several_versions_are_converted():
    assert list(CONVERTERS) == [(GROUP, "Gadget")]


def test_an_object_goes_there_and_back():
    stored = make_gadget(dimensions={"size": 3}, tint="red")
    old = convert(stored, "v1")
    assert old == make_gadget(version="v1", size=3, tint="red")
    assert convert(old, "v2") == stored


def test_an_object_in_the_requested_version_is_left_as_it_is():
    assert convert(make_gadget(tint="void"), "v2") == make_gadget(tint="void")


@pytest.mark.parametrize(
    ("obj", "wanted", "why"),
    [
        (make_gadget(tint="blue"), "v1", "Gadget g has no form in v1: spec.tint 'blue' is unknown"),
        (make_gadget(), "v9", r"Gadget has no version 'v9' \(known: v1, v2\)"),
        (make_gadget(version="v8"), "v1", "Gadget has no version 'v8'"),
        ({**make_gadget(), "kind": "Widget"}, "v1", "Kohort converts no such kind"),
        ({**make_gadget(), "apiVersion": "other.dev/v2"}, "v1", "Kohort converts no such kind"),
        ([], "v1", "what is to be converted is no object"),
        ({"metadata": "g"}, "v1", "what is to be converted is no object"),
    ],
)
def test_what_cannot_be_converted_is_refused_with_a_sentence(obj, wanted, why):
    with pytest.raises(ConversionError, match=why):
        convert(obj, wanted)


def test_an_exception_of_a_converter_is_reported_as_our_mistake():
    with pytest.raises(ConverterMistake, match=r"Gadget g .* a mistake of Kohort \(KeyError\)"):
        convert(make_gadget(tint="void"), "v1")


def test_an_object_that_is_nested_too_deep_is_refused():
    deep: dict = {}
    for _ in range(500):
        deep = {"a": deep}
    with pytest.raises(ConversionError, match="nested more than 200 levels deep"):
        convert(make_gadget(dimensions=deep), "v1")


def test_a_definition_stores_its_first_version_and_serves_all():
    versions = define_gadgets()["spec"]["versions"]
    assert [(v["name"], v["storage"], v["served"]) for v in versions] == [
        ("v2", True, True),
        ("v1", False, True),
    ]
    assert [v["subresources"]["scale"]["specReplicasPath"] for v in versions] == [
        ".spec.dimensions.size",
        ".spec.size",
    ]


def test_the_shape_of_an_object_is_that_of_the_version_which_is_read():
    assert (
        GADGETS.find_misfit(make_gadget(dimensions=3)) == "spec.dimensions must be a mapping, not 3"
    )
    assert GADGETS.find_misfit(make_gadget(size="x")) == ""
