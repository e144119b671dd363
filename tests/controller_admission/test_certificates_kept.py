"""The keeper: one Secret for all replicas, trusted webhooks, and no write that is not needed."""

import asyncio
from base64 import b64decode, b64encode
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from certificate_world import (
    BRIEF,
    HOLDERS,
    MUTATING,
    NAMES,
    NOW,
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
from kohort.cluster.errors import KohortError, NotFound
from kohort.cluster.port import PatchType
from kohort.controller.certificates.bundles import BundleHolder, plan_bundle
from kohort.controller.certificates.files import FileKeeper
from kohort.controller.certificates.issue import renew_material
from kohort.controller.certificates.live import LiveContext
from kohort.controller.certificates.secrets import (
    ensure_namespace,
    ensure_secret,
    read_secret,
    write_secret,
)

EMPTY = {"metadata": {"name": "certs"}, "type": "Opaque"}


@asynccontextmanager
async def kept(keeper):
    task = asyncio.create_task(keeper.run())
    try:
        yield
    finally:
        task.cancel()
        ended = await asyncio.gather(task, return_exceptions=True)
        assert isinstance(ended[0], asyncio.CancelledError)


def revision(cluster):
    return cluster.api.store.revision


async def test_the_secret_is_made_with_its_namespace_and_webhooks_trust_it():
    cluster = make_cluster()
    await add_configurations(cluster)
    keeper, live = make_keeper(cluster, SetTime())
    async with kept(keeper):
        await keeper.is_settled.wait()
    secret = await cluster.read(SECRET)
    assert set(secret["data"]) == {"ca.crt", "ca.key", "tls.crt", "tls.key"}
    assert set(await read_bundles(cluster)) == {secret["data"]["ca.crt"]}
    assert live.is_armed


async def test_two_replicas_that_race_end_with_the_same_certificate():
    cluster = make_cluster()
    await ensure_namespace(cluster, "lab")
    made = await asyncio.gather(
        *(ensure_secret(cluster, SECRET, NAMES, NOW, BRIEF) for _ in range(8))
    )
    assert set(made) == {read_secret(await cluster.read(SECRET))}


async def test_replicas_that_race_to_renew_end_with_the_same_certificate():
    cluster = make_cluster()
    await ensure_secret(cluster, SECRET, NAMES, NOW, BRIEF)
    later = NOW + timedelta(days=9, hours=1)
    made = await asyncio.gather(
        *(ensure_secret(cluster, SECRET, NAMES, later, BRIEF) for _ in range(8))
    )
    assert set(made) == {read_secret(await cluster.read(SECRET))}


async def test_an_empty_secret_that_was_prepared_is_filled():
    cluster = make_cluster()
    await ensure_namespace(cluster, "lab")
    await cluster.create(SECRET.kind, "lab", EMPTY)
    made = await ensure_secret(cluster, SECRET, NAMES, NOW, BRIEF)
    assert read_secret(await cluster.read(SECRET)) == made


async def test_a_good_secret_and_trusted_webhooks_are_not_written():
    cluster = make_cluster()
    await add_configurations(cluster)
    first, _ = make_keeper(cluster, SetTime())
    async with kept(first):
        await first.is_settled.wait()
    before = revision(cluster)
    second, live = make_keeper(cluster, SetTime())
    async with kept(second):
        await second.is_settled.wait()
    assert live.is_armed
    assert revision(cluster) == before


async def test_one_who_may_not_write_shows_what_it_finds_and_writes_nothing():
    cluster = make_cluster()
    await ensure_namespace(cluster, "lab")
    await add_configurations(cluster)
    before = revision(cluster)
    keeper, live = make_keeper(cluster, SetTime(), may_write=lambda: False)
    async with kept(keeper):
        material = renew_material(None, NAMES, NOW, BRIEF)
        assert revision(cluster) == before
        await cluster.create(SECRET.kind, "lab", write_secret(EMPTY, material))
        await keeper.is_armed.wait()
    assert live.is_armed
    assert revision(cluster) == before + 1
    assert set(await read_bundles(cluster)) == {""}


async def test_a_follower_shows_a_new_authority_only_when_it_is_trusted():
    cluster, leader_time = make_cluster(), SetTime()
    await add_configurations(cluster)
    await ensure_secret(cluster, SECRET, NAMES, NOW, BRIEF)
    follower, _ = make_keeper(cluster, SetTime(), may_write=lambda: False)
    async with kept(follower):
        await follower.is_armed.wait()
        shown = follower.ca
        leader_time.wall += timedelta(days=9, hours=1)
        renewed = await ensure_secret(cluster, SECRET, NAMES, leader_time.wall, BRIEF)
        await asyncio.sleep(0)
        assert follower.ca == shown
        leader, _ = make_keeper(cluster, leader_time)
        follower._time.wall = leader_time.wall  # type: ignore[attr-defined]
        async with kept(leader):
            await leader.is_settled.wait()
            await until(lambda: follower.ca == renewed.ca)


async def test_a_configuration_that_is_applied_anew_is_trusted_again():
    cluster = make_cluster()
    await add_configurations(cluster)
    keeper, _ = make_keeper(cluster, SetTime())
    async with kept(keeper):
        await keeper.is_settled.wait()
        live = await cluster.read(MUTATING)
        for hook in live["webhooks"]:
            hook["clientConfig"].pop("caBundle")
        await cluster.update(MUTATING, live)
        version = revision(cluster)
        await until(lambda: revision(cluster) > version)
    assert "" not in await read_bundles(cluster)


class LateCluster(InProcessCluster):
    """Tells of no change to the validating configuration, and counts its patches."""

    patches = 0

    async def patch(self, address, *args, **options):
        self.patches += address == VALIDATING
        return await super().patch(address, *args, **options)

    async def watch(self, selection, version, *, initial=False):
        async for change in super().watch(selection, version, initial=initial):
            if selection.kind == VALIDATING.kind and self.patches:
                await asyncio.Event().wait()
            yield change


async def test_what_was_just_written_is_not_written_again_on_an_old_view():
    """Seen on a real API server: a change to one configuration comes before that to the next."""
    cluster = LateCluster(make_cluster().api)
    await add_configurations(cluster)
    keeper, _ = make_keeper(cluster, SetTime())
    async with kept(keeper):
        await keeper.is_settled.wait()
        for _ in range(3):
            live = await cluster.read(MUTATING)
            for hook in live["webhooks"]:
                hook["clientConfig"].pop("caBundle")
            version = int((await cluster.update(MUTATING, live))["metadata"]["resourceVersion"])
            await until(lambda version=version: revision(cluster) > version)
    assert cluster.patches == 1


@pytest.mark.parametrize("is_deleted", [True, False])
async def test_what_is_shown_stays_trusted_when_the_secret_is_lost(is_deleted: bool):
    cluster = make_cluster()
    await ensure_namespace(cluster, "lab")
    before = renew_material(None, NAMES, NOW, BRIEF)
    if not is_deleted:
        await cluster.create(SECRET.kind, "lab", EMPTY)
    made = await ensure_secret(cluster, SECRET, NAMES, NOW, BRIEF, before.ca)
    assert made.ca.endswith(before.ca)
    assert made.ca != before.ca


async def test_a_secret_that_is_deleted_comes_back():
    cluster = make_cluster()
    keeper, _ = make_keeper(cluster, SetTime())
    async with kept(keeper):
        await keeper.is_settled.wait()
        first = keeper.ca
        await cluster.delete(SECRET)
        await until(lambda: keeper.ca != first)
    assert read_secret(await cluster.read(SECRET)).ca == keeper.ca


def test_only_webhooks_that_differ_are_patched():
    trusted = b64encode(b"ca").decode()
    hooks = [
        {"name": "a", "clientConfig": {"caBundle": trusted}},
        {"name": "b", "clientConfig": {}},
    ]
    patch = plan_bundle({"metadata": {}, "webhooks": hooks}, "ca")
    assert [step["path"] for step in patch] == [
        "/webhooks/1/name",
        "/webhooks/1/clientConfig/caBundle",
    ]
    assert b64decode(patch[1]["value"]) == b"ca"


def test_what_cert_manager_injects_is_left_to_it():
    annotations = {"cert-manager.io/inject-ca-from": "lab/certs"}
    hooks = [{"name": "a", "clientConfig": {}}]
    assert plan_bundle({"metadata": {"annotations": annotations}, "webhooks": hooks}, "ca") == []


async def test_certificates_come_from_files_where_one_is_told_so(tmp_path):
    cluster, live = make_cluster(), LiveContext()
    await add_configurations(cluster)
    material = renew_material(None, NAMES, NOW, BRIEF)
    for name, text in (("tls.crt", material.certificate), ("tls.key", material.key)):
        (tmp_path / name).write_text(text)
    (tmp_path / "ca.crt").write_text(material.ca)
    keeper = FileKeeper(
        cluster, tmp_path, [*HOLDERS, BundleHolder(MUTATING.kind, "absent")], live, SetTime()
    )
    async with kept(keeper):
        await keeper.is_settled.wait()
        assert live.is_armed
        renewed = renew_material(None, NAMES, NOW, BRIEF)
        (tmp_path / "ca.crt").write_text(renewed.ca)
        keeper.wake()
        await keeper.is_settled.wait()
    assert {b64decode(bundle).decode() for bundle in await read_bundles(cluster)} == {renewed.ca}
    with pytest.raises(NotFound):
        await cluster.read(SECRET)


async def test_files_that_are_not_there_are_waited_for(tmp_path, caplog):
    live = LiveContext()
    keeper = FileKeeper(make_cluster(), tmp_path / "none", (), live, SetTime())
    async with kept(keeper):
        await until(lambda: "cannot read" in caplog.text)
    assert not live.is_armed


async def test_a_secret_that_another_client_keeps_writing_is_given_up_with_a_sentence():
    cluster = make_cluster()
    await ensure_namespace(cluster, "lab")
    await cluster.create(SECRET.kind, "lab", EMPTY)

    class Contested:
        async def read(self, address):
            found = await cluster.read(address)
            await cluster.patch(
                address, {"data": {"n": b64encode(str(revision(cluster)).encode()).decode()}}
            )
            return found

        update = cluster.update

    with pytest.raises(KohortError, match="another client keeps writing the Secret lab/certs"):
        await ensure_secret(Contested(), SECRET, NAMES, NOW, BRIEF)


async def test_webhooks_that_lead_elsewhere_do_not_keep_a_follower_from_a_new_certificate():
    cluster, time = make_cluster(), SetTime()
    await add_configurations(cluster)
    place = {"service": {"name": "other", "namespace": "lab"}, "caBundle": b64encode(b"x").decode()}
    patch = [
        {"op": "replace", "path": f"/webhooks/{i}/clientConfig", "value": place} for i in (0, 1)
    ]
    for address in (MUTATING, VALIDATING):
        await cluster.patch(address, patch, PatchType.JSON)
    await ensure_namespace(cluster, "lab")
    first = renew_material(None, NAMES, NOW, BRIEF)
    await cluster.create(SECRET.kind, "lab", write_secret(EMPTY, first))
    keeper, _ = make_keeper(cluster, time, may_write=lambda: False)
    async with kept(keeper):
        await keeper.is_settled.wait()
        renewed = renew_material(None, NAMES, NOW, BRIEF)
        await cluster.update(SECRET, write_secret(await cluster.read(SECRET), renewed))
        await until(lambda: keeper.ca == renewed.ca)
