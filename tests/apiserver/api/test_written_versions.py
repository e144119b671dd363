"""What is stored is what would be written anew, whatever users call their labels."""

from api_builders import Bench

from kohort.apiserver.api.context import write
from kohort.cluster.kinds import CONFIG_MAP


async def test_an_update_changes_the_version_of_the_object_and_nothing_that_looks_like_it(
    bench: Bench,
):
    odd = {"resourceVersion": "1", "x": '"resourceVersion":"1"'}
    body = {"metadata": {"name": "m", "labels": {"resourceVersion": "1"}}, "data": odd}
    await bench.create(CONFIG_MAP, body)
    named = bench.api.target(CONFIG_MAP, "lab", "m")
    for step in ("a", "b"):
        await bench.merge(CONFIG_MAP, "m", {"metadata": {"annotations": {"resourceVersion": step}}})
        entry = bench.api.context.expect(named)
        assert entry.raw == write(named.resource, entry.decode())
        assert entry.decode()["metadata"]["resourceVersion"] == str(entry.rv)
        assert entry.decode()["data"] == odd
