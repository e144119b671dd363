"""Client certificates: from files that change, and from plugins."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kohort.cluster.errors import KohortError
from kohort.cluster.http.access.tls import REREAD_SECONDS, Tls


def make_pair(name: str) -> tuple[str, str]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(
        subject, subject, key.public_key(), x509.random_serial_number(), now, now + timedelta(1)
    ).sign(key, hashes.SHA256())
    pem = serialization.Encoding.PEM
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return made.public_bytes(pem).decode(), private.decode()


def write(folder: Path, pair: tuple[str, str]) -> tuple[Path, Path]:
    files = folder / "chain", folder / "key"
    for file, text in zip(files, pair, strict=True):
        file.write_text(text)
    return files


def test_connections_are_kept_while_the_files_stay_the_same(tmp_path: Path):
    now = [0.0]
    tls = Tls(certificate=write(tmp_path, make_pair("a")), monotonic=lambda: now[0])
    first = tls.context()
    now[0] += REREAD_SECONDS
    assert tls.context() is first


def test_a_renewed_certificate_is_used_within_a_minute(tmp_path: Path):
    now = [0.0]
    tls = Tls(certificate=write(tmp_path, make_pair("a")), monotonic=lambda: now[0])
    first = tls.context()
    write(tmp_path, make_pair("b"))
    assert tls.context() is first
    now[0] += REREAD_SECONDS
    assert tls.context() is not first


def test_a_certificate_of_the_credentials_comes_first():
    tls = Tls(certificate=make_pair("file"))
    shown = make_pair("plugin")
    assert tls.context(shown) is tls.context(shown)
    assert tls.context(shown) is not tls.context(make_pair("plugin"))


def test_who_does_not_verify_verifies_nothing():
    context = Tls(is_verified=False).context()
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_NONE, False)


@pytest.mark.parametrize(
    ("tls", "message"),
    [
        (Tls("no PEM"), "certificate authority cannot be read"),
        (Tls(Path("/nowhere/ca")), "cannot read the certificate file /nowhere/ca"),
        (Tls(certificate=("x", "y")), "client certificate or key cannot be read"),
    ],
)
def test_what_is_no_certificate_is_named(tls: Tls, message: str):
    with pytest.raises(KohortError, match=message):
        tls.context()
