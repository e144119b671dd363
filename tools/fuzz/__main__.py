"""
A search for requests that break the embedded cluster.

    python -m tools.fuzz --requests 1000000 --seed 7

All verbs, built-in and custom kinds, every form of a body. What was found once is in
``corpus.yaml`` and is sent first. A finding is an answer of 500 that no real server gives,
no answer, or a component that ended; it is printed with the request, and the exit code is 1.
Told at the end: requests a second, the longest stall of the event loop in CPU time with the
requests before it, and memory. Progress goes to the error stream.
"""

import argparse
import asyncio
import sys
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
from tools.fuzz.requests import GROUP, KINDS, Inventor, Request, read_corpus
from yarl import URL

from kohort.process.memory import bound_heaps, settle_memory
from kohort.simulator.embedded import Embedded, EmbeddedOptions

TOKEN = "fuzz"
# What a real server answers with 500, too: recorded from it in ``tests/conformance``, but for list
# elements of several types.
REAL = (
    "etcdserver: request is too large",
    "strconv.ParseUint",
    "resourceVersion: Invalid value",
    "failed to create typed patch object",
    "list element types are not identical",
    "does not contain declared merge key",
    "unknown patch type",
    "resourceVersion should not be set on objects to be created",
    "target.name: Required value",
    "target.kind: Unsupported value",
    "This pod has more than one PodDisruptionBudget",
)
CLEAN_EVERY = 2_000
PROGRESS_EVERY = 20_000
AT_ONCE = 8
BEAT_SECONDS = 0.01
STALL_SECONDS = 0.2


@dataclass
class Report:
    """What was seen."""

    codes: Counter[int] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    stalls: list[str] = field(default_factory=list)
    stall_seconds: float = 0.0
    memory: list[int] = field(default_factory=list)


async def define_kinds(session: aiohttp.ClientSession, base: str) -> None:
    """Serve two custom kinds: one that takes anything, one with rules."""
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    rule = [{"rule": "self.all(x, self.exists_one(y, y == x))"}]
    tags = {"type": "array", "items": {"type": "string"}, "x-kubernetes-validations": rule}
    text = {"type": "string", "pattern": "^(a+)+$", "default": "aa"}
    spec = {
        "type": "object",
        "properties": {"size": {"type": "integer"}, "tags": tags, "text": text},
    }
    ruled = {"type": "object", "properties": {"spec": spec, "status": free}}
    for plural, kind, schema in (("things", "Thing", free), ("gears", "Gear", ruled)):
        version = {"name": "v1", "served": True, "storage": True}
        version |= {"schema": {"openAPIV3Schema": schema}}
        if kind == "Gear":
            paths = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}
            version |= {"subresources": {"status": {}, "scale": paths}}
        names = {"plural": plural, "kind": kind, "singular": kind.lower()}
        body = {"group": GROUP, "names": names, "scope": "Namespaced", "versions": [version]}
        crd = {"metadata": {"name": f"{plural}.{GROUP}"}, "spec": body}
        crd |= {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
        url = f"{base}/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        async with session.post(url, json=crd) as response:
            assert response.status == 201, await response.text()


class Search:
    """One run against one cluster."""

    def __init__(self, embedded: Embedded, session: aiohttp.ClientSession) -> None:
        self.report = Report()
        self._embedded = embedded
        self._session = session
        self._base = f"http://127.0.0.1:{embedded.port}"
        self._recent: deque[Request] = deque(maxlen=2 * AT_ONCE)

    async def send(self, request: Request) -> None:
        """Send one request, and judge the answer."""
        url = URL(self._base + request.path.replace("²", "%C2%B2"), encoded=True)
        headers = {"Content-Type": request.media, "Accept": request.accept}
        self._recent.append(request)
        try:
            async with (
                asyncio.timeout(120),
                self._session.request(
                    request.method, url, data=request.body, headers=headers
                ) as response,
            ):
                raw = await response.read()
        except (TimeoutError, aiohttp.ClientError) as error:
            self._find(f"{request}\n    no answer: {error!r}")
            return
        self.report.codes[response.status] += 1
        text = raw.decode("utf-8", "replace")
        if response.status == 500 and not any(known in text for known in REAL):
            self._find(f"{request}\n    {text[:400]}")
        if self._embedded._running.done():
            self._find(f"{request}\n    the components have ended")

    def _find(self, text: str) -> None:
        """Keep a finding, and say it at once: the end may be an hour away."""
        self.report.findings.append(text)
        print("FOUND", text, file=sys.stderr, flush=True)

    async def send_many(self, inventor: Inventor, count: int, end: float | None) -> None:
        """Send so many new requests, some at once, or as many as there is time for."""
        left = iter(range(count))

        async def work() -> None:
            for _ in left:
                if end is not None and time.monotonic() > end:
                    return
                await self.send(inventor.next())

        await asyncio.gather(*(work() for _ in range(AT_ONCE)))

    async def beat(self) -> None:
        """
        Measure for how long the event loop does one thing.

        CPU seconds of the loop's thread are counted: on a busy machine the clock on the wall also
        counts what other processes do.
        """
        while True:
            start = time.thread_time()
            await asyncio.sleep(BEAT_SECONDS)
            took = time.thread_time() - start - BEAT_SECONDS
            self.report.stall_seconds = max(self.report.stall_seconds, took)
            if took > STALL_SECONDS:
                recent = "\n    ".join(map(str, self._recent))
                self.report.stalls.append(f"{took * 1000:.0f} ms, one of\n    {recent}")

    async def clean(self) -> None:
        """Take away what was made, so that memory tells of leaks and not of objects."""
        self.report.memory.append(read_memory())
        for path, _, kind, _ in KINDS:
            if kind != "Node":
                url = f"{self._base}{path}?gracePeriodSeconds=0"
                async with self._session.delete(url) as response:
                    await response.read()


def tell_progress(report: Report, sent: int, requests: int) -> None:
    """Say how far the search has come: a million requests take an hour."""
    print(
        f"{sent} of {requests} sent, {len(report.findings)} findings, longest stall "
        f"{report.stall_seconds * 1000:.0f} ms, {report.memory[-1]} MiB",
        file=sys.stderr,
        flush=True,
    )


def read_memory() -> int:
    """How much memory this process holds now, in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    line = next(line for line in lines if "VmRSS" in line)
    return int(line.split()[1]) // 1024


async def run(requests: int, seed: int, seconds: float | None, is_host: bool = False) -> Report:
    """
    Send the corpus, then so many requests.

    Where the process is all the cluster's, memory is kept as ``kohort up`` does it.
    """
    if is_host:
        bound_heaps()
    embedded = await Embedded.start(EmbeddedOptions(token=TOKEN, nodes=2, speed=100.0))
    if is_host:
        settle_memory()
    headers = {"Authorization": f"Bearer {TOKEN}", "User-Agent": "fuzz/1.0"}
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:
        search = Search(embedded, session)
        await define_kinds(session, f"http://127.0.0.1:{embedded.port}")
        for request in read_corpus():
            await search.send(request)
        beating = asyncio.create_task(search.beat())
        inventor, sent = Inventor(seed), 0
        end = None if seconds is None else time.monotonic() + seconds
        while sent < requests and (end is None or time.monotonic() < end):
            count = min(CLEAN_EVERY, requests - sent)
            await search.send_many(inventor, count, end)
            sent += count
            await search.clean()
            if sent % PROGRESS_EVERY == 0:
                tell_progress(search.report, sent, requests)
        beating.cancel()
    await embedded.stop()
    return search.report


def main(arguments: list[str]) -> int:
    """Search, and tell what was found."""
    parser = argparse.ArgumentParser(prog="tools.fuzz", description="Send odd requests.")
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--seconds", type=float, default=None, help="end after that long")
    options = parser.parse_args(arguments)
    seed = options.seed if options.seed is not None else int(time.time())
    started = time.monotonic()
    report = asyncio.run(run(options.requests, seed, options.seconds, is_host=True))
    took = time.monotonic() - started
    total = sum(report.codes.values())
    print(f"seed {seed}: {total} requests in {took:.0f} s, {total / took:.0f} a second")
    print("codes", dict(sorted(report.codes.items())))
    memory = report.memory[:: max(1, len(report.memory) // 20)]
    print(f"longest stall {report.stall_seconds * 1000:.0f} ms; memory in MiB {memory}")
    for finding in report.findings[:20]:
        print("FOUND", finding)
    for stall in report.stalls[:20]:
        print("STALL", stall)
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
