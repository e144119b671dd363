"""
Where a cluster gets a certificate authority of its own, and a server certificate from it.

Both are made at start, for this cluster alone. Elliptic curves, because making
the keys then takes a millisecond instead of a second.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

SERVER_NAMES = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
SERVER_ADDRESSES = ("127.0.0.1", "::1", "10.96.0.1")

# A cluster that is kept must still be reachable years later; nobody else trusts this authority.
_VALID = timedelta(days=3650)
_SKEW = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Certificates:
    """PEM texts: the authority that clients trust, and what the server shows them."""

    ca: str
    server: str
    server_key: str


def make_certificates(now: datetime) -> Certificates:
    """Make an authority and let it sign one server certificate; its own key is forgotten."""
    ca_key, server_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    ca_name, server_name = _name("kohort-ca"), _name("kube-apiserver")
    start = _certificate(ca_name, ca_name, ca_key.public_key(), now)
    ca = (
        start.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    names = [x509.DNSName(name) for name in SERVER_NAMES]
    addresses = [x509.IPAddress(ip_address(address)) for address in SERVER_ADDRESSES]
    server = (
        _certificate(server_name, ca_name, server_key.public_key(), now)
        .add_extension(x509.SubjectAlternativeName([*names, *addresses]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(identifier, critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    return Certificates(_text(ca), _text(server), _key_text(server_key))


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + _VALID)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _text(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(Encoding.PEM).decode()


def _key_text(key: ec.EllipticCurvePrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
