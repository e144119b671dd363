"""Leader election in virtual time, on an API without sockets."""

import asyncio
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from controller_world import TestTime, make_cluster

from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster.errors import NotFound, Unavailable
from kohort.cluster.kinds import LEASE
from kohort.cluster.port import Address
from kohort.controller.lease import Claim, Election, LeaseTerms, judge_claim, write_claim
from kohort.simulation.virtual_loop import run_virtually

PLACE = Address(LEASE, "system", "leader")


class Cuttable:
    """A connection to the cluster that can be cut."""

    def __init__(self, inner: InProcessCluster) -> None:
        self._inner = inner
        self.is_cut = False
        self.is_silent = False
        self.answer_seconds = 0.0  # a write is applied at once, and answered so much later

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)

        async def call(*args: Any) -> Any:
            if self.is_silent:
                await asyncio.sleep(1000)
            if self.is_cut:
                raise Unavailable("cut")
            answer = await method(*args)
            if name != "read":
                await asyncio.sleep(self.answer_seconds)
            return answer

        return call


def candidate(cluster: Any, name: str) -> Election:
    return Election(cluster, LeaseTerms("leader", "system", name), TestTime(), Random(1))


def seconds() -> float:
    return asyncio.get_running_loop().time()


@pytest.mark.parametrize(("seconds", "renew"), [(10.9, 10.5), (15.0, 10.0), (0.4, 0.3)])
def test_no_other_may_take_a_lease_that_its_holder_may_still_use(seconds, renew):
    """The object has whole seconds only, and candidates judge by the object."""
    terms = LeaseTerms("leader", "system", "me", seconds, renew)
    spec = write_claim({}, terms, datetime(2026, 1, 1, tzinfo=UTC))
    assert judge_claim(spec, "you", renew) is Claim.WAIT


@pytest.mark.parametrize(
    ("spec", "unchanged", "claim"),
    [
        ({"holderIdentity": "me", "leaseDurationSeconds": 15}, 0, Claim.RENEW),
        ({"holderIdentity": "you", "leaseDurationSeconds": 15}, 14.9, Claim.WAIT),
        ({"holderIdentity": "you", "leaseDurationSeconds": 15}, 15, Claim.TAKE),
        ({"holderIdentity": "", "leaseDurationSeconds": 1}, 0, Claim.TAKE),
        ({}, 0, Claim.TAKE),
    ],
)
def test_a_claim_depends_on_holder_and_silence(spec, unchanged, claim):
    assert judge_claim(spec, "me", unchanged) is claim


def test_the_lease_and_its_namespace_are_made_if_absent():
    async def body() -> None:
        cluster = await make_cluster()
        me = candidate(cluster, "me")
        assert not me.is_held
        await me.acquire()
        assert me.is_held
        spec = (await cluster.read(PLACE))["spec"]
        assert (spec["holderIdentity"], spec["leaseDurationSeconds"]) == ("me", 15)
        assert spec["leaseTransitions"] == 0
        assert spec["renewTime"] == "2026-01-02T03:04:05.000000Z"

    run_virtually(body)


def test_while_the_holder_renews_no_other_process_leads():
    async def body() -> None:
        cluster = await make_cluster()
        me, you = candidate(cluster, "me"), candidate(cluster, "you")
        await me.acquire()
        keeping = asyncio.create_task(me.keep())
        waiting = asyncio.create_task(you.acquire())
        await asyncio.sleep(300)
        assert (me.is_held, you.is_held, you.holder) == (True, False, "me")
        assert not keeping.done()
        waiting.cancel()
        keeping.cancel()

    run_virtually(body)


def test_a_lease_that_is_given_back_is_taken_at_once():
    async def body() -> None:
        cluster = await make_cluster()
        me, you = candidate(cluster, "me"), candidate(cluster, "you")
        await me.acquire()
        waiting = asyncio.create_task(you.acquire())
        await asyncio.sleep(5)
        await me.release()
        assert not me.is_held
        await waiting
        assert seconds() < 5 + 2.5
        assert (await cluster.read(PLACE))["spec"]["leaseTransitions"] == 1

    run_virtually(body)


def test_a_lease_is_given_back_also_in_the_middle_of_a_renewal():
    async def body() -> None:
        wire = Cuttable(await make_cluster())
        me = candidate(wire, "me")
        await me.acquire()
        keeping = asyncio.create_task(me.keep())
        wire.answer_seconds = 3
        await asyncio.sleep(2.5)  # asked after two seconds and carried out, not answered yet
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        wire.answer_seconds = 0
        await me.release()
        assert (await wire.read(PLACE))["spec"]["holderIdentity"] == ""

    run_virtually(body)


def test_who_gives_the_lease_back_writes_nothing_while_that_is_under_way():
    async def body() -> None:
        cluster = Cuttable(await make_cluster())
        me = candidate(cluster, "me")
        await me.acquire()
        cluster.answer_seconds = 1.0
        releasing = asyncio.create_task(me.release())
        await asyncio.sleep(0.5)
        assert not me.is_held
        await releasing

    run_virtually(body)


def test_who_waits_for_the_lease_and_stops_does_not_give_it_back_for_its_holder():
    async def body() -> None:
        cluster = await make_cluster()
        me, you = candidate(cluster, "me"), candidate(cluster, "you")
        await me.acquire()
        waiting = asyncio.create_task(you.acquire())
        await asyncio.sleep(1)
        waiting.cancel()
        await you.release()
        assert you.holder == "me"
        assert (await cluster.read(PLACE))["spec"]["holderIdentity"] == "me"

    run_virtually(body)


def test_a_holder_that_is_cut_off_gives_up_before_another_begins():
    async def body() -> None:
        cluster = await make_cluster()
        wire = Cuttable(cluster)
        me, you = candidate(wire, "me"), candidate(cluster, "you")
        await me.acquire()
        keeping = asyncio.create_task(me.keep())
        waiting = asyncio.create_task(you.acquire())
        await asyncio.sleep(30.5)
        wire.is_cut = True
        while not waiting.done():
            assert not (me.is_held and you.is_held)
            await asyncio.sleep(0.1)
        assert keeping.done()
        assert 14 < seconds() - 30.5 < 19
        wire.is_cut = False
        assert not me.is_held

    run_virtually(body)


def test_a_holder_that_renews_seldom_gives_up_in_time_as_well():
    async def body() -> None:
        wire = Cuttable(await make_cluster())
        terms = LeaseTerms("leader", "system", "me", 15.0, 14.0, 5.0)
        me = Election(wire, terms, TestTime(), Random(1))  # type: ignore[arg-type]
        await me.acquire()
        keeping = asyncio.create_task(me.keep())
        wire.is_cut = True
        await asyncio.sleep(14.5)
        assert keeping.done()

    run_virtually(body)


def test_a_short_outage_costs_nothing():
    async def body() -> None:
        wire = Cuttable(await make_cluster())
        me = candidate(wire, "me")
        await me.acquire()
        keeping = asyncio.create_task(me.keep())
        await asyncio.sleep(11)
        wire.is_cut = True
        await asyncio.sleep(7)
        assert isinstance(me.trouble, Unavailable)
        wire.is_cut = False
        await asyncio.sleep(60)
        assert (me.is_held, keeping.done()) == (True, False)
        keeping.cancel()

    run_virtually(body)


def test_a_lease_that_another_writes_is_lost():
    async def body() -> None:
        cluster = await make_cluster()
        me = candidate(cluster, "me")
        await me.acquire()
        keeping = asyncio.create_task(me.keep())
        await cluster.patch(PLACE, {"spec": {"holderIdentity": "you"}})
        await keeping
        assert not me.is_held
        assert me.holder == "you"
        assert seconds() < 5

    run_virtually(body)


def test_a_lease_that_is_deleted_is_made_again():
    async def body() -> None:
        cluster = await make_cluster()
        me = candidate(cluster, "me")
        await me.acquire()
        keeping = asyncio.create_task(me.keep())
        await cluster.delete(PLACE)
        with pytest.raises(NotFound):
            await cluster.read(PLACE)
        await asyncio.sleep(5)
        assert (await cluster.read(PLACE))["spec"]["holderIdentity"] == "me"
        keeping.cancel()

    run_virtually(body)


def test_a_server_that_never_answers_does_not_hide_the_loss():
    async def body() -> None:
        wire = Cuttable(await make_cluster())
        me = candidate(wire, "me")
        await me.acquire()
        wire.is_silent = True
        await me.keep()
        assert not me.is_held
        assert seconds() == pytest.approx(10)

    run_virtually(body)


def test_one_request_that_is_never_answered_costs_no_lease():
    async def body() -> None:
        wire = Cuttable(await make_cluster())
        me = candidate(wire, "me")
        await me.acquire()
        keeping = asyncio.create_task(me.keep())
        wire.is_silent = True
        await asyncio.sleep(3)
        # The first renewal hangs on its connection; later requests take another one.
        wire.is_silent = False
        await asyncio.sleep(30)
        assert me.is_held
        keeping.cancel()

    run_virtually(body)


def test_a_lease_counts_from_the_request_that_made_it_not_from_the_answer():
    async def body() -> None:
        wire = Cuttable(await make_cluster())
        wire.answer_seconds = 4
        me = candidate(wire, "me")
        await me.acquire()  # which makes the namespace, and the lease: eight seconds
        await asyncio.sleep(1.9)
        assert me.is_held
        await asyncio.sleep(0.2)
        assert not me.is_held

    run_virtually(body)


def test_a_renewal_counts_from_its_request_not_from_the_answer():
    async def body() -> None:
        wire = Cuttable(await make_cluster())
        me = candidate(wire, "me")
        await me.acquire()
        wire.answer_seconds = 6
        keeping = asyncio.create_task(me.keep())
        await asyncio.sleep(8.5)  # asked after two seconds, answered after eight
        wire.is_cut = True
        await asyncio.sleep(3.4)
        assert me.is_held
        await asyncio.sleep(0.2)
        assert not me.is_held
        keeping.cancel()

    run_virtually(body)
