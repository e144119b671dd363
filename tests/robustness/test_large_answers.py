"""Large answers are written in threads: a client that requests one delays no other."""

import asyncio

import yaml
from robust_cluster import CONFIG_MAPS, Cluster, config_map

COUNT = 600


async def fill(cluster: Cluster) -> None:
    for number in range(COUNT):
        made = config_map(f"cm-{number:03}", data={"text": f"value: {number}\n- x" * 5})
        assert (await cluster.ask("POST", CONFIG_MAPS, made))[0] == 201


async def fetch(cluster: Cluster, **headers: str) -> bytes:
    url = f"http://127.0.0.1:{cluster.embedded.port}{CONFIG_MAPS}"
    async with cluster.session.get(url, headers=headers) as response:
        assert response.status == 200
        return await response.read()


async def count_turns(cluster: Cluster, **headers: str) -> tuple[int, bytes]:
    """How often others had their turn while an answer was made, and the answer."""
    turns = 0
    asking = asyncio.create_task(fetch(cluster, **headers))
    while not asking.done():
        turns += 1
        await asyncio.sleep(0.001)
    return turns, asking.result()


async def test_a_long_list_in_yaml_delays_no_other_request(cluster: Cluster):
    await fill(cluster)
    plain, _ = await count_turns(cluster)
    turns, raw = await count_turns(cluster, Accept="application/yaml")
    assert turns > plain + 3, "the answer was made in one piece"
    items = yaml.load(raw, Loader=yaml.CSafeLoader)["items"]
    made = {item["metadata"]["name"]: item for item in items}
    assert made["cm-599"]["data"]["text"] == "value: 599\n- x" * 5
    assert len(made) >= COUNT


async def test_yaml_in_pieces_is_the_same_document(cluster: Cluster):
    await fill(cluster)
    _, raw = await count_turns(cluster, Accept="application/yaml")
    whole = yaml.load(raw, Loader=yaml.CSafeLoader)
    text = yaml.dump(whole, Dumper=yaml.CSafeDumper, allow_unicode=True, width=1_000_000)
    assert raw.decode() == text
