"""
Clusters and API servers for other people's tests, and checks for authors of plugins.

Everything that is named here is public. Importing it must cost almost nothing,
because pytest loads the plugin in every run of every project in whose
environment Kohort lies; the control plane is imported when one starts, and a check when it is
asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kohort.testing.api_servers import ApiServerAddress, start_api_server
from kohort.testing.clusters import Cluster, start_cluster
from kohort.testing.controls import Clock, ClockState, Nodes
from kohort.testing.journals import check_journal

if TYPE_CHECKING:
    from kohort.testing.api_values import check_api
    from kohort.testing.gangs import check_gang
    from kohort.testing.pod_plugins import check_plugin
    from kohort.testing.strategies import check_strategy
    from kohort.testing.workload_strategies import check_workload_strategy

__all__ = [
    "ApiServerAddress",
    "Clock",
    "ClockState",
    "Cluster",
    "Nodes",
    "check_api",
    "check_gang",
    "check_journal",
    "check_plugin",
    "check_strategy",
    "check_workload_strategy",
    "start_api_server",
    "start_cluster",
]
# The checks import what they check: the planner, and the APIs.
_CHECKS = {
    "check_api": "api_values",
    "check_gang": "gangs",
    "check_plugin": "pod_plugins",
    "check_strategy": "strategies",
    "check_workload_strategy": "workload_strategies",
}


def __getattr__(name: str) -> Any:
    """A check by its name."""
    if name not in _CHECKS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"kohort.testing.{_CHECKS[name]}"), name)
