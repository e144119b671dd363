"""
An API server put together: store, verbs, webhooks, conversions and the HTTP server.

Started alone (``start_alone``) it stores and serves objects, and nothing acts on them: a
Deployment gets no pods, and a namespace that is deleted waits for ever. The embedded cluster
lets its scheduler, kubelet and controllers act on the same assembly.
"""

import asyncio
import ssl
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from random import SystemRandom

from kohort.apiserver.admission.conversions import Conversions
from kohort.apiserver.admission.webhooks import Webhooks
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.aside import Threads
from kohort.apiserver.bootstrap import bootstrap
from kohort.apiserver.commits import Commits
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.server.app import App, Page, TokenAuth, create_app
from kohort.apiserver.server.logs import Logs
from kohort.apiserver.server.serve import Server, serve
from kohort.apiserver.store.sqlite import StorageError
from kohort.apiserver.store.store import Store


class AssembledServer:
    """The parts of one API server, joined; it answers requests once it listens."""

    def __init__(
        self, store: Store, now: Callable[[], datetime], gates: frozenset[str] = frozenset()
    ) -> None:
        """Join the parts; ``gates`` are the feature gates that are on."""
        self.commits = Commits(store)
        registry = Registry(builtin_resources(gates))
        self.api = api = ApiServer(store, registry, now, SystemRandom())
        new_uid = api.context.new_uid
        self.webhooks = Webhooks(store, served=registry.resources, new_uid=new_uid)
        registry.listeners.append(self.webhooks.refresh)
        self.conversions = Conversions(new_uid)
        api.context.ask_webhook = self.conversions.ask
        api.context.admission = self.webhooks
        api.settled = self.commits.settled
        api.context.aside = self._threads = Threads()
        self._now = now
        self._server: Server | None = None
        self._resuming: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """The port of the listening socket; 0 before ``listen``."""
        return self._server.port if self._server else 0

    def make_app(
        self, token: str, logs: Logs | None = None, extra: Mapping[str, Page] | None = None
    ) -> App:
        """The HTTP side: clients need the token; ``extra`` are pages that no Kubernetes API has."""
        return create_app(
            self.api,
            TokenAuth(token),
            logs=logs,
            is_ready=lambda: not self.commits.failure.done(),
            clock=self._now,
            extra=extra,
        )

    async def listen(
        self, app: App, tls: ssl.SSLContext | None, host: str = "127.0.0.1", port: int = 0
    ) -> None:
        """Answer requests from now on; a port of 0 takes any free one."""
        self._server = await serve(app, tls, host, port)
        # In the background, since definitions may wait for conversion webhooks that are down.
        self._resuming = asyncio.create_task(self.api.resume())

    async def stop_listening(self) -> None:
        """Stop the HTTP server."""
        if self._server is not None:
            await self._server.stop()

    async def close(self, *, is_failed: bool = False) -> None:
        """Stop background tasks, then close the store.

        Once the server has failed, an error of the store adds nothing and is not raised.
        """
        if self._resuming is not None:
            self._resuming.cancel()
            await asyncio.gather(self._resuming, return_exceptions=True)
        await self.webhooks.close()
        await self.conversions.close()
        await self._threads.stop()
        failure = self.commits.failure
        is_failed |= failure.done() and not failure.cancelled() and bool(failure.exception())
        with suppress(StorageError) if is_failed else nullcontext():
            self.api.store.close()


async def start_alone(
    token: str, tls: ssl.SSLContext, *, late_events: bool = False
) -> AssembledServer:
    """Start an API server on a free port of loopback, in memory, with nothing that acts on it."""
    server = AssembledServer(Store(), _now)
    await bootstrap(server.api.without_waiting())
    app = server.make_app(token)
    if late_events:
        app.delay_events()
    await server.listen(app, tls)
    return server


def _now() -> datetime:
    return datetime.now(UTC)
