"""OpenAPI v2 as protobuf, byte for byte where the bytes can be written down by hand."""

from kohort.apiserver.schemas.openapi_v2 import write_protobuf, write_schema


def test_a_document_is_its_version_its_title_and_named_messages():
    document = {"swagger": "2.0", "info": {"title": "K", "version": "1"}, "definitions": {}}
    assert write_protobuf(document) == b"\x0a\x032.0" + b"\x12\x06\x0a\x01K\x12\x011" + b"\x4a\x00"


def test_a_definition_holds_its_type_and_its_properties():
    document = {"definitions": {"A": {"type": "object", "properties": {"n": {"format": "x"}}}}}
    inner = b"\x0a\x01n" + b"\x12\x03" + b"\x12\x01x"  # name, then a schema with a format
    properties = b"\xca\x01" + bytes([len(inner) + 2]) + b"\x0a" + bytes([len(inner)]) + inner
    schema = b"\xb2\x01\x08\x0a\x06object" + properties
    named = b"\x0a\x01A" + b"\x12" + bytes([len(schema)]) + schema
    body = b"\x0a" + bytes([len(named)]) + named
    assert write_protobuf(document) == b"\x4a" + bytes([len(body)]) + body


def test_a_vendor_key_becomes_a_named_value_in_yaml():
    document = {"definitions": {"A": {"x-kind": {"k": 1}}}}
    assert b"\x0a\x06x-kind\x12\x0a\x12\x08" + b'{"k":1}\n' in write_protobuf(document)


def test_a_field_that_keeps_unknown_fields_is_an_object_of_anything():
    schema = {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
        "properties": {"a": {"type": "string"}},
    }
    expected = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    assert write_schema(schema) == expected


def test_alternatives_inside_lists_and_maps_are_left_out():
    schema = {
        "type": "array",
        "items": {"type": "object", "additionalProperties": {"anyOf": [{"type": "string"}]}},
    }
    items = {"type": "object", "additionalProperties": {}}
    assert write_schema(schema) == {"type": "array", "items": items}
