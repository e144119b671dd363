"""Commands set up logging for their process; here the process is the test run's."""

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def restored_logging() -> Iterator[None]:
    """Leave logging as it was."""
    root, own = logging.getLogger(), logging.getLogger("kohort")
    before = (list(root.handlers), root.level, own.level)
    yield
    root.handlers[:], root.level, own.level = before
