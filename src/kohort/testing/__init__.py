"""
This is where other people's tests find a cluster: a context manager and a pytest plugin.

Everything that is named here is public. Importing it must cost almost nothing,
because pytest loads the plugin in every run of every project in whose
environment Kohort lies; the simulator is imported when a cluster starts.
"""

from kohort.testing.clusters import Cluster, start_cluster
from kohort.testing.controls import Clock, ClockState, Nodes

__all__ = ["Clock", "ClockState", "Cluster", "Nodes", "start_cluster"]
