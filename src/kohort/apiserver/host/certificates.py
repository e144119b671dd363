"""
The certificate authority of a cluster, and the server certificate that it signs.

Both are made at start, for this cluster alone.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kohort.cluster.certificates import (
    key_usage,
    start_certificate,
    write_certificate,
    write_key,
)

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
