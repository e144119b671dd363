"""A cluster in the test's process, and builders for certificates and webhook configurations."""

import asyncio
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.inprocess import InProcessCluster
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.store import Store
from kohort.cluster.kinds import SECRET as SECRET_KIND
from kohort.cluster.objects import Object
from kohort.cluster.port import Address
from kohort.controller.certificates.bundles import BundleHolder
from kohort.controller.certificates.issue import Lifetimes
from kohort.controller.certificates.keeper import Keeper, Places
from kohort.controller.certificates.live import LiveContext
from kohort.controller.clock import LoopTime
from kohort.controller.install.names import MUTATING_KIND, VALIDATING_KIND

NOW = datetime(2026, 5, 6, tzinfo=UTC)
NAMES = ("127.0.0.1", "hooks.lab.svc")
SECRET = Address(SECRET_KIND, "lab", "certs")
MUTATING, VALIDATING = Address(MUTATING_KIND, "", "m"), Address(VALIDATING_KIND, "", "v")
HOLDERS = [BundleHolder(MUTATING_KIND, "m"), BundleHolder(VALIDATING_KIND, "v")]
PLACES = Places(SECRET, NAMES, HOLDERS)
# Short enough that a second's look into the future finds them old.
BRIEF = Lifetimes(
    authority=timedelta(days=10),
    authority_ahead=timedelta(days=1),
    serving=timedelta(days=2),
    serving_ahead=timedelta(days=1),
    learning=timedelta(),
)


class SetTime(LoopTime):
    """The loop's time, and a wall clock that tests set."""

    def __init__(self) -> None:
        self.wall = NOW

    def now(self) -> datetime:
        return self.wall


def make_cluster() -> InProcessCluster:
    registry = Registry(builtin_resources())
    return InProcessCluster(ApiServer(Store(), registry, lambda: NOW, Random(1)))


def configuration(kind: str, name: str) -> Object:
    hook = {
        "name": f"{name}.kb.io",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://127.0.0.1:1/x"},
        "sideEffects": "None",
        "rules": [],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name},
        "webhooks": [hook, {**hook, "name": f"other-{name}.kb.io"}],
    }


async def add_configurations(cluster: InProcessCluster) -> None:
    for address in (MUTATING, VALIDATING):
        body = configuration(address.kind.name, address.name)
        await cluster.create(address.kind, "", body)


async def read_bundles(cluster: InProcessCluster) -> list[str]:
    found = [await cluster.read(address) for address in (MUTATING, VALIDATING)]
    return [h["clientConfig"].get("caBundle", "") for c in found for h in c["webhooks"]]


def make_keeper(cluster: Any, time: LoopTime, **options: Any) -> tuple[Keeper, LiveContext]:
    live = LiveContext()
    return Keeper(cluster, PLACES, live, time, lifetimes=BRIEF, **options), live


def trust(ca: str) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=ca)


async def until(is_so: Callable[[], Any]) -> None:
    """Return when it is so."""
    async with asyncio.timeout(20):
        while not is_so():
            await asyncio.sleep(0.01)
