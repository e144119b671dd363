"""
How every test runs: each has a limit in seconds, and no child of a test outlives the run.

A limit fails the test in its own thread, so what the test opened is closed and its children are
ended. `KOHORT_TEST_SECONDS` replaces the limits, for a machine that is slower than most.
"""

import os

import pytest

from children import RUN_VARIABLE, end_children

# Far above what any test takes, also on a machine with much else to do.
SECONDS_MAX = 300
SECONDS_MAX_BY_MARK = {"real": 1800, "slow": 900}


def pytest_configure(config: pytest.Config) -> None:
    """Mark the children of this process."""
    if _runs_tests(config):
        os.environ[RUN_VARIABLE] = str(os.getpid())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give each test its limit. An environment without the locked packages has none."""
    if not config.pluginmanager.hasplugin("timeout"):
        return
    for item in items:
        item.add_marker(pytest.mark.timeout(limit_of(item), method="signal"))


def limit_of(item: pytest.Item) -> int:
    """The seconds after which a test has failed."""
    if "KOHORT_TEST_SECONDS" in os.environ:
        return int(os.environ["KOHORT_TEST_SECONDS"])
    limits = SECONDS_MAX_BY_MARK.items()
    return max([s for mark, s in limits if item.get_closest_marker(mark)], default=SECONDS_MAX)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the children that are left."""
    if _runs_tests(session.config):
        end_children(os.environ[RUN_VARIABLE])


def _runs_tests(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput") or not config.getoption("numprocesses", None)
