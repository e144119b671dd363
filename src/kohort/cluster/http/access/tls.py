"""
TLS contexts for one API server: the authority to trust, and the client certificate to show.

Files are read again from time to time, since certificates are renewed while we
run. A context is made anew only when something changed, because connections are
pooled by it.
"""

import ssl
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from kohort.cluster.errors import KohortError

REREAD_SECONDS = 60.0

Material = str | Path  # a PEM text, or the file that holds one
Pair = tuple[str, str]  # certificate and key, as PEM texts


class Tls:
    """Makes the TLS contexts for one API server, again when a file has changed."""

    def __init__(
        self,
        ca: Material | None = None,
        certificate: tuple[Material, Material] | None = None,
        *,
        is_verified: bool = True,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.ca = ca
        self.certificate = certificate
        self.is_verified = is_verified
        self._monotonic = monotonic
        self._read_at: float | None = None
        self._texts: tuple[str | None, Pair | None] = (None, None)
        self._made: dict[tuple[str | None, Pair | None], ssl.SSLContext] = {}

    def context(self, shown: Pair | None = None) -> ssl.SSLContext:
        """The context to use now; ``shown`` is a certificate that credentials came with."""
        ca, own = self._read()
        wanted = (ca, shown or own)
        if wanted not in self._made:
            self._made = {wanted: self._make(*wanted)}
        return self._made[wanted]

    def _read(self) -> tuple[str | None, Pair | None]:
        now = self._monotonic()
        if self._read_at is None or now - self._read_at >= REREAD_SECONDS:
            own = self.certificate
            pair = (read_material(own[0]), read_material(own[1])) if own else None
            self._texts = (read_material(self.ca) if self.ca else None, pair)
            self._read_at = now
        return self._texts

    def _make(self, ca: str | None, pair: Pair | None) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cadata=ca)
        except (ssl.SSLError, ValueError) as error:
            raise KohortError(f"the certificate authority cannot be read: {error}") from error
        # Clusters make certificates without key identifiers, which a strict check refuses.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if not self.is_verified:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if pair is not None:
            _show(context, pair)
        return context


def _show(context: ssl.SSLContext, pair: Pair) -> None:
    """Load a certificate and its key; OpenSSL takes them from files only."""
    with TemporaryDirectory(prefix="kohort-") as folder:
        chain = Path(folder, "chain.pem")
        chain.touch(mode=0o600)
        chain.write_text("\n".join(pair))
        try:
            context.load_cert_chain(chain)
        except (ssl.SSLError, ValueError) as error:
            raise KohortError(f"the client certificate or key cannot be read: {error}") from error


def read_material(material: Material) -> str:
    """The PEM text, from its file if it is in one."""
    if isinstance(material, str):
        return material
    try:
        return material.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise KohortError(f"cannot read the certificate file {material}: {error}") from error
