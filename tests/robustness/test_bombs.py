"""Small requests that ask for a great deal of work or memory: bounded before it is done."""

import asyncio

import pytest
from robust_cluster import CONFIG_MAPS, FREE, THINGS, Cluster, config_map, thing

YAML = "application/yaml"
TOO_LARGE = "etcdserver: request is too large"


async def test_copies_of_copies_are_refused_before_they_fill_the_memory(cluster: Cluster):
    await cluster.define(FREE)
    await cluster.ask("POST", THINGS, thing("a", spec={"a": "x" * 1_000}))
    copies = [{"op": "copy", "from": "/spec", "path": f"/spec/a{n}"} for n in range(25)]
    code, answer = await cluster.patch(f"{THINGS}/a", copies, "json")
    assert (code, answer["reason"]) == (422, "Invalid")
    assert "rejected our request due to an error in our request" in answer["message"]


async def test_a_value_copied_into_itself_until_it_is_too_deep_is_refused(cluster: Cluster):
    await cluster.define(FREE)
    await cluster.ask("POST", THINGS, thing("a", spec={"a": {}}))
    copies = [{"op": "copy", "from": "/spec/a", "path": "/spec/a/" + "a/" * n} for n in range(300)]
    code, _ = await cluster.patch(f"{THINGS}/a", copies, "json")
    assert code == 422


def aliases(lines: int) -> bytes:
    rows = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    for line in range(1, lines):
        again = ",".join([f"*a{line - 1}"] * 10)
        rows.append(f"a{line}: &a{line} [{again}]")
    return "\n".join(rows).encode()


@pytest.mark.parametrize("lines", [5, 9, 40])
async def test_yaml_that_consists_of_aliases_is_refused(cluster: Cluster, lines):
    code, answer = await cluster.ask("POST", CONFIG_MAPS, aliases(lines), media=YAML)
    assert code == 400
    assert "yaml: document contains excessive aliasing" in answer["message"]


async def test_yaml_with_a_few_aliases_is_read(cluster: Cluster):
    text = b"metadata: {name: a}\ndata: &d {x: 'y'}\nbinaryData: {}\nimmutable: false"
    text += b"\n<<: {data: {z: w, <<: *d}}\n"
    code, answer = await cluster.ask("POST", CONFIG_MAPS, text, media=YAML)
    assert (code, answer["data"]) == (201, {"z": "w", "x": "y"})


async def test_defaults_that_would_fill_the_memory_are_refused(cluster: Cluster):
    item = {"type": "object", "properties": {"a": {"type": "string", "default": "x" * 2_000}}}
    items = {"type": "array", "items": item}
    await cluster.define({"type": "object", "properties": {"spec": items}})
    code, answer = await cluster.ask("POST", THINGS, thing("a", spec=[{}] * 100_000))
    assert (code, answer["message"]) == (500, TOO_LARGE)


async def test_an_object_over_the_limit_of_the_database_is_not_stored(cluster: Cluster):
    await cluster.define(FREE)
    parts = {f"a{n}": "x" * 100_000 for n in range(14)}
    assert (await cluster.ask("POST", THINGS, thing("a", spec=parts)))[0] == 201
    before = cluster.embedded.api.store.revision
    code, answer = await cluster.patch(f"{THINGS}/a", {"spec": {"b": "x" * 200_000}})
    assert (code, answer["message"]) == (500, TOO_LARGE)
    code, answer = await cluster.ask("POST", THINGS, thing("b", spec={"b": "x" * 1_600_000}))
    assert (code, answer["message"]) == (500, TOO_LARGE)
    assert cluster.embedded.api.store.revision == before
    assert (await cluster.ask("GET", f"{THINGS}/b"))[0] == 404


BROKEN = b"[" + b"[]," * 400_000 + b"x]"
MANY_VALUES = b"metadata: {name: a}\nunknown:\n" + b"- 1\n" * 200_000


@pytest.mark.parametrize(
    ("body", "media"), [(BROKEN, "application/json"), (MANY_VALUES, YAML)], ids=["json", "yaml"]
)
async def test_a_large_body_delays_no_other_request(cluster: Cluster, body, media):
    await cluster.ask("POST", CONFIG_MAPS, config_map("small"))
    answered: list[str] = []

    async def large() -> None:
        await cluster.ask("POST", CONFIG_MAPS, body, media=media)
        answered.append("large")

    async def small() -> None:
        for _ in range(20):
            await cluster.ask("GET", f"{CONFIG_MAPS}/small")
        answered.append("small")

    await asyncio.gather(large(), small())
    assert answered == ["small", "large"]
