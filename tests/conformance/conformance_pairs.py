"""
A case on two servers: a real one and ours, several cases at a time.

Each case has a namespace and a group of its own, so cases do not meet. A real server follows
a changed definition some time after it has answered, and nothing that a client can read says
when; so a case whose real answers differ from the record is asked again, more slowly each time.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from conformance_cases import Answer, Case, load_recorded
from conformance_client import Client
from conformance_comparison import find_differences, ignore_order
from conformance_run import run_case

SIDE_BY_SIDE = 6
CASE_SECONDS_MAX = 900.0
REAL_PATIENCE_SECONDS = (0.0, 0.0, 0.5, 2.0, 8.0)


@dataclass(frozen=True, slots=True)
class Pair:
    """What both servers answered to a case."""

    real: list[Answer]
    ours: list[Answer]


class PairRuns:
    """Sends cases to both servers from the moment it is made."""

    def __init__(
        self, real: Callable[[], Client], ours: Callable[[], Client], cases: Sequence[Case]
    ) -> None:
        self._connect = (real, ours)
        self._own = threading.local()  # one connection to each server for each thread
        self._pool = ThreadPoolExecutor(SIDE_BY_SIDE)
        self._futures: dict[str, Future[Pair]] = {
            case.name: self._pool.submit(self._run, case) for case in cases
        }

    def wait_for(self, case: Case) -> Pair:
        """The answers to a case."""
        return self._futures[case.name].result(CASE_SECONDS_MAX)

    def close(self) -> None:
        """Send no more cases."""
        self._pool.shutdown(cancel_futures=True)

    def _run(self, case: Case) -> Pair:
        if not hasattr(self._own, "clients"):
            self._own.clients = tuple(connect() for connect in self._connect)
        real, ours = self._own.clients
        return Pair(self._run_real(real, case), run_case(ours, case))

    def _run_real(self, real: Client, case: Case) -> list[Answer]:
        recorded = ignore_order(load_recorded(case.topic)[case.name])
        for patience in REAL_PATIENCE_SECONDS:
            answers = run_case(real, case, keeps_namespace=True, patience=patience)
            if not find_differences(recorded, ignore_order(answers)):
                break
        return answers
