"""A cluster that answers what a test wrote down: lists by path, and logs and watches in turn."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import orjson
from aiohttp import web

from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Object

T = TypeVar("T")
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Script:
    """What is answered; of answers in turn the last one stays."""

    lists: dict[str, list[list[Object]]] = field(default_factory=dict)  # by plural, in turn
    logs: list[Answer] = field(default_factory=list)
    watches: dict[str, list[Answer]] = field(default_factory=dict)  # by plural, in turn
    queries: list[dict[str, str]] = field(default_factory=list)  # of logs

    async def handle(self, request: web.Request) -> web.StreamResponse:
        plural = request.path.rpartition("/")[2]
        if plural == "log":
            self.queries.append(dict(request.query))
            return await _next(self.logs)(request)
        if plural == "version":
            return web.json_response({"gitVersion": "v1.34.0"})
        if request.query.get("watch") and "sendInitialEvents" not in request.query:
            return await _next(self.watches.get(plural) or [hang])(request)
        # Commands look for warnings, too; there are none.
        is_other = "type=" in request.query.get("fieldSelector", "")
        items = _next([[]] if is_other else self.lists.get(plural) or [[]])
        if request.query.get("watch"):
            return await _begin_watch(items)(request)
        body = {"metadata": {"resourceVersion": "1"}, "items": items}
        return web.json_response(body)


def _next(answers: list[T]) -> T:
    return answers.pop(0) if len(answers) > 1 else answers[0]


def refuse(error: ClusterError) -> Answer:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(body=orjson.dumps(error.status()), status=error.code)

    return answer


def stream(*chunks: bytes, breaks: bool = False) -> Answer:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for chunk in chunks:
            await response.write(chunk)
        if breaks:
            assert request.transport is not None
            request.transport.abort()
        return response

    return answer


async def hang(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    await asyncio.Event().wait()
    return response


def _begin_watch(items: list[Object]) -> Answer:
    """A watch that begins with a list, and then brings nothing."""
    metadata = {"resourceVersion": "9", "annotations": {"k8s.io/initial-events-end": "true"}}
    changes = [{"type": "ADDED", "object": item} for item in items]
    changes.append({"type": "BOOKMARK", "object": {"metadata": metadata}})

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"".join(orjson.dumps(change) + b"\n" for change in changes))
        await asyncio.Event().wait()
        return response

    return answer


@contextmanager
def serving(script: Script, folder: Path) -> Iterator[Path]:
    """Serve the script in a thread; the kubeconfig of it."""
    loop, ready, ports = asyncio.new_event_loop(), threading.Event(), []

    def run() -> None:
        runner = loop.run_until_complete(_start(script))
        ports.append(runner.addresses[0][1])
        ready.set()
        loop.run_forever()
        loop.run_until_complete(_end(runner))
        loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert ready.wait(30)
        yield _write_kubeconfig(folder / "kubeconfig", f"http://127.0.0.1:{ports[0]}")
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)


async def _start(script: Script) -> web.AppRunner:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", script.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner


async def _end(runner: web.AppRunner) -> None:
    waiting = asyncio.all_tasks() - {asyncio.current_task()}
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    await runner.cleanup()


def _write_kubeconfig(path: Path, server: str) -> Path:
    body = {
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path.write_bytes(orjson.dumps(body))
    return path
