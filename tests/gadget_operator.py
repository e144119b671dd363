"""An operator for the tests' own API, in a thread beside a test, as if it were a process."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gadget_api import GADGETS
from kohort.cluster.http import connect
from kohort.controller.install import InstallOptions
from kohort.controller.process.configuration import Configuration
from kohort.controller.process.process import Launch, Process

START_SECONDS_MAX = 60.0


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


class _Operator(threading.Thread):
    """One operator with an event loop of its own."""

    def __init__(self, kubeconfig: Path) -> None:
        super().__init__(daemon=True)
        self.ready = threading.Event()
        self.error: BaseException | None = None
        self._kubeconfig = kubeconfig
        self._loop = asyncio.new_event_loop()
        self._ending = asyncio.Event()

    def run(self) -> None:
        try:
            self._loop.run_until_complete(self._work())
        except BaseException as error:
            self.error = error
        finally:
            self.ready.set()

    async def _work(self) -> None:
        port = _free_port()
        url = f"https://127.0.0.1:{port}"
        told = Configuration(
            webhook_host="127.0.0.1", webhook_port=port, metrics_address="0", health_address="0"
        )
        async with connect(self._kubeconfig) as cluster:
            launch = Launch(
                [GADGETS],
                "gadget-operator",
                told,
                webhook_url=url,
                installing=InstallOptions(webhook_url=url),
            )
            process = Process(cluster, launch)
            watching = asyncio.create_task(self._watch(process))
            await process.run(self._ending)
            watching.cancel()

    async def _watch(self, process: Process) -> None:
        while not any(each.informers.are_ready for each in process.operators.values()):
            await asyncio.sleep(0.02)
        self.ready.set()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._ending.set)
        self.join(START_SECONDS_MAX)


@contextmanager
def gadget_operator(kubeconfig: Path) -> Iterator[None]:
    """An operator at work on Gadgets, which it has brought the cluster; it ends with the block."""
    operator = _Operator(kubeconfig)
    operator.start()
    try:
        assert operator.ready.wait(START_SECONDS_MAX), "the operator did not start"
        assert operator.error is None, operator.error
        yield
    finally:
        if operator.is_alive():
            operator.stop()
