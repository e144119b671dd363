"""Operators as tasks of a test, on a cluster in the same process, with quick leases."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import Any

import aiohttp

from kohort.apis.api import Api
from kohort.apis.served import choose_apis
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.api.requests import User
from kohort.apiserver.inprocess import InProcessCluster
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.store import Store
from kohort.cluster.kinds import LEASE
from kohort.cluster.port import Address
from kohort.controller.install import InstallOptions
from kohort.controller.operator import Operator
from kohort.controller.process.configuration import Configuration
from kohort.controller.process.process import Launch, Process

URL = "https://127.0.0.1:1"
ADDRESS = "127.0.0.1:0"
QUICK = Configuration(
    webhook_host="127.0.0.1",
    webhook_port=0,
    metrics_address="0",
    health_address=ADDRESS,
    lease_seconds=15.0,
    renew_seconds=10.0,
    retry_seconds=0.05,
)
HELD = Address(LEASE, "lws-system", QUICK.lease_name)


def make_api() -> ApiServer:
    def now() -> datetime:
        return datetime.now(UTC)

    return ApiServer(Store(), Registry(builtin_resources()), now, Random(1))


class WritingCluster(InProcessCluster):
    """Notes the resources that are written through it."""

    def __init__(self, api: ApiServer, name: str) -> None:
        super().__init__(api, User(name))
        self.written: list[str] = []

    async def create(self, kind: Any, namespace: str, obj: Any) -> Any:
        self.written.append(kind.plural)
        return await super().create(kind, namespace, obj)

    async def update(self, address: Address, obj: Any) -> Any:
        self.written.append(address.kind.plural)
        return await super().update(address, obj)

    async def patch(self, address: Address, *args: Any, **options: Any) -> Any:
        self.written.append(address.kind.plural)
        return await super().patch(address, *args, **options)


class Running:
    """One operator."""

    def __init__(
        self,
        api: ApiServer,
        name: str,
        *,
        install: bool = True,
        cluster: type[WritingCluster] = WritingCluster,
        apis: tuple[Api, ...] = choose_apis(()),
        **changes: Any,
    ) -> None:
        self.apis = apis
        self.cluster: Any = cluster(api, name)
        launch = Launch(
            apis=apis,
            identity=name,
            configuration=replace(QUICK, **changes),
            webhook_url=URL,
            installing=InstallOptions(webhook_url=URL) if install else None,
        )
        self.process = Process(self.cluster, launch)
        self.stop = asyncio.Event()
        self.task = asyncio.create_task(self.process.run(self.stop))

    @property
    def operator(self) -> Operator | None:
        """What works on the first API, if it does."""
        return self.process.operators.get(self.apis[0].kind)

    @property
    def is_working(self) -> bool:
        return self.operator is not None and self.operator.informers.are_ready

    async def end(self) -> None:
        self.stop.set()
        await self.task

    async def read(self, path: str) -> tuple[int, str]:
        """One page of its own."""
        port = self.process.pages.ports[ADDRESS]
        session = aiohttp.ClientSession()
        async with session, session.get(f"http://127.0.0.1:{port}{path}") as response:
            return response.status, await response.text()


@asynccontextmanager
async def running(api: ApiServer, name: str, **options: Any) -> AsyncIterator[Running]:
    """An operator, which is ended with the block."""
    operator = Running(api, name, **options)
    try:
        yield operator
    finally:
        operator.stop.set()
        await asyncio.gather(operator.task, return_exceptions=True)


async def until(is_so: Callable[[], Any], *tasks: asyncio.Task[Any]) -> None:
    """Return when it is so; a task that fails meanwhile is the test's failure."""
    async with asyncio.timeout(20):
        while not is_so():
            for task in tasks:
                if task.done():
                    task.result()
            await asyncio.sleep(0.01)


async def read_holder(api: ApiServer) -> str:
    lease = await InProcessCluster(api).read(HELD)
    return str(lease["spec"].get("holderIdentity") or "")
