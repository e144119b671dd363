"""
The server of the dashboard: files, the JSON API, and the feed, behind the gate.

The server sends no request to the cluster before the first page is opened, and imports the code
that reads it only then, so that it starts at once. All URLs of the page are relative, so that it
works behind a path prefix.
"""

import asyncio
import errno
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson
from aiohttp import web

from kohort import __version__
from kohort.cluster.errors import BadRequest, ClusterError, KohortError
from kohort.cluster.http import HttpCluster
from kohort.cluster.objects import Object
from kohort.dashboard.gate import NO_TOKEN, SECURITY_HEADERS, Gate
from kohort.views.plain import to_plain

if TYPE_CHECKING:
    from kohort.dashboard.answers import Answers
    from kohort.dashboard.clock import ClusterClock
    from kohort.dashboard.journal_reader import JournalReader
    from kohort.dashboard.state import State, WorkloadId
    from kohort.dashboard.writes import SimulationControls, Writes

PORT_DEFAULT = 7070
PAGES = Path(__file__).with_name("pages")
_MEDIA = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}
_READY_SECONDS_MAX = 30.0
_CLOCK_SECONDS = 1.0  # how often a clock that may leap is read
_BODY_BYTES_MAX = 64 * 1024
log = logging.getLogger(__name__)
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class DashboardOptions:
    """The options of a dashboard's server."""

    address: str = "127.0.0.1"
    port: int = PORT_DEFAULT
    prefix: str = ""  # the path that a proxy leaves in front of ours, such as /kohort
    allowed_hosts: tuple[str, ...] = ()
    namespace: str = ""  # empty: all
    allows_writes: bool = False
    # The operator's own address and a token for it, where the API server shows no journal.
    journal_address: str = ""
    journal_token: str = ""


class _Unready(KohortError):
    """The cluster has not answered yet."""


class DashboardServer:
    """Serves the dashboard of one cluster."""

    def __init__(self, connect: Callable[[], HttpCluster], options: DashboardOptions) -> None:
        self.gate = Gate(options.address, options.allowed_hosts)
        self.port = options.port
        self._options = options
        self._connect = connect
        self._cluster: HttpCluster | None = None
        self._state: State | None = None
        self._clock: ClusterClock | None = None
        self._work: asyncio.Task[None] | None = None
        self._journal: JournalReader | None = None
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """The address that a user opens, with the token."""
        address = self._options.address
        host = f"[{address}]" if ":" in address else address
        return f"http://{host}:{self.port}{self._options.prefix}/?token={quote(self.gate.token)}"

    async def start(self, *, may_move: bool = False) -> None:
        """Listen; if the port is taken, on any free one if allowed, else raises OSError."""
        runner = web.AppRunner(self._make_app(), access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            try:
                await web.TCPSite(runner, self._options.address, self.port).start()
            except OSError as error:
                if not may_move or error.errno != errno.EADDRINUSE:
                    raise
                await web.TCPSite(runner, self._options.address, 0).start()
        except OSError:
            await runner.cleanup()
            raise
        self._runner = runner
        self.port = runner.addresses[0][1]

    async def pause(self) -> None:
        """Stop listening, and end all streams; ``start`` listens on the same port again."""
        if self._state is not None:
            self._state.feed.close()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def stop(self) -> None:
        """End all streams and connections."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        await self.pause()
        if self._cluster is not None:
            await self._cluster.close()

    def _make_app(self) -> web.Application:
        app = web.Application(middlewares=[self._guard], client_max_size=_BODY_BYTES_MAX)
        api, prefix = f"{self._options.prefix}/api/v1", self._options.prefix
        one = f"{api}/workloads/{{resource}}/{{namespace}}/{{name}}"
        app.router.add_get(f"{prefix}/", self._send_page)
        app.router.add_get(f"{prefix}/{{file}}", self._send_file)
        app.router.add_get(f"{api}/cluster", self._json(self._show_cluster))
        app.router.add_get(f"{api}/workloads", self._json(self._list_workloads))
        app.router.add_get(one, self._json(self._show_workload))
        app.router.add_get(f"{one}/{{view}}", self._json(self._show_workload))
        app.router.add_post(f"{one}/plan", self._json(self._plan_verb))
        app.router.add_post(f"{one}/turn", self._json(self._take_verb))
        app.router.add_get(f"{api}/topology", self._json(self._show_map))
        app.router.add_get(f"{api}/nodes", self._json(self._show_nodes))
        app.router.add_get(f"{api}/clock", self._json(self._show_clock))
        app.router.add_post(f"{api}/clock", self._json(self._change_clock))
        app.router.add_post(f"{api}/nodes/{{name}}/{{verb}}", self._json(self._change_node))
        app.router.add_get(f"{api}/journal", self._json(self._list_moments))
        app.router.add_get(f"{api}/journal/step", self._json(self._show_step))
        app.router.add_get(f"{api}/reasons", self._json(self._list_reasons))
        app.router.add_get(f"{api}/stream", self._stream)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        fault = self.gate.find_fault(request.method, request.headers)
        is_page = request.path == f"{self._options.prefix}/"
        if fault:
            answer: web.StreamResponse = _refuse(403, fault)
        elif not self.gate.knows(request.cookies) and not is_page:
            answer = _refuse(401, NO_TOKEN)
        else:
            try:
                answer = await handler(request)
            except web.HTTPException as error:
                answer = _refuse(error.status, error.reason)
        if not answer.prepared:
            answer.headers.update(SECURITY_HEADERS)
            answer.headers.setdefault("Cache-Control", "no-store")
        return answer

    async def _send_page(self, request: web.Request) -> web.StreamResponse:
        """The page; a token becomes a cookie, and the page removes it from the address."""
        is_known = self.gate.knows(request.cookies)
        token = request.query.get("token", "")
        secret = "" if is_known else self.gate.exchange(token)
        if not is_known and not secret:
            return web.Response(status=401, text=f"{self.gate.explain(token)}\n")
        answer = _send("index.html")
        if secret:
            # A cookie without a path is valid for this page's folder, under any proxy path.
            cookie = f"{self.gate.cookie}={secret}; HttpOnly; SameSite=Strict"
            answer.headers["Set-Cookie"] = cookie
        return answer

    async def _send_file(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["file"]
        if name not in _list_files():
            return _refuse(404, f"there is no file {name!r}")
        return _send(name)

    def _json(self, make: Callable[[web.Request], Awaitable[Any]]) -> _Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            try:
                value = to_plain(await make(request))
            except ClusterError as error:
                return _refuse(error.code, str(error))
            except KohortError as error:
                return _refuse(503 if isinstance(error, _Unready) else 400, str(error))
            return web.Response(body=orjson.dumps(value), content_type="application/json")

        return handle

    def _begin(self) -> "State":
        """The state, complete or not; the first call starts the watches."""
        if self._work is not None and self._work.done():
            self._state = None
        if self._state is None:
            from kohort.dashboard.clock import ClusterClock
            from kohort.dashboard.state import State

            self._clock = ClusterClock()
            self._state = State(self._reach(), self._options.namespace, time=self._clock)
            self._work = asyncio.create_task(self._run(self._state))
        return self._state

    async def _open(self) -> "State":
        """The state, after all first lists have completed."""
        state = self._begin()
        with suppress(TimeoutError):
            async with asyncio.timeout(_READY_SECONDS_MAX):
                await state.is_ready.wait()
                return state
        problems = "; ".join(state.list_problems()[:3]) or "its lists are not complete yet"
        raise _Unready(f"the cluster does not answer: {problems}")

    def _reach(self) -> HttpCluster:
        self._cluster = self._cluster or self._connect()
        return self._cluster

    async def _run(self, state: "State") -> None:
        # Workloads are judged by the cluster's time, so it is read before them.
        self._take_clock(await self._controls().read_clock())
        following = asyncio.create_task(self._follow_clock())
        try:
            await state.run()
        except Exception:
            log.exception("the watches of the dashboard failed; they are started again")
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)

    async def _follow_clock(self) -> None:
        """Read the clock of a cluster that has one of its own again and again: it may leap."""
        while self._clock is not None and self._clock.is_own:
            await asyncio.sleep(_CLOCK_SECONDS)
            self._take_clock(await self._controls().read_clock())

    def _take_clock(self, told: Object | None) -> None:
        """Take a reading; pages ask for the time again if it is another than they know."""
        assert self._clock is not None
        if self._clock.take(told, self._reach().server_date) and self._state is not None:
            self._state.feed.publish("clock", {})

    def _controls(self) -> "SimulationControls":
        from kohort.dashboard.writes import SimulationControls

        assert self._cluster is not None
        return SimulationControls(self._cluster)

    async def _show_cluster(self, request: web.Request) -> Any:
        state = self._begin()
        assert self._cluster is not None
        self._take_clock(clock := await self._controls().read_clock())
        assert self._clock is not None
        return {
            "version": __version__,
            "server": self._cluster.server,
            "context": self._cluster.context,
            "namespace": self._options.namespace,
            "isSimulated": clock is not None,
            "time": self._clock.describe(),
            "allowsWrites": self._options.allows_writes,
            "shortNames": state.short_names,
            "reading": state.read_progress(),
            "problems": state.list_problems(),
        }

    async def _answers(self) -> "Answers":
        from kohort.dashboard.answers import Answers

        return Answers(await self._open())

    async def _list_workloads(self, request: web.Request) -> Any:
        """All rows; with ``soon`` only those made so far, for a page with an open feed."""
        if "soon" in request.query:
            return [held.row for held in self._begin().workloads.values()]
        return (await self._answers()).list_rows(blocked="blocked" in request.query)

    async def _show_workload(self, request: web.Request) -> Any:
        answers = await self._answers()
        return await answers.show(_read_id(request), request.match_info.get("view", ""))

    async def _writes(self) -> "Writes":
        from kohort.dashboard.writes import Writes

        answers = await self._answers()
        assert self._cluster is not None
        return Writes(answers, self._cluster, is_allowed=self._options.allows_writes)

    async def _plan_verb(self, request: web.Request) -> Any:
        return (await self._writes()).plan(_read_id(request), await _read_body(request))

    async def _take_verb(self, request: web.Request) -> Any:
        writes, body = await self._writes(), await _read_body(request)
        return await writes.carry_out(_read_id(request), body)

    async def _show_map(self, request: web.Request) -> Any:
        return await (await self._answers()).draw_map()

    async def _show_nodes(self, request: web.Request) -> Any:
        return await (await self._answers()).show_nodes(request.query)

    async def _show_clock(self, request: web.Request) -> Any:
        await self._open()
        return await self._controls().read_clock()

    async def _change_clock(self, request: web.Request) -> Any:
        await self._open()
        self._take_clock(told := await self._controls().change_clock(await _read_body(request)))
        return told

    async def _change_node(self, request: web.Request) -> Any:
        await self._open()
        name, verb = request.match_info["name"], request.match_info["verb"]
        await self._controls().change_node(name, verb)
        return {"name": name, "verb": verb}

    def _read_journal(self) -> "JournalReader":
        from kohort.dashboard.journal_reader import JournalReader
        from kohort.operator_journal import OperatorAddress

        if self._journal is None:
            told = self._options
            operator = OperatorAddress(told.journal_address, told.journal_token)
            self._journal = JournalReader(
                self._reach(), told.namespace, operator if told.journal_address else None
            )
        return self._journal

    async def _list_moments(self, request: web.Request) -> Any:
        return await self._read_journal().list_moments()

    async def _show_step(self, request: web.Request) -> Any:
        return await self._read_journal().show_step(request.query.get("id", ""))

    async def _list_reasons(self, request: web.Request) -> Any:
        from kohort.views.reasons import load_pages

        return dict(load_pages())

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        state = self._begin()
        answer = web.StreamResponse(
            headers={
                **SECURITY_HEADERS,
                "Content-Type": "text/event-stream",
                "Cache-Control": "no-store",
                "X-Accel-Buffering": "no",
            }
        )
        await answer.prepare(request)
        last_id = request.headers.get("Last-Event-ID") or request.query.get("lastEventId", "")
        with suppress(ConnectionError):
            async for part in state.feed.listen(last_id):
                await answer.write(part)
        return answer


def _read_id(request: web.Request) -> "WorkloadId":
    from kohort.dashboard.state import WorkloadId

    found = request.match_info
    namespace = "" if found["namespace"] == "_" else found["namespace"]
    return WorkloadId(found["resource"], namespace, found["name"])


async def _read_body(request: web.Request) -> dict[str, Any]:
    try:
        body = orjson.loads(await request.read())
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"the body is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise BadRequest("the body must be a JSON object")
    return body


def _list_files() -> set[str]:
    return {path.name for path in PAGES.iterdir() if path.suffix in _MEDIA}


def _send(name: str) -> web.Response:
    path = PAGES / name
    media = _MEDIA[path.suffix]
    answer = web.Response(body=path.read_bytes(), content_type=media, charset="utf-8")
    answer.headers["Cache-Control"] = "no-cache"
    return answer


def _refuse(status: int, message: str) -> web.Response:
    body = orjson.dumps({"message": message.strip()})
    return web.Response(status=status, body=body, content_type="application/json")
