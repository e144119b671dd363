"""
The TLS context of a running server, whose certificate changes while it serves.

The server uses a certificate that is loaded into a live context on new connections;
open connections keep the old one.
"""

import os
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from kohort.cluster.errors import KohortError

VERSIONS = {"VersionTLS12": ssl.TLSVersion.TLSv1_2, "VersionTLS13": ssl.TLSVersion.TLSv1_3}
# The TLS 1.2 cipher suites that the configuration may name: Go's name and OpenSSL's name.
SUITES = {
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": "ECDHE-ECDSA-AES128-GCM-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
}


class LiveContext:
    """A server's TLS context, and the certificate that it serves now."""

    def __init__(self, version: str = "VersionTLS12", suites: Sequence[str] = ()) -> None:
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = VERSIONS[version]
        if suites:
            self.context.set_ciphers(":".join(SUITES[suite] for suite in suites))
        self._shown: tuple[str, str] | None = None

    @property
    def is_armed(self) -> bool:
        """Whether a certificate is loaded."""
        return self._shown is not None

    def show(self, certificate: str, key: str) -> bool:
        """Serve this certificate on new connections; returns whether it is a change."""
        if self._shown == (certificate, key):
            return False
        with _file(f"{certificate}\n{key}\n") as path:
            try:
                self.context.load_cert_chain(path)
            except (ssl.SSLError, ValueError) as error:
                raise KohortError(f"the certificate or its key cannot be used: {error}") from error
        self._shown = (certificate, key)
        return True


@contextmanager
def _file(text: str) -> Iterator[str]:
    """A temporary file with this text, since OpenSSL reads files only; in memory if possible."""
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").exists():
        handle = os.memfd_create("kohort")
        try:
            os.write(handle, text.encode())
            yield f"/proc/self/fd/{handle}"
        finally:
            os.close(handle)
        return
    with TemporaryDirectory(prefix="kohort-") as folder:
        path = Path(folder, "chain.pem")
        path.touch(mode=0o600)
        path.write_text(text)
        yield str(path)
