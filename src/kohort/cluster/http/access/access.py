"""What is needed to speak to one server, whichever way it was found."""

from dataclasses import dataclass, field

from kohort.cluster.http.access.credentials import Credentials, NoCredentials
from kohort.cluster.http.access.tls import Tls


@dataclass(frozen=True, slots=True)
class Access:
    """A server, and how to reach and convince it."""

    server: str  # without a slash at the end
    credentials: Credentials = field(default_factory=NoCredentials)
    tls: Tls = field(default_factory=Tls)
    namespace: str = "default"
    server_name: str = ""  # what the certificate must say, if not the host
    proxy: str = ""
    context: str = ""  # of the kubeconfig; empty inside a cluster
    headers: tuple[tuple[str, str], ...] = ()  # on whose behalf we ask
