"""Headers of answers: never more than a client takes, and never what a header cannot hold."""

import pytest
from robust_cluster import THINGS, Cluster, thing

from kohort.apiserver.server.answers import make_headers


async def warned(cluster: Cluster, body: object, path: str) -> tuple[int, list[str]]:
    url = f"http://127.0.0.1:{cluster.embedded.port}{path}"
    async with cluster.session.post(url, json=body) as response:
        await response.read()
        return response.status, response.headers.getall("Warning", [])


@pytest.mark.parametrize("count", [99, 5_000])
async def test_no_answer_has_more_headers_than_a_python_client_takes(cluster: Cluster, count):
    await cluster.define({"type": "object"})
    unknown = {f"a{n}": 1 for n in range(count)}
    code, warnings = await warned(cluster, thing("a", **unknown), THINGS)
    assert code == 201
    assert 0 < len(warnings) + len(make_headers("application/json")) + 2 < 100


async def test_long_warnings_are_cut_once_all_of_them_are_too_long(cluster: Cluster):
    await cluster.define({"type": "object"})
    unknown = {f"a{n}" + "x" * 400: 1 for n in range(100)}
    _, warnings = await warned(cluster, thing("a", **unknown), THINGS)
    texts = [warning.removeprefix('299 - "').removesuffix('"') for warning in warnings]
    assert len(texts) == 16
    assert all(len(text.replace('\\"', '"')) == 256 for text in texts)


@pytest.mark.parametrize("control", ["\r", "\n", "\x7f", "\x00", "\x9f"])
async def test_a_warning_that_no_header_can_hold_is_left_out(cluster: Cluster, control):
    await cluster.define({"type": "object"})
    body = thing("a", **{f"odd{control}field": 1, "plain": 1})
    code, warnings = await warned(cluster, body, THINGS)
    assert (code, warnings) == (201, ['299 - "unknown field \\"plain\\""'])
