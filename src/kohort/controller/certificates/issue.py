"""
Certificates are made and checked here: an authority of our own, and the serving certificate.

A new authority does not replace the old one at once. The CA bundle then holds both,
newest first, so that API servers trust replicas that still serve the old certificate
until these have the new one.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from ipaddress import ip_address

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kohort.cluster.certificates import (
    key_usage,
    start_certificate,
    write_certificate,
    write_key,
)
from kohort.cluster.errors import KohortError

_UNREADABLE = (ValueError, TypeError, UnsupportedAlgorithm, InvalidSignature)

SigningKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


class Unreadable(KohortError):
    """A text that should be a PEM certificate or key cannot be parsed."""


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """How long certificates are valid, and how long before their end they are renewed."""

    authority: timedelta = timedelta(days=3650)
    authority_ahead: timedelta = timedelta(days=400)
    serving: timedelta = timedelta(days=365)
    serving_ahead: timedelta = timedelta(days=90)
    # API servers learn of a new authority by a watch, so its first certificate is served later.
    learning: timedelta = timedelta(seconds=10)


LIFETIMES = Lifetimes()


@dataclass(frozen=True, slots=True)
class Material:
    """PEM texts: the CA bundle, newest authority first, and the serving certificate."""

    ca: str
    ca_key: str
    certificate: str
    key: str


class Need(Enum):
    """Which certificates must be issued again."""

    NOTHING = 0
    SERVING = 1
    ALL = 2


def judge_material(
    material: Material, names: Collection[str], now: datetime, lifetimes: Lifetimes = LIFETIMES
) -> Need:
    """Which certificates must be issued again, so that they are valid for all these names."""
    try:
        authority = _read_authorities(material.ca)[0]
        _read_key(material.ca_key, authority)
    except Unreadable:
        return Need.ALL
    if not _is_valid(authority, now, lifetimes.authority_ahead):
        return Need.ALL
    try:
        serving = _read_serving(material)
        serving.verify_directly_issued_by(authority)
    except (Unreadable, *_UNREADABLE):
        return Need.SERVING
    if not _is_valid(serving, now, lifetimes.serving_ahead) or set(names) - read_names(serving):
        return Need.SERVING
    return Need.NOTHING


def is_presentable(material: Material, now: datetime) -> bool:
    """Whether the serving certificate is valid now, even if it should be renewed."""
    try:
        return _is_valid(_read_serving(material), now, timedelta())
    except Unreadable:
        return False


def find_due(material: Material, lifetimes: Lifetimes = LIFETIMES) -> datetime:
    """When the first of the two certificates must be renewed."""
    authority = _read_authorities(material.ca)[0].not_valid_after_utc
    serving = _read_serving(material).not_valid_after_utc
    return min(authority - lifetimes.authority_ahead, serving - lifetimes.serving_ahead)


def renew_material(
    old: Material | None,
    names: Collection[str],
    now: datetime,
    lifetimes: Lifetimes = LIFETIMES,
) -> Material:
    """Fresh certificates; an old authority that is still good stays, and so do old names."""
    need = Need.ALL if old is None else judge_material(old, names, now, lifetimes)
    if old is not None and need is Need.NOTHING:
        return old
    wanted = sorted(set(names) | _find_names(old))
    if old is not None and need is Need.SERVING:
        ca, ca_key = old.ca, old.ca_key
    else:
        ca, ca_key = _make_authority(now, lifetimes.authority)
        ca += _still_trusted(old, now)
    certificate, key = _make_serving(ca, ca_key, wanted, now, lifetimes.serving)
    return Material(ca, ca_key, certificate, key)


def join_authorities(newest: str, served: str) -> str:
    """A CA bundle, and the authority of the served certificate behind it where it lacks that."""
    try:
        known, last = _read_authorities(newest), _read_authorities(served)[0]
    except Unreadable:
        return newest
    return newest if last in known else newest + write_certificate(last)


def read_names(certificate: x509.Certificate) -> set[str]:
    """The DNS names and IP addresses that a certificate is valid for."""
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return set()
    addresses = found.get_values_for_type(x509.IPAddress)
    return {*found.get_values_for_type(x509.DNSName), *map(str, addresses)}


def _find_names(old: Material | None) -> set[str]:
    try:
        return read_names(_read_serving(old)) if old is not None else set()
    except Unreadable:
        return set()


def _still_trusted(old: Material | None, now: datetime) -> str:
    """The previous authority, while it is valid, since replicas may serve what it signed."""
    try:
        last = _read_authorities(old.ca)[0] if old is not None else None
    except Unreadable:
        last = None
    return write_certificate(last) if last is not None and _is_valid(last, now, timedelta()) else ""


def _read_authorities(text: str) -> list[x509.Certificate]:
    try:
        found = x509.load_pem_x509_certificates(text.encode())
    except _UNREADABLE as error:
        raise Unreadable(f"the certificate authority cannot be read: {error}") from error
    if not found:
        raise Unreadable("there is no certificate authority")
    return found


def _read_serving(material: Material) -> x509.Certificate:
    try:
        certificate = x509.load_pem_x509_certificate(material.certificate.encode())
    except _UNREADABLE as error:
        raise Unreadable(f"the serving certificate cannot be read: {error}") from error
    _read_key(material.key, certificate)
    return certificate


def _read_key(text: str, certificate: x509.Certificate) -> SigningKey:
    try:
        key = load_pem_private_key(text.encode(), None)
        fits = key.public_key() == certificate.public_key()
    except _UNREADABLE as error:
        raise Unreadable(f"a key cannot be read: {error}") from error
    if not fits or not isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise Unreadable("a key does not belong to its certificate")
    return key


def _is_valid(certificate: x509.Certificate, now: datetime, ahead: timedelta) -> bool:
    return certificate.not_valid_before_utc <= now < certificate.not_valid_after_utc - ahead


def _make_authority(now: datetime, valid: timedelta) -> tuple[str, str]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "kohort"),
            x509.NameAttribute(NameOID.COMMON_NAME, "kohort-ca"),
        ]
    )
    made = (
        start_certificate(name, name, key.public_key(), now, valid)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(key_usage(is_authority=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    return write_certificate(made), write_key(key)


def _make_serving(
    ca: str, ca_key: str, names: Collection[str], now: datetime, valid: timedelta
) -> tuple[str, str]:
    authority = _read_authorities(ca)[0]
    signer = _read_key(ca_key, authority)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, next(iter(names))[:64])])
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    made = (
        start_certificate(name, authority.subject, key.public_key(), now, valid)
        .add_extension(x509.SubjectAlternativeName([_name(n) for n in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(key_usage(is_authority=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(identifier, critical=False)
        .sign(signer, hashes.SHA256())
    )
    return write_certificate(made), write_key(key)


def _name(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(text))
    except ValueError:
        return x509.DNSName(text)
