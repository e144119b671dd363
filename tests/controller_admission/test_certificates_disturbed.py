"""Clients that write what is ours, and clocks that are set: webhooks stay trusted."""

import asyncio
from base64 import b64decode
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from certificate_world import (
    BRIEF,
    HOLDERS,
    MUTATING,
    NAMES,
    NOW,
    PLACES,
    SECRET,
    VALIDATING,
    SetTime,
    add_configurations,
    make_cluster,
    make_keeper,
    read_bundles,
    until,
)

from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster.errors import Forbidden
from kohort.controller.certificates import keeper as keeping
from kohort.controller.certificates.files import FileKeeper
from kohort.controller.certificates.issue import Material, renew_material
from kohort.controller.certificates.keeper import Keeper
from kohort.controller.certificates.live import LiveContext
from kohort.controller.certificates.secrets import read_secret, write_secret

# The new certificate is served after the test: API servers have not learned of it before.
SLOW = replace(BRIEF, learning=timedelta(hours=1))


@asynccontextmanager
async def kept(keeper):
    task = asyncio.create_task(keeper.run())
    try:
        async with asyncio.timeout(20):
            await keeper.is_settled.wait()
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def decode_bundles(cluster):
    return {b64decode(bundle).decode() for bundle in await read_bundles(cluster)}


async def take_bundles_away(cluster):
    live = await cluster.read(MUTATING)
    for hook in live["webhooks"]:
        hook["clientConfig"].pop("caBundle")
    await cluster.update(MUTATING, live)


async def put_secret(cluster, material):
    await cluster.update(SECRET, write_secret(await cluster.read(SECRET), material))


@pytest.mark.parametrize("part", ["ca", "all"])
async def test_the_served_certificate_stays_trusted_when_another_client_writes_the_secret(part):
    cluster = make_cluster()
    await add_configurations(cluster)
    keeper = Keeper(cluster, PLACES, LiveContext(), SetTime(), lifetimes=SLOW)
    async with kept(keeper):
        served = keeper.ca.strip()
        written = renew_material(None, NAMES, NOW, SLOW)
        if part == "ca":
            # The Secret can still be decoded, and the authority in it cannot be read.
            stored = read_secret(await cluster.read(SECRET))
            assert stored is not None
            written = replace(stored, ca="garbage")
        await put_secret(cluster, written)
        async with asyncio.timeout(20):
            while len(bundles := await decode_bundles(cluster)) != 1 or served in {
                bundle.strip() for bundle in bundles
            }:
                await asyncio.sleep(0.01)
        newest = read_secret(await cluster.read(SECRET)).ca
        assert all(bundle.startswith(newest.strip()) for bundle in bundles)
        assert all(served in bundle for bundle in bundles)


async def test_a_certificate_is_renewed_in_time_though_the_wall_clock_is_set_ahead(monkeypatch):
    monkeypatch.setattr(keeping, "CLOCK_SECONDS", 0.02, raising=False)
    cluster, time = make_cluster(), SetTime()
    keeper, _ = make_keeper(cluster, time)
    async with kept(keeper):
        before = read_secret(await cluster.read(SECRET)).certificate
        await asyncio.sleep(0.1)
        assert read_secret(await cluster.read(SECRET)).certificate == before
        time.wall += timedelta(days=3)
        async with asyncio.timeout(20):
            while read_secret(await cluster.read(SECRET)).certificate == before:
                await asyncio.sleep(0.01)


def make_file_keeper(cluster: InProcessCluster, folder: Path, material: Material) -> FileKeeper:
    """A keeper of certificates that lie in a folder."""
    texts = {"tls.crt": material.certificate, "tls.key": material.key, "ca.crt": material.ca}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return FileKeeper(cluster, folder, HOLDERS, LiveContext(), SetTime())


async def test_a_bundle_from_files_that_another_client_removed_is_written_again(tmp_path):
    cluster, material = make_cluster(), renew_material(None, NAMES, NOW, BRIEF)
    await add_configurations(cluster)
    async with kept(make_file_keeper(cluster, tmp_path, material)):
        assert await decode_bundles(cluster) == {material.ca}
        await take_bundles_away(cluster)
        async with asyncio.timeout(5):
            while await decode_bundles(cluster) != {material.ca}:
                await asyncio.sleep(0.01)


async def test_a_bundle_from_files_is_written_into_a_configuration_that_is_made_anew(tmp_path):
    cluster, material = make_cluster(), renew_material(None, NAMES, NOW, BRIEF)
    await add_configurations(cluster)
    async with kept(make_file_keeper(cluster, tmp_path, material)):
        for address in (holder.address for holder in HOLDERS):
            await cluster.delete(address)
        await add_configurations(cluster)
        async with asyncio.timeout(5):
            while await decode_bundles(cluster) != {material.ca}:
                await asyncio.sleep(0.01)


class Refusing(InProcessCluster):
    """Takes no patches of some objects."""

    refused = ()

    async def patch(self, address, *args, **options):
        if address in self.refused:
            raise Forbidden("not now")
        return await super().patch(address, *args, **options)


async def test_a_trouble_that_comes_back_is_logged_again(caplog):
    cluster = Refusing(make_cluster().api)
    await add_configurations(cluster)
    keeper, _ = make_keeper(cluster, SetTime())
    async with kept(keeper):
        for _ in range(2):
            caplog.clear()
            cluster.refused = (MUTATING, VALIDATING)
            await take_bundles_away(cluster)
            await until(lambda: "not now" in caplog.text)
            cluster.refused = ()
            async with asyncio.timeout(20):
                while "" in await decode_bundles(cluster):
                    await asyncio.sleep(0.01)


async def test_one_configuration_that_cannot_be_written_keeps_no_other_from_its_authority(caplog):
    cluster = Refusing(make_cluster().api)
    await add_configurations(cluster)
    cluster.refused = (MUTATING,)
    keeper, _ = make_keeper(cluster, SetTime())
    task = asyncio.create_task(keeper.run())
    async with asyncio.timeout(20):
        while (await read_bundles(cluster))[2:].count("") > 0:
            await asyncio.sleep(0.01)
    await until(lambda: "not now" in caplog.text)
    assert set((await read_bundles(cluster))[:2]) == {""}
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
