"""The HTTP client against our own server: real sockets, real TLS."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from kohort.cluster.errors import Conflict, NotFound, Unavailable
from kohort.cluster.http import HttpCluster, connect
from kohort.cluster.objects import Kind, uid_of
from kohort.cluster.port import Address, Selection

CONFIGMAP = Kind("", "v1", "ConfigMap", "configmaps")
LABELS = {"of": "us"}


@pytest.fixture
async def cluster(kohort_cluster) -> AsyncIterator[HttpCluster]:
    async with connect(kohort_cluster.kubeconfig) as cluster:
        yield cluster


async def test_an_object_is_made_changed_and_deleted(cluster: HttpCluster, kohort_namespace: str):
    made = await cluster.create(CONFIGMAP, kohort_namespace, {"metadata": {"name": "a"}})
    here = Address(CONFIGMAP, kohort_namespace, "a")
    patched = await cluster.patch(here, {"data": {"k": "v"}})
    assert (await cluster.read(here))["data"] == {"k": "v"}
    with pytest.raises(Conflict):
        await cluster.update(here, made)
    with pytest.raises(Conflict):
        await cluster.delete(here, uid="another")
    await cluster.delete(here, uid=uid_of(patched))
    with pytest.raises(NotFound, match='configmaps "a" not found'):
        await cluster.read(here)


async def test_a_list_has_all_pages(cluster: HttpCluster, kohort_namespace: str):
    names = [f"c-{number:04}" for number in range(600)]
    await asyncio.gather(
        *(
            cluster.create(CONFIGMAP, kohort_namespace, {"metadata": {"name": n, "labels": LABELS}})
            for n in names
        )
    )
    listing = await cluster.list(Selection(CONFIGMAP, kohort_namespace, labels="of=us"))
    assert len(listing.items) == 600
    assert int(listing.version) > 0


async def test_a_streaming_list_ends_with_a_bookmark(cluster: HttpCluster, kohort_namespace: str):
    made = {"metadata": {"name": "a", "labels": LABELS}}
    await cluster.create(CONFIGMAP, kohort_namespace, made)
    ours = Selection(CONFIGMAP, kohort_namespace, labels="of=us")
    types = []
    async for change in cluster.watch(ours, "", initial=True):
        types.append(change.type)
        if change.type == "BOOKMARK":
            assert b"k8s.io/initial-events-end" in change.raw
            break
    assert types == ["ADDED", "BOOKMARK"]


async def test_a_large_object_comes_through_a_watch(cluster: HttpCluster, kohort_namespace: str):
    listing = await cluster.list(Selection(CONFIGMAP, kohort_namespace))
    big = {"metadata": {"name": "big"}, "data": {"k": "v" * 900_000}}
    await cluster.create(CONFIGMAP, kohort_namespace, big)
    async for change in cluster.watch(Selection(CONFIGMAP, kohort_namespace), listing.version):
        if len(change.raw) > 900_000:
            assert change.type == "ADDED"
            break


def rewrite(kubeconfig: Path, target: Path, **changes: object) -> Path:
    content = yaml.safe_load(kubeconfig.read_text())
    cluster = content["clusters"][0]["cluster"]
    cluster.update(changes)
    target.write_text(yaml.safe_dump(content))
    return target


async def test_a_certificate_for_another_name_is_refused(kohort_cluster, tmp_path: Path):
    odd = {"tls-server-name": "somewhere.else"}
    async with connect(rewrite(kohort_cluster.kubeconfig, tmp_path / "c", **odd)) as cluster:
        with pytest.raises(Unavailable, match="certificate verify failed"):
            await cluster.list(Selection(CONFIGMAP, "default"))


async def test_who_does_not_verify_gets_in(kohort_cluster, tmp_path: Path):
    lax = {"certificate-authority-data": None, "insecure-skip-tls-verify": True}
    async with connect(rewrite(kohort_cluster.kubeconfig, tmp_path / "c", **lax)) as cluster:
        assert (await cluster.list(Selection(CONFIGMAP, "default"))).version
