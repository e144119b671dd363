"""
``python -m bench.controller KUBECONFIG PORT API``: the operator in a process of its own, counted.

It is the process behind ``kohort controller --install --apis API``, on a cluster whose
requests are counted by verb and kind. Each line on its standard input is answered
with the counts and the CPU time so far.
"""

import asyncio
import json
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, cast

from kohort.apis.served import choose_apis
from kohort.cluster.http import connect
from kohort.cluster.objects import Kind
from kohort.cluster.port import Cluster, PatchType
from kohort.controller.install.install import InstallOptions
from kohort.controller.process.configuration import Configuration
from kohort.controller.process.process import Launch, Process
from kohort.process.loop import run
from kohort.process.memory import bound_heaps, settle_memory

_VERBS = ("create", "dry_run_create", "read", "update", "patch", "delete", "list", "watch")
_REVIEWS = re.compile(r'webhook_requests_total\{webhook="([^"]*)",code="(\d+)"\} (\S+)')
_LOOKS = re.compile(r"kohort_plan_seconds_count\S* (\S+)")


class CountedRequests:
    """Passes everything on, and counts it by verb and kind."""

    def __init__(self, inner: Cluster) -> None:
        self._inner = inner
        self.seen: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)
        if name not in _VERBS:
            return method

        def call(target: Any, *arguments: Any, **options: Any) -> Any:
            kind = target if isinstance(target, Kind) else target.kind
            part = getattr(target, "part", "")
            verb = "apply" if PatchType.APPLY in arguments else name
            self.seen[f"{verb} {kind.name}{'/' if part else ''}{part}"] += 1
            return method(target, *arguments, **options)

        return call


def main() -> None:
    """Run until standard input ends."""
    bound_heaps()
    settle_memory()
    run(_work(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))


async def _work(kubeconfig: Path, port: int, api: str) -> None:
    url = f"https://127.0.0.1:{port}"
    launch = Launch(
        apis=choose_apis((api,)),
        identity="bench",
        configuration=Configuration(
            webhook_host="127.0.0.1", webhook_port=port, metrics_address="0", health_address="0"
        ),
        webhook_url=url,
        installing=InstallOptions(webhook_url=url),
    )
    stop = asyncio.Event()
    async with connect(kubeconfig) as cluster:
        counted = CountedRequests(cluster)
        process = Process(cast(Cluster, counted), launch)
        lines = asyncio.create_task(_answer(process, counted, stop))
        await process.run(stop)
        await lines


async def _answer(process: Process, counted: CountedRequests, stop: asyncio.Event) -> None:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.readline():
        page = process.measures.registry.render()
        text = page.decode() if isinstance(page, bytes) else page
        operators = process.operators.values()
        state = {
            "ready": bool(operators) and all(each.informers.are_ready for each in operators),
            "cpu": time.process_time(),
            "requests": counted.seen,
            "reviews": {path: int(float(n)) for path, _, n in _REVIEWS.findall(text)},
            "looks": sum(int(float(number)) for number in _LOOKS.findall(text)),
        }
        print(json.dumps(state), flush=True)
    stop.set()


if __name__ == "__main__":
    main()
