"""Certificates are made anew under load, and no request is refused for that."""

import asyncio
import json
import ssl
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from cluster_driver import Driver, make_lws
from operator_processes import NAMESPACE, Controller, controllers, eventually

from control_plane import ControlPlane
from kohort.apis.leaderworkerset.labels import KIND as LWS
from kohort.cluster.errors import ClusterError
from kohort.cluster.http import connect

pytestmark = pytest.mark.real
SECRET = "lws-webhook-server-cert"
BROKEN = b64encode(b"this is no key").decode()
AFTERWARDS = 40  # requests with the new certificate


class Load:
    """Creates, of which every fourth is stored; the others are only simulated."""

    def __init__(self, driver: Driver) -> None:
        self.count = 0
        self.refused: list[Any] = []
        self._driver = driver

    async def run(self) -> None:
        """Ask for ever."""
        while True:
            lws = make_lws(f"load-{self.count}", groups=1, size=1)
            create = (
                self._driver.cluster.dry_run_create
                if self.count % 4
                else self._driver.cluster.create
            )
            try:
                await create(LWS, self._driver.namespace, lws)
            except ClusterError as error:
                self.refused.append(str(error))
            self.count += 1
            await asyncio.sleep(0.1)

    async def go_on(self) -> None:
        """Return after some more requests."""
        wanted = self.count + AFTERWARDS
        async with asyncio.timeout(180):
            while self.count < wanted:
                await asyncio.sleep(0.1)


@asynccontextmanager
async def under_load(driver: Driver) -> AsyncIterator[Load]:
    """Creates go on until the block ends."""
    load = Load(driver)
    task = asyncio.create_task(load.run())
    try:
        yield load
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def spoil_serving(plane: ControlPlane) -> None:
    """A key that cannot be used: the serving certificate is made anew."""
    patch_secret(plane, {"tls.key": BROKEN})


def spoil_authority(plane: ControlPlane) -> None:
    """An authority that can sign no more: all is made anew."""
    patch_secret(plane, {"ca.key": BROKEN})


def delete_secret(plane: ControlPlane) -> None:
    """What people do to have all made anew."""
    plane.kubectl("delete", "secret", SECRET, "-n", NAMESPACE)


def patch_secret(plane: ControlPlane, data: dict[str, str]) -> None:
    patch = json.dumps({"data": data})
    plane.kubectl("patch", "secret", SECRET, "-n", NAMESPACE, "--type=merge", "-p", patch)


def read_certificate(plane: ControlPlane) -> str:
    """What the Secret says that replicas show."""
    words = ("get", "secret", SECRET, "-n", NAMESPACE, "-o", "json", "--ignore-not-found")
    data = json.loads(plane.kubectl(*words) or "{}").get("data") or {}
    return b64decode(data.get("tls.crt", "")).decode()


def is_shown(plane: ControlPlane, replicas: list[Controller], old: str) -> bool:
    """Whether all replicas, which live, show a new certificate."""
    if not all(each.is_ready() for each in replicas):
        return False
    wanted = read_certificate(plane)
    shown = {ssl.get_server_certificate(("127.0.0.1", each.port)) for each in replicas}
    return wanted not in ("", old) and shown == {wanted}


@pytest.fixture(scope="module")
def replicas(site) -> Iterator[list[Controller]]:
    with controllers(site.plane, site.service, site.kubeconfig, 2) as both:
        yield both


@pytest.mark.parametrize("spoil", [spoil_serving, spoil_authority, delete_secret])
async def test_new_certificates_cost_no_request(
    site, replicas, spoil: Callable[[ControlPlane], None]
):
    async with connect(site.plane.kubeconfig) as cluster, Driver(cluster) as driver:
        async with under_load(driver) as load:
            await load.go_on()
            old = read_certificate(site.plane)
            site.audit.read()
            site.audit.failed.clear()
            spoil(site.plane)
            claim = partial(is_shown, site.plane, replicas, old)
            await asyncio.to_thread(eventually, "all show a new certificate", claim)
            await load.go_on()
        assert not load.refused
    assert not site.audit.read_breaches()
    assert not [failure for failure in site.audit.failed if "webhook" in failure]
