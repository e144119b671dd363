"""
This is where keys and certificates of an instance are made: one authority, and one pair for each.

They live as long as the instance's folder, and are of no use elsewhere.
"""

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

VALID = timedelta(days=3650)
MASTERS = "system:masters"
HOSTS = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
ADDRESSES = ("127.0.0.1", "10.96.0.1")


@dataclass(frozen=True, slots=True)
class Authority:
    """Who signs."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a certificate is for: files' name, user, group, and whether it serves."""

    file: str
    user: str
    group: str = ""
    serves: bool = False


SUBJECTS = (
    Subject("apiserver", "kube-apiserver", serves=True),
    Subject("admin", "admin", MASTERS),
    Subject("kwok", "kwok", MASTERS),
    Subject("kube-controller-manager", "system:kube-controller-manager"),
    Subject("kube-scheduler", "system:kube-scheduler"),
)


def make_keys(folder: Path) -> None:
    """All keys and certificates of an instance, unless they are there."""
    if (folder / "sa.pub").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("kohort-test-authority")
    ca = _builder(name, name, key).add_extension(x509.BasicConstraints(True, 0), critical=True)
    authority = Authority(key, ca.sign(key, hashes.SHA256()))
    _write_certificate(folder / "ca.crt", authority.certificate)
    for subject in SUBJECTS:
        _issue(folder, authority, subject)
    account = ec.generate_private_key(ec.SECP256R1())
    _write_key(folder / "sa.key", account)
    public = serialization.PublicFormat.SubjectPublicKeyInfo
    text = account.public_key().public_bytes(serialization.Encoding.PEM, public)
    (folder / "sa.pub").write_bytes(text)


def _issue(folder: Path, authority: Authority, subject: Subject) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name(subject.user, subject.group)
    usage = [ExtendedKeyUsageOID.CLIENT_AUTH]
    if subject.serves:
        usage.append(ExtendedKeyUsageOID.SERVER_AUTH)
    builder = _builder(name, authority.certificate.subject, key)
    builder = builder.add_extension(x509.ExtendedKeyUsage(usage), critical=False)
    if subject.serves:
        addresses = [x509.IPAddress(ipaddress.ip_address(text)) for text in ADDRESSES]
        names = [*(x509.DNSName(host) for host in HOSTS), *addresses]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    certificate = builder.sign(authority.key, hashes.SHA256())
    _write_certificate(folder / f"{subject.file}.crt", certificate)
    _write_key(folder / f"{subject.file}.key", key)


def _name(user: str, group: str = "") -> x509.Name:
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, user)]
    if group:
        parts.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
    return x509.Name(parts)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + VALID)
    )


def _write_certificate(path: Path, certificate: x509.Certificate) -> None:
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    form, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))
    path.chmod(0o600)
