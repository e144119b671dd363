"""Several APIs in one process: each has a lease where its upstream keeps it, and waits alone."""

import asyncio
from typing import Any

import pytest
from process_world import HELD, WritingCluster, make_api, read_holder, running, until

from gadget_api import GADGET, GADGETS, HOME, define_gadgets
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.modelserving.api import MODEL_SERVING
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster.errors import Forbidden, NotFound
from kohort.cluster.kinds import DEFINITION as DEFINITION_KIND
from kohort.cluster.kinds import LEASE
from kohort.cluster.kinds import SECRET as SECRET_KIND
from kohort.cluster.port import Address, Selection
from kohort.controller.certificates.secrets import ensure_namespace
from kohort.controller.install.names import MUTATING_KIND, NAMESPACE, SECRET, VALIDATING_KIND
from kohort.controller.process.process import LeaseLost

BOTH = (LEADER_WORKER_SET, GADGETS)
LWS = LEADER_WORKER_SET.kind
GADGET_LEASE = Address(LEASE, HOME.namespace, HOME.lease)
DEFINITION = Address(DEFINITION_KIND, "", GADGET.group_resource)


async def steal(api, address: Address) -> None:
    """Hold a lease as another process, whichever process held it."""
    cluster = InProcessCluster(api)
    spec = {"holderIdentity": "thief", "leaseDurationSeconds": 3600}
    await ensure_namespace(cluster, address.namespace)
    try:
        await cluster.read(address)
    except NotFound:
        body = {"metadata": {"name": address.name}, "spec": spec}
        await cluster.create(LEASE, address.namespace, body)
    while (await cluster.read(address))["spec"]["holderIdentity"] != "thief":
        await cluster.patch(address, {"spec": spec})


def works_on(one, *kinds) -> bool:
    found = one.process.operators
    return set(found) == set(kinds) and all(o.informers.are_ready for o in found.values())


async def rest(api, one) -> None:
    """Let the operator renew its lease some times, and do nothing else."""
    before = api.store.revision
    await until(lambda: api.store.revision >= before + 10, one.task)


async def test_each_lease_lies_where_its_upstream_keeps_it():
    api = make_api()
    async with running(api, "a", apis=BOTH) as one:
        await until(lambda: works_on(one, LWS, GADGET), one.task)
        for address in (HELD, GADGET_LEASE):
            assert (await one.cluster.read(address))["spec"]["holderIdentity"] == "a"
        assert (await one.read("/readyz")) == (200, "ok")
    held = [await InProcessCluster(api).read(address) for address in (HELD, GADGET_LEASE)]
    assert [lease["spec"]["holderIdentity"] for lease in held] == ["", ""]


class SlowReleases(WritingCluster):
    """A cluster that answers the release of a lease once both leases are being released."""

    def __init__(self, api: ApiServer, name: str) -> None:
        super().__init__(api, name)
        self.both = asyncio.Barrier(2)

    async def update(self, address: Address, obj: Any) -> Any:
        if address.kind == LEASE and not obj["spec"]["holderIdentity"]:
            await self.both.wait()
        return await super().update(address, obj)


async def test_a_process_that_ends_releases_its_leases_at_once_and_not_one_after_another():
    api = make_api()
    async with running(api, "a", apis=BOTH, cluster=SlowReleases) as one:
        await until(lambda: works_on(one, LWS, GADGET), one.task)
    held = [await InProcessCluster(api).read(address) for address in (HELD, GADGET_LEASE)]
    assert [lease["spec"]["holderIdentity"] for lease in held] == ["", ""]


async def test_an_api_whose_lease_another_holds_waits_alone_and_nothing_of_it_is_written():
    api = make_api()
    await steal(api, GADGET_LEASE)
    async with running(api, "a", apis=BOTH) as one:
        await until(lambda: works_on(one, LWS), one.task)
        assert one.process.leaderships[1].election.holder == "thief"
        names = [Address(DEFINITION_KIND, "", GADGET.group_resource)]
        names.append(Address(VALIDATING_KIND, "", HOME.validating_name))
        for address in names:
            with pytest.raises(NotFound):
                await one.cluster.read(address)


async def test_a_lost_lease_stops_its_api_and_the_process_goes_on():
    api = make_api()
    async with running(api, "a", apis=BOTH) as one:
        await until(lambda: works_on(one, LWS, GADGET), one.task)
        await steal(api, GADGET_LEASE)
        await until(lambda: works_on(one, LWS), one.task)
        assert await read_holder(api) == "a"
        free = {"spec": {"holderIdentity": "", "leaseDurationSeconds": 1}}
        await InProcessCluster(api).patch(GADGET_LEASE, free)
        await until(lambda: works_on(one, LWS, GADGET), one.task)


async def test_the_process_ends_when_the_last_lease_is_lost():
    api = make_api()
    async with running(api, "a", apis=BOTH) as one:
        await until(lambda: works_on(one, LWS, GADGET), one.task)
        await steal(api, HELD)
        await until(lambda: works_on(one, GADGET), one.task)
        await steal(api, GADGET_LEASE)
        with pytest.raises(LeaseLost, match="gadget-system/gadget-controller is lost"):
            await asyncio.wait_for(one.task, 20)


async def test_defect_15_a_controller_of_model_servings_that_lost_its_lease_ends():
    """Upstream's goes on as a process that does nothing, with green probes."""
    api, lease = make_api(), MODEL_SERVING.home
    async with running(api, "a", apis=(MODEL_SERVING,)) as one:
        await until(lambda: works_on(one, MODEL_SERVING.kind), one.task)
        await steal(api, Address(LEASE, lease.namespace, lease.lease))
        with pytest.raises(LeaseLost, match=f"{lease.lease} is lost"):
            await asyncio.wait_for(one.task, 20)


class CountingReads(InProcessCluster):
    """Notes what is listed and watched, and can hide definitions."""

    are_hidden = False

    def __init__(self, api, name) -> None:
        super().__init__(api)
        self.asked: list[str] = []

    def watch(self, selection: Selection, version: str, *, initial: bool = False):
        self.asked.append(selection.kind.plural)
        return self._watch(selection, version, initial)

    async def _watch(self, selection, version, initial):
        if self.are_hidden and selection.kind == DEFINITION_KIND:
            raise Forbidden("definitions are not for you")
        async for event in super().watch(selection, version, initial=initial):
            yield event


async def test_an_api_without_its_definitions_is_not_watched_and_is_picked_up_when_they_come(
    caplog,
):
    caplog.set_level("INFO")
    api = make_api()
    first = InProcessCluster(api)
    await first.create(DEFINITION_KIND, "", LEADER_WORKER_SET.definition())
    async with running(api, "a", apis=BOTH, install=False, cluster=CountingReads) as one:
        await until(lambda: works_on(one, LWS) and "Gadget is not watched" in caplog.text, one.task)
        before = len(one.cluster.asked)
        await rest(api, one)
        assert len(one.cluster.asked) == before
        assert "gadgets" not in one.cluster.asked
        assert (await one.read("/readyz")) == (200, "ok")
        for define in GADGETS.definitions:
            await first.create(DEFINITION_KIND, "", define())
        await until(lambda: works_on(one, LWS, GADGET), one.task)
    assert "cannot watch" not in caplog.text


async def test_an_api_whose_definition_is_deleted_is_not_watched_any_more():
    api = make_api()
    async with running(api, "a", apis=BOTH) as one:
        await until(lambda: works_on(one, LWS, GADGET), one.task)
        await InProcessCluster(api).delete(DEFINITION)
        await until(lambda: works_on(one, LWS), one.task)
        await InProcessCluster(api).create(DEFINITION_KIND, "", define_gadgets())
        await until(lambda: works_on(one, LWS, GADGET), one.task)


async def test_an_account_that_may_not_see_definitions_works_as_if_they_were_there(caplog):
    class Hidden(CountingReads):
        are_hidden = True

    api = make_api()
    await InProcessCluster(api).create(DEFINITION_KIND, "", LEADER_WORKER_SET.definition())
    async with running(api, "a", install=False, cluster=Hidden) as one:
        await until(lambda: works_on(one, LWS), one.task)
        asked = one.cluster.asked.count("customresourcedefinitions")
        await rest(api, one)
        assert one.cluster.asked.count("customresourcedefinitions") == asked
    assert caplog.text.count("may not watch CustomResourceDefinitions") == 1


async def test_certificates_are_made_before_definitions_that_name_the_webhook():
    api = make_api()
    async with running(api, "a", apis=BOTH) as one:
        await until(lambda: works_on(one, LWS, GADGET), one.task)
        written = one.cluster.written
        assert written.index("secrets") < written.index("customresourcedefinitions")
        spec = (await one.cluster.read(DEFINITION))["spec"]
        assert spec["conversion"]["webhook"]["clientConfig"]["caBundle"]


async def test_two_processes_can_lead_one_api_each_and_trust_one_authority():
    api = make_api()
    async with running(api, "a", apis=(LEADER_WORKER_SET,)) as one:
        await until(lambda: works_on(one, LWS), one.task)
        async with running(api, "b", apis=BOTH) as two:
            await until(lambda: works_on(two, GADGET), one.task, two.task)
            assert two.process.leaderships[0].election.holder == "a"
            assert "mutatingwebhookconfigurations" not in two.cluster.written
            secret = await two.cluster.read(Address(SECRET_KIND, NAMESPACE, SECRET))
            gadgets = (await two.cluster.read(DEFINITION))["spec"]["conversion"]["webhook"]
            name = LEADER_WORKER_SET.home.mutating_name
            hooks = (await two.cluster.read(Address(MUTATING_KIND, "", name)))["webhooks"]
    clients = [gadgets["clientConfig"], *(hook["clientConfig"] for hook in hooks)]
    assert {client["caBundle"] for client in clients} == {secret["data"]["ca.crt"]}
