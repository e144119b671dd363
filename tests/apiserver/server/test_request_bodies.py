"""Bodies become objects; what is wrong with them is said as a real server said it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.apiserver.api.requests import Target
from kohort.apiserver.resources.printers import Printer
from kohort.apiserver.resources.resource import Resource
from kohort.apiserver.schemas.shapes import ANY
from kohort.apiserver.schemas.structural import Structural
from kohort.apiserver.server.request.bodies import (
    load_yaml,
    read_delete_body,
    read_object,
    read_patch,
)
from kohort.apiserver.server.request.syntax_errors import explain_json
from kohort.cluster import kinds
from kohort.cluster.errors import BadRequest, ClusterError, Invalid, UnsupportedMediaType
from kohort.cluster.objects import Kind
from kohort.cluster.port import PatchType

CONFIG_MAPS = Target(Resource(kinds.CONFIG_MAP, ANY, Printer()))
POD_EVICTION = Target(Resource(kinds.POD, ANY, Printer()), "ns", "p", "eviction")
THING = Kind("face.dev", "v1", "Thing", "things")
THINGS = Target(Resource(THING, ANY, Printer(), structural=Structural({"type": "object"})))
JSON, YAML = "application/json", "application/yaml"
UNRECOGNIZED = "the object provided is unrecognized (must be of type ConfigMap): "
JSON_FAULT = "couldn't get version/kind; json parse error: "
STRUCT = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)
SCHEME = 'in scheme "pkg/runtime/scheme.go:111"'


def is_served(api_version: str, kind: str) -> bool:
    return (api_version, kind) in {("v1", "Pod"), ("apps/v1", "Deployment")}


def message_of(raw: str, media: str = JSON, target: Target = CONFIG_MAPS) -> str:
    with pytest.raises(ClusterError) as caught:
        read_object(raw.encode(), media, target, is_served)
    return caught.value.message


@pytest.mark.parametrize("raw", ["{}", "null", '{"kind":"ConfigMap"}', '{"apiVersion":"v1"}'])
def test_a_built_in_object_need_not_name_its_kind(raw: str):
    body = read_object(raw.encode(), JSON, CONFIG_MAPS, is_served)
    assert body.obj == {"apiVersion": "v1", "kind": "ConfigMap"}


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ("{bad", f"{JSON_FAULT}invalid character 'b' looking for beginning of object key string"),
        ("", f"{JSON_FAULT}unexpected end of JSON input"),
        ("[]", f"{JSON_FAULT}json: cannot unmarshal array into Go value of type {STRUCT}"),
        ('"x"', f"{JSON_FAULT}json: cannot unmarshal string into Go value of type {STRUCT}"),
        (
            '{"kind":3}',
            f"{JSON_FAULT}json: cannot unmarshal number into Go struct field .kind of type string",
        ),
    ],
)
def test_json_that_is_no_object_is_explained(raw: str, why: str):
    assert message_of(raw).startswith(UNRECOGNIZED + why)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("{bad", "({bad)"),
        ("", "(<empty>)"),
        ("[]", "(5b5d)"),
        ('{"apiVersion":"a/b/c","kind":"ConfigMap"}', '({"apiVersion":"a/b/c","kind":" ...)'),
    ],
)
def test_the_beginning_of_a_bad_body_is_shown(raw: str, shown: str):
    assert message_of(raw).endswith(shown)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ("a: b: c", "yaml: mapping values are not allowed in this context (613a20623a2063)"),
        (
            "a: 1\n\tb: 2",
            "yaml: line 2: found a tab character that violates indentation (613a20310a09623a2032)",
        ),
        ("a: [1", "yaml: line 1: did not find expected ',' or ']' (613a205b31)"),
    ],
)
def test_bad_yaml_is_explained_with_its_line(raw: str, why: str):
    assert message_of(raw, YAML) == UNRECOGNIZED + why


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (
            '{"kind":"Pod"}',
            'Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to '
            "(core.ConfigMap): unknown conversion",
        ),
        (
            '{"apiVersion":"apps/v1","kind":"Deployment"}',
            'Deployment in version "v1" cannot be handled as a ConfigMap: converting '
            "(v1.Deployment) to (core.ConfigMap): unknown conversion",
        ),
        (
            '{"apiVersion":"v2","kind":"ConfigMap"}',
            'ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is '
            f'registered for version "v2" {SCHEME}',
        ),
    ],
)
def test_an_object_of_another_kind_is_refused(raw: str, why: str):
    assert message_of(raw) == why


def test_a_subresource_has_a_kind_of_its_own():
    body = read_object(b"{}", JSON, POD_EVICTION, is_served)
    assert body.obj == {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {}}
    assert "(policy.Eviction)" in message_of('{"kind":"Pod","apiVersion":"v1"}', JSON, POD_EVICTION)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (
            "{}",
            "the object provided is unrecognized (must be of type Thing): Object 'Kind' is missing "
            "in '{}' ({})",
        ),
        (
            '{"kind":"Thing"}',
            "the API version in the data () does not match the expected API version (face.dev/v1)",
        ),
        (
            '{"apiVersion":"face.dev/v1","kind":"Other"}',
            'Other.face.dev "" is invalid: kind: Invalid value: "Other": must be Thing',
        ),
    ],
)
def test_a_custom_object_must_name_its_kind(raw: str, why: str):
    assert message_of(raw, JSON, THINGS) == why


def test_a_custom_object_of_another_kind_is_invalid():
    with pytest.raises(Invalid):
        read_object(b'{"apiVersion":"face.dev/v1","kind":"Other"}', JSON, THINGS, is_served)


@pytest.mark.parametrize("media", ["text/plain", "///"])
def test_other_media_types_are_refused(media: str):
    with pytest.raises(UnsupportedMediaType, match="unknown format"):
        read_object(b"{}", media, CONFIG_MAPS, is_served)


def test_a_media_type_may_be_missing_or_have_parameters():
    for media in ("", "application/json; charset=utf-8"):
        assert read_object(b"{}", media, CONFIG_MAPS, is_served).obj


def test_half_a_character_is_replaced():
    raw = b'{"data":{"a":"\\ud800"}}'
    assert read_object(raw, JSON, CONFIG_MAPS, is_served).obj["data"] == {"a": "\ufffd"}


def test_unknown_tags_in_yaml_are_ignored():
    assert load_yaml(b"a: !!foo b\nc: !x [1]\nd: !y {e: f}") == {
        "a": "b",
        "c": [1],
        "d": {"e": "f"},
    }


def test_an_apply_must_name_its_kind():
    for raw, shown in ((b"{}", "/, Kind="), (b"apiVersion: v1\nkind: Pod", "/v1, Kind=Pod")):
        with pytest.raises(BadRequest, match=f"invalid object type: {shown}"):
            read_patch(raw, PatchType.APPLY.value, CONFIG_MAPS)


def test_bytes_that_are_no_protobuf_are_refused():
    why = "expected prefix [107 56 115 0] (6b3873)"
    assert message_of("k8s", "application/vnd.kubernetes.protobuf").endswith(why)


def test_times_in_yaml_stay_texts_and_keys_become_texts():
    assert load_yaml(b"when: 2020-01-01\n2: a\ntrue: b\n") == {
        "when": "2020-01-01",
        "2": "a",
        "true": "b",
    }


@pytest.mark.parametrize(
    ("form", "raw", "why"),
    [
        (
            PatchType.MERGE,
            "{bad",
            "error decoding patch: invalid character 'b' looking for beginning of object key "
            "string",
        ),
        (
            PatchType.STRATEGIC,
            "{bad",
            "invalid character 'b' looking for beginning of object key string",
        ),
        (PatchType.MERGE, "", "error decoding patch: unexpected end of JSON input"),
        (
            PatchType.MERGE,
            "[]",
            "error decoding patch: json: cannot unmarshal array into Go value of type "
            "map[string]interface {}",
        ),
        (
            PatchType.JSON,
            "{}",
            "error decoding patch: json: cannot unmarshal object into Go value of type "
            "[]handlers.jsonPatchOp",
        ),
        (
            PatchType.APPLY,
            "{bad",
            "error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find "
            "expected ',' or '}'",
        ),
    ],
)
def test_a_patch_that_does_not_parse_is_explained(form: PatchType, raw: str, why: str):
    with pytest.raises(BadRequest) as caught:
        read_patch(raw.encode(), form.value, CONFIG_MAPS)
    assert caught.value.message == why


def test_custom_kinds_take_no_strategic_patches():
    with pytest.raises(UnsupportedMediaType, match="accepted media types include"):
        read_patch(b"{}", PatchType.STRATEGIC.value, THINGS)
    with pytest.raises(UnsupportedMediaType, match="415: Unsupported Media Type"):
        read_patch(b"{}", JSON, CONFIG_MAPS)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (
            "{bad",
            f"{JSON_FAULT}invalid character 'b' looking for beginning of object key string",
        ),
        (
            '{"kind":"Pod","apiVersion":"v1"}',
            f'no kind "Pod" is registered for version "v1" {SCHEME}',
        ),
    ],
)
def test_the_body_of_a_deletion_holds_its_options(raw: str, why: str):
    assert read_delete_body(b'{"kind":"DeleteOptions"}', JSON) == {"kind": "DeleteOptions"}
    with pytest.raises(BadRequest) as caught:
        read_delete_body(raw.encode(), JSON)
    assert caught.value.message == why


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ('{"a" 1}', "invalid character '1' after object key"),
        ('{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        ("[1 2]", "invalid character '2' after array element"),
        ("[1,]", "invalid character ']' looking for beginning of value"),
        ("tru", "unexpected end of JSON input"),
        ("trux", "invalid character 'x' in literal true (expecting 'e')"),
        ('"\\x"', "invalid character 'x' in string escape code"),
        ('"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"),
        ('"a\nb"', "invalid character '\\n' in string literal"),
        ("-x", "invalid character 'x' in numeric literal"),
        ("1.x", "invalid character 'x' after decimal point in numeric literal"),
        ("1ex", "invalid character 'x' in exponent of numeric literal"),
        ("01", "invalid character '1' after top-level value"),
        ("{} x", "invalid character 'x' after top-level value"),
    ],
)
def test_faults_of_json_are_named_as_go_names_them(raw: str, why: str):
    assert explain_json(raw.encode()) == why


@given(st.binary())
def test_every_body_gives_an_object_or_an_error_with_a_status(raw: bytes):
    for media in (JSON, YAML):
        try:
            assert isinstance(read_object(raw, media, CONFIG_MAPS, is_served).obj, dict)
        except ClusterError as error:
            assert error.code in (400, 422)
