"""
The choice of a cluster: by the named kubeconfig, KUBECONFIG, the own pod, or ~/.kube/config.

They are tried in this order. A file that the user names must exist, with ``--kubeconfig`` or in
KUBECONFIG; if no place has a cluster, the error lists the places.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from kohort.cluster.errors import KohortError
from kohort.cluster.http.access.access import ACCOUNT, Access, is_in_cluster, read_in_cluster
from kohort.cluster.http.access.contexts import read_access
from kohort.cluster.http.access.kubeconfig import load
from kohort.cluster.http.client import BURST_DEFAULT, QPS_DEFAULT, HttpCluster


def connect(
    kubeconfig: Path | None = None,
    context: str | None = None,
    qps: float = QPS_DEFAULT,
    burst: int = BURST_DEFAULT,
) -> HttpCluster:
    """A client of the chosen cluster; it sends nothing before the first request."""
    return HttpCluster(find_access(kubeconfig, context, os.environ), qps=qps, burst=burst)


def find_access(
    kubeconfig: Path | None,
    context: str | None,
    environment: Mapping[str, str],
    account: Path = ACCOUNT,
) -> Access:
    """The access to the chosen cluster: URL, TLS settings and credentials."""
    if kubeconfig is not None:
        if not kubeconfig.exists():
            raise KohortError(f"the kubeconfig {kubeconfig} does not exist")
        return read_access(load([kubeconfig]), context)
    listed = [Path(text) for text in environment.get("KUBECONFIG", "").split(os.pathsep) if text]
    if listed:
        found = [path for path in listed if path.exists()]
        if not found:
            names = ", ".join(map(str, listed))
            raise KohortError(f"KUBECONFIG names no file that exists: {names}")
        return read_access(load(found), context)
    if context is None and is_in_cluster(environment, account):
        return read_in_cluster(environment, account)
    home = Path(environment.get("HOME") or Path.home()) / ".kube" / "config"
    if home.exists():
        return read_access(load([home]), context)
    raise KohortError(
        f"no cluster: no --kubeconfig, no KUBECONFIG, not inside a cluster, and no file {home}"
    )
