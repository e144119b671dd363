"""
The URL, TLS settings and credentials for one API server, from a kubeconfig or from a pod.

Inside a pod they are the service account's token and the cluster's certificate authority.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kohort.cluster.errors import KohortError
from kohort.cluster.http.access.credentials import Credentials, NoCredentials, TokenFile
from kohort.cluster.http.access.tls import Tls


@dataclass(frozen=True, slots=True)
class Access:
    """The URL of an API server, and the TLS settings, proxy and credentials for it."""

    server: str  # without a slash at the end
    credentials: Credentials = field(default_factory=NoCredentials)
    tls: Tls = field(default_factory=Tls)
    namespace: str = "default"
    server_name: str = ""  # the name in the server's certificate, if it is not the host
    proxy: str = ""
    context: str = ""  # of the kubeconfig; empty inside a cluster
    headers: tuple[tuple[str, str], ...] = ()  # such as the user to impersonate


ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_HOST, _PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"


def is_in_cluster(environment: Mapping[str, str], account: Path = ACCOUNT) -> bool:
    """Whether we run in a pod that may speak to its cluster."""
    return bool(environment.get(_HOST)) and (account / "token").exists()


def read_in_cluster(environment: Mapping[str, str], account: Path = ACCOUNT) -> Access:
    """The access of the pod's service account."""
    host, port = environment.get(_HOST, ""), environment.get(_PORT) or "443"
    token, ca = account / "token", account / "ca.crt"
    if not host:
        raise KohortError(f"not in a cluster: {_HOST} is not set")
    for path in (token, ca):
        if not path.exists():
            raise KohortError(f"in a cluster, but without a service account: {path} is missing")
    shown = f"[{host}]" if ":" in host else host
    return Access(
        f"https://{shown}:{port}", TokenFile(token), Tls(ca), namespace=_read_namespace(account)
    )


def _read_namespace(account: Path) -> str:
    try:
        return (account / "namespace").read_text().strip() or "default"
    except OSError:
        return "default"
