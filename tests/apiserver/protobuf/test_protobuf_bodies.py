"""Bodies in protobuf are read as the same objects in JSON are."""

import gzip
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.apiserver.protobuf.decode import decode_body
from kohort.cluster.errors import BadRequest

VECTORS = [
    orjson.loads(line)
    for line in gzip.decompress(
        Path(__file__).with_name("vectors.jsonl.gz").read_bytes()
    ).splitlines()
]
FILLED, EMPTY = VECTORS[::2], VECTORS[1::2]


def wire(name: str) -> bytes:
    return next(bytes.fromhex(vector["wire"]) for vector in FILLED if vector["name"] == name)


def envelope(content: bytes, api_version: str = "v1", kind: str = "ConfigMap") -> bytes:
    named = chunk(1, api_version.encode()) + chunk(2, kind.encode())
    return b"k8s\0" + chunk(1, named) + chunk(2, content)


def chunk(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + varint(len(content)) + content


def varint(value: int) -> bytes:
    head = b""
    while value > 127:
        head += bytes([value & 127 | 128])
        value >>= 7
    return head + bytes([value])


def without_empties(value: Any) -> Any:
    """The value without what an empty Go object says: nulls, empty text, objects of nothing."""
    if not isinstance(value, dict):
        return value
    kept = {key: without_empties(item) for key, item in value.items()}
    return {key: item for key, item in kept.items() if item not in (None, {}, "", 0, False)}


@pytest.mark.parametrize("vector", FILLED, ids=lambda vector: vector["name"])
def test_an_object_with_every_field_is_read_as_its_json(vector: dict[str, Any]) -> None:
    assert decode_body(bytes.fromhex(vector["wire"])) == vector["json"]


@pytest.mark.parametrize("vector", EMPTY, ids=lambda vector: vector["name"])
def test_an_object_with_no_field_is_read_as_its_json(vector: dict[str, Any]) -> None:
    found = decode_body(bytes.fromhex(vector["wire"]))
    assert without_empties(found) == without_empties(vector["json"])


def test_a_number_that_json_never_omits_is_kept_at_zero() -> None:
    empty = next(vector for vector in EMPTY if vector["name"] == "apps/v1/StatefulSet")
    assert decode_body(bytes.fromhex(empty["wire"]))["status"]["replicas"] == 0


def test_structures_that_hold_nothing_are_left_out() -> None:
    empty = next(vector for vector in EMPTY if vector["name"] == "v1/Pod")
    assert decode_body(bytes.fromhex(empty["wire"])) == {"apiVersion": "v1", "kind": "Pod"}


def test_a_body_that_names_no_kind_is_read_as_the_one_expected() -> None:
    body = b"k8s\0" + chunk(2, chunk(2, chunk(1, b"a") + chunk(2, b"b")))
    assert decode_body(body, "v1", "ConfigMap")["data"] == {"a": "b"}


def test_delete_options_are_read_in_any_group() -> None:
    body = envelope(chunk(4, b"Orphan"), "apps/v1", "DeleteOptions")
    assert decode_body(body)["propagationPolicy"] == "Orphan"


def test_an_object_inside_an_object_is_read_too() -> None:
    inner = envelope(chunk(2, chunk(1, b"a") + chunk(2, b"b")))
    body = envelope(chunk(2, chunk(1, inner)), "apps/v1", "ControllerRevision")
    assert decode_body(body)["data"] == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "data": {"a": "b"},
    }


def test_numbers_that_come_packed_are_all_read() -> None:
    security = chunk(4, varint(7) + varint(300))
    body = envelope(chunk(2, bytes([14 << 3 | 2]) + varint(len(security)) + security), "v1", "Pod")
    assert decode_body(body)["spec"]["securityContext"]["supplementalGroups"] == [7, 300]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "empty data (<empty>)"),
        (b"abc", "expected prefix [107 56 115 0] (616263)"),
        (b"k8s\0", "empty body (6b387300)"),
        (envelope(b"")[:12], "unexpected EOF (6b3873000a0f0a0276311209)"),
        (envelope(b"") + chunk(3, b"gzip"), "the content encoding gzip is not supported"),
    ],
)
def test_a_body_that_is_no_envelope_is_unrecognized(body: bytes, why: str) -> None:
    with pytest.raises(BadRequest) as refused:
        decode_body(body, "v1", "ConfigMap")
    begin = "the object provided is unrecognized (must be of type ConfigMap): "
    assert refused.value.message.startswith(begin)
    assert why in refused.value.message


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\x0a\x7f", "unexpected EOF"),
        (b"\x08\x01", "proto: wrong wireType = 0 for field metadata"),
        (b"\xff" * 11, "proto: integer overflow"),
        (b"\x0b", "proto: illegal wireType 3"),
        (chunk(2, chunk(1, b"\xff")), "a text is not UTF-8"),
    ],
)
def test_bad_content_is_refused_with_the_reason(content: bytes, why: str) -> None:
    with pytest.raises(BadRequest) as refused:
        decode_body(envelope(content))
    message = f'ConfigMap in version "v1" cannot be handled as a ConfigMap: {why}'
    assert refused.value.message == message


def test_bad_json_inside_is_refused() -> None:
    body = envelope(chunk(2, chunk(1, b"{")), "apps/v1", "ControllerRevision")
    with pytest.raises(BadRequest, match="unexpected end of data"):
        decode_body(body)


def test_an_unknown_kind_is_refused() -> None:
    message = (
        'Nope in version "v1" cannot be handled as a ConfigMap: '
        'no kind "Nope" is registered for version "v1"'
    )
    with pytest.raises(BadRequest, match=message):
        decode_body(envelope(b"", "v1", "Nope"), "v1", "ConfigMap")


def test_a_body_of_too_many_nested_bodies_is_refused() -> None:
    body = envelope(b"")
    for _ in range(200):
        body = envelope(chunk(2, chunk(1, body)), "apps/v1", "ControllerRevision")
    with pytest.raises(BadRequest, match="nest deeper"):
        decode_body(body)


@given(st.sampled_from(FILLED), st.data())
def test_a_body_cut_short_is_refused_or_read_and_never_fails(
    vector: dict[str, Any], data: st.DataObject
) -> None:
    whole = bytes.fromhex(vector["wire"])
    # Cut behind its kind, a body is whole and empty.
    with suppress(BadRequest):
        assert decode_body(whole[: data.draw(st.integers(0, len(whole) - 5))]) != vector["json"]


@given(st.sampled_from(FILLED), st.data())
def test_a_body_with_a_changed_byte_never_fails(
    vector: dict[str, Any], data: st.DataObject
) -> None:
    body = bytearray.fromhex(vector["wire"])
    for _ in range(3):
        body[data.draw(st.integers(4, len(body) - 1))] = data.draw(st.integers(0, 255))
    try:
        assert isinstance(decode_body(bytes(body)), dict)
    except BadRequest as refused:
        assert refused.status()["code"] == 400


@given(st.binary())
def test_any_bytes_give_an_object_or_a_refusal(content: bytes) -> None:
    try:
        assert decode_body(envelope(content, "v1", "Pod"))["kind"] == "Pod"
    except BadRequest as refused:
        assert refused.status()["code"] == 400
