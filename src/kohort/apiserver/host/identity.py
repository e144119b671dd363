"""
The secrets of a cluster, made and stored: its token and its certificates.

Every secret is random and lies in files that only their owner can read. The certificate authority
and the server certificate that it signs are made for this cluster alone. A cluster that is kept
keeps its secrets too, so that a kubeconfig written for it goes on working after a restart.
"""

import json
import os
import secrets
import ssl
import stat
import tempfile
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kohort.cluster.certificates import key_usage, start_certificate, write_certificate, write_key
from kohort.cluster.errors import KohortError

SERVER_NAMES = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
SERVER_ADDRESSES = ("127.0.0.1", "::1", "10.96.0.1")

# A cluster that is kept must still be reachable years later; no other system trusts this authority.
_VALID = timedelta(days=3650)


@dataclass(frozen=True, slots=True)
class Certificates:
    """PEM texts: the authority that clients trust, and the server's certificate and key."""

    ca: str
    server: str
    server_key: str


def make_certificates(now: datetime) -> Certificates:
    """Make an authority that signs one server certificate; the authority's key is not kept."""
    ca_key, server_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    ca_name, server_name = _name("kohort-ca"), _name("kube-apiserver")
    start = start_certificate(ca_name, ca_name, ca_key.public_key(), now, _VALID)
    ca = (
        start.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(key_usage(is_authority=True), critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    names = [x509.DNSName(name) for name in SERVER_NAMES]
    addresses = [x509.IPAddress(ip_address(address)) for address in SERVER_ADDRESSES]
    server = (
        start_certificate(server_name, ca_name, server_key.public_key(), now, _VALID)
        .add_extension(x509.SubjectAlternativeName([*names, *addresses]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(key_usage(is_authority=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(identifier, critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    return Certificates(write_certificate(ca), write_certificate(server), write_key(server_key))


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


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
