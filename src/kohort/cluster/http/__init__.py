"""
The client of a real Kubernetes API: HTTP/1.1, TLS and JSON behind the ``Cluster`` port.

This is the one package of ``kohort.cluster`` that touches sockets, files and the
clock. Import it where a cluster is needed, not before: aiohttp is slow to load.
"""

from kohort.cluster.http.client import HttpCluster
from kohort.cluster.http.connection import connect

__all__ = ["HttpCluster", "connect"]
