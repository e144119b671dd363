"""
The operator as a process: the order in which its parts start, and how it ends.

    pages → certificates → (lease) → admission → definitions → webhooks → operator

The APIs of each home have a lease of their own, and the process takes all but the first two steps
for each lease independently. Certificates come first, since a definition may name a conversion
webhook. A process that does not lead answers admission with the existing certificates, and
writes nothing at all. APIs whose lease is lost stop, drop their caches and wait for it again; if
the process holds no other lease it ends, since its state may be stale. On a stop signal the
process finishes running reconciles, releases its leases, and ends within ten seconds.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import SystemRandom
from typing import Any
from urllib.parse import urlsplit

from kohort import __version__
from kohort.apis.api import DEFAULTS, Api, Settings
from kohort.apis.home import Home
from kohort.apis.served import OPERATOR_HOME
from kohort.cluster.errors import KohortError
from kohort.cluster.kinds import SECRET
from kohort.cluster.objects import Kind
from kohort.cluster.port import Address, Cluster
from kohort.controller.admission.beside import read_beside
from kohort.controller.admission.server import AdmissionServer
from kohort.controller.api_controller import ControllerContext
from kohort.controller.certificates.bundles import BundleHolder
from kohort.controller.certificates.files import FileKeeper
from kohort.controller.certificates.keeper import Keeper, Places
from kohort.controller.certificates.live import LiveContext
from kohort.controller.clock import LoopTime
from kohort.controller.health import Health, judge_readiness
from kohort.controller.install.install import (
    InstallOptions,
    install_definitions,
    install_roles,
    install_webhooks,
)
from kohort.controller.install.names import METRICS_SERVICE, NAMESPACE
from kohort.controller.install.webhooks import list_bundle_holders
from kohort.controller.lease import Election, LeaseTerms
from kohort.controller.operator import Operator
from kohort.controller.process.access import AccessReviews
from kohort.controller.process.configuration import Configuration, is_local
from kohort.controller.process.leadership import Leadership
from kohort.controller.process.measures import Measures
from kohort.controller.process.pages import NOWHERE, Guard, Page, PageServer
from kohort.controller.process.schemas import Reader, log_pruning
from kohort.controller.process.served_apis import ServedApis
from kohort.controller.process.write_counts import CountedCluster
from kohort.journal.entries import write_page
from kohort.observability.metrics import MEDIA_TYPE

STOP_SECONDS_MAX = 5.0
log = logging.getLogger(__name__)


class LeaseLost(KohortError):
    """Another process holds the lease, or this one could not renew it in time."""


@dataclass(frozen=True, slots=True)
class Launch:
    """The settings and APIs that a process is started with."""

    apis: Sequence[Api]
    identity: str
    configuration: Configuration = field(default_factory=Configuration)
    settings: Settings = DEFAULTS
    namespace: str = NAMESPACE
    webhook_url: str = ""
    installing: InstallOptions | None = None
    cert_dir: Path | None = None  # folder of certificates; None: issue our own
    read_document: Reader | None = None  # reads OpenAPI documents; None: no check


class Process:
    """One process of the operator, from its start to its end."""

    def __init__(
        self,
        cluster: Cluster,
        launch: Launch,
    ) -> None:
        self._launch = launch
        self._time = LoopTime()
        self._chance = SystemRandom()
        self.measures = Measures(self._time)
        self._cluster = CountedCluster(cluster, self.measures.note_write)
        # Lease renewals use the uncounted cluster, since they are no writes of plans.
        self.leaderships = [self._make_leadership(cluster, home) for home in self._list_homes()]
        self.measures.is_leading = self.may_write
        self.pages = PageServer()
        # Reviews use the uncounted cluster, since the API server stores nothing.
        self._reviews = AccessReviews(cluster, self._time)
        self.admission = AdmissionServer(
            launch.apis,
            launch.settings,
            self.measures.note_review,
            partial(read_beside, self._cluster),
        )
        settings = launch.configuration
        self._live = LiveContext(settings.tls_version, settings.tls_suites)
        self._keeper = self._make_keeper()
        self._served: dict[str, ServedApis] = {}  # by the lease that the process holds

    def _list_homes(self) -> list[Home]:
        return list(dict.fromkeys(api.home for api in self._launch.apis))

    def _make_leadership(self, cluster: Cluster, home: Home) -> Leadership:
        launch, told = self._launch, self._launch.configuration
        # The user may set the operator's own namespace and lease; other homes have fixed ones.
        is_own = home == OPERATOR_HOME
        terms = LeaseTerms(
            told.lease_name if is_own else home.lease,
            launch.namespace if is_own else home.namespace,
            launch.identity,
            told.lease_seconds,
            told.renew_seconds,
            told.retry_seconds,
        )
        apis = [api for api in launch.apis if api.home == home]
        election = Election(cluster, terms, self._time, self._chance)
        return Leadership(apis, election, self._time, told.elects)

    def _make_keeper(self) -> Keeper | FileKeeper:
        launch = self._launch
        holders = [
            BundleHolder(kind, name, each.may_write)
            for each in self.leaderships
            for kind, name in list_bundle_holders(each.apis)
        ]
        if launch.cert_dir is not None:
            return FileKeeper(
                self._cluster, launch.cert_dir, holders, self._live, self._time, self.may_write
            )
        secret = Address(SECRET, launch.namespace, launch.configuration.secret_name)
        places = Places(secret, _server_names(launch), holders)
        return Keeper(self._cluster, places, self._live, self._time, self.may_write)

    def may_write(self) -> bool:
        """Whether this process holds the lease of any API."""
        return any(each.may_write() for each in self.leaderships)

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set; raises LeaseLost if the process holds no lease any more."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.pages.stop)
            await self._show_pages()
            stack.push_async_callback(self.admission.stop)
            stack.push_async_callback(self._release)
            await self._work_until(stop)

    async def _release(self) -> None:
        """Release all leases at once, since each may take its time."""
        async with asyncio.TaskGroup() as releases:
            for each in self.leaderships:
                releases.create_task(each.release())

    async def _work_until(self, stop: asyncio.Event) -> None:
        leading = [asyncio.create_task(self._lead(each)) for each in self.leaderships]
        tasks: list[asyncio.Task[Any]] = [
            *leading,
            asyncio.create_task(self._keeper.run()),
            asyncio.create_task(self._admit()),
            asyncio.create_task(stop.wait()),
        ]
        try:
            # No task ends in normal work: a done task has failed, or is the stop signal.
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                await task
            working = [o for o in self.operators.values() if o.informers.are_ready]
            for operator in working:
                operator.stop()
            if working:
                ends = [asyncio.create_task(operator.ended.wait()) for operator in working]
                await asyncio.wait(ends, timeout=STOP_SECONDS_MAX)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _admit(self) -> None:
        """Serve admission, and guarded metrics, as soon as a certificate is loaded."""
        told = self._launch.configuration
        await self._keeper.is_armed.wait()
        try:
            await self.admission.start(self._live.context, told.webhook_host, told.webhook_port)
        except OSError as error:
            place = f"{told.webhook_host}:{told.webhook_port}"
            raise KohortError(f"cannot listen on {place}: {error.strerror or error}") from error
        log.info("admission is answered", extra={"facts": {"port": self.admission.port}})
        await self._show_metrics(Guard(self._reviews.judge, self._live.context))
        await asyncio.Event().wait()

    async def _lead(self, leadership: Leadership) -> None:
        """Work on the APIs of one lease while we hold it; raises LeaseLost if it was the last."""
        while True:
            await leadership.acquire()
            work = asyncio.create_task(self._operate(leadership))
            kept = asyncio.create_task(leadership.keep())
            try:
                await asyncio.wait([work, kept], return_when=asyncio.FIRST_COMPLETED)
                if kept.done():
                    await kept  # raises what was unexpected; a lost lease is no error here
                if work.done():
                    await work
                    return
            finally:
                work.cancel()
                kept.cancel()
                await asyncio.gather(work, kept, return_exceptions=True)
            if not self.may_write():
                raise LeaseLost(f"the lease {leadership.lease} is lost, so this process ends")
            names = ", ".join(api.kind.name for api in leadership.apis)
            log.warning("the lease %s is lost: %s waits for it", leadership.lease, names)

    async def _operate(self, leadership: Leadership) -> None:
        """Install and run the APIs of a lease that this process holds."""
        self._keeper.wake()
        await self._keeper.is_settled.wait()
        while not self.admission.is_serving:
            await self._time.sleep(0.01)
        await self._install(leadership.apis)
        served = self._served[leadership.lease] = self._make_served(leadership)
        try:
            await served.run()
        finally:
            del self._served[leadership.lease]

    async def _install(self, apis: Sequence[Api]) -> None:
        installing = self._launch.installing
        if installing is None:
            return
        told = replace(installing, ca_bundle=self._keeper.ca.encode())
        _log_all(await install_definitions(self._cluster, apis, told))
        _log_all(await install_webhooks(self._cluster, apis, told))
        if self._are_metrics_guarded:
            _log_all(await install_roles(self._cluster, told))

    def _make_served(self, leadership: Leadership) -> ServedApis:
        launch = self._launch
        context = ControllerContext(
            self._cluster,
            self._time,
            self._chance,
            launch.settings,
            leadership.may_write,
            launch.identity,
        )
        return ServedApis(context, leadership.apis, self.measures, self._begin)

    async def _begin(self, api: Api) -> None:
        if self._launch.read_document is not None:
            await log_pruning(self._launch.read_document, [api])

    @property
    def operators(self) -> dict[Kind, Operator]:
        """The running operators, by the kind that they serve."""
        return {k: o for served in self._served.values() for k, o in served.operators.items()}

    async def _show_pages(self) -> None:
        told = self._launch.configuration
        health = {
            told.liveness_path: lambda: _page(self._judge_liveness()),
            told.readiness_path: lambda: _page(self._judge_readiness()),
        }
        if told.metrics_address == told.health_address and is_local(told.health_address):
            await self.pages.start(told.health_address, {**health, **self._metrics})
            return
        await self.pages.start(told.health_address, health)
        if is_local(told.metrics_address):
            await self.pages.start(told.metrics_address, self._metrics)

    @property
    def _metrics(self) -> Mapping[str, Callable[[], Page]]:
        return {
            "/metrics": lambda: Page(self.measures.registry.render(), True, MEDIA_TYPE),
            "/debug/journal": lambda: Page(self._write_journal(), True, "application/json"),
        }

    def _write_journal(self) -> str:
        return write_page(self.measures.journal.list_entries(), __version__).decode()

    async def _show_metrics(self, guard: Guard) -> None:
        """Serve metrics to other machines, over HTTPS and to authorized clients only."""
        address = self._launch.configuration.metrics_address
        if self._are_metrics_guarded:
            await self.pages.start(address, self._metrics, guard)
            log.info("metrics are served", extra={"facts": {"port": self.pages.ports[address]}})

    @property
    def _are_metrics_guarded(self) -> bool:
        """Whether other machines can reach the metrics, so that they need a guard."""
        address = self._launch.configuration.metrics_address
        return address not in (NOWHERE, "") and not is_local(address)

    def _judge_liveness(self) -> Health:
        served = self._served.values()
        probes = [probe for each in served for found in each.probes.values() for probe in found]
        verdicts = [probe.liveness() for probe in probes]
        return next((result for result in verdicts if not result.is_good), Health(True))

    def _judge_readiness(self) -> Health:
        if not self.admission.is_serving:
            return Health(False, "admission is not answered yet: there is no certificate")
        if not self.may_write():
            return Health(True)
        operators = self.operators.values()
        if operators:
            return judge_readiness(s for each in operators for s in each.informers.unlisted)
        served = self._served.values()
        missing = [n for each in served for names in each.undefined.values() for n in names]
        return Health(False, f"not defined: {', '.join(missing)}" if missing else "starting")


def _page(health: Health) -> Page:
    return Page(health.text, health.is_good)


def _log_all(lines: Sequence[str]) -> None:
    for line in lines:
        log.info(line)


def _server_names(launch: Launch) -> tuple[str, ...]:
    """The DNS names for the certificate: API servers and metric scrapers call these."""
    services = (launch.configuration.service_name, METRICS_SERVICE)
    names = tuple(
        f"{service}.{launch.namespace}{domain}"
        for service in services
        for domain in ("", ".svc", ".svc.cluster.local")
    )
    host = urlsplit(launch.webhook_url).hostname if launch.webhook_url else None
    return (*names, host) if host else names
