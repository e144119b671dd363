"""
The parts of X.509 certificates that all of Kohort's certificate authorities write alike.

Keys are elliptic, because making one then takes a millisecond instead of a second. A certificate
is valid from an hour before it was made, so that a clock that is late accepts it.
"""

from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

_SKEW = timedelta(hours=1)


def start_certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    now: datetime,
    valid: timedelta,
) -> x509.CertificateBuilder:
    """A certificate of a key with a serial number and a time, to be extended and signed."""
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + valid)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def key_usage(*, is_authority: bool) -> x509.KeyUsage:
    """The KeyUsage extension: the key may sign, and an authority's key may sign certificates."""
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        encipher_only=False,
        decipher_only=False,
    )


def write_certificate(certificate: x509.Certificate) -> str:
    """A certificate as PEM text."""
    return certificate.public_bytes(Encoding.PEM).decode()


def write_key(key: ec.EllipticCurvePrivateKey) -> str:
    """A private key as PEM text, not encrypted."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
