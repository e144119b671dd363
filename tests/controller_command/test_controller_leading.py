"""Operators beside each other: one leads and writes, the others wait and write nothing."""

import asyncio
import socket

import pytest
from process_world import HELD, WritingCluster, make_api, read_holder, running, until

from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster.errors import KohortError
from kohort.cluster.kinds import DEFINITION as DEFINITION_KIND
from kohort.cluster.kinds import SECRET
from kohort.cluster.port import Address
from kohort.controller.certificates.secrets import ensure_namespace
from kohort.controller.install.names import MUTATING_KIND
from kohort.controller.process.process import LeaseLost

DEFINITION = Address(DEFINITION_KIND, "", "leaderworkersets.leaderworkerset.x-k8s.io")
WEBHOOKS = Address(MUTATING_KIND, "", "lws-mutating-webhook-configuration")


async def hold_lease(cluster, holder):
    await ensure_namespace(cluster, "lws-system")
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 3600}
    body = {"metadata": {"name": HELD.name}, "spec": spec}
    await cluster.create(HELD.kind, HELD.namespace, body)


async def test_one_command_brings_a_bare_cluster_all_that_is_needed():
    api = make_api()
    async with running(api, "a") as one:
        await until(lambda: one.is_working, one.task)
        assert await one.read("/readyz") == (200, "ok")
        assert await one.read("/healthz") == (200, "ok")
        hooks = (await one.cluster.read(WEBHOOKS))["webhooks"]
        secret = await one.cluster.read(Address(SECRET, "lws-system", "lws-webhook-server-cert"))
    assert {h["clientConfig"]["caBundle"] for h in hooks} == {secret["data"]["ca.crt"]}
    assert await InProcessCluster(api).read(DEFINITION)


async def test_of_two_that_start_at_once_one_leads_and_the_other_writes_nothing_but_is_ready():
    api = make_api()
    async with running(api, "a") as one, running(api, "b") as two:
        await until(lambda: one.is_working or two.is_working, one.task, two.task)
        leader, follower = (one, two) if one.is_working else (two, one)
        await until(lambda: follower.process.admission.is_serving, follower.task)
        assert await follower.read("/readyz") == (200, "ok")
        assert follower.operator is None
        assert set(follower.cluster.written) <= {"leases", "namespaces"}
        assert "leases" in leader.cluster.written


async def test_a_leader_that_stops_gives_the_lease_to_the_next():
    api = make_api()
    async with running(api, "a") as one:
        await until(lambda: one.is_working, one.task)
        async with running(api, "b") as two:
            await one.end()
            await until(lambda: two.is_working, two.task)
            assert await read_holder(api) == "b"
        assert await read_holder(api) == ""


async def test_while_another_holds_the_lease_nothing_is_written():
    api = make_api()
    cluster = InProcessCluster(api)
    await hold_lease(cluster, "upstream")
    before = api.store.revision
    async with running(api, "a") as one:
        await until(lambda: one.process.leaderships[0].election.holder == "upstream", one.task)
        assert (await one.read("/readyz"))[0] == 500
    assert one.cluster.written == []
    assert api.store.revision == before


async def test_one_that_loses_its_lease_ends_with_an_error():
    api = make_api()
    async with running(api, "a") as one:
        await until(lambda: one.is_working, one.task)
        cluster = InProcessCluster(api)
        while await read_holder(api) != "thief":
            patch = {"spec": {"holderIdentity": "thief", "leaseDurationSeconds": 3600}}
            await cluster.patch(HELD, patch)
        with pytest.raises(LeaseLost, match=r"b8b2488c\.x-k8s\.io is lost"):
            await asyncio.wait_for(one.task, 20)
    assert await read_holder(api) == "thief"


class GarbledLease(WritingCluster):
    """A cluster whose answer to one renewal turns into something that is no lease."""

    is_garbled = False

    async def update(self, address, obj):
        answer = await super().update(address, obj)
        if self.is_garbled and address == HELD:
            self.is_garbled = False
            raise TypeError("this is no lease")
        return answer


async def test_an_unexpected_failure_of_the_election_ends_the_process():
    """It was swallowed as if the lease were lost, while writes still went out."""
    api = make_api()
    async with running(api, "a", cluster=GarbledLease) as one:
        await until(lambda: one.is_working, one.task)
        one.cluster.is_garbled = True
        with pytest.raises(TypeError, match="this is no lease"):
            await asyncio.wait_for(one.task, 20)


async def test_without_an_election_there_is_no_lease():
    api = make_api()
    async with running(api, "a", elects=False) as one:
        await until(lambda: one.is_working, one.task)
    assert "leases" not in one.cluster.written


async def test_without_an_install_the_cluster_is_not_given_anything(caplog):
    caplog.set_level("INFO")
    api = make_api()
    async with running(api, "a", install=False) as one:
        await until(lambda: "is not watched until it is defined" in caplog.text, one.task)
        status, text = await one.read("/readyz")
        assert (status, "leaderworkersets" in text) == (500, True)
        assert "cannot watch" not in caplog.text
    assert set(one.cluster.written) == {"leases", "namespaces", "secrets"}


async def test_a_stop_before_anything_has_begun_is_a_stop():
    async with running(make_api(), "a") as one:
        await one.end()
    assert one.operator is None


async def test_an_address_that_is_taken_is_told():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        async with running(make_api(), "a", health_address=address) as one:
            with pytest.raises(KohortError, match=f"cannot listen on {address}"):
                await one.task


async def test_a_webhook_port_that_is_taken_is_told():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with running(make_api(), "a", webhook_port=port) as one:
            with pytest.raises(KohortError, match=f"cannot listen on 127.0.0.1:{port}"):
                await asyncio.wait_for(one.task, 20)


async def test_metrics_are_shown_beside_health_where_they_share_an_address():
    async with running(make_api(), "a", metrics_address="127.0.0.1:0") as one:
        await until(lambda: one.is_working, one.task)
        status, text = await one.read("/metrics")
    assert status == 200
    assert "leader_election_master_status 1" in text
    assert "kohort_build_info" in text
    assert 'kohort_writes_total{verb="create",result="Done"}' in text


async def test_an_unknown_page_is_not_found():
    async with running(make_api(), "a") as one:
        await until(lambda: one.process.pages.ports, one.task)
        assert (await one.read("/metrics"))[0] == 404
