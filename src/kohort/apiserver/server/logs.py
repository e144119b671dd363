"""
The log subresource: choice of the container, options, and streaming.

The lines of a container come from a ``Logs`` value. This module decides which container
and which of its lines a request gets, and refuses requests in a real server's words.
"""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Protocol

from aiohttp import web

from kohort.apiserver.server.answers import Call
from kohort.apiserver.server.request.queries import Query, find_number, first, is_set
from kohort.apiserver.server.watches import (
    Streams,
    drop,
    end_or_drop,
    open_stream,
    write_or_drop,
)
from kohort.cluster.errors import BadRequest, invalid
from kohort.cluster.fields import FieldError, FieldErrorType, show
from kohort.cluster.objects import Object, name_of

_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
_STATUSES = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")


class LogLine(NamedTuple):
    """One line that a container has written, and when."""

    time: datetime
    text: str


class Logs(Protocol):
    """The interface to the source of container logs."""

    def lines(self, pod: Object, container: str, *, previous: bool) -> Sequence[LogLine]:
        """All lines written so far, oldest first."""

    def follow(self, pod: Object, container: str, after: int) -> AsyncGenerator[LogLine, None]:
        """The lines after the given number, as they are written; ends with the container."""


class NoLogs:
    """Containers that never say anything."""

    def lines(self, pod: Object, container: str, *, previous: bool) -> Sequence[LogLine]:
        """Nothing."""
        return ()

    async def follow(
        self, pod: Object, container: str, after: int
    ) -> AsyncGenerator[LogLine, None]:
        """Nothing, and that at once."""
        nothing: tuple[LogLine, ...] = ()
        for line in nothing:
            yield line


@dataclass(frozen=True, slots=True)
class LogOptions:
    """The options of a log request."""

    container: str = ""
    follow: bool = False
    previous: bool = False
    timestamps: bool = False
    tail: int | None = None
    since: datetime | None = None
    limit_bytes: int | None = None


def read_log_options(query: Query, pod: str, now: datetime) -> LogOptions:
    """The options in a query, checked as a real server checks them."""
    tail, limit = find_number(query, "tailLines"), find_number(query, "limitBytes")
    seconds, since = find_number(query, "sinceSeconds"), _find_time(first(query, "sinceTime"))
    errors = []
    if tail is not None and tail < 0:
        why = "must be greater than or equal to 0"
        errors.append(FieldError(FieldErrorType.INVALID, "tailLines", why, tail))
    for field, number in (("limitBytes", limit), ("sinceSeconds", seconds)):
        if number is not None and number < 1:
            errors.append(
                FieldError(FieldErrorType.INVALID, field, "must be greater than 0", number)
            )
    if seconds is not None and since is not None:
        why = "at most one of `sinceTime` or `sinceSeconds` may be specified"
        errors.append(FieldError(FieldErrorType.FORBIDDEN, "[]", why))
    if errors:
        raise invalid("PodLogOptions", "", pod, errors)
    if seconds is not None:
        since = now - timedelta(seconds=seconds)
    return LogOptions(
        container=first(query, "container"),
        follow=is_set(query, "follow"),
        previous=is_set(query, "previous"),
        timestamps=is_set(query, "timestamps"),
        tail=tail,
        since=since,
        limit_bytes=limit,
    )


def _find_time(text: str) -> datetime | None:
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise BadRequest(
            f'parsing time {show(text)} as "2006-01-02T15:04:05Z07:00": '
            f'cannot parse {show(text)} as "2006"'
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def choose_container(pod: Object, wanted: str) -> str:
    """The requested container; the error of a pod with several if none is named."""
    spec = pod.get("spec") or {}
    names = [c["name"] for field in _CONTAINERS for c in spec.get(field) or ()]
    name = name_of(pod)
    if wanted:
        if wanted not in names:
            raise BadRequest(f"container {wanted} is not valid for pod {name}")
        return wanted
    if len(names) != 1:
        shown = " ".join(names)
        raise BadRequest(
            f"a container name must be specified for pod {name}, choose one of: [{shown}]"
        )
    return str(names[0])


def check_state(pod: Object, container: str, *, previous: bool) -> None:
    """Raise for a container that has not started, or has no previous run."""
    status = pod.get("status") or {}
    found = [s for field in _STATUSES for s in status.get(field) or () if s["name"] == container]
    if previous:
        if not found or not (found[0].get("lastState") or {}).get("terminated"):
            raise BadRequest(
                f'previous terminated container "{container}" in pod "{name_of(pod)}" not found'
            )
        return
    state = (found[0].get("state") or {}) if found else {}
    if not found or "waiting" in state:
        reason = (state.get("waiting") or {}).get("reason") or "ContainerCreating"
        has_run = found and (found[0].get("lastState") or {}).get("terminated")
        if not has_run:
            raise BadRequest(
                f'container "{container}" in pod "{name_of(pod)}" is waiting to start: {reason}'
            )


def cut(lines: Iterable[LogLine], options: LogOptions) -> list[LogLine]:
    """The lines that the options select."""
    since = options.since
    chosen = [line for line in lines if since is None or line.time >= since]
    if options.tail is None:
        return chosen
    return chosen[len(chosen) - options.tail :] if options.tail < len(chosen) else chosen


def write_lines(lines: Iterable[LogLine], *, timestamps: bool) -> bytes:
    """Lines as bytes, with timestamps if requested."""
    if not timestamps:
        return "".join(f"{line.text}\n" for line in lines).encode()
    return "".join(f"{_stamp(line.time)} {line.text}\n" for line in lines).encode()


def _stamp(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")


async def stream_logs(
    call: Call, pod: Object, logs: Logs, streams: Streams, now: datetime
) -> web.StreamResponse:
    """Answer a log request; with ``follow``, stream until the container ends."""
    options = read_log_options(call.query, name_of(pod), now)
    container = choose_container(pod, options.container)
    if not (pod.get("spec") or {}).get("nodeName"):
        return web.Response(status=204)
    check_state(pod, container, previous=options.previous)
    lines = logs.lines(pod, container, previous=options.previous)
    data = write_lines(cut(lines, options), timestamps=options.timestamps)
    response = await open_stream(call.request, "text/plain")
    budget = _Budget(options.limit_bytes)
    with suppress(ConnectionError):
        with streams.hold():
            await write_or_drop(response, budget.take(data))
            if options.follow and not options.previous and not budget.is_spent:
                async with aclosing(logs.follow(pod, container, len(lines))) as told:
                    async for line in told:
                        data = write_lines([line], timestamps=options.timestamps)
                        await write_or_drop(response, budget.take(data))
                        if budget.is_spent:
                            break
        await end_or_drop(response)
        return response
    drop(call.request)
    return response


class _Budget:
    """The rest of limitBytes."""

    def __init__(self, limit: int | None) -> None:
        self._left = limit

    @property
    def is_spent(self) -> bool:
        """Whether nothing more may be written."""
        return self._left == 0

    def take(self, data: bytes) -> bytes:
        """As much of the data as fits."""
        if self._left is None:
            return data
        data = data[: self._left]
        self._left -= len(data)
        return data
