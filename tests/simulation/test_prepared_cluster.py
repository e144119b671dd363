"""A prepared cluster: each copy begins with the same objects and kinds, and shares no change."""

import asyncio

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.requests import DeleteOptions, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Kind
from kohort.controller.install.webhooks import Endpoint, write_definitions
from kohort.simulation.prepared_cluster import PreparedCluster
from kohort.simulation.virtual_loop import LoopClock, run_virtually

LWS = LEADER_WORKER_SET.kind
DEFINITION = f"{LWS.plural}.{LWS.group}"


async def create(api: ApiServer, kind: Kind, name: str) -> None:
    body = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": name}}
    await api.create(api.target(kind), body, WriteOptions())


async def define(api: ApiServer) -> None:
    for definition in write_definitions([LEADER_WORKER_SET], Endpoint()):
        await api.create(api.target(kinds.DEFINITION), definition, WriteOptions())


async def fill(api: ApiServer) -> None:
    await create(api, kinds.NAMESPACE, "first")
    await define(api)


async def prepare() -> tuple[PreparedCluster, LoopClock]:
    clock = LoopClock(asyncio.get_running_loop())
    return await PreparedCluster.prepare(clock, fill), clock


def names(api: ApiServer, kind: Kind) -> set[str]:
    return {e.name for e in api.store.bucket(api.registry.of(kind).bucket).entries.values()}


def serves(api: ApiServer, kind: Kind) -> bool:
    return api.registry.find(kind.group, kind.version, kind.plural) is not None


def test_a_copy_has_the_objects_and_serves_the_kinds_of_the_prepared_cluster():
    async def run() -> None:
        prepared, clock = await prepare()
        api = prepared.open(ApiServer, clock, seed=1)
        assert "first" in names(api, kinds.NAMESPACE)
        assert serves(api, LWS)
        assert api.store.revision == prepared.revision

    run_virtually(run)


def test_a_write_to_one_copy_is_not_seen_in_another():
    async def run() -> None:
        prepared, clock = await prepare()
        one, other = (prepared.open(ApiServer, clock, seed=1) for _ in range(2))
        target = one.target(kinds.NAMESPACE, name="first")
        live = one.context.expect(target).decode()
        live["metadata"]["labels"] = {"changed": "yes"}
        await one.update(target, live, WriteOptions())
        await create(one, kinds.NAMESPACE, "second")
        assert names(one, kinds.NAMESPACE) == {"first", "second"}
        for api in other, prepared.open(ApiServer, clock, seed=1):
            assert names(api, kinds.NAMESPACE) == {"first"}
            kept = api.context.expect(api.target(kinds.NAMESPACE, name="first")).decode()
            assert "changed" not in kept["metadata"].get("labels", {})
            assert api.store.revision == prepared.revision

    run_virtually(run)


def test_a_definition_that_one_copy_deletes_is_served_by_another():
    async def run() -> None:
        prepared, clock = await prepare()
        one, other = (prepared.open(ApiServer, clock, seed=1) for _ in range(2))
        told: list[str] = []
        other.registry.listeners.append(lambda: told.append("other"))
        await one.delete(one.target(kinds.DEFINITION, name=DEFINITION), DeleteOptions())
        assert not serves(one, LWS)
        assert serves(other, LWS)
        assert serves(prepared.open(ApiServer, clock, seed=1), LWS)
        assert not told

    run_virtually(run)


def test_a_definition_that_one_copy_gets_is_not_served_by_another():
    async def run() -> None:
        clock = LoopClock(asyncio.get_running_loop())

        async def nothing(api: ApiServer) -> None:
            assert not serves(api, LWS)

        prepared = await PreparedCluster.prepare(clock, nothing)
        one, other = (prepared.open(ApiServer, clock, seed=1) for _ in range(2))
        await define(one)
        assert serves(one, LWS)
        assert not serves(other, LWS)

    run_virtually(run)
