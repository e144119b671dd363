"""Objects are written byte for byte as Go writes them."""

import orjson
import pytest

from kohort.apiserver.schemas.builtin import find_go_fields, load_shape
from kohort.apiserver.schemas.go_json import (
    write_builtin,
    write_custom,
    write_metadata,
    write_raw,
)
from kohort.apiserver.schemas.raw import RawObject, compact, forget_texts, indent_text, keep_texts
from kohort.cluster.objects import encode_json, escape

REVISION = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "r"}}


def test_what_a_web_page_reads_is_escaped():
    text = encode_json({"<k>": "a && b \u2028\u2029 é"})
    assert text == '{"\\u003ck\\u003e":"a \\u0026\\u0026 b \\u2028\\u2029 é"}'.encode()
    assert escape(text) == text


def test_other_texts_that_begin_like_a_separator_stay():
    assert encode_json("\u2026\u201c") == '"\u2026\u201c"'.encode()


# What ``json.Marshal`` of Go prints for each, as a number of double precision.
@pytest.mark.parametrize(
    ("number", "spelled"),
    [
        (1.0, "1"),
        (1e3, "1000"),
        (-1.0, "-1"),
        (-0.0, "0"),
        (1.5, "1.5"),
        (1e16, "10000000000000000"),
        (1e20, "100000000000000000000"),
        (1.2345e20, "123450000000000000000"),
        (float(2**63), "9223372036854776000"),
        (1e21, "1e+21"),
        (12345678901234567890123.0, "1.2345678901234568e+22"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (0.00001, "0.00001"),
        (1.5e-6, "0.0000015"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e-9, "1.5e-9"),
        (1e-10, "1e-10"),
        (5e-324, "5e-324"),
    ],
)
def test_numbers_of_custom_objects_are_spelled_as_go_spells_them(number, spelled):
    assert write_custom({"n": number}) == f'{{"n":{spelled}}}'.encode()


def test_custom_objects_are_written_in_the_order_of_names():
    obj = {"kind": "K", "spec": {"b": {"d": 1, "c": [{"z": "<", "y": None}]}}, "apiVersion": "g/v1"}
    assert write_custom(obj) == (
        b'{"apiVersion":"g/v1","kind":"K","spec":{"b":{"c":[{"y":null,"z":"\\u003c"}],"d":1}}}'
    )


def test_built_in_objects_are_written_in_the_order_of_declaration():
    pod = {
        "spec": {"containers": [{"image": "i", "name": "c"}], "nodeSelector": {"b": "1", "a": "2"}},
        "metadata": {"uid": "u", "labels": {"b": "", "a": ""}, "name": "p"},
        "apiVersion": "v1",
        "kind": "Pod",
    }
    assert write_builtin(pod) == (
        b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","uid":"u","labels":{"a":"","b":""}}'
        b',"spec":{"containers":[{"name":"c","image":"i"}],"nodeSelector":{"a":"2","b":"1"}}}'
    )


def test_schemas_in_schemas_are_written_in_order_too():
    schema = {"properties": {"a": {"type": "array", "items": {"type": "string", "format": "f"}}}}
    extra = {"additionalProperties": {"type": "string", "description": "d"}, "type": "object"}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {"versions": [{"schema": {"openAPIV3Schema": {**schema, **extra}}}]},
    }
    assert write_builtin(definition).endswith(
        b'{"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"array","items":'
        b'{"type":"string","format":"f"}}},"additionalProperties":{"description":"d",'
        b'"type":"string"}}}}]}}'
    )


def test_the_order_of_declaration_is_known_for_every_field():
    pod = load_shape("v1", "Pod")
    assert list(find_go_fields(pod.name)) == ["kind", "apiVersion", "metadata", "spec", "status"]
    assert list(find_go_fields("io.k8s.api.core.v1.Container"))[:4] == [
        "name",
        "image",
        "command",
        "args",
    ]


def test_an_object_that_does_not_fit_its_type_is_written_with_its_kind_first():
    odd = {"status": {"conditions": "none"}, "kind": "Pod", "apiVersion": "v1"}
    assert write_builtin(odd).startswith(b'{"kind":"Pod","apiVersion":"v1",')
    assert orjson.loads(write_builtin(odd)) == odd


def test_metadata_is_written_in_the_order_of_its_type():
    assert write_metadata(b'{"labels":{"b":"","a":""},"name":"n"}') == (
        b'{"name":"n","labels":{"a":"","b":""}}'
    )


def test_raw_data_stays_the_text_that_it_was():
    text = b'{"data": {"z" : 1e3,"a":12345678901234567890123, "m":1.0,"s":"x\\u0026y & \\u0041"}}'
    obj = {**REVISION, **keep_texts(orjson.loads(text), text, ("data",))}
    assert write_builtin(obj).endswith(
        b',"data":{"z":1e3,"a":12345678901234567890123,"m":1.0,"s":"x\\u0026y \\u0026 \\u0041"}}'
    )


def test_raw_data_that_was_changed_is_spelled_anew():
    data = RawObject({"z": 1000.0, "a": 1}, b'{"z":1e3,"a":1}')
    assert write_raw(data) == b'{"z":1e3,"a":1}'
    data["b"] = 2
    assert write_raw(data) == b'{"a":1,"b":2,"z":1000}'


def test_raw_data_that_was_read_is_spelled_anew():
    obj = {"data": RawObject({"z": 1000.0}, b'{"z":1e3}')}
    assert write_raw(forget_texts(obj, ("data",))["data"]) == b'{"z":1000}'


def test_blanks_go_only_between_tokens():
    assert compact(b' { "a b" : [ 1 ,\n2 ] , "c\\" d" : " " } ') == b'{"a b":[1,2],"c\\" d":" "}'


def test_lines_for_people_keep_every_token():
    assert indent_text(b'{"a":[1e3,{"b":"{,}"}],"c":{},"d":[]}') == (
        b'{\n  "a": [\n    1e3,\n    {\n      "b": "{,}"\n    }\n  ],\n  "c": {},\n  "d": []\n}'
    )
