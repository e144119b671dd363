"""
The secrets of a cluster, made and stored: its token and its certificates.

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

from kohort.apiserver.host.certificates import Certificates, make_certificates
from kohort.cluster.errors import KohortError

IDENTITY_FILE = "identity.json"


class DamagedIdentity(KohortError):
    """The file with the secrets of a kept cluster cannot be read."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The token and the certificates of a cluster."""

    token: str
    certificates: Certificates

    def server_context(self) -> ssl.SSLContext:
        """The TLS context of the server."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        # OpenSSL loads certificates from files only, so these are temporary files.
        with tempfile.TemporaryDirectory() as folder:
            chain, key = Path(folder, "server.crt"), Path(folder, "server.key")
            chain.write_text(self.certificates.server)
            write_secret(key, self.certificates.server_key)
            context.load_cert_chain(chain, key)
        return context


def make_identity() -> Identity:
    """A new identity, for a new cluster."""
    return Identity(secrets.token_urlsafe(32), make_certificates(datetime.now(UTC)))


def keep_identity(folder: Path) -> Identity:
    """The identity stored in a folder; if there is none, a new one is stored there."""
    path = folder / IDENTITY_FILE
    if path.exists() or path.is_symlink():
        _check_place(path)
        return _read(path)
    identity = make_identity()
    write_secret(path, json.dumps(asdict(identity), indent=2))
    return identity


def _check_place(path: Path) -> None:
    """Refuse an identity that another user can read, or may have put there."""
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise DamagedIdentity(
            f"{path} must be a file of yours that no other user can read; if it is, run "
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
