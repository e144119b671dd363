"""Bodies nested deeper than any stack: refused before they are parsed, in every form."""

import pytest
from robust_cluster import (
    CONFIG_MAPS,
    FREE,
    THINGS,
    Cluster,
    config_map,
    thing,
)

from kohort.apiserver.schemas.limits import DEPTH_MAX, is_too_deep

JSON, YAML = "application/json", "application/yaml"
DEPTHS = (400, 1_100, 30_000, 50_000)


def nest(depth: int) -> str:
    return "[" * depth + "]" * depth


def maps(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("text", [nest, maps, lambda depth: "[" * depth], ids="[{]")
@pytest.mark.parametrize("media", [JSON, YAML])
async def test_a_body_nested_too_deep_is_a_bad_request(cluster: Cluster, media, text, depth):
    code, answer = await cluster.ask("POST", CONFIG_MAPS, text(depth).encode(), media=media)
    assert (code, "exceeded max depth" in answer["message"]) == (400, True)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("form", ["merge", "json", "strategic", "apply"])
async def test_a_patch_nested_too_deep_is_a_bad_request(cluster: Cluster, form, depth):
    await cluster.ask("POST", CONFIG_MAPS, config_map("a"))
    text = f'{{"data":{maps(depth)}}}' if form != "json" else f'[{{"value":{maps(depth)}}}]'
    code, answer = await cluster.patch(f"{CONFIG_MAPS}/a", text.encode(), form)
    assert (code, "exceeded max depth" in answer["message"]) == (400, True)


async def test_yaml_of_thirty_thousand_lines_each_inside_the_last_is_a_bad_request(cluster):
    text = "\n".join(" " * depth + "a:" for depth in range(400)) + nest(30_000)
    code, _ = await cluster.ask("POST", CONFIG_MAPS, text.encode(), media=YAML)
    assert code == 400


@pytest.mark.parametrize("form", ["merge", "json", "apply"])
async def test_an_object_as_deep_as_may_be_is_stored_whole(cluster: Cluster, form):
    await cluster.define(FREE)
    depth = DEPTH_MAX - 3
    value: object = "end"
    for _ in range(depth - 1):
        value = {"a": value}
    assert (await cluster.ask("POST", THINGS, thing("a", spec=value)))[0] == 201
    body = {"spec": {"b": value["a"]}}  # type: ignore[index]
    if form == "apply":
        body = thing("a", **body)
    patch = [{"op": "copy", "from": "/spec/a", "path": "/spec/b"}] if form == "json" else body
    code, answer = await cluster.patch(f"{THINGS}/a", patch, form)
    assert code == 200, answer["message"]
    assert answer["spec"]["b"] == answer["spec"]["a"]
    assert (await cluster.ask("DELETE", f"{THINGS}/a"))[0] == 200


def test_brackets_in_texts_are_no_depth():
    quoted = b'{"a":"' + b"[{" * 500 + b'\\"[[[","b":[]}'
    assert not is_too_deep(quoted)
    assert not is_too_deep(b"[" + b"[]," * 1_000 + b"1]")
    assert is_too_deep(b'{"a":"\\\\",' * 201)
