"""
The operator as a process: what is started, in which order, and how it ends.

    pages → certificates → (lease) → definitions → admission → webhooks → operator

A process that does not lead answers admission with the certificates that it finds,
and writes nothing at all. One that has lost its lease ends: what it believes may
be old. One that is told to stop lets running looks end, gives the lease back, and
is gone within ten seconds.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random, SystemRandom
from typing import Any
from urllib.parse import urlsplit

from kohort.apis.api import DEFAULTS, Api, Settings
from kohort.cluster.errors import KohortError
from kohort.cluster.port import Address, Cluster
from kohort.controller.admission.server import AdmissionServer
from kohort.controller.api_controller import ControllerContext
from kohort.controller.certificates.files import FileKeeper
from kohort.controller.certificates.keeper import Keeper, Places
from kohort.controller.certificates.live import LiveContext
from kohort.controller.certificates.secrets import SECRET
from kohort.controller.clock import LoopTime, Time
from kohort.controller.health import Health, Probe, judge_readiness
from kohort.controller.install.install import (
    InstallOptions,
    install_definitions,
    install_roles,
    install_webhooks,
)
from kohort.controller.install.names import METRICS_SERVICE, NAMESPACE
from kohort.controller.install.webhooks import configuration_names
from kohort.controller.lease import Election, LeaseTerms
from kohort.controller.operator import Operator
from kohort.controller.process.access import AccessReviews
from kohort.controller.process.configuration import Configuration, is_local
from kohort.controller.process.measures import WARNING_SECONDS, Measures
from kohort.controller.process.pages import NOWHERE, Guard, Page, PageServer
from kohort.controller.process.schemas import Reader, log_pruning
from kohort.controller.process.write_counts import CountedCluster
from kohort.observability.metrics import MEDIA_TYPE

STOP_SECONDS_MAX = 5.0
RELEASE_SECONDS_MAX = 2.0
TELL_SECONDS = 2.0  # after so long without the lease one is told why
log = logging.getLogger(__name__)


class LeaseLost(KohortError):
    """Another process leads, or nobody knows who does."""


@dataclass(frozen=True, slots=True)
class Launch:
    """Everything that a process is started with."""

    apis: Sequence[Api]
    identity: str
    configuration: Configuration = field(default_factory=Configuration)
    settings: Settings = DEFAULTS
    namespace: str = NAMESPACE
    webhook_url: str = ""
    installing: InstallOptions | None = None
    cert_dir: Path | None = None  # certificates from files; None: our own
    read_document: Reader | None = None  # what the server publishes; None: nobody is asked


class Process:
    """One operator, from its start to its end."""

    def __init__(
        self,
        cluster: Cluster,
        launch: Launch,
        time: Time | None = None,
        chance: Random | None = None,
    ) -> None:
        self._launch = launch
        self._time = time or LoopTime()
        self._chance = chance or SystemRandom()
        self.measures = Measures(self._time)
        self._cluster = CountedCluster(cluster, self.measures.note_write)
        # Renewals of the lease are no work, and are not counted as such.
        self._election = Election(cluster, self._terms(), self._time, self._chance)
        self.measures.is_leading = self.may_write
        self.pages = PageServer()
        # Reviews store nothing, and are not counted as writes.
        self._reviews = AccessReviews(cluster, self._time)
        self.admission = AdmissionServer(
            launch.apis, launch.settings, self.measures.note_review, self._cluster.read
        )
        settings = launch.configuration
        self._live = LiveContext(settings.tls_version, settings.tls_suites)
        self._keeper = self._make_keeper()
        self.operator: Operator | None = None
        self._probes: list[Probe] = []

    def _terms(self) -> LeaseTerms:
        told = self._launch.configuration
        return LeaseTerms(
            told.lease_name,
            self._launch.namespace,
            self._launch.identity,
            told.lease_seconds,
            told.renew_seconds,
            told.retry_seconds,
        )

    def _make_keeper(self) -> Keeper | FileKeeper:
        launch = self._launch
        names = configuration_names(launch.apis)
        if launch.cert_dir is not None:
            return FileKeeper(
                self._cluster, launch.cert_dir, names, self._live, self._time, self.may_write
            )
        secret = Address(SECRET, launch.namespace, launch.configuration.secret_name)
        places = Places(secret, _server_names(launch), *names)
        return Keeper(self._cluster, places, self._live, self._time, self.may_write)

    def may_write(self) -> bool:
        """Whether this process leads."""
        return not self._launch.configuration.elects or self._election.is_held

    async def run(self, stop: asyncio.Event) -> None:
        """Work until told to stop; raises LeaseLost if another leads."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.pages.stop)
            await self._show_pages()
            stack.push_async_callback(self.admission.stop)
            stack.push_async_callback(self._give_back)
            await self._work_until(stop)

    async def _work_until(self, stop: asyncio.Event) -> None:
        leading = asyncio.create_task(self._lead())
        tasks: list[asyncio.Task[Any]] = [
            leading,
            asyncio.create_task(self._keeper.run()),
            asyncio.create_task(self._admit()),
            asyncio.create_task(stop.wait()),
        ]
        try:
            # None of them ends by itself: what is done has failed, or was told to stop.
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                await task
            if self.operator is not None and self.operator.informers.are_ready:
                self.operator.stop()
                await asyncio.wait([leading], timeout=STOP_SECONDS_MAX)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _give_back(self) -> None:
        if self._launch.configuration.elects:
            with suppress(TimeoutError):
                async with asyncio.timeout(RELEASE_SECONDS_MAX):
                    await self._election.release()

    async def _admit(self) -> None:
        """Answer admission as soon as there is a certificate to show."""
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

    async def _lead(self) -> None:
        if not self._launch.configuration.elects:
            await self._operate()
            return
        facts = {"lease": f"{self._launch.namespace}/{self._launch.configuration.lease_name}"}
        await self._acquire(facts)
        log.info("leading", extra={"facts": facts})
        work = asyncio.create_task(self._operate())
        kept = asyncio.create_task(self._election.keep())
        try:
            await asyncio.wait([work, kept], return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                await work
            else:
                raise LeaseLost(f"the lease {facts['lease']} is lost, so this process ends")
        finally:
            work.cancel()
            kept.cancel()
            await asyncio.gather(work, kept, return_exceptions=True)

    async def _acquire(self, facts: Mapping[str, str]) -> None:
        """
        Return when the lease is ours.

        What stands in the way is logged when it changes, and once a minute if it is a failure.
        """
        acquiring = asyncio.create_task(self._election.acquire())
        told: Mapping[str, str] = {}
        begun = spoken = self._time.elapsed()
        try:
            while not acquiring.done():
                await asyncio.wait([acquiring], timeout=TELL_SECONDS)
                trouble, holder = self._election.trouble, self._election.holder
                why = {"error": str(trouble)} if trouble else {"holder": holder or "nobody"}
                now = self._time.elapsed()
                is_due = trouble is not None and now - spoken >= WARNING_SECONDS
                if acquiring.done() or (why == told and not is_due):
                    continue
                begun = begun if why == told else now
                lasting = {"for": f"{int(now - begun)}s"} if why == told else {}
                told, spoken = why, now
                emit = log.warning if trouble else log.info
                words = "cannot reach for the lease" if trouble else "waiting for the lease"
                emit(words, extra={"facts": {**facts, **why, **lasting}})
            await acquiring
        finally:
            acquiring.cancel()

    async def _operate(self) -> None:
        """What only the one who leads does."""
        installing = self._launch.installing
        apis = self._launch.apis
        if installing is not None:
            _log_all(await install_definitions(self._cluster, apis, installing))
        self._keeper.wake()
        await self._keeper.is_settled.wait()
        while not self.admission.is_serving:
            await self._time.sleep(0.01)
        if installing is not None:
            told = InstallOptions(
                installing.namespace,
                installing.webhook_url,
                self._keeper.ca.encode(),
                installing.replace_crds,
                installing.ignore_disaggregated,
            )
            _log_all(await install_webhooks(self._cluster, apis, told))
            if self._are_metrics_guarded:
                _log_all(await install_roles(self._cluster, told))
        async with asyncio.TaskGroup() as group:
            if self._launch.read_document is not None:
                group.create_task(log_pruning(self._launch.read_document, apis))
            await self._make_operator().run()

    def _make_operator(self) -> Operator:
        launch = self._launch
        context = ControllerContext(
            self._cluster,
            self._time,
            self._chance,
            launch.settings,
            self.may_write,
            launch.identity,
        )
        self.operator = Operator(context, launch.apis, self.measures)
        for controller in self.operator.controllers:
            self.measures.follow(controller)
            self._probes.append(Probe(controller.queue, self._time))
        return self.operator

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
        return {"/metrics": lambda: Page(self.measures.registry.render(), True, MEDIA_TYPE)}

    async def _show_metrics(self, guard: Guard) -> None:
        """Show metrics to other machines, over HTTPS and to those who may read them."""
        address = self._launch.configuration.metrics_address
        if self._are_metrics_guarded:
            await self.pages.start(address, self._metrics, guard)
            log.info("metrics are served", extra={"facts": {"port": self.pages.ports[address]}})

    @property
    def _are_metrics_guarded(self) -> bool:
        """Whether other machines can read the metrics."""
        address = self._launch.configuration.metrics_address
        return address not in (NOWHERE, "") and not is_local(address)

    def _judge_liveness(self) -> Health:
        verdicts = [probe.liveness() for probe in self._probes]
        return next((result for result in verdicts if not result.is_good), Health(True))

    def _judge_readiness(self) -> Health:
        if not self.admission.is_serving:
            return Health(False, "admission is not answered yet: there is no certificate")
        if not self.may_write():
            return Health(True)
        if self.operator is None:
            return Health(False, "starting")
        return judge_readiness(self.operator.informers.unlisted)


def _page(health: Health) -> Page:
    return Page(health.text, health.is_good)


def _log_all(lines: Sequence[str]) -> None:
    for line in lines:
        log.info(line)


def _server_names(launch: Launch) -> tuple[str, ...]:
    """The names by which API servers call the admission server, and scrapers the metrics."""
    services = (launch.configuration.service_name, METRICS_SERVICE)
    names = tuple(
        f"{service}.{launch.namespace}{domain}"
        for service in services
        for domain in ("", ".svc", ".svc.cluster.local")
    )
    host = urlsplit(launch.webhook_url).hostname if launch.webhook_url else None
    return (*names, host) if host else names
