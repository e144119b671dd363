"""The URL, TLS settings and credentials for one API server, from a kubeconfig or from a pod."""

from dataclasses import dataclass, field

from kohort.cluster.http.access.credentials import Credentials, NoCredentials
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
