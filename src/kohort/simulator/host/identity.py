"""
Where a cluster's secrets are made and kept: the token, and the certificates.

Every secret is random and lies in files that only their owner can read. A
cluster that is kept keeps them too, so that a kubeconfig written for it goes on
working after a restart.
"""

import json
import os
import secrets
import ssl
import stat
import tempfile
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kohort.cluster.errors import KohortError
from kohort.simulator.host.certificates import Certificates, make_certificates

IDENTITY_FILE = "identity.json"


class DamagedIdentity(KohortError):
    """The file with the secrets of a kept cluster cannot be read."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a cluster is to its clients."""

    token: str
    certificates: Certificates

    def server_context(self) -> ssl.SSLContext:
        """What the server needs to speak TLS."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        # The library takes certificates from files only; these live for a moment.
        with tempfile.TemporaryDirectory() as folder:
            chain, key = Path(folder, "server.crt"), Path(folder, "server.key")
            chain.write_text(self.certificates.server)
            write_secret(key, self.certificates.server_key)
            context.load_cert_chain(chain, key)
        return context


def make_identity() -> Identity:
    """A new identity, for a cluster that nobody knew before."""
    return Identity(secrets.token_urlsafe(32), make_certificates(datetime.now(UTC)))


def keep_identity(folder: Path) -> Identity:
    """The identity that is kept in a folder; a new one is made and kept if there is none."""
    path = folder / IDENTITY_FILE
    if path.exists() or path.is_symlink():
        _check_place(path)
        return _read(path)
    identity = make_identity()
    write_secret(path, json.dumps(asdict(identity), indent=2))
    return identity


def _check_place(path: Path) -> None:
    """Refuse an identity that somebody else may know, or may have put there."""
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise DamagedIdentity(
            f"{path} must be a file of yours that nobody else can read; if it is, run "
            f"'chmod 600 {path}', else move it away to let a new one be made"
        )


def _read(path: Path) -> Identity:
    try:
        body: dict[str, Any] = json.loads(path.read_text())
        return Identity(body["token"], Certificates(**body["certificates"]))
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedIdentity(
            f"{path} is damaged; move it away to let a new one be made (kubeconfigs written "
            "before will no longer work)"
        ) from error


def write_secret(path: Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
