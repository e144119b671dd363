"""Commands set up logging for their process; here the process is the test run's."""

import logging
import os
from collections.abc import Iterator

import pytest

from prometheus_driver import find_program

# Without Prometheus some tests cannot run. A build machine must have one, or say that it has none.
IS_NEEDED = os.environ.get("CI") and not os.environ.get("KOHORT_WITHOUT_PROMETHEUS")
collect_ignore_glob = [] if find_program("prometheus") or IS_NEEDED else ["test_prometheus_*.py"]


@pytest.fixture(autouse=True)
def restored_logging() -> Iterator[None]:
    """Leave logging as it was."""
    root, own = logging.getLogger(), logging.getLogger("kohort")
    before = (list(root.handlers), root.level, own.level)
    yield
    root.handlers[:], root.level, own.level = before
